"""What the calls of a language do: tables of names, one file a language."""

from functools import cache
from typing import NamedTuple

OWNER = -1
"""Position of what a method belongs to."""


class Act(NamedTuple):
    """What a call does.

    Args:
        kind: ``delete``, ``write``, ``shell``, ``fetch``, ...; see ``inline-programs.md``.
        position: which argument it is done to, or ``OWNER``.
    """

    kind: str
    position: int


class Vocabulary(NamedTuple):
    """The calls and names of one language.

    Args:
        language: its name.
        acts: dotted name to what the call does; ``*.name`` for whatever the owner is,
            ``~.name`` only where the owner is not known and files or processes are imported.
        modules: names that usually stand for a module, when the code gives them no value.
        objects: calls that make an object, and the dotted name its methods go by.
        environment: names of the process environment as a whole.
        getters: calls that return one variable of it.
        importers: calls that return a module by its name.
        places: calls and names that are a folder or file: ``home``, ``here``, ``temp``.
        same: calls whose value is that of their first argument.
        joins: calls that join their arguments to a path.
        finds: calls whose values are the files that a pattern or folder holds.
        prints: calls that print what they are given.
        acting: modules that make the acts of an unknown owner likely.
        clouds: modules whose clients change what runs elsewhere, by the verb of their method.
        push: whether lists grow by a function: ``push(@a, ...)``.
    """

    language: str
    acts: dict[str, Act]
    modules: dict[str, str]
    objects: dict[str, str]
    environment: frozenset[str]
    getters: frozenset[str]
    importers: frozenset[str]
    places: dict[str, str]
    same: frozenset[str]
    joins: frozenset[str]
    finds: dict[str, str]
    prints: frozenset[str]
    acting: tuple[str, ...]
    clouds: tuple[str, ...] = ()
    push: bool = False


def acts(table: str) -> dict[str, Act]:
    """Return the acts of a table: lines of a kind, a position (``o`` for the owner) and names."""
    found: dict[str, Act] = {}
    kind, position = "", 0
    for line in table.splitlines():
        head, colon, names = line.partition(": ")
        if colon:
            kind, _, place = head.partition(" ")
            position = OWNER if place == "o" else int(place or 0)
        for name in (names if colon else line).split():
            found[name] = Act(kind, position)
    return found


def pairs(table: str) -> dict[str, str]:
    """Return a mapping from ``name=value`` words."""
    return dict(item.split("=", 1) for item in table.split())


@cache
def vocabulary(language: str) -> Vocabulary:
    """Return the vocabulary of a language, loaded when there is something for it to read."""
    if language == "python":
        from toolgate.gate.effects.inline.python_words import WORDS
    elif language == "javascript":
        from toolgate.gate.effects.inline.javascript_words import WORDS
    elif language == "ruby":
        from toolgate.gate.effects.inline.ruby_words import WORDS
    elif language == "perl":
        from toolgate.gate.effects.inline.perl_words import WORDS
    else:
        from toolgate.gate.effects.inline.php_words import WORDS
    return WORDS


@cache
def acting_owners(language: str) -> frozenset[str]:
    """Return the modules and objects that have a call in the tables of a language."""
    return frozenset(name.rpartition(".")[0] for name in vocabulary(language).acts)


def canonical(language: str, name: str) -> str:
    """Return a dotted name in the spelling of the tables."""
    if language == "javascript":
        name = name.removeprefix("node:").removeprefix("globalThis.").removeprefix("window.")
        name = name.replace("fs/promises", "fs").replace("fs.promises", "fs")
        for module in ("fs-extra", "graceful-fs", "fs.default", "original-fs"):
            if name.startswith(module + "."):
                name = "fs" + name[len(module) :]
        name = name.replace(".default.", ".")
        return name[:-4] if name.endswith("Sync") and len(name) > 4 else name
    if language == "ruby":
        return name.removeprefix("Kernel.").removeprefix("self.").replace(".new.", ".")
    if language == "php":
        return name.lstrip("\\")
    if language == "perl":
        return (
            name.removeprefix("CORE.GLOBAL.")
            .removeprefix("CORE.")
            .removeprefix("main.")
            .replace(".new.", ".")
        )
    return name
