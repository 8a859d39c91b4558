"""Entries: closed schemas by kind, digests that bind, and one line an entry."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate import records
from toolgate.action import SCOPES, Intent, action_ref, strictest_scope
from toolgate.canonical import digest
from toolgate.errors import RecordError

D = ["sha256:" + char * 64 for char in "0123456789abcdef"]
EFFECT = {
    "type": "fs.delete",
    "scope": "workspace",
    "resource": "h:" + "0" * 32,
    "reversible": False,
    "proof": "proved",
    "count": 1,
}
FIELDS = records.DecisionFields(
    intent=Intent("main", "Bash", "workspace", 1_700_000_000_000_000, "call-1"),
    principal="user",
    auth_mode="agent",
    policy_version=D[1],
    decision_state="asked",
    args_digest=D[2],
    ts=1_700_000_000_000_001,
    action_class="ordinary",
    basis=(),
    effects=(EFFECT,),
    facts=({"code": "executes_written_file", "entry": D[3]},),
    host="claude-code",
    rule="delete-in-workspace",
    axis="destructive",
    proof="proved",
    mode="default",
    build=D[4],
)
DECISION = records.decision_entry(FIELDS, session="s1", turn=1, parents=[D[5]])
OUTCOME = records.outcome_entry(
    session="s1",
    turn=1,
    parents=[D[6]],
    action_ref=DECISION["ev"]["action_ref"],
    decision_digest=records.decision_digest(DECISION["ev"]),
    result_digest=D[7],
    terminal_state="ok",
    ts=1_700_000_000_000_009,
    source="hook",
    join="id",
)
EVENTS: dict[str, dict[str, Any]] = {
    "session_open": {
        "shape": "dag",
        "host": "claude-code",
        "executes": True,
        "durability": "os",
        "part": 1,
        "spawned_by": None,
    },
    "turn_open": {"key": "prompt-1", "part": 1, "why": "prompt"},
    "policy_set": {"policy": D[1]},
    "approval": {
        "decision_digest": D[2],
        "args_digest": None,
        "session": "s1",
        "class": None,
        "principal": "alice",
        "expiry": 5,
        "nonce": "0" * 32,
        "verdict": "approve",
        "evidence": "signature",
        "key": "ed25519:" + "0" * 64,
        "sig": "ed25519:" + "0" * 128,
    },
    "turn_close": {"root": D[1], "count": 2, "closed_by": "stop", "ledger_head_digest": D[2]},
    "session_close": {"closed_by": "session_end", "ledger_head_digest": D[2]},
    "recovery": {"offset": 10, "length": 3, "digest": D[3]},
    "key_rotate": {
        "role": "checkpoint",
        "name": "example.org/ledger",
        "old": None,
        "new": "ed25519:" + "0" * 64,
        "signatures": ["ed25519:" + "0" * 128],
    },
    "checkpoint": {"text": "t"},
    "audit": {"action": "run.claimed", "actor": "evalkit", "target": None, "details": {"n": 1}},
}


PLACES: dict[str, tuple[str | None, int | None, list[str]]] = {
    "turn_open": ("s1", 1, [D[8]]),
    "turn_close": ("s1", 1, [D[8]]),
    "recovery": ("s1", 1, [D[8]]),
    "policy_set": (None, None, []),
    "key_rotate": (None, None, []),
    "checkpoint": (None, None, []),
}


def an_entry(kind: str) -> dict[str, Any]:
    """Return a good entry of a kind."""
    if kind == "decision":
        return copy.deepcopy(DECISION)
    if kind == "outcome":
        return copy.deepcopy(OUTCOME)
    session, turn, parents = PLACES.get(kind, ("s1", None, []))
    body = records.entry(
        kind, session=session, turn=turn, parents=parents, ts=7, ev=copy.deepcopy(EVENTS[kind])
    )
    if kind in records.SPINE_KINDS:
        return records.on_spine(body, seq=1, prev_digest=records.ZERO_DIGEST)
    return body


ALL = sorted(records.KINDS)


def test_every_kind_has_an_example_here() -> None:
    assert set(EVENTS) | {"decision", "outcome"} == set(records.KINDS)


@pytest.mark.parametrize("kind", ALL)
def test_a_good_entry_passes_and_is_one_canonical_line(kind: str) -> None:
    line = records.line_of(an_entry(kind))
    assert b"\n" not in line
    assert json.loads(line) == an_entry(kind)


@pytest.mark.parametrize("kind", ALL)
def test_an_unknown_field_is_refused_at_every_level(kind: str) -> None:
    for where in (lambda e: e, lambda e: e["ev"]):
        body = an_entry(kind)
        where(body)["extra"] = None
        with pytest.raises(RecordError, match="unknown fields"):
            records.check(body)


@pytest.mark.parametrize("kind", ALL)
def test_every_field_is_needed(kind: str) -> None:
    for name in an_entry(kind).keys() - {"kind"}:
        body = an_entry(kind)
        del body[name]
        with pytest.raises(RecordError, match="missing fields"):
            records.check(body)
    for name in an_entry(kind)["ev"]:
        body = an_entry(kind)
        del body["ev"][name]
        with pytest.raises(RecordError, match="missing fields"):
            records.check(body)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("bad", [1.5, float("nan"), b"bytes", {"no": "such"}, [1]], ids=repr)
def test_a_value_of_a_wrong_type_is_refused_in_every_field(kind: str, bad: Any) -> None:
    for name in an_entry(kind)["ev"].keys() - {"details"}:
        body = an_entry(kind)
        body["ev"][name] = bad
        with pytest.raises(RecordError):
            records.check(body)
    for name in an_entry(kind).keys() - {"ev"}:
        body = an_entry(kind)
        body[name] = bad
        with pytest.raises(RecordError):
            records.check(body)


FAULTS: dict[str, tuple[str, list[tuple[tuple[str, ...], Any]]]] = {
    "version is another": ("decision", [(("v",), 2)]),
    "version is a bool": ("decision", [(("v",), True)]),
    "kind is unknown": ("decision", [(("kind",), "decison")]),
    "kind is not text": ("decision", [(("kind",), ["decision"])]),
    "turn is negative": ("decision", [(("turn",), -1)]),
    "turn is a bool": ("decision", [(("turn",), True)]),
    "parents repeat": ("decision", [(("parents",), [D[1], D[1]])]),
    "parents are not sorted": ("decision", [(("parents",), [D[2], D[1]])]),
    "a parent is no digest": ("decision", [(("parents",), ["sha256:0"])]),
    "a digest in upper case": ("decision", [(("ev", "args_digest"), D[10].upper())]),
    "a digest of another hash": ("decision", [(("ev", "args_digest"), "sha512:" + "0" * 64)]),
    "ts differs from ev.ts": ("decision", [(("ts",), 1)]),
    "ts is beyond 2^53-1": ("decision", [(("ts",), 2**53), (("ev", "ts"), 2**53)]),
    "state is unknown": ("decision", [(("ev", "decision_state"), "allow")]),
    "auth mode is unknown": ("decision", [(("ev", "auth_mode"), "root")]),
    "intent has a field more": ("decision", [(("intent", "extra"), 1)]),
    "intent scope is unknown": ("decision", [(("intent", "scope"), "galaxy")]),
    "a resource in plain text": ("decision", [(("effects", 0, "resource"), "/etc/passwd")]),
    "an effect has a field more": ("decision", [(("effects", 0, "path"), "x")]),
    "too many effects": ("decision", [(("effects",), [EFFECT] * 65)]),
    "too many facts": ("decision", [(("facts",), [{"code": "c", "entry": D[1]}] * 33)]),
    "a fact names no entry": ("decision", [(("facts", 0, "entry"), None)]),
    "source is unknown": ("outcome", [(("source",), "guess")]),
    "join is unknown": ("outcome", [(("join",), "time")]),
    "terminal state is unknown": ("outcome", [(("ev", "terminal_state"), "done")]),
    "a result where nothing ran": ("outcome", [(("ev", "terminal_state"), "refused")]),
    "no result where it ran": ("outcome", [(("ev", "result_digest"), None)]),
    "shape is unknown": ("session_open", [(("ev", "shape"), "tree")]),
    "executes is a number": ("session_open", [(("ev", "executes"), 1)]),
    "closed by nobody known": ("turn_close", [(("ev", "closed_by"), "me")]),
    "seq is negative": ("turn_close", [(("seq",), -1)]),
    "details are a list": ("audit", [(("ev", "details"), [])]),
}


@pytest.mark.parametrize(("kind", "edits"), FAULTS.values(), ids=FAULTS.keys())
def test_fault(kind: str, edits: list[tuple[tuple[Any, ...], Any]]) -> None:
    body: Any = an_entry(kind)
    for path, value in edits:
        place = body
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
    with pytest.raises(RecordError):
        records.check(body)


@pytest.mark.parametrize("body", [None, [], "entry", 1])
def test_an_entry_is_an_object(body: Any) -> None:
    with pytest.raises(RecordError, match="expected an object"):
        records.check(body)


@pytest.mark.parametrize("kind", sorted(records.SPINE_KINDS))
def test_a_spine_kind_without_its_place_is_refused(kind: str) -> None:
    body = an_entry(kind)
    del body["seq"], body["prev_digest"]
    with pytest.raises(RecordError, match="missing fields"):
        records.check(body)


def test_a_turn_kind_may_stand_on_the_spine_whole_or_not_at_all() -> None:
    placed = records.on_spine(an_entry("outcome"), seq=4, prev_digest=D[1])
    records.check(placed)
    del placed["seq"]
    with pytest.raises(RecordError, match="missing fields"):
        records.check(placed)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("session_open", "session", None),
        ("session_open", "turn", 1),
        ("session_close", "turn", 1),
        ("turn_open", "turn", None),
        ("turn_close", "session", None),
        ("decision", "session", None),
        ("decision", "turn", None),
        ("outcome", "session", None),
        ("policy_set", "session", "s1"),
        ("policy_set", "turn", 1),
        ("policy_set", "parents", [D[1]]),
        ("audit", "turn", 1),
        ("audit", "parents", [D[1]]),
        ("approval", "turn", 1),
        ("key_rotate", "session", "s1"),
        ("key_rotate", "parents", [D[1]]),
        ("checkpoint", "parents", [D[1]]),
        ("checkpoint", "turn", 1),
        ("recovery", "session", None),
        ("recovery", "turn", None),
        ("recovery", "parents", []),
    ],
)
def test_a_place_that_does_not_apply_is_refused(kind: str, name: str, value: Any) -> None:
    body = an_entry(kind) | {name: value}
    with pytest.raises(RecordError):
        records.check(body)


def test_an_outcome_may_come_after_its_turn_and_a_recovery_belong_to_no_session() -> None:
    records.check(an_entry("outcome") | {"turn": None})
    records.check(an_entry("recovery") | {"session": None, "turn": None, "parents": []})


@pytest.mark.parametrize("value", [None, "s2"])
def test_an_approval_belongs_to_the_session_it_names(value: Any) -> None:
    body = {**an_entry("approval"), "session": value}
    with pytest.raises(RecordError, match="session is not ev"):
        records.check(body)


def test_a_line_longer_than_the_limit_is_refused() -> None:
    body = an_entry("audit")
    body["ev"]["details"] = {"text": "x" * records.MAX_LINE_BYTES}
    with pytest.raises(RecordError, match="at most 65536"):
        records.line_of(body)
    body["ev"]["details"] = {"text": "x" * (records.MAX_LINE_BYTES - 400)}
    assert len(records.line_of(body)) < records.MAX_LINE_BYTES


def test_details_may_not_hold_a_float() -> None:
    body = an_entry("audit")
    body["ev"]["details"] = {"level": 0.95}
    with pytest.raises(Exception, match="outside the ledger profile"):
        records.line_of(body)


def test_the_action_ref_recomputes_from_the_intent_alone() -> None:
    literal = (
        b'{"action_type":"Bash","agent_id":"main","call":"call-1",'
        b'"scope":"workspace","ts":1700000000000000}'
    )
    assert DECISION["ev"]["action_ref"] == digest(literal)
    assert action_ref(Intent(**DECISION["intent"])) == digest(literal)


@pytest.mark.parametrize(
    "change", [{"agent_id": "main/sub"}, {"call": "call-2"}, {"ts": 1}, {"scope": "home"}]
)
def test_two_calls_that_differ_have_different_refs(change: dict[str, Any]) -> None:
    assert action_ref(FIELDS.intent) != action_ref(FIELDS.intent._replace(**change))


BESIDE = sorted(FIELDS.beside())


@pytest.mark.parametrize("name", BESIDE)
def test_the_decision_digest_binds_every_field_beside_the_event(name: str) -> None:
    changed = FIELDS._replace(**CHANGES[name])
    assert records.decision_digest(changed.event()) != records.decision_digest(FIELDS.event())


CHANGES: dict[str, dict[str, Any]] = {
    "intent": {"intent": FIELDS.intent._replace(call="other")},
    "class": {"action_class": "other"},
    "basis": {"basis": (D[9],)},
    "effects": {"effects": ({**EFFECT, "reversible": True},)},
    "facts": {"facts": ()},
    "host": {"host": "other"},
    "rule": {"rule": "other"},
    "axis": {"axis": None},
    "proof": {"proof": "unresolved(x)"},
    "mode": {"mode": None},
    "build": {"build": D[9]},
}


def test_the_event_is_exactly_the_eight_fields_and_the_outcome_the_five() -> None:
    assert sorted(DECISION["ev"]) == sorted(
        [
            "decision_id",
            "action_ref",
            "principal",
            "auth_mode",
            "policy_version",
            "decision_state",
            "args_digest",
            "ts",
        ]
    )
    assert sorted(OUTCOME["ev"]) == sorted(
        ["action_ref", "decision_digest", "result_digest", "terminal_state", "ts"]
    )


def test_the_strictest_scope_wins_whatever_the_order() -> None:
    assert strictest_scope([]) == "inspect-only"
    assert strictest_scope(["gate", "workspace"]) == "gate"
    assert strictest_scope(["workspace", "secret", "home"]) == "secret"
    assert len(set(SCOPES)) == 9


@given(st.permutations(SCOPES), st.integers(1, 9))
def test_scope_order_does_not_matter(scopes: list[str], count: int) -> None:
    some = scopes[:count]
    assert strictest_scope(some) == strictest_scope(sorted(some))
