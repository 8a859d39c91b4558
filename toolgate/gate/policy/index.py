"""Rules found by what they speak about, so that a decision does not try every one.

What most rules ask of an effect takes few values (type, scope, proof, how), so
the answer to each combination is worked out once. Rules over one program or
resource are found by that name.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from toolgate.gate.decision import ALLOW
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.patterns import matches
from toolgate.gate.policy.match import applies_to_tool, fits, is_named
from toolgate.gate.policy.rule import HARMLESS, ActionClass, Rank, Rule, rank

MAX_KEPT = 4_096
Asked = tuple[Rule, dict[str, Any]]
"""A rule, and one description of an effect that it speaks about."""


class Answer(NamedTuple):
    """What the rules say of an effect.

    Args:
        rank: orders answers, the strictest first.
        rule: the rule that gives it.
        place: position of the first class the effect belongs to.
    """

    rank: Rank
    rule: Rule
    place: int


class OnCall(NamedTuple):
    """What is said of every call of a tool, whatever its effects.

    Args:
        strict: rules that ask or deny.
        allows: rules that allow.
        place: position of the first class without effects the tool belongs to.
    """

    strict: tuple[Rule, ...]
    allows: tuple[Rule, ...]
    place: int


class RuleIndex:
    """The rules and classes of a policy.

    Args:
        rules: the rules whose answer does not depend on the session.
        classes: every class, in order.
        unspoken: the answer where no rule speaks.
    """

    def __init__(
        self, rules: Sequence[Rule], classes: tuple[ActionClass, ...], unspoken: Rule
    ) -> None:
        self._rules = sorted(rules, key=lambda rule: rank(rule, None))
        self._classes = classes
        self._unspoken = unspoken
        self._on_call: dict[str, OnCall] = {}
        self._kinds: dict[str, _Kind] = {}
        self._answers: dict[tuple[Any, ...], Answer] = {}

    def on_call(self, tool: str) -> OnCall:
        """Return what is said of every call of a tool."""
        found = self._on_call.get(tool)
        if found is None:
            rules = [r for r in self._rules if not r.effects and applies_to_tool(r.tools, tool)]
            found = OnCall(
                tuple(rule for rule in rules if rule.decide != ALLOW),
                tuple(rule for rule in rules if rule.decide == ALLOW),
                self._place(tool, None),
            )
            _keep(self._on_call, tool, found)
        return found

    def answer(self, tool: str, effect: Effect) -> Answer:
        """Return the strictest answer on one effect of a tool's call."""
        key = (tool, effect.type, effect.scope, effect.proof, effect.how, effect.reversible)
        answer = self._answers.get(key)
        if answer is None:
            answer = self._first(tool, effect)
            _keep(self._answers, key, answer)
        kind = self._kinds[effect.type]
        if kind.named:
            for rule, wanted in kind.about(effect):
                order = rank(rule, effect)
                stands = answer.rule is not self._unspoken and answer.rank <= order
                if not stands and _applies(rule, wanted, tool, effect):
                    answer = answer._replace(rank=order, rule=rule)
        return answer

    def _first(self, tool: str, effect: Effect) -> Answer:
        """Return the answer of the rules that name neither program nor resource."""
        kind = self._kinds.get(effect.type)
        if kind is None:
            kind = self._kinds[effect.type] = _Kind(self._rules, effect.type)
        strictest = next((r for r, want in kind.general if _applies(r, want, tool, effect)), None)
        found = [strictest] if strictest is not None else []
        found += self.on_call(tool).allows
        if effect.type == "inspect" and effect.proof == PROVED:
            found.append(HARMLESS)
        rule = min(found or [self._unspoken], key=lambda rule: rank(rule, effect))
        return Answer(rank(rule, effect), rule, self._place(tool, effect))

    def _place(self, tool: str, effect: Effect | None) -> int:
        """Return the position of the first class of a call, or of an effect of it."""
        for position, item in enumerate(self._classes):
            if not applies_to_tool(item.tools, tool):
                continue
            if effect is None:
                if not item.effects:
                    return position
            elif any(fits(wanted, effect) for wanted in item.effects):
                return position
        return len(self._classes)


class _Kind:
    """The rules over one type of effect."""

    def __init__(self, rules: Sequence[Rule], kind: str) -> None:
        self.general: list[Asked] = []
        by_program: list[tuple[list[str], Asked]] = []
        by_resource: list[tuple[list[str], Asked]] = []
        for rule in rules:
            for wanted in rule.effects:
                if "type" in wanted and kind not in wanted["type"]:
                    continue
                if "resource" in wanted:
                    by_resource.append((wanted["resource"], (rule, wanted)))
                elif is_named(wanted):
                    by_program.append((wanted.get("program", ["*"]), (rule, wanted)))
                else:
                    self.general.append((rule, wanted))
        self.named = bool(by_program or by_resource)
        self._by_program = PatternIndex(by_program)
        self._by_resource = PatternIndex(by_resource)

    def about(self, effect: Effect) -> list[Asked]:
        """Return the rules that name an effect's program or resource."""
        return self._by_program.find(effect.program) + self._by_resource.find(effect.resource)


def _applies(rule: Rule, wanted: dict[str, Any], tool: str, effect: Effect) -> bool:
    return applies_to_tool(rule.tools, tool) and fits(wanted, effect)


def _keep(kept: dict[Any, Any], key: Any, value: Any) -> None:
    """Remember a value; forget all when there are too many."""
    if len(kept) >= MAX_KEPT:
        kept.clear()
    kept[key] = value


class PatternIndex:
    """Anys by the patterns a text must match, found by the literal text those begin or end with.

    Not by a set of regular expressions: one of 600 patterns such as ``*.x`` was
    slower than trying each, and when its automaton grows too large it says that
    nothing matches, which here would let a deny rule slip.

    Args:
        entries: an item and its patterns, in which ``*`` stands for any characters.
    """

    def __init__(self, entries: Iterable[tuple[list[str], Any]]) -> None:
        self._exact: dict[str, list[Any]] = {}
        self._heads: dict[str, list[tuple[str, Any]]] = {}
        self._tails: dict[str, list[tuple[str, Any]]] = {}
        self._open: list[tuple[str, Any]] = []
        for patterns, item in entries:
            for pattern in patterns:
                self._add(pattern, item)
        self._head_lengths = sorted({len(head) for head in self._heads})
        self._tail_lengths = sorted({len(tail) for tail in self._tails})

    def _add(self, pattern: str, item: Any) -> None:
        head, star, rest = pattern.partition("*")
        tail = rest.rpartition("*")[2]
        if not star:
            self._exact.setdefault(pattern, []).append(item)
        elif head:
            self._heads.setdefault(head, []).append((pattern, item))
        elif tail:
            self._tails.setdefault(tail, []).append((pattern, item))
        else:
            self._open.append((pattern, item))

    def find(self, text: str) -> list[Any]:
        """Return the items with a pattern that matches, each once a pattern."""
        candidates = list(self._open)
        for length in self._head_lengths:
            candidates += self._heads.get(text[:length], ())
        for length in self._tail_lengths:
            candidates += self._tails.get(text[-length:], ())
        found = [item for pattern, item in candidates if matches(text, pattern)]
        return self._exact.get(text, []) + found
