"""Files that are run: where a program lies, and what a file does that was written before."""

from posixpath import basename
from typing import TYPE_CHECKING

from toolgate.gate.effects import flow
from toolgate.gate.effects.entry import apply
from toolgate.gate.effects.model import Effect, unresolved
from toolgate.gate.effects.reading import LINKS, MAX_NESTING
from toolgate.gate.facts.session import PART_MARK
from toolgate.gate.shell.model import BELOW, Command, Word

if TYPE_CHECKING:
    from toolgate.gate.effects.shell import Reader

MAX_PATTERNS = 16
"""How many runs of files by a pattern a text is followed through."""

_BIN = ("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin")
# Folders of the operating system in which only it keeps programs.
_SYSTEM_BIN = ("/System/Library/", "/usr/libexec/", "/usr/lib/", "/Library/Apple/")
_LOCAL_BIN = ("/.venv/bin/", "/venv/bin/", "/env/bin/", "/node_modules/.bin/", "/.local/bin/")
_GLOB = frozenset("*?[")


def by_path(reader: "Reader", words: tuple[Word, ...], command: Command) -> list[Effect]:
    """Return the effects of a program that is named by its path."""
    path = reader.paths.resolve(words[0].text, command.cwd)
    name = basename(path)
    installed = path.rpartition("/")[0] in _BIN or path.startswith(_SYSTEM_BIN)
    installed = installed or any(part in path for part in _LOCAL_BIN)
    entry = reader.entry(name)
    if entry is None:
        return file(reader, words[0], command, name)
    made = apply(reader, entry, name, words[1:], command)
    # A launcher of the project (./gradlew, bin/rails) may do what its name says, or anything.
    return made if installed else [*file(reader, words[0], command, name), *made]


def file(reader: "Reader", word: Word, command: Command, program: str) -> list[Effect]:
    """Return the effects of executing a file, or what a URL names."""
    if "://" in word.text:
        host = reader.net("net.fetch", word.text, program)
        proof = unresolved("remote-code")
        return [
            host,
            Effect("exec.code", "outside", host.resource, True, proof, program, "remote"),
        ]
    path = reader.paths.resolve(word.text, command.cwd)
    if program in ("source", ".") and path not in reader.files.sourced:
        reader.files.sourced.append(path)
    made = reader.paths.effects("exec.code", word.text, command.cwd, program=program, how=("file",))
    if any(effect.scope == "secret" for effect in made):
        made += reader.touch("fs.read", word, command, program)  # whoever runs it has read it
    run = known(reader, path, program)
    if run is not None:
        made += run
    elif flow.came_from_elsewhere(path, reader.files.written):
        made.append(reader.unknown("not-the-projects-own", program, path))
    elif reader.files.defines(LINKS):
        from toolgate.gate.effects.links import brought

        made += brought(reader, path, program)
    return made


def known(reader: "Reader", path: str, program: str) -> list[Effect] | None:
    """Return the effects of running a file whose content is known; None when it is not.

    A part of a file may be meant as well; see ``reading.part_of``.
    """
    reader.work.spend(6)
    reader.files.runs[path] = None
    written = reader.files.get(path)
    if written is None:
        return by_pattern(reader, path, program)
    if reader.depth > MAX_NESTING:
        return [reader.unknown("nested-too-deep", program)]
    reader.depth += 1
    from toolgate.gate.effects import files

    try:
        return files.executed(written, path, program, reader)
    finally:
        reader.depth -= 1


def by_pattern(reader: "Reader", path: str, program: str) -> list[Effect] | None:
    """Return what running files by a pattern does, of those that were written."""
    if PART_MARK in path or not reader.files.may_know:
        return None
    if _GLOB.isdisjoint(path) and BELOW not in path:
        return None
    from toolgate.gate.effects.patterned import run

    reader.patterns += 1
    if reader.patterns > MAX_PATTERNS:
        return [reader.unknown("too-many-runs", program)]
    return run(reader, path, program) or None


def fed_from_files(reader: "Reader", command: Command) -> list[Effect]:
    """Return what running the written files does that text of unknown content is made from."""
    made: list[Effect] = []
    for word, where in flow.read_on_the_way(reader.script, command):
        path = reader.paths.resolve(word.text, where.cwd)
        if reader.files.get(path) is not None or word.glob:
            made += known(reader, path, command.words[0].text if command.words else "") or []
    return made
