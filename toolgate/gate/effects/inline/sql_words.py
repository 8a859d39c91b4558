"""SQL text split into statements of words."""

from typing import NamedTuple

from toolgate.gate.shell.model import HOLE

# Commands of MySQL's client that need no backslash.
_CLIENT_WORDS = ("system ", "source ")
MAX_TAG = 64


class SqlText(NamedTuple):
    """SQL of one client.

    Args:
        text: the statements.
        mysql: whether it is read as MySQL reads it: ``#`` begins a comment, ``--`` only
            before a blank, and ``/*! ... */`` is run.
    """

    text: str
    mysql: bool


def statements(source: SqlText) -> list[list[str]]:
    """Split SQL into statements of words; comments are left out.

    A literal is one word that begins with ``'``; a quoted name is left out, or
    part of the word it stands in. Where servers differ on where a literal or a
    comment ends, the shorter reading is taken, so that more of it is a statement.
    """
    return _Statements(source).read()


class _Statements:
    def __init__(self, source: SqlText) -> None:
        self.text, self.mysql = source
        self.position = 0
        self.word = ""
        self.found: list[list[str]] = [[]]

    def read(self) -> list[list[str]]:
        """Return the statements, in source order."""
        while self.position < len(self.text):
            char = self.text[self.position]
            if char in "'\"`":
                self._quoted(char)
            elif (
                (char == "$" and self._dollar_quoted())
                or self._comment(char)
                or self._client_command(char)
            ):
                continue
            elif char.isalnum() or char in "_.!" or char == HOLE:
                self.word += char
                self.position += 1
            else:
                self._end_word()
                if char == ";":
                    self.found.append([])
                self.position += 1
        self._end_word()
        return [statement for statement in self.found if statement]

    def _end_word(self) -> None:
        if self.word:
            self.found[-1].append(self.word)
        self.word = ""

    def _quoted(self, mark: str) -> None:
        end = self.text.find(mark, self.position + 1)
        end = len(self.text) if end == -1 else end
        if mark == "'":
            self._end_word()
            self.found[-1].append("'" + self.text[self.position + 1 : end])
        elif self.word:
            self.word += "x"
        elif not self.found[-1]:
            self.found[-1].append('"')  # a statement begins, with something unusual
        self.position = end + 1

    def _dollar_quoted(self) -> bool:
        """Pass ``$tag$ ... $tag$`` of PostgreSQL."""
        end = self.text.find("$", self.position + 1, self.position + MAX_TAG)
        if self.mysql or self.word or end == -1:
            return False
        tag = self.text[self.position : end + 1]
        if len(tag) > 2 and not tag[1:-1].isidentifier():
            return False
        closing = self.text.find(tag, end + 1)
        if closing == -1:
            return False
        self.found[-1].append("'" + self.text[end + 1 : closing])
        self.position = closing + len(tag)
        return True

    def _comment(self, char: str) -> bool:
        text, at = self.text, self.position
        if self.mysql and text.startswith("/*!", at):
            self.position = at + 3
            while text[self.position : self.position + 1].isdigit():
                self.position += 1
            self._end_word()
            return True
        if text.startswith("--", at):
            blank = text[at + 2 : at + 3]
            if self.mysql and blank and not blank.isspace():
                return False
            closing = "\n"
        elif text.startswith("/*", at):
            closing = "*/"
        elif char == "#" and self.mysql:
            closing = "\n"
        else:
            return False
        self._end_word()
        end = text.find(closing, at + (2 if char != "#" else 1))
        self.position = len(text) if end == -1 else end + len(closing)
        return True

    def _client_command(self, char: str) -> bool:
        """Pass a client's own command, which goes to the end of its line and is no SQL."""
        text, at = self.text, self.position
        begins = not self.word and not self.found[-1]
        spelled = begins and text[at : at + 7].lower() in _CLIENT_WORDS
        if not (char == "\\" or (char == "." and begins) or spelled):
            return False
        end = text.find("\n", at)
        line = text[at : len(text) if end == -1 else end]
        head, _, tail = line.partition(" ")
        if line.startswith("\\!") or line.lower().startswith("system "):
            head, tail = "\\!", line[2 if line[0] == "\\" else 7 :]
        elif spelled:
            head = "\\i"
        self._end_word()
        self.found += [[head, tail.strip()] if tail.strip() else [head], []]
        self.position = at + len(line)
        return True
