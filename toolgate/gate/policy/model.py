"""A compiled policy in memory."""

import json
from typing import TYPE_CHECKING, Any

from toolgate.canonical import digest
from toolgate.errors import PolicyError
from toolgate.gate.decision import DENY
from toolgate.gate.effects.settings import Settings
from toolgate.gate.policy.index import RuleIndex
from toolgate.gate.policy.rule import ActionClass, Rule, unspoken

if TYPE_CHECKING:
    from toolgate.gate.call import ToolCall
    from toolgate.gate.policy.axes import Axes
    from toolgate.gate.policy.compose import Rule as Composition
    from toolgate.gate.policy.conditional import Conditional
    from toolgate.gate.policy.judge import Judge
    from toolgate.gate.policy.overrides import Override

FORMAT = "toolgate.policy/1"
_WORDS = {str: "texts", dict: "mappings", bool: "true or false"}


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
        self.lexicon: str | None = body["lexicon"]
        self.default: str = body["default"]
        self.unattended_modes = frozenset(body["unattended"]["modes"])
        self.unattended_answer: str = body["unattended"]["ask"]
        self.fail_mode: str = body.get("fail_mode", DENY)
        self._axes: dict[str, Any] = body.get("axes", {})
        self.settings = Settings(**{key: tuple(value) for key, value in body["names"].items()})
        self.mcp: dict[str, list[str] | dict[str, Any]] = body["mcp"]
        self.classes = tuple(
            ActionClass(item["name"], *_speaks_of(item, f"class {item['name']}", source))
            for item in body["classes"]
        )
        self.principals: dict[str, list[str]] = body.get("principals", {})
        self.composition: dict[str, dict[str, Any]] = body["composition"]
        self.authored_by: dict[str, str | None] | None = body["authored_by"]
        self.turns: dict[str, int] = {
            code: item["turns"] for code, item in body.get("facts", {}).items()
        }
        self.rules = tuple(
            Rule(
                item["rule"],
                item["decide"],
                item.get("axis"),
                item["because"],
                *_speaks_of(item, f"rule {item['rule']}", source),
                tuple(item.get("facts", ())),
                item.get("when"),
                item.get("floor", False),
            )
            for item in body["rules"]
        )
        self.unspoken = unspoken(self.default)
        self.index = RuleIndex(self.rules, self.classes, self.unspoken)
        self.overrides = _overrides(body.get("overrides", []))
        self.conditional = self._conditional()
        self.judge = self._judge_of(body.get("judge"))

    def _conditional(self) -> "Conditional | None":
        """Return what selects the rules of a call, where not all stand for every one."""
        if not self.overrides and all(rule.when is None for rule in self.rules):
            return None
        from toolgate.gate.policy.conditional import Conditional

        return Conditional(self.rules, self.overrides, self.classes, self.unspoken)

    def _judge_of(self, said: dict[str, Any] | None) -> "Judge | None":
        """Return the judge, where the policy has one."""
        if said is None:
            return None
        from toolgate.gate.policy.judge import judge_of

        return judge_of(said, self.axes)

    @property
    def axes(self) -> "Axes":
        """Return the axes and their lines."""
        from toolgate.gate.policy.axes import axes_of

        return axes_of(self._axes)

    def standing(self, call: "ToolCall | None") -> tuple[Rule, ...]:
        """Return the rules that stand for a call: for who makes it, its text and its time."""
        return self.rules if self.conditional is None else self.conditional.at(call).rules

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


def _overrides(items: list[dict[str, Any]]) -> "tuple[Override, ...]":
    if not items:
        return ()
    from toolgate.gate.policy.overrides import override_of

    return tuple(override_of(item) for item in items)


def _speaks_of(
    item: dict[str, Any], where: str, source: str
) -> tuple[tuple[str, ...], tuple[dict[str, Any], ...]]:
    """Return the tools and effects a class or rule speaks of; null is the same as absent.

    Raises:
        PolicyError: one of them has another form, in which it would speak of something else.
    """
    tools = _list(item.get("tools"), str, f"{where}: tools", source)
    effects = _list(item.get("effects"), dict, f"{where}: effects", source)
    made = []
    for effect in effects:
        said = {key: value for key, value in effect.items() if value is not None}
        for key, value in said.items():
            kind = bool if key == "reversible" else str
            _list(value, kind, f"{where}: {key} of an effect", source)
        made.append(said)
    return tuple(tools), tuple(made)


def _list(value: Any, kind: type, where: str, source: str) -> list[Any]:
    if value is None:
        return []
    if type(value) is not list:
        found = type(value).__name__
        raise PolicyError(source, [f"{where} is {found}; expected a list of {_WORDS[kind]}"])
    for one in value:
        if type(one) is not kind:
            found = type(one).__name__
            raise PolicyError(source, [f"{where} holds {found}; expected {_WORDS[kind]}"])
    return value
