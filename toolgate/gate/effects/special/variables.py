"""Programs and builtins that print the environment, or one variable of it."""

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects.environment import names_secret
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import Command


def environment(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the secrets that are printed: the environment as a whole, or variables by name."""
    named = [word.text for word in (*parsed.operands, *parsed.rest)]
    if name == "env":
        program = any("=" not in text for text in named)
        empty = parsed.has(["-i", "--ignore-environment", "--version", "-S", "--split-string"])
        return [] if program or empty else [_printed(name, "environment")]
    if name == "set":
        return [] if named or parsed.options else [_printed(name, "environment")]
    if name == "printenv":
        return _variables(name, named) if named else [_printed(name, "environment")]
    if parsed.has(["-f", "-F"], abbreviated=False):
        return []  # functions
    if named or command.assigns:
        return _variables(name, named) if parsed.has(["-p"], abbreviated=False) else []
    return [_printed(name, "environment")]


def _variables(name: str, named: list[str]) -> list[Effect]:
    return [_printed(name, f"${text}") for text in named if names_secret(text)]


def _printed(name: str, what: str) -> Effect:
    return Effect("secret.print", "secret", what, False, PROVED, name, "environment")
