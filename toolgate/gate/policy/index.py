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
_PIECE = 4
"""Characters of a piece from within a pattern: more tell patterns apart, fewer fit short ones."""

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
        resting: rules whose answer depends on the session.
    """

    strict: tuple[Rule, ...]
    allows: tuple[Rule, ...]
    place: int
    resting: tuple[Rule, ...]


class RuleIndex:
    """The rules and classes of a policy.

    Args:
        rules: every rule. Those that depend on the session are only found here.
        classes: every class, in order.
        unspoken: the answer where no rule speaks.
    """

    def __init__(
        self, rules: Sequence[Rule], classes: tuple[ActionClass, ...], unspoken: Rule
    ) -> None:
        plain = [rule for rule in rules if not rule.facts]
        self._rules = sorted(plain, key=lambda rule: rank(rule, None))
        self._facts = [rule for rule in rules if rule.facts]
        self._resting: dict[tuple[str, str], tuple[Rule, ...]] = {}
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
                tuple(r for r in self._facts if not r.effects and applies_to_tool(r.tools, tool)),
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

    def resting(self, tool: str, kind: str) -> tuple[Rule, ...]:
        """Return the rules that depend on the session and may speak about a type of effect."""
        key = (tool, kind)
        found = self._resting.get(key)
        if found is None:
            found = tuple(
                rule
                for rule in self._facts
                if applies_to_tool(rule.tools, tool)
                and any("type" not in want or kind in want["type"] for want in rule.effects)
            )
            _keep(self._resting, key, found)
        return found

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
    """Anys by the patterns a text must match, found by literal text that those hold.

    That is what a pattern begins or ends with, or a few characters from within, whichever
    fewest others share. Not by a set of regular expressions: one of 600 patterns such as ``*.x``
    was slower than trying each, and when its automaton grows too large it says that
    nothing matches, which here would let a deny rule slip.

    Args:
        entries: an item and its patterns, in which ``*`` stands for any characters.
    """

    def __init__(self, entries: Iterable[tuple[list[str], Any]]) -> None:
        self._exact: dict[str, list[Any]] = {}
        self._heads: dict[str, list[tuple[str, Any]]] = {}
        self._tails: dict[str, list[tuple[str, Any]]] = {}
        self._inner: dict[str, list[tuple[str, Any]]] = {}
        self._open: list[tuple[str, Any]] = []
        for patterns, item in entries:
            for pattern in patterns:
                self._add(pattern, item)
        self._head_lengths = sorted({len(head) for head in self._heads})
        self._tail_lengths = sorted({len(tail) for tail in self._tails})
        self._inner_lengths = sorted({len(piece) for piece in self._inner})

    def _add(self, pattern: str, item: Any) -> None:
        head, star, rest = pattern.partition("*")
        if not star:
            self._exact.setdefault(pattern, []).append(item)
            return
        tail = rest.rpartition("*")[2]
        found = self._open
        if head and head not in self._heads:
            found = self._heads.setdefault(head, [])
        elif tail and tail not in self._tails:
            found = self._tails.setdefault(tail, [])
        elif head or rest.strip("*"):
            found = self._rarest(pattern, head, tail)
        found.append((pattern, item))

    def _rarest(self, pattern: str, head: str, tail: str) -> list[tuple[str, Any]]:
        """Return where fewest patterns are, of the places in which a pattern can be found."""
        places = [(self._heads, head)] if head else []
        places += [(self._tails, tail)] if tail else []
        places += [(self._inner, piece) for part in pattern.split("*") for piece in _pieces(part)]
        table, key = min(places, key=lambda place: len(place[0].get(place[1], ())))
        return table.setdefault(key, [])

    def find(self, text: str) -> list[Any]:
        """Return the items with a pattern that matches, each once a pattern."""
        candidates = list(self._open)
        for length in self._head_lengths:
            candidates += self._heads.get(text[:length], ())
        for length in self._tail_lengths:
            candidates += self._tails.get(text[-length:], ())
        for length in self._inner_lengths:
            pieces = {text[at : at + length] for at in range(len(text) - length + 1)}
            for piece in pieces:
                candidates += self._inner.get(piece, ())
        found = [item for pattern, item in candidates if matches(text, pattern)]
        return self._exact.get(text, []) + found


def _pieces(part: str) -> list[str]:
    """Return the pieces of literal text by which a pattern can be found."""
    size = min(len(part), _PIECE)
    return [part[at : at + size] for at in range(len(part) - size + 1)] if part else []
