"""Whether an explicit request of the user may lower what the rules ask. Pure.

The rule that is told is one of several that may ask: each of them has to be one that a request
lowers, or the call would be let through by the least of them.
"""

from typing import TYPE_CHECKING

from toolgate.gate.decision import ASK
from toolgate.gate.effects.model import Effect, is_stored
from toolgate.gate.policy.evaluate import Known, evaluate, rests
from toolgate.gate.policy.match import applies, applies_to_tool
from toolgate.gate.policy.model import Policy
from toolgate.gate.policy.rule import Rule

if TYPE_CHECKING:
    from toolgate.gate.call import ToolCall


def may_soften(policy: Policy, call: "ToolCall", effects: tuple[Effect, ...], known: Known) -> bool:
    """Say whether every rule that asks about a call, and the default, may be lowered.

    A floor may not, nor a rule of an axis that is not softened, nor one of none.

    Args:
        policy: the policy.
        call: the call, about which the rules ask.
        effects: what it does.
        known: says whether a fact is known of the session.
    """
    axes = policy.axes.axes
    done = tuple(effect for effect in effects if not is_stored(effect.type))

    def fixed(rule: Rule) -> bool:
        axis = axes.get(rule.axis or "")
        return rule.floor or axis is None or not axis.softened

    def speaks(rule: Rule) -> bool:
        about = any(applies(rule, call.tool, effect) for effect in done) if rule.effects else True
        return about and applies_to_tool(rule.tools, call.tool) and rests(rule, known)

    if any(rule.decide == ASK and fixed(rule) and speaks(rule) for rule in policy.standing(call)):
        return False
    return policy.default != ASK or not any(
        evaluate(policy, call.tool, (effect,), known, call).rule is policy.unspoken
        for effect in done
    )
