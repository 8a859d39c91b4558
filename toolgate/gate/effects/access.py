"""Files that inline code touches."""

from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import Command, Word


def access(
    kind: str, path: str, reader: Reading, command: Command, name: str, how: tuple[str, ...] = ()
) -> list[Effect]:
    """Return the effects of code touching a path; a hole where it is not a literal."""
    return reader.touch(kind, Word(path, glob="*" in path), command, name, how)
