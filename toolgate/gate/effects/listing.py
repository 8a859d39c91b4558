"""File names on a command's output, where its own words say which files they can be.

``find src -name '*.py' | xargs sed -i`` changes files below ``src``: what the
second command is handed is not known, but where it lies is.
"""

from posixpath import join

from toolgate.gate.effects.find_expression import Expression, start_points, targets
from toolgate.gate.shell.model import BELOW, HOLE, Command, Script, Word

MAX_STAGES = 16

_KEEP_ALL = frozenset(("sort", "uniq", "tac", "cat", "tee"))
_KEEP_SOME = frozenset(("grep", "egrep", "fgrep", "head", "tail", "shuf"))
_SEARCHES = frozenset(("grep", "egrep", "fgrep", "rg", "ag", "ack"))
_CHANGES_LINES = ("-o", "--only-matching", "-c", "--count", "-n", "--line-number")
_HERE = Word(join(".", BELOW, BELOW), glob=True)


def listed(script: Script, word: Word, tests: frozenset[str]) -> tuple[Word, ...] | None:
    """Return the paths an unknown word can be; None where its source does not say.

    Args:
        script: the text the word is part of.
        word: a word that begins with a hole, which one command of the text has filled.
        tests: the tests of find that take a value.
    """
    if len(word.sources) != 1 or word.text[:1] != HOLE or HOLE in word.text[1:]:
        return None
    names = _names(script, word.sources[0], tests)
    if names is None:
        return None
    return tuple(name._replace(text=name.text + word.text[1:]) for name in names)


def _names(script: Script, index: int, tests: frozenset[str]) -> list[Word] | None:
    narrowed = False
    for _ in range(MAX_STAGES):
        if index >= len(script.commands):
            return None
        command = script.commands[index]
        if command.words and not _is_filter(command):
            names = _of_lister(command, tests)
            return [_narrow(name) for name in names] if names and narrowed else names
        narrowed = narrowed or bool(command.words and command.words[0].text in _KEEP_SOME)
        before = _feeding(command)
        if before is None:
            return None
        index = before
    return None


def _feeding(command: Command) -> int | None:
    """Return the one command whose output a command passes on."""
    sources = command.stdin
    for redirect in command.redirects:
        if redirect.op in ("<", "<<<"):
            if not redirect.target.process and redirect.target.text.strip(HOLE):
                return None
            sources = redirect.target.sources
        elif redirect.op in ("<<", "<>"):
            return None
    return sources[0] if len(sources) == 1 else None


def _is_filter(command: Command) -> bool:
    """Say whether a command passes on lines of its input and nothing else."""
    name, *rest = (word.text for word in command.words)
    operands = [text for text in rest if not text.startswith("-")]
    if name in _KEEP_ALL:
        return not operands
    if name == "tr":
        return operands in (["\\n", "\\0"], ["\n", "\0"], ["\\n", " "], ["\\n", "\\000"])
    if name in ("head", "tail", "shuf"):
        return all(text.isdigit() for text in operands)
    if name in ("grep", "egrep", "fgrep"):
        plain = not any(text.startswith(_CHANGES_LINES) or text[1:2] == "e" for text in rest)
        return plain and len(operands) == 1 and not _lists_files(rest)
    return False


def _lists_files(arguments: list[str]) -> bool:
    return any(
        text in ("--files-with-matches", "--files-without-match", "--files")
        or (text[:1] == "-" and text[:2] != "--" and ("l" in text or "L" in text))
        for text in arguments
    )


def _of_lister(command: Command, tests: frozenset[str]) -> list[Word] | None:
    name = command.words[0].text
    rest = list(command.words[1:])
    texts = [word.text for word in rest]
    operands = [word for word in rest if not word.text.startswith("-")]
    if name == "find":
        return _of_find(rest, tests)
    if name in ("git", "fd", "fdfind"):
        return [_HERE] if name != "git" or _git_lists(texts) else None
    if name == "ls":
        plain = not any(text[:1] == "-" and set(text) & set("lsiZgno") for text in texts)
        return _of_ls(operands) if plain else None
    if name in _SEARCHES and _lists_files(texts):
        given = any(text in ("-e", "-f", "--files") or text[:2] == "-e" for text in texts)
        folders = operands if given else operands[1:]
        return [_below(folder) for folder in folders] or [_HERE]
    return None


def _of_find(words: list[Word], tests: frozenset[str]) -> list[Word] | None:
    starts = start_points(words)
    expression = Expression(words, tests)
    try:
        expression.read()
    except RecursionError:
        return None
    if expression.actions or any(word.text == "-printf" for word in words):
        return None
    return [name for start in starts for name in targets(start, expression.left)]


def _git_lists(texts: list[str]) -> bool:
    return texts[:1] == ["ls-files"] or (
        texts[:1] in (["diff"], ["show"], ["grep"])
        and any(text in ("--name-only", "-l", "--files-with-matches") for text in texts)
    )


def _of_ls(operands: list[Word]) -> list[Word]:
    if not operands:
        return [Word("*", glob=True)]
    # A pattern is printed as what it finds; of a folder, the bare names in it.
    return [word if word.glob else _HERE for word in operands]


def _below(folder: Word) -> Word:
    return folder if folder.glob else Word(join(folder.text, BELOW), glob=True)


def _narrow(name: Word) -> Word:
    if HOLE in name.text:
        return name
    folder, _, last = name.text.rpartition("/")
    if not any(char in last for char in "*?["):
        folder = name.text  # what find lists below a start
    return Word(join(folder or ".", BELOW, BELOW), glob=True)
