"""The story of one call: the five questions an audit asks about it, answered from entries."""

from collections.abc import Callable
from typing import NamedTuple

from toolgate.verify.shapes import Decision
from toolgate.views.actions import Action, actions_of, executes, is_open
from toolgate.views.approvals import Approval
from toolgate.views.find import Candidate
from toolgate.views.gather import At, Gathered
from toolgate.views.policy import Author, Composition, PolicyText, policy_text


class EffectSaid(NamedTuple):
    """One thing the call wanted to do, as the gate read it."""

    type: str
    scope: str
    reversible: bool
    proof: str
    places: int
    resource: str


class Deciding(NamedTuple):
    """One decision on the call.

    Args:
        entry: its entry digest.
        decision: its decision_digest.
        ts: when, microseconds UTC.
        turn: in which turn.
        state: ``allowed``, ``asked`` or ``denied``.
        rule: the deciding rule.
        role: ``stands``, ``answered`` or ``replaced``.
    """

    entry: str
    decision: str
    ts: int
    turn: int | None
    state: str
    rule: str
    role: str


class Fact(NamedTuple):
    """Something earlier in the session that the decision took into account."""

    code: str
    entry: str


class Step(NamedTuple):
    """Why this tool was called at this step, as far as records can say.

    Args:
        session: the session's id.
        host: where the agent ran.
        executes: whether the session runs what it allows.
        part: the session's part; None if its opening is not there.
        spawned_by: decision_digest of the decision that started the session's agent.
        spawn: that decision, if this ledger holds it.
        turn: the turn's number.
        key: the prompt's id, or ``#n``.
        key_part: which part of that prompt's turns this is.
        began_by: why the turn was opened.
        turn_began: when, microseconds UTC; None if its opening is not there.
        position: the call's place among the turn's calls, from 1.
        calls: how many calls the turn has.
        running: calls of the turn that, by the clocks, were still running when this one came.
        received: when the call was received, microseconds UTC.
        agent: the agent chain, outermost first.
        scope: the strictest scope of its effects.
        effects: what it wanted to do.
        facts: earlier entries that counted.
        decisions: every decision on it, oldest first.
    """

    session: str
    host: str
    executes: bool
    part: int | None
    spawned_by: str | None
    spawn: Candidate | None
    turn: int | None
    key: str | None
    key_part: int | None
    began_by: str | None
    turn_began: int | None
    position: int
    calls: int
    running: int
    received: int
    agent: tuple[str, ...]
    scope: str
    effects: tuple[EffectSaid, ...]
    facts: tuple[Fact, ...]
    decisions: tuple[Deciding, ...]


class Authority(NamedTuple):
    """Under whose authority the call was decided.

    Args:
        principal: who it runs for.
        auth_mode: with whose credentials.
        mode: the host's permission mode, if it says one.
        policy: the policy's digest.
        policy_problem: why its text says nothing, or None.
        policy_name: what the policy calls itself.
        announced: number of the spine entry that brought the policy into use; None without one.
        author: who the policy says wrote it.
        build: digest of the program that decided.
    """

    principal: str
    auth_mode: str
    mode: str | None
    policy: str
    policy_problem: str | None
    policy_name: str | None
    announced: int | None
    author: Author | None
    build: str


class Ruling(NamedTuple):
    """What was decided, and on which rule.

    Args:
        state: ``allowed``, ``asked`` or ``denied``.
        rule: the rule's name.
        because: what the policy gives as its reason; None if neither it nor this program says.
        axis: the risk it belongs to.
        action_class: the policy's class of the action.
        proof: the decision's proof state.
        nobody_to_ask: whether the rule asks, and in this permission mode nobody can be.
    """

    state: str
    rule: str
    because: str | None
    axis: str | None
    action_class: str
    proof: str
    nobody_to_ask: bool


class Confirmation(NamedTuple):
    """Which confirmation was required, and what gave it.

    Args:
        asked: whether somebody had to be asked.
        composition: the approvals the policy wants for the class, if any.
        how: one of the words of ``actions``: signature, telemetry, inferred, ...
        approvals: approvals the decisions cite, or that speak about this call.
    """

    asked: bool
    composition: Composition | None
    how: str
    approvals: tuple[Approval, ...]


class Ending(NamedTuple):
    """One report on how the call ended.

    Args:
        entry: its entry digest.
        ts: when, microseconds UTC.
        turn: in which turn; None if it lies on the spine because its turn was closed.
        terminal_state: how it ended.
        source: who reported it.
        join: how it found its decision.
        result_digest: digest of the result, if there is one.
        commits_to: the decision_digest it commits to.
        stands: whether it is the one that counts.
    """

    entry: str
    ts: int
    turn: int | None
    terminal_state: str
    source: str
    join: str
    result_digest: str | None
    commits_to: str
    stands: bool


class Difference(NamedTuple):
    """A report that the call ran with other arguments than were decided."""

    entry: str
    ts: int
    ran: str
    decided: str


class TurnEnd(NamedTuple):
    """Whether a turn the call stands in is closed.

    Args:
        turn: its number.
        closed: when, microseconds UTC; None while it is open.
        closed_by: why.
        entries: how many entries its close commits to.
        root: the root its close commits with.
    """

    turn: int
    closed: int | None
    closed_by: str | None
    entries: int | None
    root: str | None


class Became(NamedTuple):
    """What became of the call.

    Args:
        fate: one word, see ``Action.fate``.
        endings: every report, oldest first.
        differences: reports of other arguments.
        unmatched: audit entries on this call id that no decision was waiting for.
        turns: the turns it stands in.
        session_closed: when the session was closed after it, microseconds UTC; None if it was not.
        checkpoint: number of the first checkpoint entry behind that close; None without one.
    """

    fate: str
    endings: tuple[Ending, ...]
    differences: tuple[Difference, ...]
    unmatched: tuple[str, ...]
    turns: tuple[TurnEnd, ...]
    session_closed: int | None
    checkpoint: int | None


class Story(NamedTuple):
    """One call, from why to what became of it."""

    call: str
    tool: str
    action_ref: str
    args_digest: str
    step: Step
    authority: Authority
    ruling: Ruling
    confirmation: Confirmation
    became: Became


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
    )


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
    turns = {one.entry.turn for one in action.decisions}
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
    last: At[Decision] = action.standing
    opened = held.turn_opens.get(last.entry.turn or 0)
    begin = opened.seq if opened else 0
    for one in held.closes:
        if one.seq > begin:
            return one.seq, one.entry.ts
    return None
