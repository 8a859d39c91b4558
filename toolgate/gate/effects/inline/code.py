"""A program in another language, read for what its calls do."""

import ast

from toolgate.gate.effects.inline.acts import Acts
from toolgate.gate.effects.inline.exposure import Exposure
from toolgate.gate.effects.inline.lower import Flat, lower
from toolgate.gate.effects.inline.names import CodeTooLongError, Names
from toolgate.gate.effects.inline.values import HOLE_NAME, Values
from toolgate.gate.effects.inline.vocabulary import vocabulary
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command

MAX_FOLDERS = 4
MAX_CODE = 8
"""How deep code may run code."""


def effects_of_code(
    language: str, text: str, reader: Reading, command: Command, name: str, depth: int = 0
) -> list[Effect]:
    """Return what a program does to files, processes, hosts and databases.

    Args:
        language: ``python``, ``javascript``, ``ruby``, ``perl`` or ``php``.
        text: the program.
        reader: reads shell text that it runs.
        command: the command that runs it.
        name: the program that runs it.
        depth: how many programs this one is inside.
    """
    if depth > MAX_CODE:
        return [reader.unknown("code-too-deep", name)]
    reader.work.spend(120 + 3 * len(text) // 2)
    try:
        tree, whole = _tree(language, text)
        made = _effects_of_tree(tree, language, reader, command, name, depth)
    except RecursionError:
        return [reader.unknown("code-too-deep", name)]
    except CodeTooLongError:
        return [reader.unknown("code-too-long", name)]
    return made if whole else [*made, reader.unknown("code-does-not-parse", name)]


def _tree(language: str, text: str) -> tuple[ast.AST, bool]:
    """Return a program's tree, and whether all of it could be read."""
    if language == "python":
        try:
            return ast.parse(text.replace(HOLE, HOLE_NAME)), True
        except (SyntaxError, ValueError, MemoryError):
            pass  # of another version than this one, or broken: its tokens are read
    return lower(text, language)


def _effects_of_tree(
    tree: ast.AST, language: str, reader: Reading, command: Command, name: str, depth: int
) -> list[Effect]:
    names = Names(tree, vocabulary(language), flat=isinstance(tree, Flat), work=reader.work)
    values = Values(names, reader.place.home)
    exposure = Exposure(values, name)

    def read_code(inner: str, text: str, where: Command) -> list[Effect]:
        return effects_of_code(inner, text, reader, where, name, depth + 1)

    made: list[Effect] = []
    for folder in _folders(values, reader, command):
        acts = Acts(values, reader, command._replace(cwd=folder), name, read_code, exposure)
        for call in names.calls:
            made += acts.call(call)
        made += acts.handed_over()
    return made


def _folders(values: Values, reader: Reading, command: Command) -> tuple[str, ...]:
    """Return the directories the code may be in; "" when a change leads somewhere unknown."""
    found = [command.cwd]
    for call in values.names.calls:
        act = values.words.acts.get(values.dotted(call.func))
        if act is not None and act.kind == "chdir":
            for text in values.texts(call.args[0] if call.args else None):
                folder = reader.paths.resolve(text, command.cwd)
                found.append("" if HOLE in folder else folder)
    found = list(dict.fromkeys(found))
    return tuple(found) if len(found) <= MAX_FOLDERS else (command.cwd, "")
