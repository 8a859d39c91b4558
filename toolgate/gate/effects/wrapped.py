"""Programs that start another: what they are told of it, and what it does."""

from typing import Any

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects.entry import argument
from toolgate.gate.effects.model import Effect, unresolved
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command, Word

_SCRIPT_SUFFIXES = (".py", ".js", ".mjs", ".ts", ".rb", ".sh", ".php", ".pl")


def wrapped(
    reading: Reading, entry: dict[str, Any], parsed: Parsed, name: str, command: Command
) -> list[Effect]:
    """Return the effects of the program that another is given as its arguments."""
    rest = parsed.rest or parsed.operands
    made: list[Effect] = []
    for role, word in zip(entry.get("operands", ()), rest[: entry["wraps"]], strict=False):
        made += argument(reading, role, word, command, name, ())
    rest = rest[entry["wraps"] :]
    if entry["wraps"] and rest and rest[0].text == "--":
        rest = rest[1:]
    for option in entry.get("splits", ()):
        text = parsed.value(option)
        if text is not None:
            if not text.known or any(mark in text.text for mark in "\\$\"'#"):
                return [*made, reading.code_not_known(name)]
            rest = (*(text._replace(text=part) for part in text.text.split()), *rest)
    for option in entry.get("chdir", ()):
        folder = parsed.value(option)
        if folder is not None:
            path = reading.paths.resolve(folder.text, command.cwd)
            command = command._replace(cwd="" if HOLE in path else path)
    if entry.get("assigns"):
        rest = rest[1:] if rest and rest[0].text == "-" else rest  # env - is env -i
        while rest and _is_assignment(rest[0].text):
            variable, _, value = rest[0].text.partition("=")
            assign = ((variable, Word(value)),)
            made += reading.environment(command._replace(assigns=assign))
            command = command._replace(assigns=(*command.assigns, *assign))
            rest = rest[1:]
    if not rest:
        return made
    if "code" in entry and not entry["wraps"] and not parsed.has(["-u", "--user"]):
        rest = rest[1:]  # a user, whose shell it is that takes the text
        if not rest:
            return made
    if len(rest) > 1 and rest[0].text in entry.get("code", ()):
        return made + argument(reading, "shell", rest[1], command, name, ())
    if parsed.has(entry.get("joins", []), abbreviated=False):
        text = Word(" ".join(word.text for word in rest))
        return made + argument(reading, "shell", text, command, name, ())
    inside = entry.get("inside", "")
    if rest[0].text.endswith(_SCRIPT_SUFFIXES) and reading.entry(rest[0].text) is None:
        return made + reading.run_file(rest[0], command, name)
    if not inside or reading.inside:
        return made + reading.invoke(rest, command)
    elsewhere = Effect("exec.code", "outside", name, True, unresolved(inside), name, inside)
    return [*made, elsewhere, *reading.elsewhere(inside).invoke(rest, command._replace(cwd=""))]


def _is_assignment(text: str) -> bool:
    name, equals, _ = text.partition("=")
    return bool(equals) and name.replace("_", "a").isalnum() and not name[:1].isdigit()
