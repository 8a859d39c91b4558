"""A policy of the public toolgate (RiskAverseTech/toolgate), said in this language. Pure.

There the first rule that fits answers, and text is all a rule sees; here the strictest rule
answers, whatever its place. What cannot be said without changing its meaning is refused and
told, key by key.

Source: RiskAverseTech/toolgate 0.16, README and policy documentation.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from toolgate.gate.decision import ALLOW, ASK, AXES, DENY
from toolgate.gate.effects.patterns import matches
from toolgate.gate.policy.axes_source import axes_faults
from toolgate.gate.policy.regular import pattern_fault
from toolgate.gate.policy.trust import host_fault, tool_fault

TAKEN, CHANGED, REFUSED = "taken", "changed", "refused"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-*")
_JUDGE = "a setting of the judge there; here a judge is set up by the key judge"
_ELSEWHERE = {
    "limits": _JUDGE,
    "include_task_context": _JUDGE,
    "backend": _JUDGE,
    "model": _JUDGE,
    "timeout_ms": _JUDGE,
    "show_allows": "what the host shows is no part of a policy here",
    "log_input": "the ledger here holds no input at all",
    "audit": "it only says where that product's log lies; nothing is read or written there",
    "ledger": "it only says where that product's session files lie; nothing is read there",
    "gated_tools": "every tool is decided here; there those that are not listed were not",
}


class Line(NamedTuple):
    """What became of one key.

    Args:
        key: where it stood.
        fate: ``taken``, ``changed`` or ``refused``.
        why: what it has become, or why it has not.
    """

    key: str
    fate: str
    why: str


class Imported(NamedTuple):
    """A policy in this language.

    Args:
        body: as its YAML says it.
        lines: what became of each key of the other.
    """

    body: dict[str, Any]
    lines: tuple[Line, ...]


def imported(body: dict[str, Any], name: str) -> Imported:
    """Return a policy of the public toolgate as one of this language, on top of ``balanced``.

    Args:
        body: the policy as its YAML says it.
        name: what the new policy calls itself.
    """
    made: dict[str, Any] = {"version": 1, "name": name, "extends": {"policy": "balanced"}}
    lines: list[Line] = []
    for key, value in body.items():
        reader = _READERS.get(str(key))
        if reader is not None:
            lines += reader(value, made)
        elif key in _ELSEWHERE:
            lines += [Line(where, REFUSED, _ELSEWHERE[key]) for where in _leaves(str(key), value)]
        else:
            lines.append(Line(str(key), REFUSED, "no key of that product's policies that is known"))
    return Imported(made, tuple(lines))


def _leaves(key: str, value: Any) -> list[str]:
    return [f"{key}.{inner}" for inner in value] if isinstance(value, dict) and value else [key]


def _rules(value: Any, made: dict[str, Any]) -> Iterator[Line]:
    if not isinstance(value, list):
        yield Line("rules", REFUSED, f"{type(value).__name__}; expected a list")
        return
    for number, rule in enumerate(value, 1):
        where = f"rules[{number}]"
        if not isinstance(rule, dict):
            yield Line(where, REFUSED, f"{type(rule).__name__}; expected a mapping")
            continue
        for key in sorted(set(map(str, rule)) - {"match", "action", "reason", "name"}):
            yield Line(f"{where}.{key}", REFUSED, "no key of a rule there that is known")
        yield _rule(rule, number, value, made)


def _rule(rule: dict[str, Any], number: int, rules: list[Any], made: dict[str, Any]) -> Line:
    """Take one rule over, or say why not."""
    where, match = f"rules[{number}]", rule.get("match")
    action, match = rule.get("action"), match if isinstance(match, dict) else {}
    if action == ALLOW:
        others = _stricter(rules, number)
        beside = f"; it came before {', '.join(others)}" if others else ""
        return Line(
            where,
            REFUSED,
            "it allows by text and by its place in the file, and here no rule lowers another: "
            f"describe the tool under mcp, or write the exception out as an override{beside}",
        )
    if action not in (ASK, DENY):
        return Line(where, REFUSED, f"action is {action!r:.60}; expected allow, ask or deny")
    unknown = sorted(set(map(str, match)) - {"tool", "input_regex"})
    if unknown:
        return Line(where, REFUSED, f"match has {unknown[0]}; expected tool and input_regex")
    tools = _tools(match.get("tool"))
    if tools is None:
        return Line(where, REFUSED, f"tool {match['tool']!r:.60} is no list of names with *")
    pattern = match.get("input_regex")
    if pattern is not None:
        fault = pattern_fault(pattern) if isinstance(pattern, str) else "is no text"
        if fault is not None:
            return Line(f"{where}.match.input_regex", REFUSED, f"{pattern!r:.60}: {fault}")
    if not tools and not pattern:
        return Line(where, REFUSED, "it fits every call; set default or write rules by effects")
    reason = rule.get("reason")
    said = reason.strip() if isinstance(reason, str) and reason.strip() else f"rule {number} there"
    new: dict[str, Any] = {"rule": f"imported-{number}", "decide": action, "because": said}
    if tools:
        new["tools"] = tools
    if pattern:
        new["when"] = {"text": [pattern]}
    made.setdefault("rules", []).append(new)
    earlier = _milder(rules, number) if action == DENY else []
    if earlier:
        why = f"as rule imported-{number}; where {', '.join(earlier)} fits too it denies, not asks"
        return Line(where, CHANGED, why)
    return Line(where, TAKEN, f"as rule imported-{number}, searched in the same text, by RE2")


def _stricter(rules: list[Any], number: int) -> list[str]:
    """Return the asking and denying rules behind a rule that may fit the same calls."""
    return [
        f"rules[{place}] ({rule['action']})"
        for place, rule in enumerate(rules, 1)
        if place > number and _may_meet(rules[number - 1], rule, (ASK, DENY))
    ]


def _milder(rules: list[Any], number: int) -> list[str]:
    """Return the asking rules before a rule that may fit the same calls."""
    return [
        f"rules[{place}]"
        for place, rule in enumerate(rules[: number - 1], 1)
        if _may_meet(rules[number - 1], rule, (ASK,))
    ]


def _may_meet(rule: dict[str, Any], other: Any, actions: tuple[str, ...]) -> bool:
    """Say whether another rule answers so, and may fit a call of the same tool."""
    if not isinstance(other, dict) or other.get("action") not in actions:
        return False
    sides = [one.get("match") for one in (rule, other)]
    ours, theirs = (_tools(side.get("tool")) if isinstance(side, dict) else [] for side in sides)
    if not ours or not theirs:
        return True
    return any(matches(one, two) or matches(two, one) for one in ours for two in theirs)


def _tools(matcher: Any) -> list[str] | None:
    """Return name patterns for a matcher: none for every tool; None where there is no such list.

    There it is a name, names between ``|`` or commas, or an expression for whole names.
    """
    if matcher in (None, "", "*", ".*"):
        return []
    if not isinstance(matcher, str):
        return None
    parts = [part.strip().replace(".*", "*") for part in matcher.replace(",", "|").split("|")]
    if not all(part and set(part) <= _PLAIN for part in parts):
        return None
    return [] if "*" in parts else parts


def _thresholds(value: Any, made: dict[str, Any]) -> Iterator[Line]:
    if not isinstance(value, dict):
        yield Line("thresholds", REFUSED, f"{type(value).__name__}; expected a mapping")
        return
    lines = {key: value[key] for key in (ASK, DENY) if key in value}
    axes: dict[str, Any] = {axis: dict(lines) for axis in AXES} if lines else {}
    faults = axes_faults({"destructive": lines}) if lines else []
    for key, line in value.items():
        where = f"thresholds.{key}"
        if key in lines:
            told = "; ".join(faults).replace("axes: destructive", "the line")
            yield (
                Line(where, REFUSED, told)
                if faults
                else Line(
                    where,
                    CHANGED,
                    f"{line} for each of the {len(AXES)} axes; read by a judge alone",
                )
            )
        elif key == "authorized":
            wrong = axes_faults({"authorized": line})
            yield Line(where, REFUSED if wrong else TAKEN, wrong[0] if wrong else f"{line}")
            if not wrong:
                axes["authorized"] = line
        else:
            yield Line(where, REFUSED, "no threshold there that is known")
    kept = {key: said for key, said in axes.items() if key == "authorized" or not faults}
    if kept:
        made.setdefault("axes", {}).update(kept)


def _questions(value: Any, made: dict[str, Any]) -> Iterator[Line]:
    items = value.items() if isinstance(value, dict) else []
    if not items:
        yield Line("questions", REFUSED, f"{type(value).__name__}; expected a mapping by name")
    for name, said in items:
        text = said.get("instructions") if isinstance(said, dict) else said
        axis = {"softened": True, "ceiling": DENY, "question": text}
        where = f"questions.{name}"
        if name in AXES:
            yield Line(where, REFUSED, "the shipped axes ask their own questions")
            continue
        wrong = axes_faults({name: axis})
        if wrong:
            yield Line(where, REFUSED, "; ".join(wrong))
            continue
        made.setdefault("axes", {})[name] = axis
        yield Line(where, CHANGED, f"axis {name}, softened and with ceiling deny as it was there")


def _fail_mode(value: Any, made: dict[str, Any]) -> Iterator[Line]:
    if value in (ASK, DENY):
        made["fail_mode"] = value
        yield Line("fail_mode", TAKEN, f"{value}; in unattended modes it becomes what an ask does")
    elif value == "passthrough":
        yield Line("fail_mode", REFUSED, "nothing is allowed here because something broke")
    else:
        yield Line("fail_mode", REFUSED, f"{value!r:.60}; expected ask or deny")


def _unattended(value: Any, made: dict[str, Any]) -> Iterator[Line]:
    said = value if isinstance(value, dict) else {}
    modes, ask = said.get("modes", ["bypassPermissions", "dontAsk"]), said.get("ask", DENY)
    good = isinstance(modes, list) and all(isinstance(mode, str) and mode for mode in modes)
    if not isinstance(value, dict) or not good or ask not in (ASK, DENY):
        yield Line("unattended", REFUSED, "expected modes, a list of names, and ask: ask or deny")
        return
    made["unattended"] = {"modes": modes, "ask": ask}
    yield Line("unattended", TAKEN, "for every ask, of whatever source")
    for key in sorted(set(map(str, said)) - {"modes", "ask"}):
        yield Line(f"unattended.{key}", REFUSED, "no key there that is known")


def _trusted(key: str, value: Any, made: dict[str, Any]) -> Iterator[Line]:
    """Take over whom that policy trusts, each as narrowly as this language wants it."""
    items = value if isinstance(value, list) else [value]
    for item in items:
        tools = _tools(item) if key == "trusted_tools" else [item]
        for one in tools if tools else [item]:
            fault_of = tool_fault if key == "trusted_tools" else host_fault
            fault = fault_of(one) if isinstance(one, str) and tools else "is no name"
            if key == "trusted_tools" and tools == []:
                fault = "is too broad: it fits every tool"
            if fault is not None:
                yield Line(key, REFUSED, f"{item!r:.60} {fault}")
                continue
            made.setdefault("names", {}).setdefault(key, []).append(one)
            yield Line(key, TAKEN, f"{one}; it relaxes sending alone")


_READERS: dict[str, Callable[[Any, dict[str, Any]], Iterator[Line]]] = {
    "rules": _rules,
    "thresholds": _thresholds,
    "questions": _questions,
    "fail_mode": _fail_mode,
    "unattended": _unattended,
    "trusted_hosts": lambda value, made: _trusted("trusted_hosts", value, made),
    "trusted_tools": lambda value, made: _trusted("trusted_tools", value, made),
}
