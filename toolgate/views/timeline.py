"""One session as a timeline: its turns, and in each turn its calls side by side."""

from typing import NamedTuple

from toolgate.views.approvals import Approval
from toolgate.views.story import Difference, EffectSaid

UNENDED = ("denied", "asked", "decided")
"""Fates of calls that took no time: nothing of theirs ever ran."""


class Moment(NamedTuple):
    """Something that happened to a call.

    Args:
        ts: when, microseconds UTC.
        kind: ``decision``, ``approval`` or ``outcome``.
        word: the decision's state, the approval's verdict or the terminal state.
        by: the rule, the principal or the source.
        entry: the entry that says so.
        note: ``stands``, ``answered`` or ``replaced`` for a decision; ``signature`` or
            ``telemetry`` for an approval; ``late`` for an outcome behind its turn, else "".
    """

    ts: int
    kind: str
    word: str
    by: str
    entry: str
    note: str


class Call(NamedTuple):
    """A call in its turn.

    Args:
        number: its number in the session, from 1.
        lane: beside how many others it is drawn, from 0.
        call: the call id.
        tool: the tool's name.
        agent: the agent chain joined by ``/``.
        principal: who it ran for.
        begin: when it was received, microseconds UTC.
        asked_until: when the wait for an answer ended; None if there was none, or if that
            cannot be told from the call's run.
        end: when it ended; None if no end was reported, or if nothing ever ran.
        fate: one word, see ``Action.fate``.
        state: the decision that counts.
        asked: whether it was asked about.
        how: how the confirmation it needed was given.
        rule: the deciding rule.
        because: why the rule applies, if the policy or this program says so.
        axis: the risk the rule is about.
        action_class: the policy's class of the action.
        effects: what it wanted to do.
        approvals: what was said about it.
        differences: reports of other arguments.
        moments: everything that happened to it, in order.
        decision: the decision_digest that counts.
        entry: that decision's entry.
    """

    number: int
    lane: int
    call: str
    tool: str
    agent: str
    principal: str
    begin: int
    asked_until: int | None
    end: int | None
    fate: str
    state: str
    asked: bool
    how: str
    rule: str
    because: str | None
    axis: str | None
    action_class: str
    effects: tuple[EffectSaid, ...]
    approvals: tuple[Approval, ...]
    differences: tuple[Difference, ...]
    moments: tuple[Moment, ...]
    decision: str
    entry: str


class Seal(NamedTuple):
    """A torn end that a recovery entry covers."""

    ts: int
    length: int
    offset: int
    entry: str


class Turn(NamedTuple):
    """A turn.

    Args:
        number: its number; 0 for calls in no turn.
        part: the session's part it belongs to; None if its opening is not there.
        key: the prompt's id or ``#n``; None if its opening is not there.
        key_part: which part of that prompt's turns it is.
        why: why it was opened.
        begin: when it began, microseconds UTC.
        end: when it was closed; None while it is open.
        closed_by: why it was closed.
        entries: how many entries its close commits to.
        lanes: how many calls ran side by side at most.
        calls: its calls in the order of their first decisions.
        seals: its recoveries.
    """

    number: int
    part: int | None
    key: str | None
    key_part: int | None
    why: str | None
    begin: int
    end: int | None
    closed_by: str | None
    entries: int | None
    lanes: int
    calls: tuple[Call, ...]
    seals: tuple[Seal, ...]

    @property
    def until(self) -> int:
        """Return where its picture ends: its close, or the last thing in it while it is open."""
        if self.end is not None:
            return max(self.end, self.begin)
        inside = [moment.ts for call in self.calls for moment in call.moments]
        return max([self.begin, *inside])


class Stray(NamedTuple):
    """A report that no decision waited for: a call that ran off the ledger.

    Args:
        ts: when it came, microseconds UTC.
        call: the call id it names, if any.
        tool: the tool it names.
        entry: the audit entry.
    """

    ts: int
    call: str | None
    tool: str
    entry: str


class Part(NamedTuple):
    """A part of the session: from its opening to its close."""

    number: int
    host: str
    durability: str
    begin: int
    end: int | None
    closed_by: str | None
    spawned_by: str | None


class Timeline(NamedTuple):
    """One session.

    Args:
        session: its id.
        shape: ``dag`` or ``linear``; None if its opening is not there.
        executes: whether it runs what it allows.
        is_open: whether its latest part is open.
        parts: its parts.
        turns: its turns.
        strays: reports without a decision.
        torn: torn lines in its file that no recovery covers.
        principals: who its calls ran for.
        policies: its policies by digest, with their names.
    """

    session: str
    shape: str | None
    executes: bool
    is_open: bool
    parts: tuple[Part, ...]
    turns: tuple[Turn, ...]
    strays: tuple[Stray, ...]
    torn: int
    principals: tuple[str, ...]
    policies: dict[str, str | None]

    @property
    def calls(self) -> list[Call]:
        """Return all calls."""
        return [call for turn in self.turns for call in turn.calls]

    @property
    def begin(self) -> int:
        """Return when the session began, microseconds UTC."""
        begins = [part.begin for part in self.parts] or [turn.begin for turn in self.turns]
        return min(begins, default=0)

    @property
    def until(self) -> int:
        """Return the time of the last thing that happened in it."""
        ends = [part.end for part in self.parts if part.end is not None]
        ends += [turn.until for turn in self.turns]
        ends += [moment.ts for call in self.calls for moment in call.moments]
        return max([self.begin, *ends])


def is_late(call: Call, turn: Turn) -> bool:
    """Say whether a call's end was reported behind its turn's close."""
    return call.end is not None and turn.end is not None and call.end > turn.end


def span(call: Call, until: int) -> tuple[int, int]:
    """Return from when to when a call takes up a lane of its turn.

    Args:
        call: the call.
        until: where the turn's picture ends: a call without an end goes on until there.
    """
    if call.fate in UNENDED:
        ends = [one.ts for one in call.moments if one.kind == "decision"]
        return call.begin, max(call.begin, *ends)
    end = until if call.end is None else min(call.end, until)
    return call.begin, max(call.begin, end)
