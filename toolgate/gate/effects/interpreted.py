"""Code an interpreter takes: a script, its standard input, or what other commands print."""

from posixpath import basename
from typing import Any

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects import code, flow
from toolgate.gate.effects.entry import CODE, argument
from toolgate.gate.effects.model import Effect, unresolved
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command, Word

_STANDARD_INPUT = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))


def printed(reading: Reading, word: Word, name: str) -> list[Effect]:
    """Return the effects of code that is all of some known files, printed into a word; or none."""
    if word.text.strip(HOLE + " \n\t"):
        return []
    return _run_all(reading, flow.printed_files(reading.script, word.sources), name)


def _run_all(reading: Reading, files: list[tuple[Word, Command]], name: str) -> list[Effect]:
    """Return the effects of running several files; none unless all of them are known."""
    made: list[Effect] = []
    for word, command in files:
        known = reading.files.get(reading.paths.resolve(word.text, command.cwd))
        if known is None or word.glob or not word.known:
            return []
        made += reading.run_file(word, command, name)
    return made


def script(
    reading: Reading,
    entry: dict[str, Any],
    roles: list[str],
    parsed: Parsed,
    name: str,
    command: Command,
) -> list[Effect]:
    """Read the first operand of an interpreter; what follows belongs to the script."""
    if any(
        entry.get("values", {}).get(option) in (*CODE, "shell", "module")
        for option, value in parsed.options
        if value is not None
    ):
        return []
    first = parsed.rest[0]
    if first.text in _STANDARD_INPUT:
        return []
    if first.process:
        run = _run_all(reading, flow.printed_files(reading.script, first.sources), name)
        return run or [
            Effect("exec.code", "unknown", name, True, unresolved("stdin"), name, "stdin")
        ]
    if not roles:
        return []
    role = roles[0].rstrip("*?")
    made = argument(reading, role, first, command, name, ())
    known = basename(first.text)
    if role == "exec" and first.known and reading.entry(known) is not None:
        # A script with a catalogued name: php artisan migrate:fresh, python manage.py flush.
        made += reading.invoke((first._replace(text=known), *parsed.rest[1:]), command)
    return made


def fed(
    reading: Reading, entry: dict[str, Any], parsed: Parsed, name: str, command: Command
) -> list[Effect]:
    """Return the effects of the code an interpreter reads from its standard input."""
    language = entry["stdin"]
    operands = [
        word for word in (*parsed.operands, *parsed.rest) if word.text not in _STANDARD_INPUT
    ]
    given = entry.get("values", {})
    has_code = any(
        given.get(o) in (*CODE, "shell", "exec", "module") for o, v in parsed.options if v
    )
    # A database's name is an operand; statements still come from standard input.
    reads_anyway = language == "sql" or (
        language == "shell" and parsed.has(["-s"], abbreviated=False)
    )
    if has_code or (operands and not reads_anyway):
        return []
    text = flow.standard_input(reading.script, command)
    if text is None:
        if not flow.has_standard_input(command) and not reading.fed:
            return []  # an interactive start, which ends at once without a terminal
        run = _run_all(reading, flow.fed_files(reading.script, command), name)
        file = flow.input_file(reading.script, command)
        if not run and file is not None and language != "sql":
            return reading.run_file(file, command, name)
        return run or [
            Effect("exec.code", "unknown", name, True, unresolved("stdin"), name, "stdin")
        ]
    if language == "shell":
        return reading.inner(text, cwd=command.cwd)
    return code.effects(language, text, reading, command, name)
