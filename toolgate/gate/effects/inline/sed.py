"""Sed scripts, read command by command: ``e`` runs, ``w`` writes, ``r`` reads."""

from typing import NamedTuple

from toolgate.gate.effects.inline.access import access
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command

_TEXT_TO_LINE_END = "aic"
_LABELS = ":btTv"
_NUMBERS = "qQlL"


class _Found(NamedTuple):
    """One thing a script does beyond editing its stream."""

    kind: str
    argument: str


def effects_of_sed(text: str, reader: Reading, command: Command, name: str) -> list[Effect]:
    """Return what a sed script does beyond editing its stream."""
    made: list[Effect] = []
    for kind, argument in _Script(text).read():
        if kind == "write":
            made += access("fs.write", argument, reader, command, name)
        elif kind == "read":
            made += access("fs.read", argument, reader, command, name)
        elif kind == "run" and argument and HOLE not in argument:
            made += reader.inner(argument, cwd=command.cwd)
        else:
            made.append(reader.unknown("sed-e", name))
    return made


def inserted(text: str) -> list[str]:
    """Return the texts a sed script puts into its stream, as they are written down in it."""
    script = _Script(text)
    script.read()
    return script.texts


class _Script:
    """Walks a script; what it cannot follow counts as running something."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.found: list[_Found] = []
        self.texts: list[str] = []

    def read(self) -> list[_Found]:
        """Return what the script does, in source order."""
        while self.position < len(self.text):
            self._skip(" \t\n;{}")
            if self._peek():
                self._addresses()
                self._command()
        return self.found

    def _peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def _next(self) -> str:
        char = self._peek()
        self.position += 1
        return char

    def _skip(self, chars: str) -> None:
        while self._peek() and self._peek() in chars:
            self.position += 1

    def _addresses(self) -> None:
        """Pass lines (``1``, ``$``, ``a,+n``, ``a~n``), ``/re/I``, ``\\cREc``, ranges and ``!``."""
        while True:
            self._skip(" \t")
            char = self._peek()
            if char == HOLE or (char and char in "0123456789$,+~!"):
                self.position += 1
            elif char in ("/", "\\"):
                self.position += 1
                self._delimited(self._next() if char == "\\" else char)
                self._skip("IM")
            else:
                return

    def _delimited(self, mark: str, *, pattern: bool = True) -> None:
        """Pass text up to a delimiter that is not escaped, in a pattern also not in brackets."""
        while self.position < len(self.text):
            char = self._next()
            if char == "\\":
                self.position += 1
            elif char == mark:
                return
            elif char == "[" and pattern:
                self._bracket()

    def _bracket(self) -> None:
        """Pass a bracket expression, where no character ends or escapes anything but ``]``."""
        if self.text.find("]", self.position) == -1:
            return
        end = self.position + (self._peek() == "^")
        end += self.text[end : end + 1] == "]"
        while end < len(self.text) and self.text[end] != "]":
            if self.text[end] == "[" and self.text[end + 1 : end + 2] in (":", ".", "="):
                closing = self.text.find(self.text[end + 1] + "]", end + 2)
                end = closing + 1 if closing != -1 else end
            end += 1
        if end < len(self.text):
            self.position = end + 1

    def _line(self) -> str:
        end = self.text.find("\n", self.position)
        end = len(self.text) if end == -1 else end
        line, self.position = self.text[self.position : end], end + 1
        return line.strip()

    def _command(self) -> None:
        char = self._next()
        if char in ("s", "y"):
            mark = self._next()
            self._delimited(mark, pattern=char == "s")
            begin = self.position
            self._delimited(mark, pattern=False)
            put = self.text[begin : self.position].removesuffix(mark)
            self.texts.append(put.replace("\\" + mark, mark).replace("\\n", "\n"))
            if char == "s":
                self._flags()
        elif char in ("w", "W"):
            self.found.append(_Found("write", self._line()))
        elif char in ("r", "R"):
            self.found.append(_Found("read", self._line()))
        elif char == "e":
            self.found.append(_Found("run", self._line()))
        elif char and char in _TEXT_TO_LINE_END:
            self._text_block()
        elif char == "#":
            self._line()
        elif char and char in _LABELS:
            while self._peek() and self._peek() not in "\n;}":
                self.position += 1
        elif char and char in _NUMBERS:
            self._skip(" \t0123456789")
        elif char == HOLE:
            self.found.append(_Found("run", HOLE))
        else:  # sed takes nothing behind such a command but a separator
            while self._peek() and self._peek() not in "\n;}":
                self.position += 1

    def _text_block(self) -> None:
        """Pass the text of ``a``, ``i`` and ``c``: to the line's end, on behind a backslash."""
        while True:
            line = self._line()
            self.texts.append(line.lstrip("\\").strip())
            if not line.endswith("\\") or self.position > len(self.text):
                return

    def _flags(self) -> None:
        while self._peek():
            char = self._peek()
            if char == "w":
                self.position += 1
                self.found.append(_Found("write", self._line()))
                return
            if char == "e":
                self.found.append(_Found("run", ""))
            elif char == HOLE:
                self.found.append(_Found("run", HOLE))
            elif not char.isalnum():
                return
            self.position += 1
