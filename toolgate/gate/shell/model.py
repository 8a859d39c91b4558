"""What shell text is made of once it is read: words, redirections, commands."""

from typing import Any, NamedTuple

HOLE = "\x00"
"""Stands in a word's text for a part whose value is not known. No argument can hold NUL."""

BELOW = HOLE + HOLE
"""Stands for folders below a known one: not which, but surely below it."""


class Word(NamedTuple):
    """One argument after expansion and quote removal.

    Args:
        text: decoded text, ``HOLE`` for each part that is not known.
        glob: whether it holds an unquoted pattern character.
        sources: indexes of the commands whose output is part of it.
        process: whether it is a process substitution.
        variables: names of variables of the environment whose value is part of it.
    """

    text: str
    glob: bool = False
    sources: tuple[int, ...] = ()
    process: bool = False
    variables: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Say whether every part of the text is known."""
        return HOLE not in self.text


class Redirect(NamedTuple):
    """One redirection.

    Args:
        op: ``>``, ``>>``, ``<``, ``<>``, ``<<``, ``<<<``, ``>&`` or ``<&``
            (``>|`` and ``&>`` are folded into ``>``, ``&>>`` into ``>>``).
        target: the file, or the text of a here-document or here-string.
    """

    op: str
    target: Word


class Line(NamedTuple):
    """What stands around a command's own words.

    Args:
        redirects: its redirections.
        arguments: nodes of words that stand behind a redirection.
        trailing: nodes of commands behind a here-document's opening on the same line.
    """

    redirects: list[Redirect]
    arguments: list[Any]
    trailing: list[Any]


class Command(NamedTuple):
    """One simple command.

    Args:
        words: program and arguments; empty for a bare assignment or redirection.
        assigns: variable assignments before the program.
        redirects: in source order.
        cwd: directory it runs in; "" when not known.
        stdin: indexes of the commands piped into it.
        piped: whether its output goes into a pipe or a substitution.
        otherwise: directory it runs in if the last ``cd`` failed and nothing
            stopped the text; "" when that cannot be.
    """

    words: tuple[Word, ...]
    assigns: tuple[tuple[str, Word], ...]
    redirects: tuple[Redirect, ...]
    cwd: str
    stdin: tuple[int, ...] = ()
    piped: bool = False
    otherwise: str = ""


class Script(NamedTuple):
    """A shell text as its simple commands, in source order.

    Args:
        commands: every command the text can run.
        faults: reason slugs for what could not be read; empty when all was.
        cwd: the directory it ends in; "" when not known.
        doubtful: whether it has a form that the grammar is known to misread in silence.
        functions: names the text has given to functions, each with a body as source.
    """

    commands: tuple[Command, ...]
    faults: tuple[str, ...]
    cwd: str = ""
    doubtful: bool = False
    functions: tuple[tuple[str, str], ...] = ()
