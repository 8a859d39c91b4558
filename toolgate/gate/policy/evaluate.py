"""From effects to an answer: the strictest rule wins, whatever their order."""

from collections.abc import Callable
from typing import NamedTuple

from toolgate.gate.call import ToolCall
from toolgate.gate.decision import ALLOW, ASK
from toolgate.gate.effects.model import Effect, is_stored
from toolgate.gate.policy.index import Answer
from toolgate.gate.policy.match import applies
from toolgate.gate.policy.model import Policy
from toolgate.gate.policy.rule import Rank, Rule, rank

NO_CLASS = "other"


Known = Callable[[str], bool]
"""Says whether a fact is known of the session."""


def nothing_known(code: str) -> bool:
    """Say that a fact is not known, as of a session's first call."""
    return False


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


def evaluate(
    policy: Policy,
    tool: str,
    effects: tuple[Effect, ...],
    known: Known = nothing_known,
    call: ToolCall | None = None,
) -> Verdict:
    """Return the strictest verdict over a call's effects.

    Args:
        policy: the policy.
        tool: the tool's name.
        effects: the call's effects.
        known: says whether a fact is known of the session; only asked about rules that
            speak about an effect of the call.
        call: the call, for rules that depend on who calls, its text or the time; without
            it they do not apply.

    An effect is allowed by a rule that allows it and no rule that asks or
    denies, or when it is proved to only look. What no rule speaks for gets the
    policy's default. Ties go to a named rule over the default, then to the
    effect that is least certain, then to a rule that depends on facts, then to the
    rule whose name sorts first. What a written file would do when run is no effect
    of the call that writes it.
    """
    index = policy.index
    if policy.conditional is not None:
        index = policy.conditional.at(call).by_effect
    on_call = index.on_call(tool)
    over_call = [rule for rule in on_call.resting if rests(rule, known)]
    allows = [rule for rule in over_call if rule.decide == ALLOW] if over_call else []
    place = on_call.place
    best: Rank | None = None
    rule = policy.unspoken
    about: Effect | None = None
    for effect in effects:
        if is_stored(effect.type):
            continue
        answer = index.answer(tool, effect)
        resting = index.resting(tool, effect.type)
        if resting or allows:
            found = [one for one in resting if applies(one, tool, effect) and rests(one, known)]
            answer = _strictest(answer, found + allows, effect, policy.unspoken)
        if best is None or answer.rank < best:
            best, rule, about = answer.rank, answer.rule, effect
        place = min(place, answer.place)
    said = list(on_call.strict)
    if over_call:
        said += [one for one in over_call if one.decide != ALLOW]
    if best is None:
        said += [*on_call.allows, *allows]
    for one in said:
        if best is None or rank(one, None) < best:
            best, rule, about = rank(one, None), one, None
    inside = place < len(policy.classes)
    return Verdict(rule, about, policy.classes[place].name if inside else NO_CLASS)


def rests(rule: Rule, known: Known) -> bool:
    """Say whether every fact is known that a rule depends on. All are asked for."""
    answers = [known(code) for code in rule.facts]
    return all(answers)


def _strictest(answer: Answer, rules: list[Rule], effect: Effect, unspoken: Rule) -> Answer:
    """Return the strictest of an answer on an effect and what more rules say of it."""
    for rule in rules:
        order = rank(rule, effect)
        if answer.rule is unspoken or order < answer.rank:
            answer = answer._replace(rank=order, rule=rule)
    return answer


def unattended(policy: Policy, state: str, mode: str | None) -> str:
    """Return the answer where nobody is there to be asked."""
    if state == ASK and mode in policy.unattended_modes:
        return policy.unattended_answer
    return state
