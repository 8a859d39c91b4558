"""Plain text whose commands leave what later ones see alone, but for ``cd``: its commands at once.

Most texts are that. ``Walk`` would read the same from them, holding aside at each
operator what could have changed; tests hold the two equal.
"""

from toolgate.gate.shell.expand import spread
from toolgate.gate.shell.model import HOLE, Command, Redirect, Script, Word
from toolgate.gate.shell.plain import MARKED, Plain, Simple
from toolgate.gate.shell.state import CHANGES, moved
from toolgate.gate.shell.work import (
    MAX_COMMANDS,
    MAX_REDIRECTS,
    SPENT,
    SpentError,
    TooManyError,
    Work,
)

# What changes more than the directory, or starts what does.
_MOVES = (CHANGES - {"cd"}) | {"command", "builtin", "coproc"}
_LEAVES = frozenset(("exit", "return", "break", "continue"))
_new = tuple.__new__


def is_straight(plain: Plain) -> bool:
    """Say whether plain text is read here."""
    return _MOVES.isdisjoint(plain.names)


def script(plain: Plain, cwd: str, home: str, work: Work) -> Script:
    """Return the commands of plain text.

    Args:
        plain: the text.
        cwd: the directory it starts in; "" when not known.
        home: the user's home directory; "" when not known.
        work: the steps it may cost.
    """
    straight = _Straight(cwd, home, work)
    faults: tuple[str, ...] = ()
    try:
        for operator, stages in plain.parts:
            straight.follow(operator, stages)
    except TooManyError:
        faults = ("too-many-commands",)
    except SpentError:
        faults = (SPENT,)
    return Script(tuple(straight.commands), faults, straight.cwd)


class _Straight:
    """Commands in order, and the directory they run in."""

    __slots__ = ("_home", "_otherwise", "_work", "commands", "cwd")

    def __init__(self, cwd: str, home: str, work: Work) -> None:
        self.commands: list[Command] = []
        self.cwd = cwd
        self._otherwise = ""
        self._home = home
        self._work = work

    def follow(self, operator: str, stages: list[Simple]) -> None:
        """Take a command, or the stages of a pipeline, in which a ``cd`` moves nobody else.

        Raises:
            TooManyError: there are more commands than are read.
            SpentError: there are no steps left.
        """
        joined = operator != ";"
        before = self._otherwise
        if joined:
            self._otherwise = ""
        first = len(self.commands)
        flow: tuple[int, ...] = ()
        last = stages[-1]
        for simple in stages:
            words = tuple(self._words(simple) if simple.kinds else simple.words)
            redirects = self._redirects(simple) if simple.redirects else ()
            piped = simple is not last
            self._add(_new(Command, (words, (), redirects, self.cwd, flow, piped, self._otherwise)))
            flow = (len(self.commands) - 1,)
        if len(stages) == 1 and last.words[0].text == "cd":
            here, self.cwd = self.cwd, moved(self.cwd, self._home, self.commands[-1].words[1:])
            self._otherwise = here if self.cwd != here else ""
        if joined and not self._otherwise and not (operator == "||" and self._ends(first)):
            self._otherwise = before  # behind the list the first cd may have failed

    def _ends(self, first: int) -> bool:
        """Say whether one of the commands from an index on leaves the text."""
        return any(command.words[0].text in _LEAVES for command in self.commands[first:])

    def _add(self, command: Command) -> None:
        if len(self.commands) >= MAX_COMMANDS:
            raise TooManyError
        self._work.spend(6 + len(command.words) + len(command.stdin) + len(command.cwd) // 12)
        self.commands.append(command)

    def _words(self, simple: Simple) -> list[Word]:
        found: list[Word] = []
        for position, word in enumerate(simple.words):
            kind = simple.kinds.get(position)
            if kind is None:
                found.append(word)
            elif kind == MARKED:
                found += spread([word], self._home, self._work)
            else:
                found.append(self._said(word))
        return found

    def _said(self, text: Word) -> Word:
        """Return the word that a substitution of a here-document is, whose ``cat`` runs first."""
        body = (Redirect("<<", text),)
        self._add(Command((Word("cat"),), (), body, self.cwd, (), True, self._otherwise))
        return Word(HOLE, sources=(len(self.commands) - 1,))

    def _redirects(self, simple: Simple) -> tuple[Redirect, ...]:
        if len(simple.redirects) > MAX_REDIRECTS:
            raise TooManyError
        found: list[Redirect] = []
        for redirect, marked in simple.redirects:
            if marked:
                words = spread([redirect.target], self._home, self._work) or [Word("")]
                found += [Redirect(redirect.op, word) for word in words]
            else:
                found.append(redirect)
        return tuple(found)
