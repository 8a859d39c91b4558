"""Whether a rule says all that another says, so that the other never changes an answer. Pure.

Only what holds for every effect and call counts: where it cannot be told, nothing is covered.
"""

from typing import Any

from toolgate.gate.effects.patterns import matches

_VALUES = ("type", "scope", "reversible")
_NAMES = ("program", "resource")


def covers(rule: dict[str, Any], other: dict[str, Any]) -> bool:
    """Say whether a rule, or class, speaks wherever another one speaks.

    Args:
        rule: the wider one, as the compiled policy holds it.
        other: the narrower one.
    """
    if not _patterns(rule.get("tools"), other.get("tools")):
        return False
    if not set(rule.get("facts") or ()) <= set(other.get("facts") or ()):
        return False
    if not _when(rule.get("when") or {}, other.get("when") or {}):
        return False
    if not rule.get("effects"):
        return True
    narrow = other.get("effects") or []
    return bool(narrow) and all(
        any(_item(wide, item) for wide in rule["effects"]) for item in narrow
    )


def never_fits(item: dict[str, Any]) -> str | None:
    """Return why no effect fits an item of a rule, or None where one may."""
    without = set(item.get("without") or ())
    both = sorted(without & set(item.get("all") or ()))
    if both:
        return f"{', '.join(both)} is asked for by all and ruled out by without"
    how = set(item.get("how") or ())
    if how and how <= without:
        return f"{', '.join(sorted(how))} is asked for by how and ruled out by without"
    empty = [key for key, value in item.items() if value == []]
    return f"{empty[0]} lists nothing" if empty and empty[0] not in ("all", "without") else None


def _item(wide: dict[str, Any], narrow: dict[str, Any]) -> bool:
    """Say whether every effect that fits the narrow item fits the wide one."""
    for key in _VALUES:
        if key in wide and not (key in narrow and set(narrow[key]) <= set(wide[key])):
            return False
    if "proof" in wide and not (
        "proof" in narrow and all(_proof(wide["proof"], one) for one in narrow["proof"])
    ):
        return False
    if any(key in wide and not _patterns(wide[key], narrow.get(key)) for key in _NAMES):
        return False
    sure = set(narrow.get("all") or ())
    some = set(narrow.get("how") or ())
    if len(some) == 1:
        sure |= some
    if "how" in wide and not (sure & set(wide["how"]) or (some and some <= set(wide["how"]))):
        return False
    if not set(wide.get("all") or ()) <= sure:
        return False
    return set(wide.get("without") or ()) <= set(narrow.get("without") or ())


def _proof(wide: list[str], one: str) -> bool:
    return one in wide or (one.startswith("unresolved") and "unresolved" in wide)


def _patterns(wide: list[str] | None, narrow: list[str] | None) -> bool:
    """Say whether every text that fits a narrow pattern fits a wide one; none means any text.

    A ``*`` of the narrow one can only be matched by a ``*`` of the wide one, because no other
    part of a pattern is a ``*``.
    """
    if not wide:
        return True
    return bool(narrow) and all(any(matches(one, other) for other in wide) for one in narrow or ())


def _when(wide: dict[str, list[str]], narrow: dict[str, list[str]]) -> bool:
    for key, values in wide.items():
        if key == "text":
            if not narrow.get(key) or not set(narrow[key]) <= set(values):
                return False
        elif not _patterns(values, narrow.get(key)):
            return False
    return True
