"""Programs with an argument language of their own: find, tar, dd, chmod, kill, xargs."""

from collections.abc import Collection
from posixpath import join
from typing import NamedTuple

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import BELOW, HOLE, Command, Word

MAX_ALTERNATIVES = 32

_EXEC = ("-exec", "-execdir", "-ok", "-okdir")
_PRINT = ("-fprint", "-fprint0", "-fls", "-fprintf")
_NAMES = ("-name", "-iname")
_PATHS = ("-path", "-ipath", "-wholename", "-iwholename")
_OTHER_NARROWING = ("-regex", "-iregex", "-inum", "-samefile")
_FIRST_OPTIONS = ("-H", "-L", "-P", "-E", "-X", "-d", "-s", "-x")
_TAR_VALUES = "fCbXTKLNVgHFI"
_TAR_CHANGES = ["--create", "--append", "--update", "--delete", "--catenate", "--concatenate"]
_TAR_PROGRAMS = (
    "--to-command",
    "--use-compress-program",
    "--rsh-command",
    "--rmt-command",
    "--info-script",
    "--new-volume-script",
)
_OR = ("-o", "-or", ",")
_NOT = ("!", "-not")


class _Found(NamedTuple):
    """What the tests passed so far leave: files of this name, below folders of these names."""

    folder: str = ""
    name: str = ""


_Narrowed = tuple[_Found, ...]
"""Alternatives; empty when the tests leave every file."""


# These hand more than one word to the system as they are; a single word goes to a shell.
_RUN_AS_GIVEN = frozenset(
    (
        "screen",
        "tmux new-session",
        "tmux new",
        "tmux new-window",
        "tmux neww",
        "tmux split-window",
        "tmux splitw",
        "tmux respawn-pane",
    )
)


def find(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return what find does to the files it finds."""
    words = list(arguments_of(name, parsed, command))
    starts: list[Word] = []
    while words and words[0].text in _FIRST_OPTIONS:
        words.pop(0)
    while words and not (words[0].text.startswith("-") or words[0].text in ("(", "!", ")", ",")):
        starts.append(words.pop(0))
    expression = _Expression(words, parsed.known)
    try:
        expression.read()
    except RecursionError:
        return [reader.unknown("expression-too-deep", name)]
    made: list[Effect] = []
    for narrowed, action, arguments in expression.actions:
        targets = [
            target for start in starts or [Word(".")] for target in _targets(start, narrowed)
        ]
        if action == "-delete":
            for target in targets:
                made += reader.touch("fs.delete", target, command, name, (*how, "recursive"))
        elif action in _PRINT:
            for word in arguments[:1]:
                made += reader.touch("fs.write", word, command, name)
        else:
            made += _executed(reader, arguments, targets, command, action.endswith("dir"))
    return made


class _Expression:
    """An expression of find: which tests stand before each action in its own branch.

    Only what narrows by name counts. A test behind ``-o`` or a negation, or one
    that comes after the action, does not narrow what the action is done to.
    """

    def __init__(self, words: list[Word], known: Collection[str]) -> None:
        self.words = words
        self.known = known
        self.position = 0
        self.actions: list[tuple[_Narrowed, str, list[Word]]] = []

    def read(self) -> None:
        """Read the whole expression, also behind a bracket too many."""
        while self.position < len(self.words):
            self._alternatives(())
            self.position += 1

    def _alternatives(self, outer: _Narrowed) -> _Narrowed:
        branches: list[_Narrowed] = []
        while True:
            branches.append(self._branch(outer))
            if self._peek() not in _OR:
                break
            self.position += 1
        if not all(branches):
            return outer
        found = tuple(dict.fromkeys(one for branch in branches for one in branch))
        return found if len(found) <= MAX_ALTERNATIVES else (_Found(name=BELOW),)

    def _branch(self, narrowed: _Narrowed) -> _Narrowed:
        negated = False
        while self.position < len(self.words) and self._peek() not in (*_OR, ")"):
            text = self._peek()
            self.position += 1
            if text in _NOT:
                negated = not negated
                continue
            if text == "(":
                inner = self._alternatives(narrowed)
                self.position += self._peek() == ")"
                narrowed = narrowed if negated else inner
            else:
                narrowed = self._primary(text, narrowed, negated)
            negated = False
        return narrowed

    def _primary(self, text: str, narrowed: _Narrowed, negated: bool) -> _Narrowed:
        if text == "-delete":
            self.actions.append((narrowed, text, []))
        elif text in _EXEC:
            self.actions.append((narrowed, text, self._command()))
        elif text in _PRINT:
            count = 2 if text == "-fprintf" else 1
            self.actions.append((narrowed, text, self._take(count)))
        elif text == "-empty" and not negated:
            return narrowed or (_Found(name=BELOW),)
        elif text in self.known:
            value = self._take(1)
            if value and not negated:
                return _narrowed(narrowed, text, value[0].text)
        return narrowed

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


def _narrowed(before: _Narrowed, test: str, value: str) -> _Narrowed:
    alternatives = before or (_Found(),)
    if test in _NAMES and value.strip("*?"):
        return tuple(one._replace(name=value) for one in alternatives)
    if test in _PATHS:
        *folders, last = [part for part in value.split("/") if part not in ("", ".", "*")] or [""]
        if not last:
            return before
        below = value.endswith(("/", "/*"))
        folder = "/".join([*folders, last] if below else folders)
        name = "" if below else last
        return tuple(_Found(folder or one.folder, name or one.name) for one in alternatives)
    if test in _OTHER_NARROWING and value.strip(".*/^$()+?|\\"):
        return tuple(one if one.name else one._replace(name=BELOW) for one in alternatives)
    return before


def _targets(start: Word, narrowed: _Narrowed) -> list[Word]:
    """Return words for what is found: all below the start, or what is narrowed by name."""
    if not narrowed:
        return [start._replace(glob=True)]
    return [
        Word(join(start.text, BELOW, one.folder, one.name or BELOW), glob=True) for one in narrowed
    ]


def _executed(
    reader: Reading, words: list[Word], targets: list[Word], command: Command, elsewhere: bool
) -> list[Effect]:
    made: list[Effect] = []
    for found in targets:
        target = found
        if elsewhere:  # run in each file's own folder: what the command names besides is not known
            target = found._replace(text=reader.paths.resolve(found.text, command.cwd))
        inner = tuple(
            target if word.text == "{}" else word._replace(text=word.text.replace("{}", HOLE))
            for word in words
        )
        if inner:
            cwd = "" if elsewhere else command.cwd
            made += reader.invoke(inner, command._replace(words=inner, cwd=cwd))
    return made


def arguments_of(name: str, parsed: Parsed, command: Command) -> tuple[Word, ...]:
    """Return the words after the program, which may stand behind wrappers of any name."""
    words = command.words
    own = {id(word) for word in (*parsed.operands, *parsed.rest)}
    own |= {id(value) for _, value in parsed.options if value is not None}
    first = min((i for i, word in enumerate(words) if id(word) in own), default=len(words))
    named = [i for i, word in enumerate(words[:first]) if word.text.rpartition("/")[2] == name]
    return words[named[-1] + 1 :] if named else words[1:]


def xargs(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the effects of the command xargs builds, its arguments coming from elsewhere."""
    inner = parsed.rest or (Word("echo"),)
    replaced = parsed.value("-I", "-J", "--replace")
    unknown = Word(HOLE)
    if replaced is not None and replaced.text:
        mark = replaced.text
        inner = tuple(word._replace(text=word.text.replace(mark, HOLE)) for word in inner)
        return reader.invoke(inner, command._replace(words=inner))
    # Without input the command may run once just as it stands.
    nested = inner[0].text in ("xargs", "parallel")
    made = [] if nested else reader.invoke(inner, command._replace(words=inner))
    inner = (*inner, unknown)
    return [*made, *reader.invoke(inner, command._replace(words=inner))]


def tar(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return what tar reads, writes or runs, its mode given with or without a dash."""
    operands = list(parsed.operands)
    letters = "".join(option[1:] for option, _ in parsed.options if not option.startswith("--"))
    archives = [v for o, v in parsed.options if v and (o == "-f" or _abbreviates(o, "--file"))]
    archive = archives[-1] if archives else None
    folders = [v for o, v in parsed.options if v and (o == "-C" or _abbreviates(o, "--directory"))]
    made = _tar_programs(reader, parsed, name)
    first = next(iter(arguments_of(name, parsed, command)), Word("-"))
    if HOLE in first.text[:1]:
        return [*made, *reader.touch("fs.write", Word(HOLE), command, name)]
    if not first.text.startswith("-") and operands and operands[0] is first:
        # Old style: the first argument is letters, whose values follow in their order.
        operands.pop(0)
        letters += first.text
        for letter in first.text:
            value = operands.pop(0) if letter in _TAR_VALUES and operands else None
            archive = value if letter == "f" and value else archive
            folders += [value] if letter == "C" and value else []
            if letter == "I" and value:
                made += _tar_program(reader, value, name)
    archives = [archive] if archive is not None else []
    if "x" in letters or parsed.has(["--extract", "--get"]):
        made += _touched(reader, "fs.read", archives, command, name)
        if not ("O" in letters or parsed.has(["--to-stdout", "--to-command"])):
            for folder in folders or [Word(".")]:
                made += reader.touch("fs.write", folder, command, name, ("extract",))
            if "P" in letters or parsed.has(["--absolute-names"]):
                made += reader.touch("fs.write", Word(HOLE), command, name, ("extract",))
    elif set("cruA") & set(letters) or parsed.has(_TAR_CHANGES):
        made += _touched(reader, "fs.write", archives, command, name)
        sources = [
            word._replace(text=join(folder.text, word.text))
            for folder in folders or [Word("")]
            for word in operands
        ]
        made += _touched(reader, "fs.read", sources, command, name)
        if parsed.has(["--remove-files"]):
            made += _touched(reader, "fs.delete", sources, command, name, ("recursive",))
    else:
        made += _touched(reader, "fs.read", archives, command, name)
    return made


def _touched(
    reader: Reading,
    kind: str,
    words: list[Word],
    command: Command,
    name: str,
    how: tuple[str, ...] = (),
) -> list[Effect]:
    return [e for word in words for e in reader.touch(kind, word, command, name, how)]


def _abbreviates(option: str, name: str) -> bool:
    return option == name or (len(option) > 3 and name.startswith(option))


def _tar_programs(reader: Reading, parsed: Parsed, name: str) -> list[Effect]:
    made: list[Effect] = []
    for option, value in parsed.options:
        program = option == "-I" or any(_abbreviates(option, long) for long in _TAR_PROGRAMS)
        if program:
            made += _tar_program(reader, value, name)
        elif _abbreviates(option, "--checkpoint-action") and option != "--checkpoint":
            text = value.text if value is not None else HOLE
            if text.startswith("exec="):
                made += _tar_program(reader, Word(text[5:]), name)
            elif HOLE in text:
                made.append(reader.code_not_known(name))
    return made


def _tar_program(reader: Reading, value: Word | None, name: str) -> list[Effect]:
    known = value is not None and value.known
    return reader.inner(value.text) if value and known else [reader.code_not_known(name)]


def dd(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return what dd reads and writes."""
    made: list[Effect] = []
    for word in parsed.operands:
        key, _, value = word.text.partition("=")
        if key == "of":
            made += reader.touch("fs.write", word._replace(text=value), command, name)
        elif key == "if":
            made += reader.touch("fs.read", word._replace(text=value), command, name)
    return made


def chmod(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return whose permissions change, and whether all may write or rights go along."""
    words = list(parsed.operands)
    mode = words.pop(0).text if words and not parsed.has(["--reference"]) else ""
    # A mode such as -x or -R,... is split off as an option; only widening matters here.
    marks = list(how)
    if mode.isdigit():
        digits = mode[-4:].zfill(4)
        if int(digits[3], 8) & 2 if digits[3] in "01234567" else False:
            marks.append("world-writable")
        if digits[0] in "4567" and len(mode) >= 4:
            marks.append("setuid")
    else:
        for clause in mode.split(","):
            who, plus, what = clause.partition("+")
            if not plus:
                who, plus, what = clause.partition("=")
            if plus and "w" in what and (set(who) & set("oa")):
                marks.append("world-writable")
            if plus and "s" in what:
                marks.append("setuid")
    made: list[Effect] = []
    for word in words:
        made += reader.touch("fs.permission", word, command, name, tuple(marks))
    return made


def kill(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return which processes are signalled; signal 0 and listings touch none."""
    if parsed.has(["-0", "-l", "-L", "--list"], abbreviated=False):
        return []
    signal = parsed.value("-s", "--signal", "-n")
    if signal is not None and signal.text == "0":
        return []
    targets = [word.text for word in parsed.operands]
    if targets and all(text.startswith("%") for text in targets):
        return []  # jobs of this very text
    resource = " ".join(targets) or name
    return [Effect("proc.kill", "outside", resource, True, PROVED, name, "")]


def words_as_shell(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the effects of words that are joined by blanks and run as shell text."""
    words = parsed.rest or parsed.operands
    if not words:
        return []
    if name in _RUN_AS_GIVEN and len(words) > 1:
        return reader.invoke(words, command._replace(words=words))
    text = " ".join(word.text for word in words)
    return (
        reader.inner(text, cwd=command.cwd) if HOLE not in text else [reader.code_not_known(name)]
    )
