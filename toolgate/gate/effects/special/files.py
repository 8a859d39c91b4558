"""Programs with an argument language of their own: find, tar, dd, chmod, kill, xargs."""

from posixpath import join

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command, Word

_EXEC = ("-exec", "-execdir", "-ok", "-okdir")
_PRINT = ("-fprint", "-fprint0", "-fls", "-fprintf")
_NARROWS = ("-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-inum")
_FIRST_OPTIONS = ("-H", "-L", "-P", "-E", "-X", "-d", "-s", "-x")


def find(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return what find does to the files it finds."""
    words = list(_arguments_of(name, command))
    starts: list[Word] = []
    while words and words[0].text in _FIRST_OPTIONS:
        words.pop(0)
    while words and not (words[0].text.startswith("-") or words[0].text in ("(", "!", ")")):
        starts.append(words.pop(0))
    texts = [word.text for word in words]
    targets = [_target(start, texts) for start in starts or [Word(".")]]
    made: list[Effect] = []
    position = 0
    while position < len(texts):
        text = texts[position]
        position += 1
        if text == "-delete":
            for target in targets:
                made += reader.touch("fs.delete", target, command, name, (*how, "recursive"))
        elif text in _PRINT and position < len(words):
            made += reader.touch("fs.write", words[position], command, name)
        elif text in _EXEC:
            end = position
            while end < len(texts) and texts[end] not in (";", "+"):
                end += 1
            made += _executed(reader, words[position:end], targets, command)
            position = end + 1
    return made


def _arguments_of(name: str, command: Command) -> tuple[Word, ...]:
    """Return the words after the program, which may stand behind wrappers."""
    for position, word in enumerate(command.words):
        if word.text.rpartition("/")[2] == name:
            return command.words[position + 1 :]
    return command.words[1:]


def _target(start: Word, texts: list[str]) -> Word:
    """Return a word for what is found: the start itself, or something below it by name."""
    names = [
        texts[position + 1]
        for position, text in enumerate(texts[:-1])
        if text in ("-name", "-iname", "-path", "-wholename")
        and texts[position - 1] not in ("!", "-not")
    ]
    narrowed = any(text in _NARROWS for text in texts)
    if not narrowed:
        return start
    last = names[-1].strip("*/") if names and "/" in names[-1] else (names[-1] if names else HOLE)
    return Word(join(start.text, HOLE, last), glob="*" in last)


def _executed(
    reader: Reading, words: list[Word], targets: list[Word], command: Command
) -> list[Effect]:
    made: list[Effect] = []
    for target in targets:
        inner = tuple(
            target if word.text == "{}" else word._replace(text=word.text.replace("{}", HOLE))
            for word in words
        )
        if inner:
            made += reader.invoke(inner, command._replace(words=inner))
    return made


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
    else:
        inner = (*inner, unknown)
    return reader.invoke(inner, command._replace(words=inner))


def tar(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return what tar reads, writes or runs, its mode given with or without a dash."""
    operands = list(parsed.operands)
    letters = "".join(option[1:] for option, _ in parsed.options if not option.startswith("--"))
    archive = parsed.value("-f", "--file")
    first_is_letters = operands and operands[0].text.isalpha() and not letters
    if first_is_letters:
        letters = operands.pop(0).text
        if "f" in letters and operands:
            archive = operands.pop(0)
    modes = {option for option, _ in parsed.options if option.startswith("--")}
    made = _tar_programs(reader, parsed, name)
    folder = parsed.value("-C", "--directory") or Word(".")
    if "x" in letters or modes & {"--extract", "--get"}:
        to_output = "O" in letters or "--to-stdout" in modes
        made += reader.touch("fs.read", archive, command, name) if archive else []
        made += [] if to_output else reader.touch("fs.write", folder, command, name, ("extract",))
    elif set("cru") & set(letters) or modes & {"--create", "--append", "--update"}:
        made += reader.touch("fs.write", archive, command, name) if archive else []
        for word in operands:
            made += reader.touch("fs.read", word, command, name)
        if "--remove-files" in modes:
            for word in operands:
                made += reader.touch("fs.delete", word, command, name, ("recursive",))
    return made


def _tar_programs(reader: Reading, parsed: Parsed, name: str) -> list[Effect]:
    made: list[Effect] = []
    for option, value in parsed.options:
        if value is None:
            continue
        if option in ("--to-command", "-I", "--use-compress-program", "--rsh-command"):
            made += reader.inner(value.text) if value.known else [reader.code_not_known(name)]
        elif option == "--checkpoint-action" and value.text.startswith("exec="):
            made += reader.inner(value.text[5:])
    return made


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
    text = " ".join(word.text for word in words)
    return (
        reader.inner(text, cwd=command.cwd) if HOLE not in text else [reader.code_not_known(name)]
    )
