"""Layer 1, entry conformance: every entry is well formed and bound to what it rests on.

Recomputes action_ref, decision_id, scope and class from the entry and the hashed
policy, and resolves the decision every outcome commits to.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple, get_args

import msgspec

from toolgate.verify.approvals import Approvals
from toolgate.verify.authority import Authority, Edge, authority_findings, authority_of
from toolgate.verify.diagnose import diagnose
from toolgate.verify.findings import MOST_OF_A_CODE, Found, Seen, finding
from toolgate.verify.given import Resting
from toolgate.verify.policies import Policies
from toolgate.verify.read import Bad, Line
from toolgate.verify.shapes import (
    Beside,
    Decision,
    Effect,
    Entry,
    Other,
    Outcome,
    PolicySet,
    Scope,
    TurnClose,
    TurnOpen,
)
from toolgate.verify.sorted_runs import Run, SortedRuns
from toolgate.verify.words import counted

_SCOPES: tuple[str, ...] = get_args(Scope)  # from the least to the most guarded
_RANK = {scope: rank for rank, scope in enumerate(_SCOPES)}
_encode_into = msgspec.json.Encoder().encode_into


class _Commitment(NamedTuple):
    """An outcome that waits for its decision to be known."""

    entry: str
    decision_digest: str
    action_ref: str


class _Session:
    """What layer 1 remembers of a session until all of it was read.

    ``by_digest`` and ``by_entry`` give a decision's action_ref; ``commitments`` are the
    outcomes whose decision was not there, or not the right one, when they were read.
    """

    __slots__ = ("by_digest", "by_entry", "closed", "commitments", "denied", "opened", "refs")

    def __init__(self) -> None:
        self.opened: dict[int | None, int] = {}
        self.closed: dict[int | None, int] = {}
        self.by_digest: dict[str, str] = {}
        self.by_entry: dict[str, str] = {}
        self.denied: set[str] = set()
        self.refs: set[str] = set()
        self.commitments: list[_Commitment] = []


class Noted(NamedTuple):
    """What one of several processes knows that concerns the sessions of others.

    Args:
        runs: where it laid down the action_refs.
        governed: the principals each policy was asked about.
        resting: the decisions that rest on approvals.
        unnamed: decisions that approvals name and that it has not seen.
    """

    runs: list[Run]
    governed: dict[str, set[str]]
    resting: list[Resting]
    unnamed: set[str]


class Entries:
    """The first layer.

    Args:
        policy_text: returns the text kept under a policy's digest, None if there is none.
        signature: returns what is kept as its author's signature, None if nothing is.
        roots: policy digests and keys that are trusted; None when none were given.

    Attributes:
        approvals: the approvals, and what rests on them.
        authority: where the authority of each policy that decided ends.
    """

    def __init__(
        self,
        policy_text: Callable[[str], bytes | None],
        signature: Callable[[str], bytes | None],
        roots: frozenset[str] = frozenset(),
        most: int = MOST_OF_A_CODE,
    ) -> None:
        self.seen = Found(most)
        self.authority: list[Authority] = []
        self._roots = roots
        self._sessions: dict[str, _Session] = defaultdict(_Session)
        self._policies = Policies(policy_text, signature)
        self.approvals = Approvals(self.seen, self._policies)
        self._refs = SortedRuns()
        # Encoding into a buffer that is there takes half the time of encoding into new bytes.
        self._intent = bytearray()
        self._beside = bytearray()

    def bad(self, run: Bad, session: str | None) -> None:
        """Say what is wrong with each line of a run that no recovery covers."""
        if run.covered:
            return
        lines = run.lines
        if run.torn and run.total == len(lines):
            lines = lines[:-1]  # a torn end is a matter of the log
        for number, raw in lines:
            code, why = diagnose(raw)
            self._add(code, f"{run.file}:{number}", why, session)
        if run.total > len(run.lines):
            more = counted(run.total - len(run.lines), "line")
            message = f"{more} more behind this one: no entries"
            self._add("entries.parse", f"{run.file}:{run.last}", message, session)

    def outcome(self, line: Line, entry: Outcome, stream: str | None) -> None:
        """Keep what an outcome commits to.

        Args:
            line: the entry and its place.
            entry: what it says.
            stream: the session whose file it lies in, None on the spine.
        """
        if entry.session is not None and stream in (None, entry.session):
            ev, held = entry.ev, self._sessions[entry.session]
            if held.by_digest.get(ev.decision_digest) != ev.action_ref:
                held.commitments.append(_Commitment(line.digest, ev.decision_digest, ev.action_ref))

    def other(self, line: Line, entry: Entry, stream: str | None) -> None:
        """Note a policy, an approval or a turn's end; arguments as in ``outcome``."""
        if stream is not None:
            return  # what belongs on the spine says nothing elsewhere
        if type(entry) is PolicySet:
            self._policies.announced.setdefault(entry.ev.policy, entry.seq)
        elif type(entry) is TurnClose:
            self._sessions[entry.session or ""].closed.setdefault(entry.turn, entry.seq)
        elif type(entry) is TurnOpen:
            if self.approvals.entries:
                self._sessions[entry.session or ""].opened.setdefault(entry.turn, entry.seq)
        elif type(entry) is Other:
            self.approvals.entry(line, entry)

    def end_session(self, session: str) -> None:
        """Resolve what a session's outcomes commit to, now that all of it was read."""
        held = self._sessions.pop(session, None)
        if held is None:
            return
        for outcome in held.commitments:
            action_ref = held.by_digest.get(outcome.decision_digest)
            if action_ref is None:
                code, why = (
                    "entries.outcome_unbound",
                    (
                        f"outcome commits to decision {outcome.decision_digest}; "
                        "the session holds no such decision"
                    ),
                )
            elif action_ref != outcome.action_ref:
                code, why = (
                    "entries.swapped_outcome",
                    (
                        f"outcome is about action {outcome.action_ref}; the decision it commits to "
                        f"is about {action_ref}"
                    ),
                )
            else:
                continue
            self._add(code, outcome.entry, why, session)
        self._refs.add(held.refs)
        self.approvals.end_session(session, held.by_digest)

    # -- sessions that other processes read

    def part(self, others: int) -> None:
        """Prepare for so many other processes."""
        self._refs.open(others)

    def begin(self, process: int) -> None:
        """Go on as one of them, counted from 1, which reports only what it finds itself."""
        self.seen.begin()
        self._refs.begin(process)
        self._policies.governed.clear()
        self.approvals.begin()

    def noted(self) -> Noted:
        """Return what this process knows that concerns the sessions of others."""
        governed = dict(self._policies.governed)
        return Noted(self._refs.written(), governed, *self.approvals.noted())

    def take(self, parts: Sequence[Noted], order: Mapping[str, int]) -> None:
        """Take what other processes know of that.

        Args:
            parts: what each of them noted.
            order: where each session stands among those that are read.
        """
        for part in parts:
            self._refs.take(part.runs)
            for version, principals in part.governed.items():
                self._policies.governed[version] |= principals
        self.approvals.take([(part.resting, part.unnamed) for part in parts], order)

    def close(self) -> None:
        """Let the temporary files go."""
        self._refs.close()

    def leave(self, session: str) -> None:
        """Leave a session to another process."""
        self._sessions.pop(session, None)

    def finish(self) -> None:
        """Compare across sessions."""
        for session in list(self._sessions):
            self.end_session(session)
        for ref in self._refs.repeated():
            self._add(
                "entries.action_ref_reused",
                ref,
                "two sessions hold a decision of this action",
                None,
            )
        self.approvals.finish()
        self._judge_authority()

    def _judge_authority(self) -> None:
        policies, speaks = self._policies, self.approvals.keys.speaks
        known: dict[str, Edge] = {}
        self.authority = [
            authority_of(version, policies, speaks, self._roots, known)
            for version in sorted(policies.governed)
        ]
        self.seen.extend(
            authority_findings(
                self.authority, policies.governed.__getitem__, pinned=bool(self._roots)
            )
        )

    def decision(self, line: Line, entry: Decision, stream: str | None) -> None:
        """Check a decision; arguments as in ``outcome``."""
        session, ev = entry.session or "", entry.ev
        held = self._sessions[session]
        self._derived(line, entry, held)
        if stream is not None and stream != session:
            return
        if held.by_entry.keys().isdisjoint(entry.parents):
            scope = _strictest(entry.effects)
            if scope != entry.intent.scope:
                why = f"scope is {entry.intent.scope}; the effects give {scope}"
                self._at("entries.scope", line, entry, why)
            if ev.action_ref in held.refs and line.digest not in held.by_entry:
                why = "an earlier decision has the same action_ref"
                self._at("entries.action_ref_reused", line, entry, why)
        elif any(held.by_entry.get(one, ev.action_ref) != ev.action_ref for one in entry.parents):
            why = "it replaces or answers a decision of another action"
            self._at("entries.intent_differs", line, entry, why)
        if entry.basis or entry.action_class in self._policies.composed:
            self._basis(line, entry, held)
        if ev.decision_state != "allowed":
            if stream is None or self.approvals.entries:
                self.approvals.held_back(entry)
            if ev.decision_state == "denied":
                held.denied.add(line.event)
        held.refs.add(ev.action_ref)
        held.by_entry[line.digest] = held.by_digest[line.event] = ev.action_ref

    def _derived(self, line: Line, entry: Decision, held: _Session) -> None:
        """Recompute what a decision derives from its own content and its policy."""
        ev = entry.ev
        _encode_into(entry.intent, self._intent)
        ref = "sha256:" + sha256(self._intent).hexdigest()
        if ref != ev.action_ref:
            why = f"action_ref is {ev.action_ref}; its intent gives {ref}"
            self._at("entries.action_ref", line, entry, why)
        beside = Beside(
            entry.axis,
            entry.basis,
            entry.build,
            entry.action_class,
            entry.effects,
            entry.facts,
            entry.host,
            entry.intent,
            entry.mode,
            entry.proof,
            entry.rule,
        )
        _encode_into(beside, self._beside)
        made = "sha256:" + sha256(self._beside).hexdigest()
        if made != ev.decision_id:
            why = f"decision_id is {ev.decision_id}; it covers {made}"
            self._at("entries.decision_id", line, entry, why)
        fault = self._policies.fault(ev.policy_version, held.closed.get(entry.turn))
        if fault is not None:
            why = f"{line.where}: policy {ev.policy_version} {_POLICY_WORDS[fault]}"
            self._at(fault, line, entry, why)
            return
        self._policies.governed[ev.policy_version].add(ev.principal)
        if entry.action_class != (want := self._policies.class_of(entry)):
            why = f"class is {entry.action_class!r}; the policy gives {want!r}"
            self._at("entries.class", line, entry, why)

    def _basis(self, line: Line, entry: Decision, held: _Session) -> None:
        asks: list[str] = []
        for item in entry.basis:
            action_ref = held.by_digest.get(item)
            if action_ref is not None:
                asks.append(item)
                if action_ref != entry.ev.action_ref:
                    why = f"basis {item} is about {action_ref}"
                    self._at("entries.basis_other_action", line, entry, why)
                elif item in held.denied and entry.ev.decision_state == "allowed":
                    why = f"basis {item} was denied; only what was asked is answered"
                    self._at("entries.approval_refused", line, entry, why)
            elif item not in self.approvals.entries:
                why = f"basis names {item}; no earlier entry is that"
                self._at("entries.basis_unknown", line, entry, why)
        turns = held.opened.get(entry.turn), held.closed.get(entry.turn)
        self.approvals.decision(line, entry, asks, *turns)

    def _at(self, code: str, line: Line, entry: Decision, message: str) -> None:
        self._add(code, line.digest, message, entry.session or "", entry.turn)

    def _add(
        self, code: str, entry: str, message: str, session: str | None, turn: int | None = None
    ) -> None:
        self.seen.append(Seen(finding(code, entry, message), session, turn))


def _strictest(effects: list[Effect]) -> str:
    if len(effects) == 1:
        return effects[0].scope
    return _SCOPES[max([_RANK[effect.scope] for effect in effects], default=0)]


_POLICY_WORDS = {
    "entries.policy_unknown": "is not held in a readable form, or no policy_set entry announced it "
    "before the decision's turn was closed",
    "entries.policy_altered": "is held with a text that has another digest",
}
