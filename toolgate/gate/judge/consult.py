"""Deciding with a judge: what it says is weighed in the policy's lattice and lifts no deny."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from toolgate.gate.call import ToolCall
from toolgate.gate.decision import ASK, Decision
from toolgate.gate.judge.ask import ask
from toolgate.gate.judge.cache import Cache
from toolgate.gate.judge.judgement import Judgement, settled
from toolgate.gate.judge.request import request_of
from toolgate.gate.judge.when import decided_by, not_asked
from toolgate.gate.policy.evaluate import unattended
from toolgate.gate.policy.model import Policy
from toolgate.gate.readings import Reading
from toolgate.gate.task.task import Task

Weigh = Callable[[tuple[Reading, ...]], Decision]
"""Decides the call once more with more readings."""


class Consulted(NamedTuple):
    """A decision and what the judge said of it.

    Args:
        decision: the decision.
        judgement: what the judge said.
    """

    decision: Decision
    judgement: Judgement


def consult(
    policy: Policy,
    call: ToolCall,
    task: Task,
    decision: Decision,
    weigh: Weigh,
    environ: Mapping[str, str],
    cache: Cache | None,
) -> Consulted | None:
    """Ask a policy's judge where there is something to ask; None where there is not.

    Args:
        policy: the policy.
        call: the call.
        task: what the user asked for.
        decision: what the gate finds without a judge.
        weigh: decides the call once more with the judge's readings.
        environ: the process environment, for the key.
        cache: kept answers, or None.
    """
    if policy.judge is None or not_asked(decision, task):
        return None
    request = request_of(call, task, decision, policy, policy.judge)
    judgement = ask(policy.judge, request, environ, cache)
    return Consulted(with_judgement(policy, call, decision, judgement, weigh), judgement)


def with_judgement(
    policy: Policy, call: ToolCall, decision: Decision, judgement: Judgement, weigh: Weigh
) -> Decision:
    """Return the decision that a judgement makes of what the gate finds without it."""
    made = weigh(judgement.readings)
    return settled(made, judgement, decided_by(decision), unattended(policy, ASK, call.mode))
