"""Which rules speak about a call, whether or not they decide it. Pure."""

from toolgate.gate.call import ToolCall
from toolgate.gate.decision import Decision
from toolgate.gate.effects.model import Effect, is_stored
from toolgate.gate.policy.match import applies, applies_to_tool
from toolgate.gate.policy.model import Policy
from toolgate.gate.policy.rule import Rule


def speaking(policy: Policy, call: ToolCall, decision: Decision) -> list[Rule]:
    """Return the rules that speak about a call or one of its effects.

    Args:
        policy: the policy.
        call: the call.
        decision: the answer under it, for the effects and the facts that were known.
    """
    found = rules_over_call(policy, call, decision)
    for effect in decision.effects:
        found += rules_on_effect(policy, call, decision, effect)
    return list({rule.name: rule for rule in found}.values())


def rules_on_effect(
    policy: Policy, call: ToolCall, decision: Decision, effect: Effect
) -> list[Rule]:
    """Return the rules that speak about one effect of a call."""
    if is_stored(effect.type):
        return []
    return [
        rule
        for rule in _known(policy, call, decision)
        if rule.effects and applies(rule, call.tool, effect)
    ]


def rules_over_call(policy: Policy, call: ToolCall, decision: Decision) -> list[Rule]:
    """Return the rules that speak about a call whatever its effects."""
    return [
        rule
        for rule in _known(policy, call, decision)
        if not rule.effects and applies_to_tool(rule.tools, call.tool)
    ]


def _known(policy: Policy, call: ToolCall, decision: Decision) -> list[Rule]:
    """Return the rules that stand for a call and whose facts are known."""
    codes = {fact.code for fact in decision.facts}
    return [rule for rule in policy.standing(call) if codes.issuperset(rule.facts)]
