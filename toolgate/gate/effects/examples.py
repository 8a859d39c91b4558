"""The examples of the catalogue read, and what an entry states that none of them shows."""

from typing import Any, NamedTuple

from toolgate.gate.call import Place
from toolgate.gate.catalog.compile import programs_of
from toolgate.gate.catalog.facts import facts_of
from toolgate.gate.catalog.load import Catalog
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.settings import Settings
from toolgate.gate.effects.shell import Reader
from toolgate.gate.effects.stated import usual_scope
from toolgate.gate.shell.model import HOLE

PLACE = Place("/home/dev/app", ("/home/dev/app",), "/home/dev")
"""Where every example runs."""


class Described(NamedTuple):
    """One entry of a family and its examples.

    Args:
        names: the programs that share the entry.
        examples: command to the effects written for it.
    """

    names: tuple[str, ...]
    examples: dict[str, list[str]]


class _Amended(Catalog):
    """A catalogue in which some programs have another entry."""

    def __init__(self, base: Catalog, names: tuple[str, ...], entry: dict[str, Any]) -> None:
        self._base = base
        self._amended = dict.fromkeys(names, entry)

    def get(self, name: str) -> dict[str, Any] | None:
        return self._amended[name] if name in self._amended else self._base.get(name)


def described(file: str, family: Any) -> list[Described]:
    """Return the entries of a family; aliases and groups count with the entry they share."""
    shared: dict[int, list[str]] = {}
    programs = programs_of(file, family, [])
    for name, entry in programs:
        shared.setdefault(id(entry), []).append(name)
    written = family.get("examples") or {}
    return [
        Described(
            tuple(names),
            {
                command: effects
                for name in names
                for command, effects in written.get(name, {}).items()
            },
        )
        for names in shared.values()
    ]


def effects_in_short(command: str, catalog: Catalog, settings: Settings) -> list[str]:
    """Return the effects of a command in short notation, sorted, each once."""
    effects = Reader(PLACE, settings, catalog).effects(command)
    return sorted({in_short(effect) for effect in effects})


def in_short(effect: Effect) -> str:
    """Return ``type:how,how@scope=resource unresolved(reason)``.

    Left out: the scope that is the type's own, the resource that is the
    program, the proof of what is proved. Paths in the workspace are relative.
    """
    if effect.type == "inspect" and effect.scope == usual_scope(effect.type):
        return effect.type
    text = effect.type
    if effect.how:
        text += ":" + ",".join(sorted(set(effect.how.split())))
    if effect.scope != usual_scope(effect.type) or effect.type.startswith("fs."):
        text += "@" + effect.scope
    if effect.resource != effect.program:
        text += "=" + _shown(effect.resource)
    if effect.proof != PROVED:
        text += " " + effect.proof
    return text


def _shown(resource: str) -> str:
    for folder, short in ((PLACE.cwd, ""), (PLACE.home, "~/")):
        if resource.startswith(folder + "/"):
            resource = short + resource[len(folder) + 1 :]
        elif resource == folder:
            resource = short.rstrip("/") or "."
    return resource.replace(HOLE, "…")


def wrong(one: Described, catalog: Catalog, settings: Settings) -> list[str]:
    """Return the examples whose effects are others than written, one sentence each."""
    faults: list[str] = []
    for command, expected in one.examples.items():
        got = effects_in_short(command, catalog, settings)
        if got != sorted(expected):
            faults.append(f"{command!r}: expected {sorted(expected)}, got {got}")
    return faults


def unshown(one: Described, catalog: Catalog, settings: Settings) -> list[str]:
    """Return what an entry states and no example of it shows, one sentence each."""
    name = one.names[0]
    if not one.examples:
        return [f"{name}: no example"]
    entry = catalog.get(name)
    assert entry is not None
    told = {command: effects_in_short(command, catalog, settings) for command in one.examples}
    return [
        f"{name}: no example shows {fact.about}"
        for fact in facts_of(entry)
        if not _shows(told, _Amended(catalog, one.names, fact.lacking), settings)
    ]


def _shows(told: dict[str, list[str]], amended: Catalog, settings: Settings) -> bool:
    return any(
        effects_in_short(command, amended, settings) != effects for command, effects in told.items()
    )
