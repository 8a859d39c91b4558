"""What the text of a policy says, as far as a reader of decisions needs it.

The text comes from the ledger directory and may be anything: what has not the
form of a policy says nothing here, and the view says that it does not.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from toolgate.canonical import digest

BUILT_IN: Mapping[str, str] = {
    "harmless": "it only looks, and that is proved",
    "default": "no rule of the policy speaks for it",
    "input": "the call could not be read",
    "gate-fault": "the gate failed while it read the call",
    "composition": "approvals that the policy wants for this class were not there",
}
"""Rules that stand in no policy's text, and why they apply."""


class Author(NamedTuple):
    """Who a policy says its author is, and the policy that author acts under."""

    name: str
    key: str
    authorizing_policy: str | None


class Composition(NamedTuple):
    """Which approvals a class needs."""

    operator: str
    n: int
    principals: tuple[str, ...]


class PolicyText(NamedTuple):
    """A policy's text for people.

    Args:
        version: its digest.
        problem: None, or why nothing below is known: ``missing``, ``altered``, ``unreadable``.
        name: what it calls itself.
        author: who it says wrote it.
        rules: name of a rule, or of an override, to (what it decides, because).
        composition: class to the approvals it needs.
        unattended: permission modes in which nobody can be asked.
    """

    version: str
    problem: str | None
    name: str | None = None
    author: Author | None = None
    rules: Mapping[str, tuple[str, str]] = {}
    composition: Mapping[str, Composition] = {}
    unattended: frozenset[str] = frozenset()

    def because(self, rule: str) -> str | None:
        """Return why a rule applies; None if neither the text nor this program knows it."""
        known = self.rules.get(rule)
        return known[1] if known else BUILT_IN.get(rule)


def policy_text(version: str, data: bytes | None) -> PolicyText:
    """Read a policy's text.

    Args:
        version: the digest a decision names it by.
        data: the text the ledger keeps under it; None when there is none.
    """
    if data is None:
        return PolicyText(version, "missing")
    if digest(data) != version:
        return PolicyText(version, "altered")
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return PolicyText(version, "unreadable")
    if not isinstance(body, dict):
        return PolicyText(version, "unreadable")
    return PolicyText(
        version=version,
        problem=None,
        name=_text(body.get("name")),
        author=_author(_mapping(body.get("authored_by"))),
        rules={**_rules(body.get("rules")), **_overrides(body.get("overrides"))},
        composition=_composition(_mapping(body.get("composition"))),
        unattended=frozenset(_texts(_mapping(body.get("unattended")).get("modes"))),
    )


def _rules(value: Any) -> dict[str, tuple[str, str]]:
    rules = [_mapping(item) for item in value] if isinstance(value, list) else []
    return {
        str(item["rule"]): (str(item.get("decide")), str(item.get("because")))
        for item in rules
        if "rule" in item
    }


def _overrides(value: Any) -> dict[str, tuple[str, str]]:
    items = [_mapping(item) for item in value] if isinstance(value, list) else []
    return {
        str(item["override"]): (
            str(item.get("decide")),
            f"{item.get('because')} (an exception from {item.get('of')} by {item.get('owner')})",
        )
        for item in items
        if "override" in item
    }


def _composition(value: dict[str, Any]) -> dict[str, Composition]:
    found = {}
    for name, item in value.items():
        body = _mapping(item)
        n = body.get("n")
        wanted = n if type(n) is int else 1
        who = _texts(body.get("principals"))
        found[name] = Composition(str(body.get("operator")), wanted, who)
    return found


def _author(value: dict[str, Any]) -> Author | None:
    if not value:
        return None
    return Author(
        str(value.get("name")), str(value.get("key")), _text(value.get("authorizing_policy"))
    )


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()
