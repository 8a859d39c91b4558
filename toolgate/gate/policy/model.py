"""A compiled policy in memory."""

import json
from typing import TYPE_CHECKING, Any

from toolgate.canonical import digest
from toolgate.errors import PolicyError
from toolgate.gate.effects.settings import Settings
from toolgate.gate.policy.index import RuleIndex
from toolgate.gate.policy.rule import ActionClass, Rule, unspoken

if TYPE_CHECKING:
    from toolgate.gate.policy.compose import Rule as Composition

FORMAT = "toolgate.policy/1"


class Policy:
    """A policy as its compiled bytes say it.

    Args:
        data: canonical JSON made by ``policy.compile``.
        source: what it is called in messages.

    Raises:
        PolicyError: it is something else.
    """

    def __init__(self, data: bytes, source: str = "compiled policy") -> None:
        try:
            self._take(data, json.loads(data), source)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise PolicyError(source, ["is not a compiled policy"]) from None

    def _take(self, data: bytes, body: dict[str, Any], source: str) -> None:
        if body.get("format") != FORMAT:
            raise PolicyError(source, [f"format is {body.get('format')!r:.80}, not {FORMAT}"])
        self.data = data
        self.digest = digest(data)
        self.name: str = body["name"]
        self.catalog: str = body["catalog"]
        self.default: str = body["default"]
        self.unattended_modes = frozenset(body["unattended"]["modes"])
        self.unattended_answer: str = body["unattended"]["ask"]
        self.settings = Settings(**{key: tuple(value) for key, value in body["names"].items()})
        self.mcp: dict[str, list[str]] = body["mcp"]
        self.classes = tuple(
            ActionClass(item["name"], tuple(item.get("tools", ())), tuple(item.get("effects", ())))
            for item in body["classes"]
        )
        self.principals: dict[str, list[str]] = body.get("principals", {})
        self.composition: dict[str, dict[str, Any]] = body["composition"]
        self.authored_by: dict[str, str | None] | None = body["authored_by"]
        self.rules = tuple(
            Rule(
                item["rule"],
                item["decide"],
                item.get("axis"),
                item["because"],
                tuple(item.get("tools", ())),
                tuple(dict(wanted) for wanted in item.get("effects", ())),
            )
            for item in body["rules"]
        )
        self.unspoken = unspoken(self.default)
        self.index = RuleIndex(self.rules, self.classes, self.unspoken)

    def approvers(self, action_class: str) -> "Composition":
        """Return who approves an action: its class's composition, else any one principal."""
        from toolgate.gate.policy.compose import ANY_OF
        from toolgate.gate.policy.compose import Rule as Composition

        item = self.composition.get(action_class)
        if item is None:
            return Composition(ANY_OF, 1, tuple(self.principals))
        return Composition(item["operator"], item.get("n", 1), tuple(item["principals"]))

    def rules_for(self, kind: str) -> list[Rule]:
        """Return the rules that speak about an effect type."""
        return [
            rule
            for rule in self.rules
            if any("type" not in wanted or kind in wanted["type"] for wanted in rule.effects)
        ]
