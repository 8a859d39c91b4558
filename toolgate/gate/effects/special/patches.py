"""Patches that are applied: which files they write, and what they put there."""

from posixpath import basename, join

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects import stored
from toolgate.gate.effects.flow import fed_files, standard_input
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading, Written
from toolgate.gate.facts.artifacts import SEVERAL
from toolgate.gate.shell.model import Command, Word

PATCHED = "patched"
"""Qualifier of writes by a patch."""

MAX_FILES = 48
_LOOKS = ("--dry-run", "--check", "--stat", "--numstat", "--summary")
_COMPARE = frozenset(("git", "diff", "interdiff", "filterdiff", "hg", "svn"))
_NOWHERE = "/dev/null"
_FOLDERS = ("-d", "--directory")
_INPUTS = ("-i", "--input")
_STRIPS = ("-p", "--strip")
_NAMES_A_FILE = ("+++ ", "rename to ", "copy to ")


def patched(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return what applying a patch writes: the files it names, or files nobody knows."""
    folders = [value for option, value in parsed.options if option in _FOLDERS and value]
    folder = folders[-1] if folders else Word(".")
    text = text_of(reader, parsed, name, command)
    if text is None:
        made = reader.touch("fs.write", folder, command, name, (*how, PATCHED))
        if made and _is_foreign(reader, parsed, name, command):
            reader.files.patched = True
            made.append(stored.effect(SEVERAL, made[0].scope, "*"))
        return made
    strip = next((v.text for o, v in parsed.options if o in _STRIPS and v), "")
    written, removed = files_of(text, strip or ("1" if name.startswith("git") else ""))
    if len(written) + len(removed) > MAX_FILES:
        return reader.touch("fs.write", folder, command, name, (*how, PATCHED))
    made = []
    for kind, paths in (("fs.write", written), ("fs.delete", removed)):
        for path in paths:
            word = folder._replace(text=join(folder.text, path))
            touched = reader.touch(kind, word, command, name, (*how, PATCHED))
            made += touched
            for effect in touched:
                if effect.type == "fs.write" and not parsed.has(_LOOKS):
                    _keep(reader, effect, around(text, path))
    return made


def _keep(reader: Reading, effect: Effect, text: str) -> None:
    """Keep what a patch puts into a file, beside what is there."""
    path = effect.resource
    before = reader.files.get(path)
    reader.files.put(
        path, Written(text, False, False, scope=effect.scope, part=True, before=before)
    )


def text_of(reader: Reading, parsed: Parsed, name: str, command: Command) -> str | None:
    """Return the text of all patches a call applies; None where one is not known."""
    files = _files(parsed, name)
    if not files:
        files = list(fed_files(reader.script, command))
        if not files:
            return standard_input(reader.script, command)
    texts: list[str] = []
    for word, where in files:
        cwd = where.cwd if where else command.cwd
        known = reader.files.get(reader.paths.resolve(word.text, cwd))
        if known is None or known.text is None or known.before is not None:
            return None
        texts.append(known.text)
    return "\n".join(texts)


def around(text: str, path: str) -> str:
    """Return what a patch says a file holds: the lines it adds and those around them."""
    lines: list[str] = []
    here = False
    for line in text.split("\n"):
        if line.startswith("+++ "):
            here = basename(_named(line)) == basename(path)
        elif here and line.startswith(("+", " ")):
            lines.append(line[1:])
    return "\n".join(lines) + "\n"


def files_of(text: str, strip: str) -> tuple[list[str], list[str]]:
    """Return the files a patch writes and those it removes.

    Args:
        text: the patch.
        strip: how many folders are taken off its names; where nothing says so, its bare
            names and its whole names both count.
    """
    written: dict[str, None] = {}
    removed: dict[str, None] = {}
    before = ""
    for line in text.split("\n"):
        if line.startswith("--- "):
            before = _named(line)
        elif line.startswith(_NAMES_A_FILE):
            named = _named(line)
            if line.startswith("+++ ") and named == _NOWHERE:
                removed.update(dict.fromkeys(_stripped(before, strip)))
            elif named:
                # git gives names in renames without a prefix to strip.
                taken = strip if line.startswith("+++ ") else "0"
                written.update(dict.fromkeys(_stripped(named, taken)))
    return list(written), list(removed)


def _named(line: str) -> str:
    """Return the path behind the first words of a patch's line, without the time behind a tab."""
    mark = next((one for one in ("--- ", *_NAMES_A_FILE) if line.startswith(one)), "")
    return line[len(mark) :].split("\t", 1)[0].strip().strip('"')


def _stripped(path: str, strip: str) -> list[str]:
    if not strip.isdecimal():
        return list(dict.fromkeys((path, path.partition("/")[2] or path, basename(path))))
    parts = path.split("/")
    return ["/".join(parts[min(int(strip[:3]), len(parts) - 1) :])]


def _files(parsed: Parsed, name: str) -> list[tuple[Word, Command | None]]:
    """Return the words that name the patches; none where they are fed in."""
    given = [value for option, value in parsed.options if option in _INPUTS and value]
    operands = list(parsed.operands)
    found = given or (operands if name.startswith("git") else operands[1:])
    return [(word, None) for word in found if word.text != "-"]


def _is_foreign(reader: Reading, parsed: Parsed, name: str, command: Command) -> bool:
    """Say whether a patch that nobody has read is not the project's own.

    It was fetched, or an earlier call wrote it, or it is what another program prints than
    those that compare.
    """
    files = _files(parsed, name) or fed_files(reader.script, command)
    for word, where in files:
        path = reader.paths.resolve(word.text, where.cwd if where else command.cwd)
        known = reader.files.get(path)
        if known is not None and (known.remote or known.artifact is not None):
            return True
    sources = [reader.script.commands[source] for source in command.stdin]
    return not files and not all(
        source.words and source.words[0].text in _COMPARE for source in sources
    )
