"""Which files a command lists, for the program that its list is handed to."""

from posixpath import basename, join

from toolgate.gate.catalog.options import Parsed, split
from toolgate.gate.effects import flow
from toolgate.gate.effects.reading import Reading
from toolgate.gate.effects.special.files import found_by
from toolgate.gate.shell.model import BELOW, HOLE, Command, Word

MAX_LISTED = 32
MAX_FILTERS = 8

_FILTERS = frozenset(
    ("grep", "egrep", "fgrep", "rg", "sort", "uniq", "head", "tail", "tac", "shuf")
)
_SEARCHES = frozenset(("grep", "egrep", "fgrep", "rg", "ag", "ack"))
_NAMES_ONLY = ["-l", "-L", "--files-with-matches", "--files-without-match", "--files"]
_PATTERN = ["-e", "-f", "--regexp", "--file", "--files"]
_GIT_LISTS = (
    ("ls-files",),
    ("diff", "--name-only"),
    ("grep", "-l"),
    ("grep", "--files-with-matches"),
)


def listed_for(reader: Reading, command: Command) -> list[Word] | None:
    """Return words for the files whose names are fed into a command; None when not known.

    Args:
        reader: reads the text.
        command: the command that takes the names, such as xargs.
    """
    narrowed = False
    for _ in range(MAX_FILTERS):
        if len(command.stdin) != 1 or command.stdin[0] >= len(reader.script.commands):
            return None
        command = reader.script.commands[command.stdin[0]]
        if not command.words or not command.words[0].known:
            return None
        name = basename(command.words[0].text)
        found = _listed(reader, name, command)
        if found is not None:
            return [_below(word) for word in found] if narrowed else found
        if name not in _FILTERS:
            return None
        narrowed = narrowed or name not in ("sort", "tac", "shuf")
    return None


def _listed(reader: Reading, name: str, command: Command) -> list[Word] | None:
    if name == "find":
        entry = reader.entry(name)
        return None if entry is None else found_by(split(command.words[1:], entry), command)
    if name in _SEARCHES:
        return _searched(reader, name, command)
    texts = [word.text for word in command.words[1:]]
    if name == "git" and any(
        set(form) <= set(texts) and texts[0] == form[0] for form in _GIT_LISTS
    ):
        return [_tree(".")]
    if name == "ls" and not any(word.text.startswith("-") for word in command.words[1:]):
        # Names in a listed folder come without it; operands that are files come as they are.
        operands = [word for word in command.words[1:] if word.glob]
        return operands or (None if texts else [Word("*", glob=True)])
    if name in ("echo", "printf"):
        text = flow.printed(command)
        plain = text is not None and not set(text) & set("'\"\\") and HOLE not in text
        words = text.split() if text is not None and plain else None
        if words is None or len(words) > MAX_LISTED:
            return None
        return [Word(word) for word in words]
    return None


def _searched(reader: Reading, name: str, command: Command) -> list[Word] | None:
    entry = reader.entry(name)
    parsed: Parsed = split(command.words[1:], entry or {})
    if not parsed.has(_NAMES_ONLY, abbreviated=False):
        return None
    operands = parsed.operands if parsed.has(_PATTERN, abbreviated=False) else parsed.operands[1:]
    if len(operands) > MAX_LISTED or not all(word.known for word in operands):
        return None
    return [_tree(word.text) for word in operands] or [_tree(".")]


def _tree(start: str) -> Word:
    """Return a word for files somewhere below a folder, which nothing else is known of."""
    return Word(join(start, BELOW, BELOW), glob=True)


def _below(word: Word) -> Word:
    """Return a word for some of the files that a word stands for."""
    return _tree(word.text) if word.glob and HOLE not in word.text else word
