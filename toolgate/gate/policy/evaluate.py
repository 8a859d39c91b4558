"""From effects to an answer: the strictest rule wins, whatever their order."""

from collections.abc import Callable
from typing import NamedTuple

from toolgate.gate.decision import ALLOW, ASK, STRICTNESS
from toolgate.gate.effects.model import PROVED, Effect, is_stored
from toolgate.gate.policy.match import applies, applies_to_tool, fits
from toolgate.gate.policy.model import Policy, Rule

HARMLESS = Rule("harmless", ALLOW, None, "it only looks", (), ())
DEFAULT = "default"


Known = Callable[[str], bool]
"""Says whether a fact is known of the session."""


def nothing_known(code: str) -> bool:
    """Say that a fact is not known, as of a session's first call."""
    return False


class Verdict(NamedTuple):
    """The deciding rule and the effect it decided on (None for a rule over the call)."""

    rule: Rule
    effect: Effect | None


def evaluate(
    policy: Policy, tool: str, effects: tuple[Effect, ...], known: Known = nothing_known
) -> Verdict:
    """Return the strictest verdict over a call's effects.

    Args:
        policy: the policy.
        tool: the tool's name.
        effects: the call's effects.
        known: says whether a fact is known of the session; only asked about rules that
            speak about an effect of the call.

    An effect is allowed by a rule that allows it and no rule that asks or
    denies, or when it is proved to only look. What no rule speaks for gets the
    policy's default. Ties go to a named rule over the default, then to the
    effect that is least certain, then to a rule that depends on facts, then to the
    rule whose name sorts first. What a
    written file would do when run is no effect of the call that writes it.
    """
    effects = tuple(effect for effect in effects if not is_stored(effect.type))
    on_call = [
        rule
        for rule in policy.call_rules
        if applies_to_tool(rule.tools, tool) and rests(rule, known)
    ]
    verdicts = [_of_effect(policy, tool, effect, on_call, known) for effect in effects]
    verdicts += [Verdict(rule, None) for rule in on_call if rule.decide != ALLOW]
    if not verdicts:
        verdicts = [Verdict(rule, None) for rule in on_call] or [Verdict(_default(policy), None)]
    return min(verdicts, key=_rank)


def rests(rule: Rule, known: Known) -> bool:
    """Say whether every fact is known that a rule depends on. All are asked for."""
    answers = [known(code) for code in rule.facts]
    return all(answers)


def _of_effect(
    policy: Policy, tool: str, effect: Effect, on_call: list[Rule], known: Known
) -> Verdict:
    found = [
        rule
        for rule in policy.rules_for(effect.type)
        if applies(rule, tool, effect) and rests(rule, known)
    ]
    found += [rule for rule in on_call if rule.decide == ALLOW]
    if effect.type == "inspect" and effect.proof == PROVED:
        found.append(HARMLESS)
    if not found:
        return Verdict(_default(policy), effect)
    return min((Verdict(rule, effect) for rule in found), key=_rank)


def _default(policy: Policy) -> Rule:
    return Rule(DEFAULT, policy.default, None, "no rule of the policy speaks for it", (), ())


def _rank(verdict: Verdict) -> tuple[int, bool, int, bool, str]:
    rule, effect = verdict
    unnamed = rule.name in (DEFAULT, HARMLESS.name)
    return (-STRICTNESS[rule.decide], unnamed, _weight(effect), not rule.facts, rule.name)


def _weight(effect: Effect | None) -> int:
    """Order equal answers so that the least certain effect is the one reported."""
    if effect is None or effect.proof != PROVED:
        return 0
    return 2 if effect.type in ("inspect", "fs.read") else 1


def class_of(policy: Policy, tool: str, effects: tuple[Effect, ...]) -> str:
    """Return the first of the policy's classes that a call belongs to, else ``other``."""
    effects = tuple(effect for effect in effects if not is_stored(effect.type))
    for item in policy.classes:
        if applies_to_tool(item.tools, tool) and (
            not item.effects
            or any(fits(want, effect) for want in item.effects for effect in effects)
        ):
            return item.name
    return "other"


def unattended(policy: Policy, state: str, mode: str | None) -> str:
    """Return the answer where nobody is there to be asked."""
    if state == ASK and mode in policy.unattended_modes:
        return policy.unattended_answer
    return state
