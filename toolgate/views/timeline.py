"""One session as a timeline: its turns, and in each turn its calls side by side."""

from collections.abc import Callable
from functools import cache
from heapq import heappop, heappush
from typing import NamedTuple

from toolgate.views.actions import Action, actions_of, executes, is_open
from toolgate.views.approvals import Approval
from toolgate.views.gather import Gathered
from toolgate.views.policy import PolicyText, policy_text
from toolgate.views.story import Difference, EffectSaid, differences_of, effects_of

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


def timeline_of(held: Gathered, policy: Callable[[str], bytes | None]) -> Timeline:
    """Return a session's timeline.

    Args:
        held: the session.
        policy: returns the text kept under a policy's digest.
    """

    @cache
    def text(version: str) -> PolicyText:
        return policy_text(version, policy(version))

    by_turn: dict[int, list[Call]] = {number: [] for number in held.turn_opens}
    for number, action in enumerate(actions_of(held), 1):
        by_turn.setdefault(action.first.turn or 0, []).append(_call(held, number, action, text))
    versions = dict.fromkeys(one.entry.ev.policy_version for one in held.decisions)
    opened = held.opens[0].entry.ev if held.opens else None
    return Timeline(
        session=held.session,
        shape=opened.shape if opened else None,
        executes=executes(held),
        is_open=is_open(held),
        parts=_parts(held),
        turns=tuple(_turn(held, number, by_turn[number]) for number in sorted(by_turn)),
        strays=_strays(held),
        torn=sum(run.total for run in held.torn if not run.covered),
        principals=tuple(dict.fromkeys(one.entry.ev.principal for one in held.decisions)),
        policies={version: text(version).name for version in versions},
    )


def _call(held: Gathered, number: int, action: Action, text: Callable[[str], PolicyText]) -> Call:
    standing = action.standing.entry
    policy = text(standing.ev.policy_version)
    composed = standing.action_class in policy.composition
    fate = action.fate(executes=executes(held), is_open=is_open(held))
    final = action.final
    ran = final is not None and fate not in (*UNENDED, "unresolved")
    how = action.confirmed(composed=composed)
    return Call(
        number=number,
        lane=0,
        call=standing.intent.call,
        tool=standing.intent.action_type,
        agent=standing.intent.agent_id,
        principal=standing.ev.principal,
        begin=action.first.intent.ts,
        asked_until=_asked_until(action),
        end=final.entry.ts if final is not None and ran else None,
        fate=fate,
        state=standing.ev.decision_state,
        asked=action.asked,
        how=how,
        rule=standing.rule,
        because=policy.because(standing.rule),
        axis=standing.axis,
        action_class=standing.action_class,
        effects=effects_of(standing),
        approvals=action.approvals,
        differences=differences_of(held, action),
        moments=_moments(action),
        decision=action.standing.event,
        entry=action.standing.digest,
    )


def _asked_until(action: Action) -> int | None:
    """Return when an ask was answered, where that is known apart from the call's end."""
    recorded = any(one.cited for one in action.approvals)
    return action.standing.entry.ts if action.asked and recorded else None


def _moments(action: Action) -> tuple[Moment, ...]:
    first_turn = action.first.turn
    found = [
        Moment(
            one.entry.ts,
            "decision",
            one.entry.ev.decision_state,
            one.entry.rule,
            one.digest,
            action.role(at),
        )
        for at, one in enumerate(action.decisions)
    ]
    found += [
        Moment(one.ts, "approval", one.verdict, one.principal, one.entry, one.evidence)
        for one in action.approvals
    ]
    found += [
        Moment(
            one.entry.ts,
            "outcome",
            one.entry.ev.terminal_state,
            one.entry.source,
            one.digest,
            "" if one.entry.turn == first_turn else "late",
        )
        for one in action.outcomes
    ]
    return tuple(sorted(found, key=lambda one: one.ts))


def _turn(held: Gathered, number: int, calls: list[Call]) -> Turn:
    opened, closed = held.turn_opens.get(number), held.turn_closes.get(number)
    parents = opened.entry.parents if opened else []
    part = next((one.entry.ev.part for one in held.opens if one.digest in parents), None)
    begin = opened.entry.ts if opened else min((call.begin for call in calls), default=0)
    end = closed.entry.ts if closed else None
    placed, lanes = _in_lanes(calls, end)
    return Turn(
        number=number,
        part=part,
        key=opened.entry.ev.key if opened else None,
        key_part=opened.entry.ev.part if opened else None,
        why=opened.entry.ev.why if opened else None,
        begin=begin,
        end=end,
        closed_by=closed.entry.ev.closed_by if closed else None,
        entries=closed.entry.ev.count if closed else None,
        lanes=lanes,
        calls=placed,
        seals=tuple(
            Seal(one.entry.ts, one.entry.ev.length, one.entry.ev.offset, one.digest)
            for one in held.recoveries
            if one.entry.turn == number
        ),
    )


def is_late(call: Call, turn: Turn) -> bool:
    """Say whether a call's end was reported behind its turn's close."""
    return call.end is not None and turn.end is not None and call.end > turn.end


def span(call: Call, turn_end: int | None) -> tuple[int, int]:
    """Return from when to when a call takes up a lane of its turn.

    Args:
        call: the call.
        turn_end: when its turn was closed; None while it is open.
    """
    last = max(moment.ts for moment in call.moments)
    if call.fate in UNENDED:
        ends = [one.ts for one in call.moments if one.kind == "decision"]
        return call.begin, max(call.begin, *ends)
    end = call.end if call.end is not None else turn_end if turn_end is not None else last
    return call.begin, max(call.begin, end if turn_end is None else min(end, turn_end))


def _in_lanes(calls: list[Call], turn_end: int | None) -> tuple[tuple[Call, ...], int]:
    """Give each call the lowest lane that is free from its begin to its end."""
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    lanes = 0
    placed: dict[int, Call] = {}
    for call in sorted(calls, key=lambda one: (one.begin, one.number)):
        begin, end = span(call, turn_end)
        while busy and busy[0][0] <= begin:
            heappush(free, heappop(busy)[1])
        if free:
            lane = heappop(free)
        else:
            lane, lanes = lanes, lanes + 1
        heappush(busy, (end, lane))
        placed[call.number] = call._replace(lane=lane)
    return tuple(placed[call.number] for call in calls), lanes


def _strays(held: Gathered) -> tuple[Stray, ...]:
    found = []
    for one in held.audits:
        ev = one.entry.ev
        if ev["action"] == "execution.unmatched":
            call, tool = ev["details"].get("call"), ev["details"].get("tool")
            named = call if isinstance(call, str) else None
            found.append(Stray(one.entry.ts, named, str(tool), one.digest))
    return tuple(found)


def _parts(held: Gathered) -> tuple[Part, ...]:
    """Return the session's parts; each ends with the first close behind its opening."""
    parts = []
    for at, one in enumerate(held.opens):
        next_seq = held.opens[at + 1].seq if at + 1 < len(held.opens) else 2**63
        closed = next((end for end in held.closes if one.seq < end.seq < next_seq), None)
        ev = one.entry.ev
        parts.append(
            Part(
                number=ev.part,
                host=ev.host,
                durability=ev.durability,
                begin=one.entry.ts,
                end=closed.entry.ts if closed else None,
                closed_by=closed.entry.ev.closed_by if closed else None,
                spawned_by=ev.spawned_by,
            )
        )
    return tuple(parts)
