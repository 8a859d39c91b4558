"""Programs that run a command again and again: xargs, GNU parallel and fd."""

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects import flow
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.effects.special.files import arguments_of
from toolgate.gate.shell.model import HOLE, Command, Word

MAX_INPUTS = 32

_HERE, _FROM_FILE = (":::", ":::+"), ("::::", "::::+")
_MARKS = ("{}", "{.}", "{/}", "{//}", "{/.}", "{#}", "{%}", "{1}", "{2}", "{3}")
_FD_RUNS = ("-x", "--exec", "-X", "--exec-batch")
_HARMLESS = str.maketrans("", "", "./=:,@+-_")
_ARGUMENT = '"$parallel_argument"'
"""Stands for an input nobody knows in shell text: a variable that is never set."""


def xargs(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the effects of the command xargs builds, its arguments coming from elsewhere."""
    inner = parsed.rest or (Word("echo"),)
    replaced = parsed.value("-I", "-J", "--replace")
    mark = replaced.text if replaced is not None else ""
    if not mark and parsed.has(["-i", "--replace"], abbreviated=False):
        mark = "{}"
    inputs = _fed(reader, parsed, command, by_line=bool(mark))
    # Where no word holds the mark, whoever wrote it expected the input behind the words.
    if mark and any(mark in word.text for word in inner):
        return [
            effect for given in inputs for effect in _invoked(reader, inner, mark, given, command)
        ]
    # Without input the command may run once just as it stands.
    nested = inner[0].text in ("xargs", "parallel")
    made = [] if nested else reader.invoke(inner, command._replace(words=inner))
    inner = (*inner, *inputs)
    return [*made, *reader.invoke(inner, command._replace(words=inner))]


def _fed(reader: Reading, parsed: Parsed, command: Command, *, by_line: bool) -> list[Word]:
    """Return the inputs of xargs: words that are plain, files that a command lists, or a hole."""
    from toolgate.gate.effects.listing import listed

    unknown = Word(HOLE, sources=command.stdin)
    if parsed.has(["-a", "--arg-file"]):
        return [Word(HOLE)]
    text = flow.standard_input(reader.script, command)
    if text is not None:
        odd = parsed.has(["-0", "--null", "-d", "--delimiter", "-E", "-e"])
        given = [line.strip() for line in text.splitlines()] if by_line else text.split()
        given = [one for one in given if one]
        plain = not odd and not set(text) & set("'\"\\") and HOLE not in text
        return [Word(one) for one in given] if plain and len(given) <= MAX_INPUTS else [unknown]
    tests = frozenset((reader.entry("find") or {}).get("values", ()))
    names = listed(reader.script, unknown, tests)
    return [unknown] if names is None else list(names)


def _invoked(
    reader: Reading, inner: tuple[Word, ...], mark: str, given: Word, command: Command
) -> list[Effect]:
    """Return the effects of a command with an input in place of a mark."""
    filled = tuple(
        word._replace(
            text=word.text.replace(mark, given.text),
            glob=word.glob or given.glob,
            sources=word.sources + given.sources,
        )
        if mark in word.text
        else word
        for word in inner
    )
    return reader.invoke(filled, command._replace(words=filled))


def parallel(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the effects of GNU parallel's command for each input, or of inputs that are commands.

    Its words are joined and given to a shell, with ``{}`` for an input, which
    stands at the end when no word holds one.
    """
    words = list(parsed.rest)
    start = next((i for i, word in enumerate(words) if word.text in (*_HERE, *_FROM_FILE)), None)
    template = words if start is None else words[:start]
    inputs = _inputs(words[start:]) if start is not None else None
    if not template:
        if inputs is None:
            fed = start is not None or reader.fed or flow.has_standard_input(command)
            return [reader.unknown("stdin", name)._replace(how="stdin")] if fed else []
        return [effect for text in inputs for effect in _run(reader, text, name)]
    if any(HOLE in word.text for word in template):
        return [reader.code_not_known(name)]
    if start is None and all(_means_itself(word.text) for word in template):
        return [
            effect
            for given in _fed(reader, parsed, command, by_line=True)
            for effect in _filled(reader, tuple(template), given, command)
        ]
    text = " ".join(word.text for word in template)
    if not any(mark in text for mark in _MARKS):
        text += " {}"
    made: list[Effect] = []
    for given in [_ARGUMENT] if inputs is None else [_quote(one) for one in inputs]:
        filled = text.replace("{}", given)
        for mark in _MARKS[1:]:
            filled = filled.replace(mark, _ARGUMENT)
        made += _run(reader, filled, name)
    if len(template) > 1:
        # Another program of this name runs the words as they stand; a quoted text is then code.
        for one in [HOLE] if inputs is None else inputs:
            inner = tuple(word._replace(text=word.text.replace("{}", one)) for word in template)
            inner = inner if inner != tuple(template) else (*inner, Word(one))
            made += reader.invoke(inner, command._replace(words=inner))
    return made


def _means_itself(text: str) -> bool:
    """Say whether a shell takes a word of a template as it stands; ``{}`` is its only mark."""
    plain = text.replace("{}", "").translate(_HARMLESS)
    return bool(text) and (not plain or (plain.isascii() and plain.isalnum()))


def _filled(
    reader: Reading, template: tuple[Word, ...], given: Word, command: Command
) -> list[Effect]:
    """Return the effects of a template with an input at its marks, or at its end."""
    if any("{}" in word.text for word in template):
        return _invoked(reader, template, "{}", given, command)
    inner = (*template, given)
    return reader.invoke(inner, command._replace(words=inner))


def _quote(text: str) -> str:
    """Return a text as one word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def _inputs(words: list[Word]) -> list[str] | None:
    """Return the inputs on the command line; None when they come from elsewhere or combine."""
    several = sum(word.text in (*_HERE, *_FROM_FILE) for word in words) > 1
    given = words[1:]
    if several or words[0].text in _FROM_FILE or len(given) > MAX_INPUTS:
        return None
    if any(not word.known or word.glob for word in given):
        return None
    return [word.text for word in given]


def _run(reader: Reading, text: str, name: str) -> list[Effect]:
    return reader.inner(text) if HOLE not in text else [reader.code_not_known(name)]


def fd(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the effects of the command fd runs for what it finds, which is not known."""
    words = arguments_of(name, parsed, command)
    start = next((i for i, word in enumerate(words) if word.text in _FD_RUNS), None)
    if start is None:
        attached = any(option in _FD_RUNS for option, _ in parsed.options)
        return [reader.code_not_known(name)] if attached else []
    inner = list(words[start + 1 :])
    end = next((i for i, word in enumerate(inner) if word.text == ";"), len(inner))
    inner = inner[:end]
    filled = [word._replace(text=_fill(word.text)) for word in inner]
    if filled == inner:
        filled.append(Word(HOLE))
    return reader.invoke(tuple(filled), command._replace(words=tuple(filled))) if inner else []


def _fill(text: str) -> str:
    for mark in _MARKS[:5]:
        text = text.replace(mark, HOLE)
    return text
