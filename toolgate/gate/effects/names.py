"""What a name stands for besides its program: aliases, functions, programs found first."""

from typing import TYPE_CHECKING

from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import FUNCTION, NAMES, part_of
from toolgate.gate.shell.model import Word

if TYPE_CHECKING:
    from toolgate.gate.effects.shell import Reader


def define(reader: "Reader", words: tuple[Word, ...]) -> list[Effect]:
    """Take in the aliases that ``alias`` defines, and return what keeping them does."""
    made: list[Effect] = []
    for word in words:
        name, equals, body = word.text.partition("=")
        if equals and word.known:
            reader.aliases[name] = body
        if equals and reader.place.kept_shell and not reader.inside:
            from toolgate.gate.effects import defined

            if len(reader.aliases) > defined.MAX_FUNCTIONS:
                return [*made, reader.unknown("too-many-aliases", "alias")]
            text = body if word.known else None
            made += defined.define(reader, name, text, calls="")
    return made


def meant(reader: "Reader", words: tuple[Word, ...], *, by_shell: bool) -> list[Effect]:
    """Return what a name does that something else than its program answers to; or nothing.

    That is an alias of the text, a function of a file it has sourced, a program put into a
    folder that is searched first, or what earlier calls have let it stand for. Only the
    shell itself knows of aliases and functions, not what starts a program for it
    (``command ls``).
    """
    name = words[0].text
    made: list[Effect] = []
    if name in reader.aliases:
        made += _expanded(reader, words)
    if reader.files.sourced and by_shell:
        made += _function(reader, name)
    if not (reader.places or reader.files.defines(NAMES)):
        return made
    from toolgate.gate.effects import defined

    made += defined.searched(reader, name, reader.places)
    if not reader.files.defines(NAMES):
        return made
    return made + defined.redefined(reader, name, by_shell=by_shell)


def _expanded(reader: "Reader", words: tuple[Word, ...]) -> list[Effect]:
    """Return what a command does where a name of it is an alias this text has defined."""
    body = reader.aliases.pop(words[0].text, None)  # an alias is not expanded in itself
    if body is None:
        return []
    from shlex import quote

    made = reader.inner(" ".join([body, *(quote(w.text) for w in words[1:] if w.known)]))
    reader.aliases[words[0].text] = body
    return made


def _function(reader: "Reader", name: str) -> list[Effect]:
    """Return what a function does that a file sourced by this text defines; else nothing."""
    for path in reader.files.sourced:
        made = reader.run_known(part_of(path, name + FUNCTION), name)
        if made is not None:
            return made or [reader.inspect(name)]
    return []
