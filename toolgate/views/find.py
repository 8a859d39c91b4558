"""Finds the calls that a call id, a digest or the beginning of one may mean."""

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from toolgate.verify.directory import session_name
from toolgate.verify.read import Bad, Line
from toolgate.verify.shapes import Decision, Other, Outcome
from toolgate.views.moments import moment
from toolgate.views.sheet import plain

SHORTEST = 8
"""The fewest hex digits that may stand for a digest."""

_LONGEST = 64
_MOST_LISTED = 50
_HEX = frozenset("0123456789abcdef")


class Candidate(NamedTuple):
    """A call that is meant, by its latest decision.

    Args:
        session: its session.
        action_ref: what all decisions on it share.
        call: its call id.
        tool: the tool's name.
        agent: the agent chain, joined by ``/``.
        state: what was decided.
        ts: when, microseconds UTC.
        decision: the decision_digest.
        entry: the decision's entry, which no other session can hold.
    """

    session: str
    action_ref: str
    call: str
    tool: str
    agent: str
    state: str
    ts: int
    decision: str
    entry: str


class Found(NamedTuple):
    """What a search came to.

    Args:
        calls: the calls that may be meant, each once.
        named: for each, the decision_digest of the decision that is meant: by a digest the one
            it names, by a call id the latest.
        reports: digests of audit entries about a call of this id that no decision waited for.
        others: (digest, kind) of entries that may be meant and belong to no call.
    """

    calls: list[Candidate]
    named: list[str]
    reports: list[str]
    others: list[tuple[str, str]]

    def unclear(self, root: str, wanted: str) -> str | None:
        """Return why a text names not exactly one call; None if it does.

        Args:
            root: the ledger.
            wanted: the text.
        """
        if not self.calls:
            return self._unknown(root, wanted)
        if len(self.calls) == 1:
            return None
        lines = [f"{wanted!r} may be {len(self.calls)} calls; name one by its entry:"]
        lines += [_listed(one) for one in self.calls[:_MOST_LISTED]]
        if len(self.calls) > _MOST_LISTED:
            lines.append(f"  and {len(self.calls) - _MOST_LISTED} more")
        return "\n".join(lines)

    def _unknown(self, root: str, wanted: str) -> str:
        if self.others:
            entry, kind = self.others[0]
            article = "an" if kind[0] in "aeiou" else "a"
            return f"{entry} is {article} {kind} entry that belongs to no decided call"
        if self.reports:
            entries = ", ".join(self.reports[:_MOST_LISTED])
            return (
                f"call {wanted!r} ran, and the ledger holds no decision on it "
                f"(execution.unmatched, entry {entries}); `toolgate ledger verify` reports it"
            )
        return (
            f"the ledger at {root} holds no call {wanted!r}; expected a call id, or a digest of "
            f"a decision or of its entry, or its first {SHORTEST} or more hex digits"
        )


def find(read: Callable[[], Iterable[Line | Bad]], wanted: str) -> Found:
    """Find the calls a text may mean.

    Args:
        read: reads every line of the ledger, the spine first; called once or twice.
        wanted: a call id, a decision_digest, an entry digest, or the beginning of a digest.
    """
    prefix = _prefix(wanted)
    reports: list[str] = []
    others: list[tuple[str, str]] = []
    ends: dict[str, str] = {}

    def look(line: Line) -> None:
        entry = line.entry
        named = prefix is not None and line.digest.startswith(prefix)
        if isinstance(entry, Decision):
            if (named or entry.intent.call == wanted) and not _is_placed(line, entry):
                others.append((line.digest, "misplaced decision"))
        elif isinstance(entry, Other) and _reports_on(entry, wanted):
            reports.append(line.digest)
        elif named and isinstance(entry, Outcome):
            ends[entry.ev.decision_digest] = line.digest
        elif named:
            others.append((line.digest, entry.kind))

    calls = _decisions(read(), prefix, wanted, (), look)
    if ends:
        calls = _decisions(read(), prefix, wanted, ends, None)
        known = {event for _, events in calls.values() for event in events}
        others += [(entry, "outcome") for event, entry in ends.items() if event not in known]
    named = [made.decision if made.call == wanted else events[0] for made, events in calls.values()]
    return Found([made for made, _ in calls.values()], named, reports, others)


def decision_of(lines: Iterable[Line | Bad], event: str) -> Candidate | None:
    """Return the call that a decision_digest names; None when the ledger does not hold it."""
    for made, _ in _decisions(lines, None, None, (event,), None).values():
        return made
    return None


def decision_at(lines: Iterable[Line | Bad], entry: str) -> Decision | None:
    """Return the decision that an entry digest names; None when the lines do not hold it."""
    for line in lines:
        if isinstance(line, Line) and line.digest == entry and isinstance(line.entry, Decision):
            return line.entry
    return None


_Calls = dict[tuple[str, str], tuple[Candidate, list[str]]]


def _decisions(
    lines: Iterable[Line | Bad],
    prefix: str | None,
    call: str | None,
    events: Collection[str],
    look: Callable[[Line], None] | None,
) -> _Calls:
    """Return the calls with a decision that is meant, and their decision_digests from there on."""
    calls: _Calls = {}
    for line in lines:
        if isinstance(line, Bad):
            continue
        entry = line.entry
        if isinstance(entry, Decision):
            key = (entry.session or "", entry.ev.action_ref)
            meant = (
                key in calls
                or entry.intent.call == call
                or line.event in events
                or (prefix is not None and line.digest.startswith(prefix))
                or (prefix is not None and line.event.startswith(prefix))
            )
            if meant and _is_placed(line, entry):
                made = _candidate(line, entry)
                calls[key] = (made, [*calls.get(key, (made, []))[1], line.event])
        if look is not None:
            look(line)
    return calls


def _is_placed(line: Line, entry: Decision) -> bool:
    """Say whether a decision lies on the spine or in its own session's file."""
    if entry.session is None:
        return False
    own = f"sessions/{session_name(entry.session)}.jsonl"
    return line.file == own or not line.file.startswith("sessions/")


def _prefix(wanted: str) -> str | None:
    """Return what a digest would have to begin with; None if the text is no digest's beginning."""
    digits = wanted.lower().removeprefix("sha256:")
    if SHORTEST <= len(digits) <= _LONGEST and _HEX.issuperset(digits):
        return "sha256:" + digits
    return None


def _reports_on(entry: Other, wanted: str) -> bool:
    ev = entry.ev
    return (
        entry.kind == "audit"
        and ev["action"] == "execution.unmatched"
        and ev["details"].get("call") == wanted
    )


def _listed(one: Candidate) -> str:
    return plain(
        f"  {one.entry}  {one.tool} call {one.call}, session {one.session}, {one.state} "
        f"{moment(one.ts)}"
    )


def _candidate(line: Line, entry: Decision) -> Candidate:
    return Candidate(
        session=entry.session or "",
        action_ref=entry.ev.action_ref,
        call=entry.intent.call,
        tool=entry.intent.action_type,
        agent=entry.intent.agent_id,
        state=entry.ev.decision_state,
        ts=entry.ts,
        decision=line.event,
        entry=line.digest,
    )
