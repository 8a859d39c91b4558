"""The expression of find: what it does to files, and which names its tests leave."""

from collections.abc import Collection
from posixpath import join
from typing import NamedTuple

from toolgate.gate.shell.model import BELOW, Word

MAX_ALTERNATIVES = 32

_EXEC = ("-exec", "-execdir", "-ok", "-okdir")
PRINT = ("-fprint", "-fprint0", "-fls", "-fprintf")
_NAMES = ("-name", "-iname")
_PATHS = ("-path", "-ipath", "-wholename", "-iwholename")
_OTHER_NARROWING = ("-regex", "-iregex", "-inum", "-samefile")
_FIRST_OPTIONS = ("-H", "-L", "-P", "-E", "-X", "-d", "-s", "-x")
_OR = ("-o", "-or", ",")
_NOT = ("!", "-not")
EMPTY_FOLDERS = "-rmdir"
"""Action of ``-type d -empty ... -delete``: what goes are folders in which nothing is."""


class Found(NamedTuple):
    """What the tests passed so far leave: files of this name, below folders of these names."""

    folder: str = ""
    name: str = ""


Narrowed = tuple[Found, ...]
"""Alternatives; empty when the tests leave every file."""


class Expression:
    """An expression of find: which tests stand before each action in its own branch.

    Only what narrows by name counts. A test behind ``-o`` or a negation, or one
    that comes after the action, does not narrow what the action is done to.
    """

    def __init__(self, words: list[Word], known: Collection[str]) -> None:
        self.words = words
        self.known = known
        self.position = 0
        self._empty, self._kinds, self._plain = False, "", True
        self.left: Narrowed = ()
        self.actions: list[tuple[Narrowed, str, list[Word]]] = []

    def read(self) -> None:
        """Read the whole expression, also behind a bracket too many; ``left`` is what it leaves."""
        while self.position < len(self.words):
            self.left = self._alternatives(())
            self.position += 1

    def _alternatives(self, outer: Narrowed) -> Narrowed:
        branches: list[Narrowed] = []
        while True:
            branches.append(self._branch(outer))
            if self._peek() not in _OR:
                break
            self.position += 1
        if not all(branches):
            return outer
        found = tuple(dict.fromkeys(one for branch in branches for one in branch))
        return found if len(found) <= MAX_ALTERNATIVES else (Found(name=BELOW),)

    def _branch(self, narrowed: Narrowed) -> Narrowed:
        negated = False
        self._empty, self._kinds, self._plain = False, "", True
        while self.position < len(self.words) and self._peek() not in (*_OR, ")"):
            text = self._peek()
            self.position += 1
            self._plain = self._plain and text not in _NOT
            if text in _NOT:
                negated = not negated
                continue
            if text == "(":
                inner = self._alternatives(narrowed)
                self.position += self._peek() == ")"
                self._plain = False  # the brackets may leave other files too
                narrowed = narrowed if negated else inner
            else:
                narrowed = self._primary(text, narrowed, negated)
            negated = False
        return narrowed

    def _primary(self, text: str, narrowed: Narrowed, negated: bool) -> Narrowed:
        if text == "-delete":
            action = EMPTY_FOLDERS if self._only_empty_folders() else text
            self.actions.append((narrowed, action, []))
        elif text in _EXEC:
            self.actions.append((narrowed, text, self._command()))
        elif text in PRINT:
            count = 2 if text == "-fprintf" else 1
            self.actions.append((narrowed, text, self._take(count)))
        elif text == "-empty" and not negated:
            self._empty = True
            return narrowed or (Found(name=BELOW),)
        elif text in self.known:
            value = self._take(1)
            self._kinds += value[0].text if text == "-type" and value else ""
            if value and not negated:
                return _narrowed(narrowed, text, value[0].text)
        return narrowed

    def _only_empty_folders(self) -> bool:
        """Say whether the tests of this branch leave only folders in which nothing is."""
        return self._plain and self._empty and self._kinds == "d"

    def _command(self) -> list[Word]:
        start = self.position
        while self.position < len(self.words):
            text = self._peek()
            if text == ";" or (text == "+" and self.words[self.position - 1].text == "{}"):
                break
            self.position += 1
        self.position += 1
        return self.words[start : self.position - 1]

    def _take(self, count: int) -> list[Word]:
        taken = self.words[self.position : self.position + count]
        self.position += count
        return taken

    def _peek(self) -> str:
        return self.words[self.position].text if self.position < len(self.words) else ""


def _narrowed(before: Narrowed, test: str, value: str) -> Narrowed:
    alternatives = before or (Found(),)
    if test in _NAMES and value.strip("*?"):
        return tuple(one._replace(name=value) for one in alternatives)
    if test in _PATHS:
        *folders, last = [part for part in value.split("/") if part not in ("", ".", "*")] or [""]
        if not last:
            return before
        below = value.endswith(("/", "/*"))
        folder = "/".join([*folders, last] if below else folders)
        name = "" if below else last
        return tuple(Found(folder or one.folder, name or one.name) for one in alternatives)
    if test in _OTHER_NARROWING and value.strip(".*/^$()+?|\\"):
        return tuple(one if one.name else one._replace(name=BELOW) for one in alternatives)
    return before


def targets(start: Word, narrowed: Narrowed) -> list[Word]:
    """Return words for what is found: all below the start, or what is narrowed by name."""
    if not narrowed:
        return [start._replace(glob=True)]
    return [
        Word(join(start.text, BELOW, one.folder, one.name or BELOW), glob=True) for one in narrowed
    ]


def start_points(words: list[Word]) -> list[Word]:
    """Take the start points off the front of find's arguments; the current folder if none."""
    starts: list[Word] = []
    while words and words[0].text in _FIRST_OPTIONS:
        words.pop(0)
    while words and not (words[0].text.startswith("-") or words[0].text in ("(", "!", ")", ",")):
        starts.append(words.pop(0))
    return starts or [Word(".")]
