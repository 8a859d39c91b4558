"""Rules and classes of a policy, and which of two answers stands."""

from typing import Any, NamedTuple

from toolgate.gate.decision import ALLOW, STRICTNESS
from toolgate.gate.effects.model import PROVED, Effect


class Rule(NamedTuple):
    """One rule.

    Args:
        name: unique within the policy.
        decide: ``allow``, ``ask`` or ``deny``.
        axis: the axis it belongs to, or None.
        because: why, for people.
        tools: tool name patterns; empty for every tool.
        effects: what an effect must be like, any of them; empty for a rule over the whole call.
        facts: codes of what must be known of the session, all of them.
        when: what must hold of the call besides (``conditions``), or None.
        floor: whether no request of the user and no override lowers its answer.
    """

    name: str
    decide: str
    axis: str | None
    because: str
    tools: tuple[str, ...]
    effects: tuple[dict[str, Any], ...]
    facts: tuple[str, ...] = ()
    when: dict[str, list[str]] | None = None
    floor: bool = False


class ActionClass(NamedTuple):
    """A named class of actions, for composition and reports."""

    name: str
    tools: tuple[str, ...]
    effects: tuple[dict[str, Any], ...]


DEFAULT = "default"
HARMLESS = Rule("harmless", ALLOW, None, "it only looks", (), ())
Rank = tuple[int, bool, int, bool, str]


def unspoken(decide: str) -> Rule:
    """Return the rule of what no rule speaks for."""
    return Rule(DEFAULT, decide, None, "no rule of the policy speaks for it", (), ())


def rank(rule: Rule, effect: Effect | None) -> Rank:
    """Order answers: strictest, named by the policy, on the least certain effect, on facts."""
    unnamed = rule.name in (DEFAULT, HARMLESS.name)
    return (-STRICTNESS[rule.decide], unnamed, _weight(effect), not rule.facts, rule.name)


def _weight(effect: Effect | None) -> int:
    if effect is None or effect.proof != PROVED:
        return 0
    return 2 if effect.type in ("inspect", "fs.read") else 1
