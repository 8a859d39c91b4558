"""Plain shell text read without the grammar: words, quotes, redirections, pipes and lists.

Most commands are no more than that, and the grammar is slowest on the commonest
of them, a pipeline of three. What is read here is what bash's own tokenizer
makes of it; anything else (expansions, groups, keywords, here-documents) is
left to the grammar. Tests hold the two readings equal.

Source: POSIX.1-2024, Shell Command Language, 2.3 Token Recognition, 2.9 Shell Commands.
"""

import re

from toolgate.gate.shell import words
from toolgate.gate.shell.work import UNCOUNTED, Work

MAX_CHARACTERS = 32_768
"""Reading is linear: a token that does not match ends it."""
_LONG = 4
"""Nodes of a pipeline of three before its last command: two commands, two operators."""
Text = tuple[str, bool]
"""A word's text, and whether it stands for itself; if not, it is marked as ``words`` does."""

_TOKEN = re.compile(
    r"""(?: [ \t] | (?<=[ \t])\\\n )*(?:
    (?P<literal> (?!=) [A-Za-z0-9_./:=@%+,^-]+ (?![^ \t\n]) )
    |(?P<operator> && | \|\| | [;|\n] )
    |(?P<redirect> [0-9]* (?: >> | >& | > | < ) )
    |(?P<word> [A-Za-z0-9_./:=@%+,^*?\[\]~{}!-]+ )
    |(?P<raw> '[^']*' )
    |(?P<string> "[^"$`\\]* (?: \\. [^"$`\\]* )* " )
    |(?P<escape> (?<![^ \t\n]) \\[();!] (?![^ \t\n;|]) )
    )""",
    re.VERBOSE | re.DOTALL,
)
_REDIRECTS = frozenset((">", ">>", ">&", "<"))
_MISREAD = frozenset(("{", "}", "[", "]", "=", "=="))  # words of their own the grammar may misread
_NAME = re.compile(r"[A-Za-z0-9_./:+-]+")
# Escapes are only those of the marks that find takes, as words of their own.
# First words that make bash, or the grammar, read what follows in another way.
_NOT_PLAIN = frozenset(
    (
        *("!", "{", "}", "[", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac"),
        *("fi", "for", "function", "if", "in", "select", "then", "time", "until", "while"),
        *("declare", "typeset", "export", "readonly", "local", "unset", "unsetenv"),
    )
)


class Node:
    """A plain command or what joins some; ``Walk`` takes it like a node of the grammar.

    Args:
        kind: ``program``, ``list``, ``pipeline``, ``plain_command``, or an operator.
        children: what it is made of.

    A command has its words; the program, the first words of all of its commands.
    """

    __slots__ = ("children", "is_named", "redirects", "type", "words")
    start_byte = end_byte = 0
    has_error = is_missing = False

    def __init__(self, kind: str, children: list["Node"], *, is_named: bool = True) -> None:
        self.type = kind
        self.children = children
        self.is_named = is_named
        self.words: list[Text] = []
        self.redirects: list[tuple[str, Text]] = []


class _NotPlainError(Exception):
    """The text needs the grammar."""


def plain_tree(text: str, work: Work | None = None) -> Node | None:
    """Return the tree of plain text; None if it is not plain.

    Args:
        text: the source.
        work: the steps it may cost; None when they are not counted.

    Raises:
        SpentError: it would cost more.
    """
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        return _Plain(work or Work(UNCOUNTED)).read(text)
    except _NotPlainError:
        return None


class _Plain:
    """Reads plain text, token by token."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._program = Node("program", [])
        self._joined: Node | None = None
        self._joining = ""
        self._stages: list[Node] = []
        self._command = Node("plain_command", [])
        self._pieces: list[tuple[str, str]] = []
        self._redirect = ""
        # A line that follows a pipeline of three the grammar may take into it: a doubtful text.
        self._long_part = False
        self._behind_long = False

    def read(self, text: str) -> Node:
        """Return the tree.

        Raises:
            _NotPlainError: the text is not plain.
        """
        end = 0
        while match := _TOKEN.match(text, end):
            kind = str(match.lastgroup)
            token = match[kind]
            if self._pieces and end != match.start(kind):
                self._end_word()
            end = match.end()
            if kind == "literal" and not (self._pieces or self._redirect):
                self._command.words.append((token, True))
            elif kind == "operator":
                self._operator(token)
            elif kind == "redirect":
                self._begin_redirect(token)
            else:
                self._pieces.append((kind, token))
        if text[end:].strip(" \t"):
            raise _NotPlainError
        if self._begun() or not self._program.children:
            self._end_command(";")
        return self._program

    def _operator(self, token: str) -> None:
        if token != "\n":
            self._end_command(token)
        elif self._begun():
            long = self._long_part or len(self._stages) >= _LONG
            self._end_command(";")
            self._behind_long = long

    def _begun(self) -> bool:
        """Say whether anything stands behind the last semicolon or line end."""
        command = self._command
        begun = self._pieces or self._redirect or command.words or command.redirects
        return bool(begun or self._stages or self._joined is not None)

    def _begin_redirect(self, token: str) -> None:
        touching = self._pieces[-1][1][-1] + token[0] if self._pieces else ""
        first = not (self._pieces or self._command.words)
        if self._redirect or first or any(map(str.isdigit, touching)):
            raise _NotPlainError
        self._end_word()
        self._redirect = token.lstrip("12")
        if self._redirect not in _REDIRECTS or len(token) - len(self._redirect) > 1:
            raise _NotPlainError

    def _end_word(self) -> None:
        if not self._pieces:
            return
        word = _joined(self._pieces)
        self._pieces = []
        if not self._redirect:
            self._command.words.append(word)
            return
        if word == ("-", True):
            raise _NotPlainError  # >&- closes, and names no file
        self._command.redirects.append((self._redirect, word))
        self._redirect = ""

    def _end_command(self, operator: str) -> None:
        """Close a command and put it where the operators around it say."""
        self._end_word()
        command = self._command
        self._work.spend(5 + len(command.words) + 6 * len(command.redirects))
        if not command.words or self._redirect or self._behind_long:
            raise _NotPlainError
        first, literal = command.words[0]
        if not literal or first in _NOT_PLAIN or not _NAME.fullmatch(first):
            raise _NotPlainError
        self._program.words.append(command.words[0])
        self._command = Node("plain_command", [])
        self._stages.append(command)
        if operator == "|":
            self._stages.append(Node("|", [], is_named=False))
            return
        self._long_part = self._long_part or len(self._stages) > _LONG
        part = command if len(self._stages) == 1 else Node("pipeline", self._stages)
        self._stages = []
        if self._joined is not None:
            part = Node("list", [self._joined, Node(self._joining, [], is_named=False), part])
        self._joined, self._joining = part, operator
        if operator == ";":
            self._program.children.append(part)
            self._joined, self._long_part = None, False


def _joined(pieces: list[tuple[str, str]]) -> Text:
    """Return the word that pieces without a blank between them make.

    Raises:
        _NotPlainError: it is one that the grammar may misread, or has both quotes and
            braces, where an empty word may stand.
    """
    if len(pieces) == 1:
        kind, token = pieces[0]
        if kind == "word" and token in _MISREAD:
            raise _NotPlainError
        if kind == "literal" or (kind == "word" and words.is_plain(token)):
            return token, True
        if kind == "raw" or (kind == "string" and "\\" not in token):
            return token[1:-1], True
    if len(pieces) > 1 and any(kind == "word" and "{" in token for kind, token in pieces):
        raise _NotPlainError
    return "".join([_marked(kind, token) for kind, token in pieces]), False


def _marked(kind: str, token: str) -> str:
    if kind == "raw":
        return words.quoted(token[1:-1])
    if kind == "string":
        return words.double_quoted(token[1:-1])
    return words.unquoted(token)
