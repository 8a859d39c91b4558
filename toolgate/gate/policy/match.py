"""Whether a rule speaks about an effect."""

from typing import Any

from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.patterns import matches_any
from toolgate.gate.policy.rule import Rule

EFFECT_KEYS = (
    "type",
    "scope",
    "how",
    "all",
    "without",
    "proof",
    "reversible",
    "program",
    "resource",
)


def applies_to_tool(patterns: tuple[str, ...], tool: str) -> bool:
    """Say whether tool patterns cover a tool; none covers all."""
    return not patterns or matches_any(tool, patterns)


def applies(rule: Rule, tool: str, effect: Effect) -> bool:
    """Say whether a rule over effects speaks about one effect of a tool's call."""
    return applies_to_tool(rule.tools, tool) and any(fits(item, effect) for item in rule.effects)


def fits(wanted: dict[str, Any], effect: Effect) -> bool:
    """Say whether an effect is what a rule's item describes: every key of it must hold.

    ``how`` holds when one of its qualifiers is there, ``all`` when every one
    is, ``without`` when none is. Other keys hold when the effect's value is
    among those listed; ``program`` and ``resource`` take ``*``. Overrides add ``only``,
    one of whose descriptions must fit, and ``but``, none of whose may.
    """
    if "type" in wanted and effect.type not in wanted["type"]:
        return False
    if "scope" in wanted and effect.scope not in wanted["scope"]:
        return False
    if "proof" in wanted and not _proof(wanted["proof"], effect.proof):
        return False
    if "reversible" in wanted and effect.reversible not in wanted["reversible"]:
        return False
    marks = effect.how.split()
    if "how" in wanted and not any(mark in marks for mark in wanted["how"]):
        return False
    if "all" in wanted and not all(mark in marks for mark in wanted["all"]):
        return False
    if "without" in wanted and any(mark in marks for mark in wanted["without"]):
        return False
    if "program" in wanted and not matches_any(effect.program, tuple(wanted["program"])):
        return False
    if "resource" in wanted and not matches_any(effect.resource, tuple(wanted["resource"])):
        return False
    if "only" in wanted and not any(fits(item, effect) for item in wanted["only"]):
        return False
    return "but" not in wanted or not any(fits(item, effect) for item in wanted["but"])


def is_named(wanted: dict[str, Any]) -> bool:
    """Say whether what fits an item depends on an effect's program or resource."""
    return (
        "program" in wanted
        or "resource" in wanted
        or any(is_named(item) for key in ("only", "but") for item in wanted.get(key, ()))
    )


def _proof(wanted: list[str], proof: str) -> bool:
    return proof in wanted or ("unresolved" in wanted and proof != PROVED)
