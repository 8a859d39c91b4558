"""From effects to an answer: the strictest rule wins, whatever their order."""

from typing import NamedTuple

from toolgate.gate.decision import ASK
from toolgate.gate.effects.model import Effect
from toolgate.gate.policy.model import Policy
from toolgate.gate.policy.rule import Rank, Rule, rank

NO_CLASS = "other"


class Verdict(NamedTuple):
    """The deciding rule, and what it decided on.

    Args:
        rule: the rule.
        effect: the effect it decided on, None for a rule over the call.
        action_class: the first of the policy's classes that the call belongs to, else ``other``.
    """

    rule: Rule
    effect: Effect | None
    action_class: str


def evaluate(policy: Policy, tool: str, effects: tuple[Effect, ...]) -> Verdict:
    """Return the strictest verdict over a call's effects.

    An effect is allowed by a rule that allows it and no rule that asks or
    denies, or when it is proved to only look. What no rule speaks for gets the
    policy's default. Ties go to a named rule over the default, then to the
    effect that is least certain, then to the rule whose name sorts first.
    """
    index = policy.index
    on_call = index.on_call(tool)
    place = on_call.place
    best: Rank | None = None
    rule = policy.unspoken
    about: Effect | None = None
    for effect in effects:
        answer = index.answer(tool, effect)
        if best is None or answer.rank < best:
            best, rule, about = answer.rank, answer.rule, effect
        place = min(place, answer.place)
    for said in on_call.strict if effects else (*on_call.strict, *on_call.allows):
        if best is None or rank(said, None) < best:
            best, rule, about = rank(said, None), said, None
    inside = place < len(policy.classes)
    return Verdict(rule, about, policy.classes[place].name if inside else NO_CLASS)


def unattended(policy: Policy, state: str, mode: str | None) -> str:
    """Return the answer where nobody is there to be asked."""
    if state == ASK and mode in policy.unattended_modes:
        return policy.unattended_answer
    return state
