"""When a judge is asked. Pure."""

from toolgate.gate.decision import ALLOW, ASK, Decision
from toolgate.gate.effects.model import PROVED, is_stored
from toolgate.gate.task.task import Task

LOOKS = "inspect"


def not_asked(decision: Decision, task: Task) -> str:
    """Return why a judge is not asked about a call; "" if it is.

    =====================================  ========================================
    nothing is known of what was asked     no: there is no task to weigh the call by
    denied                                 no: a judge never lifts a deny
    every effect only looks, proved        no: no task makes looking harmful
    asked                                  yes: the user may have asked for just this
    allowed by a rule                      yes: the task may forbid it
    =====================================  ========================================

    Args:
        decision: what the gate finds without a judge.
        task: what the user asked for.
    """
    if not (task.prompts or task.goal):
        return "nothing is known of what the user asked for"
    decided = decided_by(decision)
    if decided not in (ALLOW, ASK):
        return "it is denied without one, and a judge never lifts a deny"
    if decided == ALLOW and harmless(decision):
        return "all it does is look, and that is proved"
    return ""


def decided_by(decision: Decision) -> str:
    """Return an answer as it was before an ask was converted because nobody can be asked."""
    return ASK if decision.converted else decision.state


def harmless(decision: Decision) -> bool:
    """Say whether every effect of a call is proved to only look."""
    own = [effect for effect in decision.effects if not is_stored(effect.type)]
    return bool(own) and all(one.type == LOOKS and one.proof == PROVED for one in own)
