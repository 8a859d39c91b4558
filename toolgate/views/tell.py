"""Tells the story of one call from the entries of its session."""

from collections.abc import Callable

from toolgate.verify.shapes import Decision
from toolgate.views.actions import Action, actions_of, executes, is_open
from toolgate.views.find import Candidate
from toolgate.views.gather import Gathered
from toolgate.views.policy import PolicyText, policy_text
from toolgate.views.story import (
    Authority,
    Became,
    Confirmation,
    Deciding,
    Difference,
    EffectSaid,
    Ending,
    Fact,
    Judged,
    Ruling,
    Step,
    Story,
    TurnEnd,
)


def story_of(
    held: Gathered,
    action_ref: str,
    *,
    policy: Callable[[str], bytes | None],
    spawning: Callable[[str], Candidate | None],
) -> Story:
    """Tell the story of one action.

    Args:
        held: its session.
        action_ref: which action; the session holds a decision on it.
        policy: returns the text kept under a policy's digest.
        spawning: returns the decision a decision_digest names, from anywhere in the ledger.
    """
    actions = actions_of(held)
    action = next(one for one in actions if one.first.ev.action_ref == action_ref)
    standing = action.standing.entry
    text = policy_text(standing.ev.policy_version, policy(standing.ev.policy_version))
    wanted = text.composition.get(standing.action_class)
    return Story(
        call=standing.intent.call,
        tool=standing.intent.action_type,
        action_ref=action_ref,
        args_digest=standing.ev.args_digest,
        step=_step(held, actions, action, spawning),
        authority=_authority(held, standing, text),
        ruling=_ruling(standing, text),
        confirmation=Confirmation(
            asked=action.asked,
            composition=wanted,
            how=action.confirmed(composed=wanted is not None),
            approvals=action.approvals,
        ),
        became=_became(held, action),
    )


def effects_of(entry: Decision) -> tuple[EffectSaid, ...]:
    """Return what a decision says the call wanted to do."""
    return tuple(
        EffectSaid(one.type, one.scope, one.reversible, one.proof, one.count, one.resource)
        for one in entry.effects
    )


def _step(
    held: Gathered,
    actions: list[Action],
    action: Action,
    spawning: Callable[[str], Candidate | None],
) -> Step:
    first, standing = action.first, action.standing.entry
    opened = held.turn_opens.get(first.turn or 0)
    parents = opened.entry.parents if opened else []
    part = next((one.entry.ev for one in held.opens if one.digest in parents), None)
    spawned_by = held.opens[0].entry.ev.spawned_by if held.opens else None
    if part is not None and part.spawned_by is not None:
        spawned_by = part.spawned_by
    beside = [one for one in actions if one.first.turn == first.turn]
    return Step(
        session=held.session,
        host=first.host,
        executes=executes(held),
        part=None if part is None else part.part,
        spawned_by=spawned_by,
        spawn=None if spawned_by is None else spawning(spawned_by),
        turn=first.turn,
        key=opened.entry.ev.key if opened else None,
        key_part=opened.entry.ev.part if opened else None,
        began_by=opened.entry.ev.why if opened else None,
        turn_began=opened.entry.ts if opened else None,
        position=beside.index(action) + 1,
        calls=len(beside),
        running=sum(_runs_at(one, first.intent.ts) for one in beside if one is not action),
        received=first.intent.ts,
        agent=tuple(first.intent.agent_id.split("/")),
        scope=standing.intent.scope,
        effects=effects_of(standing),
        facts=tuple(Fact(one.code, one.entry) for one in standing.facts),
        decisions=tuple(
            Deciding(
                entry=one.digest,
                decision=one.event,
                ts=one.entry.ts,
                turn=one.entry.turn,
                state=one.entry.ev.decision_state,
                rule=one.entry.rule,
                role=action.role(at),
            )
            for at, one in enumerate(action.decisions)
        ),
        judged=_judged(held, standing),
    )


def _judged(held: Gathered, standing: Decision) -> Judged | None:
    """Return what the entry says of a judge that a decision names; None if it names none."""
    named = {fact.entry for fact in standing.facts}
    for one in held.audits:
        ev, said = one.entry.ev, one.entry.ev["details"]
        if one.digest in named and ev["action"] == "judge.asked":
            return Judged(
                entry=one.digest,
                model=str(said.get("model")),
                backend=str(said.get("backend")),
                pinned=said.get("pinned") is True,
                readings=_pairs(said.get("readings")),
                missing=_pairs(said.get("missing")),
                unseen=tuple(str(item) for item in _items(said.get("unseen"))),
                fault=str(said.get("fault") or ""),
                kept=said.get("kept") is True,
            )
    return None


def _pairs(value: object) -> tuple[tuple[str, str], ...]:
    return tuple((str(k), str(v)) for k, v in value.items()) if isinstance(value, dict) else ()


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _runs_at(action: Action, ts: int) -> bool:
    """Say whether a call with an end began before a moment and ended after it."""
    final = action.final
    return final is not None and action.first.intent.ts <= ts < final.entry.ts


def _authority(held: Gathered, entry: Decision, text: PolicyText) -> Authority:
    announced = held.policies.get(entry.ev.policy_version)
    return Authority(
        principal=entry.ev.principal,
        auth_mode=entry.ev.auth_mode,
        mode=entry.mode,
        policy=entry.ev.policy_version,
        policy_problem=text.problem,
        policy_name=text.name,
        announced=announced.seq if announced else None,
        author=text.author,
        build=entry.build,
    )


def _ruling(entry: Decision, text: PolicyText) -> Ruling:
    decides = text.rules.get(entry.rule, ("", ""))[0]
    return Ruling(
        state=entry.ev.decision_state,
        rule=entry.rule,
        because=text.because(entry.rule),
        axis=entry.axis,
        action_class=entry.action_class,
        proof=entry.proof,
        nobody_to_ask=decides == "ask"
        and entry.ev.decision_state == "denied"
        and entry.mode in text.unattended,
    )


def _became(held: Gathered, action: Action) -> Became:
    final = action.final
    closed = _closed_after(held, action)
    behind = [one.seq for one in held.checkpoints if closed and one.seq > closed[0]]
    turns: set[int | None] = {one.entry.turn for one in action.decisions}
    turns |= {one.entry.turn for one in action.outcomes}
    return Became(
        fate=action.fate(executes=executes(held), is_open=is_open(held)),
        endings=tuple(
            Ending(
                entry=one.digest,
                ts=one.entry.ts,
                turn=one.entry.turn,
                terminal_state=one.entry.ev.terminal_state,
                source=one.entry.source,
                join=one.entry.join,
                result_digest=one.entry.ev.result_digest,
                commits_to=one.entry.ev.decision_digest,
                stands=one is final,
            )
            for one in action.outcomes
        ),
        differences=differences_of(held, action),
        unmatched=tuple(
            one.digest
            for one in held.audits
            if one.entry.ev["action"] == "execution.unmatched"
            and one.entry.ev["details"].get("call") == action.first.intent.call
        ),
        turns=tuple(_turn_end(held, turn) for turn in sorted(turn or 0 for turn in turns) if turn),
        session_closed=closed[1] if closed else None,
        checkpoint=min(behind, default=None),
    )


def differences_of(held: Gathered, action: Action) -> tuple[Difference, ...]:
    """Return the reports that a call ran with other arguments than were decided."""
    found = []
    for one in held.audits:
        details = one.entry.ev["details"]
        if (
            one.entry.ev["action"] == "execution.args_differ"
            and details.get("call") == action.first.intent.call
            and details.get("decided") == action.standing.entry.ev.args_digest
        ):
            ran = str(details.get("args_digest"))
            found.append(Difference(one.digest, one.entry.ts, ran, str(details.get("decided"))))
    return tuple(found)


def _turn_end(held: Gathered, turn: int) -> TurnEnd:
    closed = held.turn_closes.get(turn)
    if closed is None:
        return TurnEnd(turn, None, None, None, None)
    ev = closed.entry.ev
    return TurnEnd(turn, closed.entry.ts, ev.closed_by, ev.count, ev.root)


def _closed_after(held: Gathered, action: Action) -> tuple[int, int] | None:
    """Return number and time of the close of the session's part that holds the last entry."""
    opened = held.turn_opens.get(action.standing.entry.turn or 0)
    begin = opened.seq if opened else 0
    for one in held.closes:
        if one.seq > begin:
            return one.seq, one.entry.ts
    return None
