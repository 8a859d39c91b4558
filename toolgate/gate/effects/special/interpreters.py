"""Interpreters used as filters, and those whose language nobody reads here."""

from posixpath import basename

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects import flow
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.effects.special.files import arguments_of
from toolgate.gate.shell.model import Command


def code_filter(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the files that inline code is applied to: read, or changed in place with ``-i``.

    Args:
        reader: reads the text.
        parsed: the interpreter's arguments.
        name: the interpreter.
        command: the command that runs it.
        how: qualifiers of the entry.
    """
    has_code = parsed.has(["-e", "-E"], abbreviated=False)
    in_place = parsed.has(["-i"], abbreviated=False)
    if not (has_code or in_place or parsed.has(["-n", "-p"], abbreviated=False)):
        return []  # a script, whose operands are its own
    kind, marks = ("fs.write", (*how, "in-place")) if in_place else ("fs.read", how)
    made: list[Effect] = []
    for word in parsed.rest if has_code else parsed.rest[1:]:
        made += reader.touch(kind, word, command, name, marks)
    return made


def fed(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return that what a client is fed in place of a command or script is not known."""
    scripted = parsed.has(["--eval", "-f", "--file"], abbreviated=False)
    if scripted or not flow.has_standard_input(command):
        return []
    return [reader.unknown("stdin", name)._replace(how="stdin")]


def sends_input(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return that what is fed to a client of HTTPie's kind goes along as the request's body."""
    ignored = parsed.has(["--ignore-stdin", "-I", "--offline"], abbreviated=False)
    if ignored or not flow.has_standard_input(command):
        return []
    urls = [word for word in parsed.operands if not word.text.isalpha()]
    return [reader.net("net.send", word.text, name, ("send",)) for word in urls[:1]]


def unread(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return that code on standard input, in a language not read here, is not known."""
    operands = [word for word in (*parsed.operands, *parsed.rest) if word.text != "-"]
    if operands or not flow.has_standard_input(command):
        return []
    return [reader.unknown("stdin", name)._replace(how="stdin")]


def jar(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return what a catalogued program does that is started as a Java archive."""
    archive = parsed.value("-jar")
    program = basename(archive.text) if archive is not None else ""
    if archive is None or not program or reader.entry(program) is None:
        return []
    words = arguments_of(name, parsed, command)
    after = next((i + 1 for i, word in enumerate(words) if word is archive), len(words))
    return reader.invoke((archive._replace(text=program), *words[after:]), command)
