"""The entries of the decision ledger: closed schemas, builders and digests.

An entry is one closed JSON object, its line the RFC 8785 bytes of it. What a
kind may hold is data here (``KINDS``), and ``check`` refuses everything else.
The full format is specified in ``spec/decision-ledger.md``.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from toolgate.action import SCOPES, Intent, action_ref
from toolgate.canonical import MAX_INTEGER, digest, profile_bytes
from toolgate.errors import RecordError
from toolgate.signing import is_key, is_signature

VERSION = 1
MAX_LINE_BYTES = 64 * 1024
MAX_EFFECTS = 64
MAX_FACTS = 32

STATES = ("allowed", "asked", "denied")
AUTH_MODES = ("agent", "user", "delegated", "service", "unknown")
TERMINAL_STATES = ("ok", "error", "timeout", "cancelled", "refused", "unresolved")
SOURCES = ("hook", "telemetry", "transcript", "person", "close", "recovery")
JOINS = ("id", "content")
EVIDENCE = ("signature", "telemetry")
KEY_ROLES = ("checkpoint", "approver")
SHAPES = ("dag", "linear")
TURN_CLOSED_BY = ("stop", "next_turn", "session_end", "recovery", "limit")
SESSION_CLOSED_BY = ("session_end", "recovery")
SPINE_KINDS = frozenset(
    (
        "session_open",
        "turn_open",
        "policy_set",
        "approval",
        "turn_close",
        "session_close",
        "key_rotate",
        "checkpoint",
        "audit",
    )
)
TURN_KINDS = frozenset(("decision", "outcome", "recovery"))

Check = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return type(value) is str


def _nullable_text(value: Any) -> bool:
    return value is None or type(value) is str


def _integer(value: Any) -> bool:
    return type(value) is int and -MAX_INTEGER <= value <= MAX_INTEGER


def _natural(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_INTEGER


def _flag(value: Any) -> bool:
    return type(value) is bool


def is_digest(value: Any) -> bool:
    """Say whether a value is ``sha256:`` and 64 lower-case hex digits."""
    return (
        type(value) is str
        and len(value) == 71
        and value.startswith("sha256:")
        and not value[7:].strip("0123456789abcdef")
    )


def _nullable_digest(value: Any) -> bool:
    return value is None or is_digest(value)


def _digests(value: Any) -> bool:
    return type(value) is list and all(is_digest(item) for item in value)


def _nothing(value: Any) -> bool:
    return value is None


def _no_parents(value: Any) -> bool:
    return type(value) is list and not value


def _digest_set(value: Any) -> bool:
    return _digests(value) and value == sorted(set(value))


def _one_of(*words: str) -> Check:
    return lambda value: type(value) is str and value in words


def _nullable_key(value: Any) -> bool:
    return value is None or is_key(value)


def _nullable_signature(value: Any) -> bool:
    return value is None or is_signature(value)


def _signatures(value: Any) -> bool:
    return type(value) is list and all(is_signature(item) for item in value)


def _nonce(value: Any) -> bool:
    return type(value) is str and len(value) == 32 and not value.strip("0123456789abcdef")


def _details(value: Any) -> bool:
    return type(value) is dict


def _resource(value: Any) -> bool:
    return (
        type(value) is str
        and len(value) == 34
        and value.startswith("h:")
        and not value[2:].strip("0123456789abcdef")
    )


_EFFECT: Mapping[str, Check] = {
    "type": _text,
    "scope": _one_of(*SCOPES),
    "resource": _resource,
    "reversible": _flag,
    "proof": _text,
    "count": _natural,
}
_FACT: Mapping[str, Check] = {"code": _text, "entry": is_digest}
_INTENT: Mapping[str, Check] = {
    "agent_id": _text,
    "action_type": _text,
    "scope": _one_of(*SCOPES),
    "ts": _integer,
    "call": _text,
}


def _closed(fields: Mapping[str, Check]) -> Check:
    names = fields.keys()
    return lambda value: (
        type(value) is dict
        and value.keys() == names
        and all(check(value[name]) for name, check in fields.items())
    )


def _list_of(fields: Mapping[str, Check], most: int) -> Check:
    check = _closed(fields)
    return lambda value: (
        type(value) is list and len(value) <= most and all(check(item) for item in value)
    )


KINDS: Mapping[str, Mapping[str, Check]] = {
    "session_open": {
        "shape": _one_of(*SHAPES),
        "host": _text,
        "executes": _flag,
        "durability": _one_of("os", "fsync"),
        "part": _natural,
        "spawned_by": _nullable_digest,
    },
    "turn_open": {"key": _text, "part": _natural, "why": _text},
    "policy_set": {"policy": is_digest},
    "approval": {
        "decision_digest": _nullable_digest,
        "args_digest": _nullable_digest,
        "session": _nullable_text,
        "class": _nullable_text,
        "principal": _text,
        "expiry": _integer,
        "nonce": _nonce,
        "verdict": _one_of("approve", "refuse"),
        "evidence": _one_of(*EVIDENCE),
        "key": _nullable_key,
        "sig": _nullable_signature,
    },
    "decision": {
        "decision_id": is_digest,
        "action_ref": is_digest,
        "principal": _text,
        "auth_mode": _one_of(*AUTH_MODES),
        "policy_version": is_digest,
        "decision_state": _one_of(*STATES),
        "args_digest": is_digest,
    },
    "outcome": {
        "action_ref": is_digest,
        "decision_digest": is_digest,
        "result_digest": _nullable_digest,
        "terminal_state": _one_of(*TERMINAL_STATES),
    },
    "turn_close": {
        "root": is_digest,
        "count": _natural,
        "closed_by": _one_of(*TURN_CLOSED_BY),
        "ledger_head_digest": is_digest,
    },
    "session_close": {
        "closed_by": _one_of(*SESSION_CLOSED_BY),
        "ledger_head_digest": is_digest,
    },
    "recovery": {"offset": _natural, "length": _natural, "digest": is_digest},
    "key_rotate": {
        "role": _one_of(*KEY_ROLES),
        "name": _text,
        "old": _nullable_key,
        "new": is_key,
        "signatures": _signatures,
    },
    "checkpoint": {"text": _text},
    "audit": {"action": _text, "actor": _text, "target": _nullable_text, "details": _details},
}
"""The fields of ``ev`` by kind, beside ``ts``, which every kind has."""

_BESIDE: Mapping[str, Mapping[str, Check]] = {
    "decision": {
        "intent": _closed(_INTENT),
        "class": _text,
        "basis": _digests,
        "effects": _list_of(_EFFECT, MAX_EFFECTS),
        "facts": _list_of(_FACT, MAX_FACTS),
        "host": _text,
        "rule": _text,
        "axis": _nullable_text,
        "proof": _text,
        "mode": _nullable_text,
        "build": _text,
    },
    "outcome": {"source": _one_of(*SOURCES), "join": _one_of(*JOINS)},
}
"""The fields of the envelope that only one kind has."""

_ENVELOPE: Mapping[str, Check] = {
    "v": lambda value: type(value) is int and value == VERSION,
    "kind": lambda value: type(value) is str and value in KINDS,
    "session": _nullable_text,
    "turn": lambda value: value is None or _natural(value),
    "parents": _digest_set,
    "ts": _integer,
    "ev": _details,
}

_WHOLE_LEDGER: Mapping[str, Check] = {
    "session": _nothing,
    "turn": _nothing,
    "parents": _no_parents,
}
_OF_SESSION: Mapping[str, Check] = {"session": _text, "turn": _nothing}
_OF_TURN: Mapping[str, Check] = {"session": _text, "turn": _natural}
_PLACES: Mapping[str, Mapping[str, Check]] = {
    "session_open": _OF_SESSION,
    "session_close": _OF_SESSION,
    "turn_open": _OF_TURN,
    "turn_close": _OF_TURN,
    "decision": _OF_TURN,
    "outcome": {"session": _text},
    "policy_set": _WHOLE_LEDGER,
    "approval": {"turn": _nothing},
    "key_rotate": _WHOLE_LEDGER,
    "checkpoint": _WHOLE_LEDGER,
    "audit": {"turn": _nothing, "parents": _no_parents},
}
"""What a kind says of its place: whose session, which turn, what it names."""

_SPINE: Mapping[str, Check] = {"seq": _natural, "prev_digest": is_digest}

# Put together once: a run checks tens of thousands of entries.
_FIELDS_ON_SPINE: Mapping[str, Mapping[str, Check]] = {
    kind: {**_ENVELOPE, **_PLACES.get(kind, {}), **_BESIDE.get(kind, {}), **_SPINE}
    for kind in KINDS
}
_FIELDS: Mapping[str, Mapping[str, Check]] = {
    kind: fields
    if kind in SPINE_KINDS
    else {name: check for name, check in fields.items() if name not in _SPINE}
    for kind, fields in _FIELDS_ON_SPINE.items()
}
_EVENT_FIELDS: Mapping[str, Mapping[str, Check]] = {
    kind: {**fields, "ts": _integer} for kind, fields in KINDS.items()
}

ZERO_DIGEST = "sha256:" + "0" * 64
"""The ``prev_digest`` of the first entry of a spine."""


class DecisionFields(NamedTuple):
    """A decision as the ledger stores it, before its place there is known.

    Args:
        intent: what is to be done; its hash is the action_ref.
        principal: who the call runs for.
        auth_mode: one of ``AUTH_MODES``, stated by the host adapter.
        policy_version: digest of the compiled policy.
        decision_state: one of ``STATES``.
        args_digest: digest of the host's tool input.
        ts: when it was decided, microseconds UTC.
        action_class: the policy's class of the action.
        basis: decision digests and approval entries this decision rests on.
        effects: closed objects (type, scope, resource, reversible, proof, count).
        facts: closed objects (code, entry).
        host: the host adapter's name.
        rule: the deciding rule.
        axis: the deciding axis, if any.
        proof: ``proved`` or ``unresolved(reason)``.
        mode: the host's permission mode, if it says one.
        build: digest of the deciding build.
    """

    intent: Intent
    principal: str
    auth_mode: str
    policy_version: str
    decision_state: str
    args_digest: str
    ts: int
    action_class: str
    basis: tuple[str, ...]
    effects: tuple[dict[str, Any], ...]
    facts: tuple[dict[str, Any], ...]
    host: str
    rule: str
    axis: str | None
    proof: str
    mode: str | None
    build: str

    def beside(self) -> dict[str, Any]:
        """Return the envelope fields only a decision has."""
        return {
            "intent": self.intent.as_json(),
            "class": self.action_class,
            "basis": list(self.basis),
            "effects": list(self.effects),
            "facts": list(self.facts),
            "host": self.host,
            "rule": self.rule,
            "axis": self.axis,
            "proof": self.proof,
            "mode": self.mode,
            "build": self.build,
        }

    def event(self) -> dict[str, Any]:
        """Return the eight fields of the decision event.

        ``decision_id`` is the digest of everything ``beside`` holds, so the
        digest of the eight binds that too.
        """
        return {
            "decision_id": digest(profile_bytes(self.beside())),
            "action_ref": action_ref(self.intent),
            "principal": self.principal,
            "auth_mode": self.auth_mode,
            "policy_version": self.policy_version,
            "decision_state": self.decision_state,
            "args_digest": self.args_digest,
            "ts": self.ts,
        }


def decision_entry(
    fields: DecisionFields, *, session: str, turn: int, parents: list[str]
) -> dict[str, Any]:
    """Return a decision's envelope (without seq and prev_digest, which a linear spine adds)."""
    return {
        "v": VERSION,
        "kind": "decision",
        "session": session,
        "turn": turn,
        "parents": sorted(set(parents)),
        "ts": fields.ts,
        "ev": fields.event(),
        **fields.beside(),
    }


def decision_digest(event: dict[str, Any]) -> str:
    """Return SHA256(JCS(event)): what an outcome commits to."""
    return digest(profile_bytes(event))


def outcome_entry(
    *,
    session: str,
    turn: int | None,
    parents: list[str],
    action_ref: str,
    decision_digest: str,
    result_digest: str | None,
    terminal_state: str,
    ts: int,
    source: str,
    join: str,
) -> dict[str, Any]:
    """Return an outcome's envelope around the article's five fields.

    Args:
        session: session id.
        turn: the turn, or None for an outcome that arrives after its turn closed.
        parents: the decision's entry, and the outcome it supersedes if any.
        action_ref: as in the decision.
        decision_digest: digest of the decision event that authorized it.
        result_digest: digest of the host's result; None exactly for refused and unresolved.
        terminal_state: one of ``TERMINAL_STATES``.
        ts: microseconds UTC.
        source: one of ``SOURCES``.
        join: ``id`` or ``content``: how the outcome found its decision.
    """
    return {
        "v": VERSION,
        "kind": "outcome",
        "session": session,
        "turn": turn,
        "parents": sorted(set(parents)),
        "ts": ts,
        "ev": {
            "action_ref": action_ref,
            "decision_digest": decision_digest,
            "result_digest": result_digest,
            "terminal_state": terminal_state,
            "ts": ts,
        },
        "source": source,
        "join": join,
    }


def entry(
    kind: str,
    *,
    session: str | None,
    turn: int | None,
    parents: list[str],
    ts: int,
    ev: dict[str, Any],
) -> dict[str, Any]:
    """Return the envelope of an entry that is neither decision nor outcome."""
    return {
        "v": VERSION,
        "kind": kind,
        "session": session,
        "turn": turn,
        "parents": sorted(set(parents)),
        "ts": ts,
        "ev": {**ev, "ts": ts},
    }


def on_spine(body: dict[str, Any], *, seq: int, prev_digest: str) -> dict[str, Any]:
    """Return an entry with its place on the spine."""
    return {**body, "seq": seq, "prev_digest": prev_digest}


def line_of(body: dict[str, Any]) -> bytes:
    """Return an entry's line without the line feed.

    Raises:
        RecordError: the line is longer than ``MAX_LINE_BYTES`` or breaks the schema.
        CanonicalizationError: a value is outside the profile.
    """
    check(body)
    line = profile_bytes(body)
    if len(line) > MAX_LINE_BYTES:
        raise RecordError(
            f"{body['kind']} entry is {len(line)} bytes; at most {MAX_LINE_BYTES} are kept"
        )
    return line


def check(body: Any) -> None:
    """Check one entry against the closed schema of its kind.

    Raises:
        RecordError: names the field, and what it should have been.
    """
    if type(body) is not dict:
        raise RecordError(f"entry is {type(body).__name__}; expected an object")
    kind = body.get("kind")
    if type(kind) is not str or kind not in KINDS:
        raise RecordError(f"kind is {kind!r:.60}; expected one of {', '.join(KINDS)}")
    on_spine = "seq" in body or "prev_digest" in body
    _check_fields(kind, body, (_FIELDS_ON_SPINE if on_spine else _FIELDS)[kind])
    ev = body["ev"]
    _check_fields(f"{kind}.ev", ev, _EVENT_FIELDS[kind])
    if ev["ts"] != body["ts"]:
        raise RecordError(f"{kind}: ev.ts {ev['ts']} differs from ts {body['ts']}")
    if kind == "outcome":
        empty = ev["terminal_state"] in ("refused", "unresolved")
        if empty is not (ev["result_digest"] is None):
            raise RecordError("outcome: result_digest is null exactly for refused and unresolved")
    elif kind == "recovery":
        alone = body["session"] is None
        if (body["turn"] is None) is not alone or (not body["parents"]) is not alone:
            raise RecordError("recovery: session, turn and parents are all given, or none is")
    elif kind == "approval":
        signed = ev["evidence"] == "signature"
        if (ev["key"] is not None) is not signed or (ev["sig"] is not None) is not signed:
            raise RecordError("approval: key and sig are null exactly for evidence telemetry")
        if body["session"] != ev["session"]:
            raise RecordError("approval: session is not ev.session")
    elif kind == "key_rotate" and len(ev["signatures"]) != (1 if ev["old"] is None else 2):
        raise RecordError("key_rotate: signatures are one by new, and before it one by old if any")


def _check_fields(where: str, body: dict[str, Any], expected: Mapping[str, Check]) -> None:
    if body.keys() != expected.keys():
        unknown = sorted(body.keys() - expected.keys())
        missing = sorted(expected.keys() - body.keys())
        raise RecordError(f"{where}: unknown fields {unknown}, missing fields {missing}")
    for name, good in expected.items():
        if not good(body[name]):
            raise RecordError(f"{where}: field {name} has a value outside its domain")
