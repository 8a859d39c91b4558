"""Compares what bash ran for a text with what the gate reads in it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from toolgate.gate.call import Place
from toolgate.gate.effects import shell
from toolgate.gate.effects.model import unresolved
from toolgate.gate.engine import Gate
from toolgate.gate.shell.model import HOLE, Command, Word
from toolgate.gate.shell.state import OWN_JOB

CWD, HOME = "/home/dev/app", "/home/dev"
_END = "\x01"
_PROCESS = "/dev/fd/63"
# That a program is not in the catalogue is no excuse: its call was read all the same.
_NOT_READ = frozenset(
    unresolved(reason) for reason in ("code-not-known", "program-not-known", "stdin", "too-deep")
)


class Reading:
    """What the gate reads in one text.

    Args:
        gate: whose policy and catalogue are used.
        text: the shell text.
    """

    def __init__(self, gate: Gate, text: str) -> None:
        place = Place(CWD, (CWD,), HOME)
        self.invoked: list[tuple[Word, ...]] = []
        with self._listening():
            reader = shell.Reader(place, gate.policy.settings, gate.catalog)
            self.effects = reader.effects(text)
        self.faults = reader.script.faults

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Note every command that is judged, wrappers' commands and inner texts included."""
        original = shell.Reader.invoke

        def invoke(reader: shell.Reader, words: tuple[Word, ...], command: Command):
            self.invoked.append(words)
            return original(reader, words, command)

        shell.Reader.invoke = invoke  # type: ignore[method-assign]
        try:
            yield
        finally:
            shell.Reader.invoke = original  # type: ignore[method-assign]

    @property
    def unresolved(self) -> bool:
        """Say whether the gate says of some code that it could not read it."""
        return bool(self.faults) or any(
            effect.type == "exec.code" and effect.proof in _NOT_READ for effect in self.effects
        )

    def missing(self, ran: list[list[str]]) -> list[list[str]]:
        """Return what bash ran and the gate did not see."""
        seen = {tuple(word.text for word in words) for words in self.invoked}
        patterns = [_pattern(words) for words in self.invoked if _is_pattern(words)]
        out = []
        for argv in ran:
            # The recorder has no other users; a home of theirs is read as one below /home.
            known = tuple(re.sub(r"^~(?=\w)", "/home/", arg) for arg in argv)
            joined = "".join(arg + _END for arg in known)
            if known not in seen and not any(p.fullmatch(joined) for p in patterns):
                out.append(argv)
        return out


def _of_piece(literal: str, mark: str) -> str:
    unknown = r"/dev/fd/\d+" if mark == _PROCESS else ".*" if mark else ""
    return re.escape(literal) + unknown


def _is_pattern(words: tuple[Word, ...]) -> bool:
    return any(
        word.glob or _PROCESS in word.text or word.text == OWN_JOB or not word.known
        for word in words
    )


def _pattern(words: tuple[Word, ...]) -> re.Pattern[str]:
    """Return what a command with unknown parts may have been when it ran."""
    out = ""
    for word in words:
        if word.text == OWN_JOB:
            out += rf"(?:\d*{_END})?"
        elif word.text and not word.text.strip(HOLE):
            out += f"(?:.*{_END})?"
        else:
            literal = "|".join(map(re.escape, (HOLE, _PROCESS)))
            marks = rf"({literal}|[*?]|\[[^]]+\])" if word.glob else f"({literal})"
            pieces = re.split(marks, word.text)
            out += "".join(map(_of_piece, pieces[::2], [*pieces[1::2], ""])) + _END
    return re.compile(out, re.DOTALL)
