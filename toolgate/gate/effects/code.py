"""Programs given inline in other languages, read for what they do."""

from toolgate.gate.effects.access import access
from toolgate.gate.effects.calls import effects_of_calls
from toolgate.gate.effects.model import Effect, unresolved
from toolgate.gate.effects.reading import Reading
from toolgate.gate.effects.sql import effects_of_sql
from toolgate.gate.shell.model import HOLE, Command


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
    if language == "sql":
        return effects_of_sql(text, reader, name)
    if language == "sed":
        return _sed(text, reader, command, name)
    if language == "awk":
        return effects_of_calls("awk", text, reader, command, name)
    running = Effect(
        "exec.code", "workspace", name, True, unresolved("inline-code"), name, f"inline {language}"
    )
    if language == "python":
        from toolgate.gate.effects.python_code import effects_of_python

        return [running, *effects_of_python(text, reader, command, name)]
    return [running, *effects_of_calls(language, text, reader, command, name)]


def _sed(text: str, reader: Reading, command: Command, name: str) -> list[Effect]:
    """Return what a sed script does beyond editing its stream: ``e`` runs, ``w`` writes."""
    made: list[Effect] = []
    for line in text.replace(";", "\n").split("\n"):
        stripped = line.strip().lstrip("0123456789,$!{} \t")
        if stripped.startswith("/"):
            closing = stripped.find("/", 1)
            stripped = stripped[closing + 1 :].strip() if closing != -1 else ""
        if stripped.startswith(("w ", "W ")):
            made += access("fs.write", stripped[2:].strip(), reader, command, name)
        elif stripped == "e" or stripped.startswith("e "):
            made += (
                reader.inner(stripped[2:]) if len(stripped) > 2 else [reader.unknown("sed-e", name)]
            )
        elif stripped.startswith("s") and len(stripped) > 1 and not stripped[1].isalnum():
            flags = stripped.rpartition(stripped[1])[2]
            if "e" in flags.partition("w")[0] and flags.partition("w")[0].isalnum():
                made.append(reader.unknown("sed-e", name))
            if "w " in flags:
                made += access("fs.write", flags.partition("w ")[2].strip(), reader, command, name)
    return made
