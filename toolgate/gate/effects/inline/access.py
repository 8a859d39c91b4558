"""Files that inline code touches."""

from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import BELOW, Command, Word


def access(
    kind: str, path: str, reader: Reading, command: Command, name: str, how: tuple[str, ...] = ()
) -> list[Effect]:
    """Return the effects of code touching a path; a hole where it is not a literal."""
    many = any(char in path for char in "*?[") or BELOW in path
    return reader.touch(kind, Word(path, glob=many), command, name, how)
