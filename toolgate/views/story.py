"""The story of one call: the five questions an audit asks about it, and what answers them."""

from typing import NamedTuple

from toolgate.views.approvals import Approval
from toolgate.views.find import Candidate
from toolgate.views.policy import Author, Composition


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


class Judged(NamedTuple):
    """What a judge said of the call, as the entry says that its decision names.

    Args:
        entry: the entry.
        model: the model that was asked.
        backend: how.
        pinned: whether that name means one model for good.
        readings: what it answered, axis and probability.
        missing: what it did not answer, and why.
        unseen: what of the call or the task it was not shown.
        fault: why there was no answer at all, else "".
        kept: whether an earlier answer to the same request was used.
    """

    entry: str
    model: str
    backend: str
    pinned: bool
    readings: tuple[tuple[str, str], ...]
    missing: tuple[tuple[str, str], ...]
    unseen: tuple[str, ...]
    fault: str
    kept: bool


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
        judged: what a judge said of it; None where none was asked.
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
    judged: Judged | None


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
