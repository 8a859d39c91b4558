"""What a catalogue entry states outright: effects, and the clauses they depend on."""

from functools import lru_cache
from typing import Any

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.catalog.schema import effect_parts
from toolgate.gate.effects.model import IRREVERSIBLE, PROVED, Effect, unresolved
from toolgate.gate.effects.patterns import matches

_OFF = frozenset(("none", "false", "no", "off", "0"))
_SCOPE_OF_TYPE = {
    "vcs": "workspace",
    "exec": "workspace",
    "pkg": "workspace",
    "proc": "outside",
    "sys": "system",
    "gate": "gate",
    "inspect": "inspect-only",
    "secret": "secret",
}
_OUTSIDE = frozenset(("vcs.publish", "pkg.publish"))


@lru_cache(maxsize=2_048)
def stated(item: str, name: str, how: tuple[str, ...]) -> Effect:
    """Return an effect an entry states outright."""
    kind, own, scope, resource = effect_parts(item)
    marks = " ".join(dict.fromkeys((*own, *how)))
    proof = unresolved("project-code") if kind == "exec.code" else PROVED
    return Effect(
        kind,
        scope or usual_scope(kind),
        resource or name,
        kind not in IRREVERSIBLE,
        proof,
        name,
        marks,
    )


def usual_scope(kind: str) -> str:
    """Return the scope of a stated effect that names none."""
    area = kind.partition(".")[0]
    return "outside" if kind in _OUTSIDE else _SCOPE_OF_TYPE.get(area, "outside")


def is_dry(parsed: Parsed, entry: dict[str, Any]) -> bool:
    """Say whether an option is given under which nothing changes, and not switched off again."""
    dry = entry.get("dry", ())
    return any(
        given in dry and (value is None or (value.known and value.text.lower() not in _OFF))
        for given, value in parsed.options
    )


def holds(clause: dict[str, Any], parsed: Parsed) -> bool:
    """Say whether a clause of an entry holds for a call's arguments."""
    if "any" in clause and not parsed.has(clause["any"]):
        return False
    if clause.get("bare") and (parsed.operands or parsed.rest):
        return False
    if "none" in clause and parsed.has(clause["none"], abbreviated=False):
        return False
    if "value" in clause and not _has_value(clause["value"], parsed):
        return False
    if "words" in clause:
        return any(
            matches(word.text, pattern)
            for word in (*parsed.operands, *parsed.rest)
            for pattern in clause["words"]
        )
    return True


def _has_value(wanted: dict[str, list[str]], parsed: Parsed) -> bool:
    for option, values in wanted.items():
        for given, value in parsed.options:
            if given != option or value is None:
                continue
            folded = value.text.lower()
            if not value.known or any(matches(folded, str(item).lower()) for item in values):
                return True
    return False
