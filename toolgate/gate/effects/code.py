"""Programs given inline in other languages, read for what they do.

Each language's reader is loaded when there is something for it to read.
"""

from toolgate.gate.effects.model import Effect, unresolved
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command
from toolgate.gate.shell.work import CODE

_BY_CHARACTER = frozenset(("sql", "sed", "awk"))
"""Languages whose readers take two steps for each character at most."""


def effects(language: str, text: str, reader: Reading, command: Command, name: str) -> list[Effect]:
    """Return the effects of inline code.

    Args:
        language: one of the catalogue's code roles.
        text: the code; holes where a shell variable stands in it.
        reader: reads shell text that the code runs.
        command: the command that runs the code.
        name: the program that runs it.
    """
    if language == "shell":
        return reader.inner(text) if HOLE not in text else [reader.code_not_known(name)]
    if text.strip(HOLE + " \n") == "" and HOLE in text:
        return [reader.code_not_known(name)]
    made = reader.work.within(CODE, lambda: _effects(language, text, reader, command, name))
    return [reader.unknown("code-too-long", name)] if made is None else made


def _effects(
    language: str, text: str, reader: Reading, command: Command, name: str
) -> list[Effect]:
    if language in _BY_CHARACTER:
        reader.work.spend(2 * len(text))
    if language == "sql":
        from toolgate.gate.effects.inline.sql import effects_of_sql

        return effects_of_sql(text, reader, name)
    if language == "sed":
        from toolgate.gate.effects.inline.sed import effects_of_sed

        return effects_of_sed(text, reader, command, name)
    if language == "awk":
        from toolgate.gate.effects.inline.awk import effects_of_awk

        return effects_of_awk(text, reader, command, name)
    running = Effect(
        "exec.code", "workspace", name, True, unresolved("inline-code"), name, f"inline {language}"
    )
    if language == "lua":
        from toolgate.gate.effects.inline.lua import effects_of_lua

        return [running, *effects_of_lua(text, reader, command, name)]
    from toolgate.gate.effects.inline.code import effects_of_code
    from toolgate.gate.effects.loads import loaded

    made = [running, *effects_of_code(language, text, reader, command, name)]
    for path in loaded(language, text, command.cwd):
        made += reader.run_known(path, name) or []
    return made
