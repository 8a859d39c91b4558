"""Programs with an argument language of their own: find, tar, dd, chmod, kill."""

from posixpath import join

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects.hosts import split_remote
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.facts.session import READ_SECRET, SECRET
from toolgate.gate.shell.model import HOLE, Command, Word
from toolgate.gate.shell.state import OWN_JOB

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


def find(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return what find does to the files it finds."""
    from toolgate.gate.effects.find_expression import (
        EMPTY_FOLDERS,
        PRINT,
        Expression,
        start_points,
    )
    from toolgate.gate.effects.find_expression import targets as found_below

    words = list(arguments_of(name, parsed, command))
    starts = start_points(words)
    expression = Expression(words, parsed.known)
    try:
        expression.read()
    except RecursionError:
        return [reader.unknown("expression-too-deep", name)]
    made: list[Effect] = []
    for narrowed, action, arguments in expression.actions:
        targets = [target for start in starts for target in found_below(start, narrowed)]
        if action == "-delete":
            for target in targets:
                made += reader.touch("fs.delete", target, command, name, (*how, "recursive"))
        elif action == EMPTY_FOLDERS:
            for target in targets:
                made += reader.touch("fs.write", target, command, name, how)
        elif action in PRINT:
            for word in arguments[:1]:
                made += reader.touch("fs.write", word, command, name)
        else:
            made += _executed(reader, arguments, targets, command, action.endswith("dir"))
    return made


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
    writes = bool(set("cruA") & set(letters)) or parsed.has(_TAR_CHANGES)
    remote = split_remote(archive.text) if archive is not None else None
    if remote is not None and not parsed.has(["--force-local"]):
        # HOST:FILE is an archive on another machine.
        made.append(reader.net("net.send" if writes else "net.fetch", remote[0], name))
        archives = []
    if "x" in letters or parsed.has(["--extract", "--get"]):
        made += _touched(reader, "fs.read", archives, command, name)
        if not ("O" in letters or parsed.has(["--to-stdout", "--to-command"])):
            for folder in folders or [Word(".")]:
                made += reader.touch("fs.write", folder, command, name, ("extract",))
            if "P" in letters or parsed.has(["--absolute-names"]):
                made += reader.touch("fs.write", Word(HOLE), command, name, ("extract",))
    elif writes:
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
    """Return what a program does that tar starts and feeds an archive or its members."""
    if value is None or not value.known:
        return [reader.code_not_known(name)]
    return reader.inner(value.text, fed=True)


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


OTHERS_READ = "others-read"
"""Qualifier of a change after which every user of the machine may read."""


def chmod(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return whose permissions change, and whether all may write or rights go along."""
    words = list(parsed.operands)
    mode = words.pop(0).text if words and not parsed.has(["--reference"]) else ""
    # A mode such as -x or -R,... is split off as an option; only widening matters here.
    marks = list(how)
    opens = False
    if mode.isdigit():
        digits = mode[-4:].zfill(4)
        if int(digits[3], 8) & 2 if digits[3] in "01234567" else False:
            marks.append("world-writable")
        opens = digits[3] in "4567"
        if digits[0] in "4567" and len(mode) >= 4:
            marks.append("setuid")
    else:
        for clause in mode.split(","):
            who, plus, what = clause.partition("+")
            if not plus:
                who, plus, what = clause.partition("=")
            if plus and "w" in what and (set(who) & set("oa")):
                marks.append("world-writable")
            if plus and "r" in what and (not who or set(who) & set("oa")):
                opens = True
            if plus and "s" in what:
                marks.append("setuid")
    made: list[Effect] = []
    for word in words:
        made += reader.touch("fs.permission", word, command, name, tuple(marks))
    return [opened(effect, reader) for effect in made] if opens else made


def opened(effect: Effect, reader: Reading) -> Effect:
    """Mark a change that lets others read a secret, or what a secret was put into."""
    read = reader.paths.effects("fs.read", effect.resource, "", program=effect.program)
    if effect.scope == "secret" or any(one.type == "secret.read" for one in read):
        return effect._replace(how=f"{effect.how} {OTHERS_READ}".strip())
    written = reader.files.get(effect.resource)
    if written is None or not written.secret:
        return effect
    if written.artifact is not None:
        reader.files.rest_on(READ_SECRET, written.artifact.entry_of(SECRET))
    return effect._replace(how=f"{effect.how} {OTHERS_READ} copy".strip())


def shares_copy(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return that ``install`` lets others read what it copies, unless its mode says otherwise."""
    mode = parsed.value("-m", "--mode")
    text = "755" if mode is None else mode.text
    if text.isdigit() and text[-1:] not in "4567":
        return []
    if not text.isdigit() and "r" not in text:
        return []
    sources = [reader.touch("fs.read", word, command, name) for word in parsed.operands[:-1]]
    secret = any(effect.type == "secret.read" for made in sources for effect in made)
    if not secret:
        return []
    return [
        effect._replace(type="fs.permission", how=f"{effect.how} {OTHERS_READ} copy".strip())
        for effect in reader.touch("fs.write", parsed.operands[-1], command, name)
        if effect.type == "fs.write"
    ]


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
    owned = [_own_process(reader, word, command) for word in parsed.operands]
    if owned and name == "kill" and all(owned):
        files = " ".join(dict.fromkeys(owned))
        return [Effect("proc.kill", "workspace", files, True, PROVED, name, "own")]
    resource = " ".join(targets) or name
    return [Effect("proc.kill", "outside", resource, True, PROVED, name, "")]


def _own_process(reader: Reading, word: Word, command: Command) -> str:
    """Return the file of the workspace or of a temporary folder that names a process, or ""."""
    if word.text != HOLE or len(word.sources) != 1 or reader.inside:
        return ""
    source = reader.script.commands[word.sources[0]]
    texts = [one.text for one in source.words]
    if len(texts) == 2 and texts[0] == "cat" and not source.redirects:
        file = texts[1]
    elif not texts and [redirect.op for redirect in source.redirects] == ["<"]:
        file = source.redirects[0].target.text
    else:
        return ""
    path = reader.paths.resolve(file, source.cwd)
    written = reader.files.get(path)
    if HOLE in path or reader.paths.scope(path) not in ("workspace", "temp"):
        return ""
    foreign = written is not None and written.artifact is None
    own = not foreign or written is None or (written.text or "").strip() == OWN_JOB
    return path if own else ""
