"""The rules that stand for one call, where some depend on who calls, on its text or on the day.

Loaded for policies that hold such rules, and never otherwise.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from toolgate.gate.call import ToolCall
from toolgate.gate.policy.conditions import TEXT, holds, text_of
from toolgate.gate.policy.index import RuleIndex
from toolgate.gate.policy.overrides import Override
from toolgate.gate.policy.rule import ActionClass, Rule

if TYPE_CHECKING:
    from toolgate.gate.policy.regular import Expression

_MOST_KEPT = 64
Caller = tuple[str, str, tuple[str, ...], str | None]
"""Host, principal, agent chain, permission mode."""


class Standing(NamedTuple):
    """The rules that stand for a call.

    Args:
        rules: all of them.
        by_effect: finds them.
    """

    rules: tuple[Rule, ...]
    by_effect: RuleIndex


class _Asked(NamedTuple):
    """What is known of the rules from the caller alone.

    Args:
        out: names of the rules that do not stand.
        by_text: those that stand if the call's text says so.
    """

    out: frozenset[str]
    by_text: tuple[Rule, ...]


class Conditional:
    """A policy's rules, of which each call has its own selection.

    Args:
        rules: every rule of the policy.
        overrides: every override.
        classes: every class, in order.
        unspoken: the answer where no rule speaks.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        overrides: Sequence[Override],
        classes: tuple[ActionClass, ...],
        unspoken: Rule,
    ) -> None:
        self._rules = tuple(rules)
        self._overrides = tuple(overrides)
        self._classes = classes
        self._unspoken = unspoken
        self._ends = sorted({one.expires for one in overrides})
        self._applying: dict[int, frozenset[str]] = {}
        self._expressions: dict[str, Expression] = {}
        self._any = self._either()
        self._callers: dict[Caller, _Asked] = {}
        self._kept: dict[tuple[frozenset[str], frozenset[str]], Standing] = {}

    def at(self, call: ToolCall | None) -> Standing:
        """Return the rules that stand for a call.

        Without a call they are those that stand for every call, at any time.
        """
        if call is None:
            out = frozenset(rule.name for rule in self._rules if rule.when is not None)
            return self._standing(out, frozenset())
        asked = self._asked(call)
        out = asked.out
        if asked.by_text:
            text = text_of(call.input)
            none = self._any is not None and not self._any.found(text)
            out |= {one.name for one in asked.by_text if none or not self._says(one, text)}
        return self._standing(out, self._current(call.ts))

    def _current(self, ts: int) -> frozenset[str]:
        """Return the names of the overrides that apply at a time: the same between two ends."""
        ended = bisect_right(self._ends, ts) if ts > 0 else len(self._ends)
        found = self._applying.get(ended)
        if found is None:
            names = [one.name for one in self._overrides if one.applies_at(ts)]
            found = self._applying[ended] = frozenset(names)
        return found

    def _standing(self, out: frozenset[str], current: frozenset[str]) -> Standing:
        found = self._kept.get((out, current))
        if found is None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            found = self._kept[out, current] = self._made(out, current)
        return found

    def _asked(self, call: ToolCall) -> "_Asked":
        """Return what who makes the call, where and how, says of the rules."""
        caller = (call.host, call.principal, call.agent, call.mode)
        found = self._callers.get(caller)
        if found is None:
            if len(self._callers) >= _MOST_KEPT:
                self._callers.clear()
            asking = [(rule, rule.when) for rule in self._rules if rule.when is not None]
            found = self._callers[caller] = _Asked(
                frozenset(rule.name for rule, when in asking if not holds(when, call)),
                tuple(rule for rule, when in asking if TEXT in when and holds(when, call)),
            )
        return found

    def _either(self) -> "Expression | None":
        """Return what is found where any pattern of the policy is; None to try each."""
        patterns = [one for rule in self._rules for one in (rule.when or {}).get(TEXT, ())]
        if not patterns:
            return None
        from toolgate.gate.policy.regular import either

        return either(patterns)

    def _says(self, rule: Rule, text: bytes) -> bool:
        """Say whether one of a rule's patterns fits a call's text."""
        patterns = (rule.when or {})[TEXT]
        return any(self._expression(pattern).found(text) for pattern in patterns)

    def _expression(self, pattern: str) -> "Expression":
        found = self._expressions.get(pattern)
        if found is None:
            from toolgate.gate.policy.regular import Expression

            found = self._expressions[pattern] = Expression(pattern)
        return found

    def _made(self, out: frozenset[str], current: frozenset[str]) -> Standing:
        rules = [rule for rule in self._rules if rule.name not in out]
        for override in self._overrides:
            if override.name in current:
                rules = [_excepting(rule, override) for rule in rules]
                rules.append(_as_rule(override, self._rules))
        return Standing(tuple(rules), RuleIndex(rules, self._classes, self._unspoken))


def _excepting(rule: Rule, override: Override) -> Rule:
    """Return a rule that leaves what an override is for to it."""
    if rule.name != override.of:
        return rule
    effects = [{**item, "but": [*item.get("but", ()), *override.effects]} for item in rule.effects]
    return rule._replace(effects=tuple(effects))


def _as_rule(override: Override, rules: Sequence[Rule]) -> Rule:
    """Return what an override answers, where its rule would have spoken."""
    of = next(rule for rule in rules if rule.name == override.of)
    return of._replace(
        name=override.name,
        decide=override.decide,
        because=f"{override.because} (an exception from {of.name} by {override.owner})",
        effects=tuple({**item, "only": list(override.effects)} for item in of.effects),
    )
