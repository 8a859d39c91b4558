"""Proposals as a person reads them: YAML to paste into a policy, and why, as comments. Pure."""

import json
from collections.abc import Sequence
from typing import Any

from toolgate.learning.answers import INFERRED, REPORTED, SIGNED
from toolgate.learning.proposals import Left, Proposal

_MOST_NAMED = 5
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./")
_TAKEN = frozenset(("true", "false", "yes", "no", "on", "off", "null", "y", "n"))


def page(
    proposals: Sequence[Proposal], left: Sequence[Left], least: int, owner: str | None, until: str
) -> list[str]:
    """Return the lines of a page of proposals.

    Args:
        proposals: what is proposed.
        left: what is not, and why.
        least: how many approvals a proposal rests on at least.
        owner: who answers for overrides; None leaves that to be filled in.
        until: the last day of overrides, or "" to be filled in.
    """
    lines = [
        "# Proposals from the ledger. Nothing is learned by itself: what you want of this, put",
        "# into the policy under the same key.",
    ]
    rules = [one for one in proposals if one.of is None]
    overrides = [one for one in proposals if one.of is not None]
    if rules:
        lines += ["", "rules:"]
    for one in rules:
        lines += [*_why(one), *_rule(one)]
    if overrides:
        lines += ["", "overrides:"]
    for one in overrides:
        lines += [*_why(one), *_override(one, owner, until)]
    if not proposals:
        lines += ["", f"# Nothing to propose: no kind of ask was approved {least} times or more."]
    if left:
        lines += ["", "# Approved often, and not proposed:"]
    for item in left:
        tool = "" if item.tool is None else f" for {_text(item.tool)}"
        lines.append(f"# - {item.approved} asks by rule {_text(item.rule)}{tool}: {item.why}.")
    return lines


def _why(one: Proposal) -> list[str]:
    asked = "no rule spoke for them" if one.of is None else f"rule {_text(one.of)}"
    word = "session" if one.sessions == 1 else "sessions"
    lines = [
        f"  # {one.approved} asks ({asked}) in {one.sessions} {word}, all approved, none refused:",
        f"  # {one.counts[SIGNED]} by signature, {one.counts[REPORTED]} as the host reports, "
        f"{one.counts[INFERRED]} known only because they ran.",
    ]
    if one.counts[INFERRED] == one.approved:
        lines.append("  # So nobody's word is on record for any of them.")
    passed, tried = one.tried
    if tried:
        lines.append(
            f"  # Decided again with it, from the vault: {passed} of {tried} of them pass."
        )
    if one.denied:
        lines.append(f"  # It would also have allowed {_these(one.denied, 'denied call')}.")
    if one.open:
        lines.append(f"  # It would also have allowed {_these(one.open, 'unanswered ask')}.")
    return lines


def _these(entries: Sequence[str], what: str) -> str:
    named = ", ".join(entry[7:15] for entry in entries[:_MOST_NAMED])
    more = len(entries) - _MOST_NAMED
    rest = f" and {more} more" if more > 0 else ""
    return f"{len(entries)} {what}{'' if len(entries) == 1 else 's'} ({named}{rest})"


def _rule(one: Proposal) -> list[str]:
    return [
        f"  - rule: {one.name}",
        "    decide: allow",
        f"    because: people approved such calls {one.approved} times",
        *([] if one.tool is None else [f"    tools: [{_text(one.tool)}]"]),
        "    effects:",
        *[f"      - {_item(item)}" for item in one.effects],
    ]


def _override(one: Proposal, owner: str | None, until: str) -> list[str]:
    return [
        f"  - override: {one.name}",
        f"    of: {_text(one.of or '')}",
        "    decide: allow",
        f"    because: people approved such calls {one.approved} times",
        f"    owner: {'null  # who answers for it' if owner is None else _text(owner)}",
        f"    expires: {until or 'null  # the last day, such as 2027-01-31'}",
        "    effects:",
        *[f"      - {_item(item)}" for item in one.effects],
    ]


def _item(item: dict[str, Any]) -> str:
    parts = [f"{key}: [{', '.join(map(_value, value))}]" for key, value in item.items()]
    return "{" + ", ".join(parts) + "}"


def _value(value: str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else _text(value)


def _text(text: str) -> str:
    """Return a text as YAML: quoted unless it can be nothing but a word."""
    plain = bool(text) and text[0].isalpha() and text[0].isascii() and _WORD.issuperset(text)
    return text if plain and text.lower() not in _TAKEN else json.dumps(text)
