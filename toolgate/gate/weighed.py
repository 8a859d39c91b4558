"""What a task and other readings make of the rules' verdict on a call. Pure."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from toolgate.gate.decision import ALLOW, ASK, Fact
from toolgate.gate.effects.trace import Node
from toolgate.gate.policy.evaluate import Known, Verdict, evaluate
from toolgate.gate.policy.lattice import Settled, Static, settle
from toolgate.gate.policy.rule import Rule
from toolgate.gate.policy.softening import may_soften
from toolgate.gate.readings import AUTHORIZED, JUDGE, Reading
from toolgate.gate.task.match import PROHIBITS, RESERVED, Found
from toolgate.gate.task.task import NO_TASK, Task
from toolgate.gate.task.weigh import Asked, Weighed, weigh

if TYPE_CHECKING:
    from toolgate.gate.call import ToolCall
    from toolgate.gate.effects.model import Effect
    from toolgate.gate.policy.model import Policy

_BECAUSE = {
    "prohibition": "the user has forbidden it",
    "limit": "it goes beyond what the user has limited the task to",
    "reservation": "the user wants to be asked first",
    "choice": "the user has left this choice open",
}


def weighed(
    policy: "Policy",
    call: "ToolCall",
    verdict: Verdict,
    effects: tuple["Effect", ...],
    known: Known,
    trace: Callable[[], Node | None],
    task: Task | None,
    readings: tuple[Reading, ...],
) -> tuple[Verdict, tuple[Fact, ...]]:
    """Return the verdict with a task and readings weighed in, and the facts it then rests on.

    Args:
        policy: the policy.
        call: the call.
        verdict: what the rules say.
        effects: what the call does.
        known: says whether a fact is known of the session.
        trace: returns how the call's shell text was read, None for another tool.
        task: what the user asked for, if known.
        readings: what others have read of the call.
    """
    task = task or NO_TASK
    judged = any(one.axis == AUTHORIZED for one in readings)
    made = weighed_task(policy, call, verdict, effects, known, trace, task, judged=judged)
    every = (*(one.reading for one in made.found), *readings)
    if not made.whole:
        every = tuple(one for one in every if one.axis != AUTHORIZED)
    lowerable = made.lowerable and may_soften(policy, call, effects, known)
    static = Static(verdict.rule.decide, verdict.rule.axis, softenable=lowerable)
    settled = settle(policy.axes, static, every, task=bool(task.prompts or task.goal))
    used = [one for one in made.found if one.reading.name in (PROHIBITS, RESERVED)]
    used += [one for one in made.found if one.reading == settled.mitigation]
    facts = dict.fromkeys(
        Fact(one.reading.name, one.reading.entry) for one in used if one.reading.entry is not None
    )
    return _verdict(verdict, settled, made.found), tuple(facts)


def weighed_task(
    policy: "Policy",
    call: "ToolCall",
    verdict: Verdict,
    effects: tuple["Effect", ...],
    known: Known,
    trace: Callable[[], Node | None],
    task: Task,
    *,
    judged: bool = True,
) -> Weighed:
    """Return what a task says of a call; arguments as of ``weighed`` and ``Asked``."""
    asked = frozenset(
        effect
        for effect in effects
        if verdict.rule.decide == ASK
        and evaluate(policy, call.tool, (effect,), known, call).rule.decide == ASK
    )
    return weigh(task, call, effects, Asked(asked, policy.lexicon, judged), trace)


def _verdict(verdict: Verdict, settled: Settled, found: tuple[Found, ...]) -> Verdict:
    """Return the verdict that stands, with a rule that says why."""
    rule, effect = verdict.rule, verdict.effect
    reading = settled.reading
    if reading is None and settled.mitigation is None:
        return verdict
    if reading is None or settled.state == ALLOW:
        because = f"{rule.because}, and the user's latest words ask for just this"
        if settled.mitigation is not None and settled.mitigation.source == JUDGE:
            because += f", as the judge reads them ({settled.mitigation.value:.2f})"
        decided = rule._replace(decide=settled.state, because=because)
        return verdict._replace(rule=decided)
    by = next((one for one in found if one.reading == reading), None)
    because = f"it reads as {reading.axis} ({reading.value:.2f}, {reading.source})"
    if by is not None:
        because = _BECAUSE[by.statement.name]
        because += f" (prompt {by.statement.prompt})" if by.statement.prompt else " (session goal)"
        effect = by.effect
    if settled.mitigation is not None:
        because += f", made milder by {settled.mitigation.axis} ({settled.mitigation.source})"
    made = Rule(f"{reading.source}.{reading.axis}", settled.state, reading.axis, because, (), ())
    return verdict._replace(rule=made, effect=effect)
