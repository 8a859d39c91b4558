"""What a rule may ask of a call besides its effects: ``when``. Checked, and held against a call."""

from typing import Any

from toolgate.gate.call import ToolCall
from toolgate.gate.effects.patterns import matches_any

NAMES = ("host", "principal", "agent", "mode")
TEXT = "text"
UNKNOWN = "unknown"
MOST_PATTERNS = 256
"""Patterns of a policy: each is tried on the text of every call, one after the other."""


def when_faults(rule: dict[str, Any], where: str) -> list[str]:
    """Return every fault of a rule's ``when``."""
    value = rule.get("when")
    if value is None:
        return []
    if not isinstance(value, dict) or not value:
        return [f"{where}: when is no mapping of {', '.join((*NAMES, TEXT))} to lists"]
    known = {*NAMES, TEXT}
    faults = [f"{where}: unknown key {key} in when" for key in sorted(set(map(str, value)) - known)]
    for key in known & set(value):
        said = value[key]
        if (
            not isinstance(said, list)
            or not said
            or not all(isinstance(x, str) and x for x in said)
        ):
            faults.append(f"{where}: when: {key} is not a list of texts")
    if faults or TEXT not in value:
        return faults
    if rule.get("decide") == "allow":
        faults.append(f"{where}: a text shows no call to be harmless; when: text may ask or deny")
    from toolgate.gate.policy.regular import pattern_fault

    for pattern in value[TEXT]:
        fault = pattern_fault(pattern)
        if fault is not None:
            faults.append(f"{where}: when: text {pattern!r:.80}: {fault}")
    return faults


def pattern_count_faults(body: dict[str, Any]) -> list[str]:
    """Return a fault if the rules of a policy hold too many patterns of text."""
    rules = body.get("rules") if isinstance(body.get("rules"), list) else []
    whens = [rule.get("when") for rule in rules or () if isinstance(rule, dict)]
    texts = [when.get(TEXT) for when in whens if isinstance(when, dict)]
    count = sum(len(text) for text in texts if isinstance(text, list))
    if count <= MOST_PATTERNS:
        return []
    return [
        f"when: {count} patterns of text; expected at most {MOST_PATTERNS}, or rules by effects"
    ]


def holds(when: dict[str, Any], call: ToolCall) -> bool:
    """Say whether a call is made by whom, where and how a rule says. Its text is left aside.

    What the host does not say is ``unknown``.
    """
    said = {
        "host": call.host,
        "principal": call.principal,
        "agent": "/".join(call.agent),
        "mode": call.mode or UNKNOWN,
    }
    return all(matches_any(said[key], tuple(when[key])) for key in NAMES if key in when)


def text_of(value: Any) -> bytes:
    """Return a call's input as patterns see it, in UTF-8.

    Every key and value, a line each, without quotes and backslashes, so that quoting does
    not hide a word.
    """
    found: list[str] = []
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            for key, inner in reversed(item.items()):
                waiting += [inner, key]
        elif isinstance(item, list):
            waiting += reversed(item)
        elif item is not None:
            found.append(item if isinstance(item, str) else str(item))
    text = "\n".join(found).translate(_QUOTES)
    return text.encode("utf-8", "replace")


_QUOTES = str.maketrans("", "", "'\"\\")
