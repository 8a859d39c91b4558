"""What an entry states, one fact at a time, each with the entry that lacks it."""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Entry = dict[str, Any]
_WITHOUT_EFFECT = frozenset(("text", "list"))
_HARMLESS_KEYS = frozenset(("values", "operands", "stop", "whole"))
_ALARM = "exec.code:unknown@unknown=alarm"


class Fact(NamedTuple):
    """One thing an entry says.

    Args:
        about: the fact in words.
        lacking: the entry without it, or saying something else in its place.
    """

    about: str
    lacking: Entry


def facts_of(entry: Entry) -> list[Fact]:
    """Return what an entry states, over all its subcommands; what is repeated is one fact.

    An example shows a fact when its effects would be others without it.
    """
    found: dict[str, Callable[[Entry], Entry]] = {}
    for below in _every(entry):
        for clause in below.get("when", ()):
            found.setdefault("clause " + json.dumps(clause), _without_clause(clause))
        for key in (
            "dry",
            "how",
            "special",
            "wraps",
            "assigns",
            "stdin",
            "inside",
            "other",
            "keeps",
        ):
            if below.get(key) not in (None, False):
                about = "other subcommands" if key == "other" else f"{key} {below[key]}"
                found.setdefault(about, _without_key(key, below[key]))
        for item in below.get("does", ()):
            found.setdefault(f"effect {item}", _without_effect(item))
        for role in below.get("operands", ()):
            if role.rstrip("*?") not in _WITHOUT_EFFECT:
                found.setdefault(f"operand {role.rstrip('*?')}", _without_operand(role))
        for role in below.get("values", {}).values():
            if role not in _WITHOUT_EFFECT:
                found.setdefault(f"value {role}", _without_value(role))
        if _is_harmless(below):
            found.setdefault("that it may only look", _alarming)
    return [Fact(about, _changed(entry, change)) for about, change in found.items()]


def _every(entry: Entry) -> Iterator[Entry]:
    yield entry
    for below in entry.get("subcommands", {}).values():
        yield from _every(below)
    if entry.get("other"):
        yield from _every(entry["other"])


def _changed(entry: Entry, change: Callable[[Entry], Entry]) -> Entry:
    made = change(dict(entry))
    if "subcommands" in made:
        made["subcommands"] = {
            word: _changed(below, change) for word, below in made["subcommands"].items()
        }
    if made.get("other") is not None:
        made["other"] = _changed(made["other"], change)
    return made


def _is_harmless(entry: Entry) -> bool:
    roles = [role.rstrip("*?") for role in entry.get("operands", ())]
    return set(entry) <= _HARMLESS_KEYS and set(roles) <= _WITHOUT_EFFECT


def _alarming(entry: Entry) -> Entry:
    return {**entry, "does": [_ALARM]} if _is_harmless(entry) else entry


def _without_clause(clause: Any) -> Callable[[Entry], Entry]:
    def change(entry: Entry) -> Entry:
        if "when" in entry:
            entry["when"] = [one for one in entry["when"] if one != clause]
        return entry

    return change


def _without_key(key: str, value: Any) -> Callable[[Entry], Entry]:
    def change(entry: Entry) -> Entry:
        return {k: v for k, v in entry.items() if k != key or v != value}

    return change


def _without_effect(item: str) -> Callable[[Entry], Entry]:
    def change(entry: Entry) -> Entry:
        if "does" in entry:
            entry["does"] = [one for one in entry["does"] if one != item]
        return entry

    return change


def _without_operand(role: str) -> Callable[[Entry], Entry]:
    bare = role.rstrip("*?")

    def change(entry: Entry) -> Entry:
        if "operands" in entry:
            entry["operands"] = [
                "text" + one[len(bare) :] if one.rstrip("*?") == bare else one
                for one in entry["operands"]
            ]
        return entry

    return change


def _without_value(role: str) -> Callable[[Entry], Entry]:
    def change(entry: Entry) -> Entry:
        if "values" in entry:
            entry["values"] = {
                option: "text" if given == role else given
                for option, given in entry["values"].items()
            }
        return entry

    return change
