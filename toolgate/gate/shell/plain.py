"""Plain shell text read without the grammar: words, quotes, redirections, pipes and lists.

Most commands are no more than that, and the grammar is slowest on the commonest
of them, a pipeline of three. What is read here is what bash's own tokenizer
makes of it; of here-documents only those with a quoted mark, whose text stands
for itself. Anything else (expansions, groups, keywords) is left to the grammar.
Tests hold the two readings equal.

Source: POSIX.1-2024, Shell Command Language, 2.3 Token Recognition, 2.7.4 Here-Document,
2.9 Shell Commands.
"""

import re

from toolgate.gate.shell import words
from toolgate.gate.shell.model import Redirect, Word
from toolgate.gate.shell.work import UNCOUNTED, Work

MAX_CHARACTERS = 32_768
"""Reading is linear: a token that does not match ends it."""
_LONG = 3
"""Commands of a pipeline behind which the grammar may take the next line into it."""
MARKED, SAID = "marked", "said"
"""Kinds of words that do not stand for themselves: marked as ``words`` does, or what a
here-document says, ``"$(cat <<'EOF' ...)"``."""

_TOKEN = re.compile(
    r"""(?: [ \t] | (?<=[ \t])\\\n )*+(?:
    (?P<literals> (?: (?!=) [\w./:=@%+,^-]++ (?![^ \t\n;|&]) [ \t]*+ )++ )
    |(?P<operator> && | \|\| | [;|\n] )
    |(?P<redirect> [0-9]* (?: >> | >& | > | <(?!<) ) )
        (?: [ \t]*+ (?P<target> (?!=) [\w./:=@%+,^-]++ (?![^ \t\n;|&]) ) )?+
    |(?P<word> [\w./:=@%+,^*?\[\]~{}!-]+ )
    |(?P<raw> '[^']*' )
    |(?P<string> "[^"$`\\]* (?: (?: \\. | \$(?=") ) [^"$`\\]* )* " )
    |(?P<escape> (?<![^ \t\n]) \\[();!] (?![^ \t\n;|]) )
    )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
# Escapes are only those of the marks that find takes, as words of their own.
_REDIRECTS = frozenset((">", ">>", ">&", "<"))
_MISREAD = frozenset(("{", "}", "[", "]", "=", "=="))  # words of their own the grammar may misread
_NAME = re.compile(r"[A-Za-z0-9_./:+-]+")
# First words that make bash, or the grammar, read what follows in another way.
_NOT_PLAIN = frozenset(
    (
        *("!", "{", "}", "[", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac"),
        *("fi", "for", "function", "if", "in", "select", "then", "time", "until", "while"),
        *("declare", "typeset", "export", "readonly", "local", "unset", "unsetenv"),
    )
)
_REST = Word("")[1:]
_new = tuple.__new__


class Simple:
    """A simple command of plain text.

    ``words`` are its words; ``kinds`` says, by position, which of them do not stand for
    themselves. ``redirects`` are its redirections, each with whether its target is marked.
    """

    __slots__ = ("kinds", "redirects", "words")

    def __init__(self) -> None:
        self.words: list[Word] = []
        self.kinds: dict[int, str] = {}
        self.redirects: list[tuple[Redirect, bool]] = []


Part = tuple[str, list[Simple]]
"""A pipeline's commands, behind what joins it to what is before: ``&&``, ``||``, or ``;`` where
it follows in any case."""


class Plain:
    """Plain text.

    Args:
        parts: its pipelines in order.
        names: the first words of its commands.
        quotes: whether it holds a here-document.
    """

    __slots__ = ("names", "parts", "quotes")

    def __init__(self, parts: list[Part], names: list[str], *, quotes: bool) -> None:
        self.parts = parts
        self.names = names
        self.quotes = quotes


class _NotPlainError(Exception):
    """The text needs the grammar."""


def read_plain(text: str, work: Work | None = None) -> Plain | None:
    """Read plain text; return None if it is not plain.

    Args:
        text: the source.
        work: the steps it may cost; None when they are not counted.

    Raises:
        SpentError: it would cost more.
    """
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        return _Reader(work or Work(UNCOUNTED)).read(text)
    except _NotPlainError:
        return None


class _Reader:
    """Reads plain text, token by token."""

    __slots__ = (
        *("_behind_long", "_command", "_joining", "_long_part", "_names", "_parts", "_pieces"),
        *("_quotes", "_redirect", "_stages", "_work"),
    )

    def __init__(self, work: Work) -> None:
        self._work = work
        self._parts: list[Part] = []
        self._names: list[str] = []
        self._quotes = False
        self._joining = ";"
        self._stages: list[Simple] = []
        self._command = Simple()
        self._pieces: list[tuple[str, str]] = []
        self._redirect = ""
        # A line that follows a pipeline of three the grammar may take into it: a doubtful text.
        self._long_part = False
        self._behind_long = False

    def read(self, text: str) -> Plain:
        """Return what the text is made of.

        Raises:
            _NotPlainError: the text is not plain.
        """
        end = 0
        next_token = _TOKEN.match
        while match := next_token(text, end) or _quotation(text, end):
            kind = str(match.lastgroup)
            pieces = self._pieces
            if pieces and end != match.start("redirect" if kind == "target" else kind):
                self._end_word()
                pieces = self._pieces
            end = match.end()
            if kind == "literals":
                token = match[kind]
                others = token.split()
                if pieces or self._redirect:
                    pieces.append(("literal", others.pop(0)))
                    if others or token[-1] in " \t":
                        self._end_word()
                self._command.words += [_new(Word, (one, *_REST)) for one in others]
            elif kind == "operator":
                self._operator(match[kind])
            elif kind == "target":
                self._begin_redirect(match["redirect"])
                self._end_redirect(match[kind], marked=False)
            elif kind == "redirect":
                self._begin_redirect(match[kind])
            elif kind == "heredoc":
                self._begin_redirect("<")
                self._redirect = "<<"
                self._end_redirect(match["body"], marked=False)
                self._quotes = True
                self._operator("\n")
            elif kind == "said":
                self._said(match["says"])
            else:
                pieces.append((kind, match[kind]))
        if text[end:].strip(" \t"):
            raise _NotPlainError
        if self._begun() or not self._parts:
            self._end_command(";")
        return Plain(self._parts, self._names, quotes=self._quotes)

    def _operator(self, token: str) -> None:
        if token != "\n":
            self._end_command(token)
        elif self._begun():
            long = self._long_part or len(self._stages) >= _LONG - 1
            self._end_command(";")
            self._behind_long = long

    def _begun(self) -> bool:
        """Say whether anything stands behind the last semicolon or line end."""
        command = self._command
        begun = command.words or self._pieces or self._stages or self._redirect
        return bool(begun or command.redirects or self._joining != ";")

    def _begin_redirect(self, token: str) -> None:
        touching = self._pieces[-1][1][-1] + token[0] if self._pieces else ""
        first = not (self._pieces or self._command.words)
        if self._redirect or first or any(map(str.isdigit, touching)):
            raise _NotPlainError
        self._end_word()
        self._redirect = token.lstrip("12")
        if self._redirect not in _REDIRECTS or len(token) - len(self._redirect) > 1:
            raise _NotPlainError

    def _end_redirect(self, target: str, *, marked: bool) -> None:
        if target == "-" and not marked:
            raise _NotPlainError  # >&- closes, and names no file
        self._command.redirects.append((Redirect(self._redirect, Word(target)), marked))
        self._redirect = ""

    def _end_word(self) -> None:
        if not self._pieces:
            return
        text, marked = _joined(self._pieces)
        self._pieces = []
        if self._redirect:
            self._end_redirect(text, marked=marked)
            return
        command = self._command
        if marked:
            command.kinds[len(command.words)] = MARKED
        command.words.append(Word(text))

    def _said(self, text: str) -> None:
        if self._redirect:
            raise _NotPlainError
        command = self._command
        command.kinds[len(command.words)] = SAID
        command.words.append(Word(text))
        self._quotes = True

    def _end_command(self, operator: str) -> None:
        """Close a command and put it where the operators around it say."""
        if self._pieces:
            self._end_word()
        command = self._command
        self._work.spend(5 + len(command.words) + 6 * len(command.redirects))
        if not command.words or self._redirect or self._behind_long or 0 in command.kinds:
            raise _NotPlainError
        first = command.words[0].text
        if first in _NOT_PLAIN or not _NAME.fullmatch(first):
            raise _NotPlainError
        self._names.append(first)
        self._command = Simple()
        self._stages.append(command)
        if operator == "|":
            return
        self._long_part = self._long_part or len(self._stages) >= _LONG
        self._parts.append((self._joining, self._stages))
        self._stages, self._joining = [], operator
        if operator == ";":
            self._long_part = False


def _quotation(text: str, start: int) -> re.Match[str] | None:
    """Return the here-document that begins at a place; few texts hold one."""
    if "<<" not in text:
        return None
    from toolgate.gate.shell.plain_quotations import QUOTATION

    return QUOTATION.match(text, start)


def _joined(pieces: list[tuple[str, str]]) -> tuple[str, bool]:
    """Return the word that pieces without a blank between them make, and whether it is marked.

    Raises:
        _NotPlainError: it is one that the grammar may misread, or has both quotes and
            braces, where an empty word may stand.
    """
    if len(pieces) == 1:
        kind, token = pieces[0]
        if kind == "word" and token in _MISREAD:
            raise _NotPlainError
        if kind == "literal" or (kind == "word" and words.is_plain(token)):
            return token, False
        if kind == "raw" or (kind == "string" and "\\" not in token):
            return token[1:-1], False
    if len(pieces) > 1 and any(kind == "word" and "{" in token for kind, token in pieces):
        raise _NotPlainError
    return "".join([_marked(kind, token) for kind, token in pieces]), True


def _marked(kind: str, token: str) -> str:
    if kind == "raw":
        return words.quoted(token[1:-1])
    if kind == "string":
        return words.double_quoted(token[1:-1])
    return words.unquoted(token)
