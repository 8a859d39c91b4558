"""Lays a session's entries out as a timeline: calls into turns, and in a turn into lanes."""

from collections.abc import Callable
from functools import cache
from heapq import heappop, heappush

from toolgate.views.actions import Action, actions_of, executes, is_open
from toolgate.views.gather import Gathered
from toolgate.views.policy import PolicyText, policy_text
from toolgate.views.tell import differences_of, effects_of
from toolgate.views.timeline import (
    UNENDED,
    Call,
    Moment,
    Part,
    Seal,
    Stray,
    Timeline,
    Turn,
    span,
)


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
    turn = Turn(
        number=number,
        part=part,
        key=opened.entry.ev.key if opened else None,
        key_part=opened.entry.ev.part if opened else None,
        why=opened.entry.ev.why if opened else None,
        begin=begin,
        end=end,
        closed_by=closed.entry.ev.closed_by if closed else None,
        entries=closed.entry.ev.count if closed else None,
        lanes=0,
        calls=tuple(calls),
        seals=tuple(
            Seal(one.entry.ts, one.entry.ev.length, one.entry.ev.offset, one.digest)
            for one in held.recoveries
            if one.entry.turn == number
        ),
    )
    placed, lanes = _in_lanes(calls, turn.until)
    return turn._replace(lanes=lanes, calls=placed)


def _in_lanes(calls: list[Call], until: int) -> tuple[tuple[Call, ...], int]:
    """Give each call the lowest lane that is free from its begin to its end."""
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    lanes = 0
    placed: dict[int, Call] = {}
    for call in sorted(calls, key=lambda one: (one.begin, one.number)):
        begin, end = span(call, until)
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
