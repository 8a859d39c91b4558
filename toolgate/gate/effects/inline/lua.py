"""Lua given inline, read for the few names through which it reaches files and programs.

Source: Lua 5.4 reference manual, sections 3.1 (lexical conventions) and 6 (standard libraries).
"""

from typing import NamedTuple

from toolgate.gate.effects.environment import names_secret
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command, Word

MAX_TOKENS = 4_000
# What gives a program any other function by a name that it makes up, or code from a text.
_OPEN = frozenset(
    (
        *("load", "loadstring", "loadfile", "dofile", "require", "package", "debug", "module"),
        *("_G", "_ENV", "getfenv", "setfenv", "ffi", "jit"),
    )
)
# Functions of the two libraries that touch neither a file nor a program.
_PURE = {
    "os": frozenset(("time", "date", "clock", "difftime", "exit", "setlocale", "tmpname")),
    "io": frozenset(("write", "read", "stdout", "stderr", "stdin", "flush", "type")),
}
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "'": "'", "\n": "\n"}


class _Token(NamedTuple):
    """A name, a literal text (None where it is not followed), or a mark."""

    kind: str
    text: str | None


def effects_of_lua(text: str, reader: Reading, command: Command, name: str) -> list[Effect]:
    """Return what a Lua program does to files, programs and the environment.

    Args:
        text: the program.
        reader: reads the shell text it runs.
        command: the command that runs it.
        name: the program that runs it.
    """
    reader.work.spend(2 * len(text))
    tokens = _tokens(text)
    if HOLE in text or len(tokens) >= MAX_TOKENS:
        return [reader.code_not_known(name)]
    made: list[Effect] = []
    for at, token in enumerate(tokens):
        if token.kind != "name" or _is_key(tokens, at):
            continue
        if token.text in _OPEN:
            return [reader.code_not_known(name)]
        if token.text in _PURE:
            found = _called(tokens, at, reader, command, name)
            if found is None:
                return [reader.code_not_known(name)]
            made += found
    return made


def _is_key(tokens: list[_Token], at: int) -> bool:
    """Say whether a name is a field of something else, and not what stands under it by itself."""
    return at > 0 and tokens[at - 1] in (_Token("mark", "."), _Token("mark", ":"))


def _called(
    tokens: list[_Token], at: int, reader: Reading, command: Command, name: str
) -> list[Effect] | None:
    """Return what a use of ``os`` or ``io`` does; None where that is not followed."""
    after = [*tokens[at + 1 : at + 8], *[_Token("mark", "")] * 7]
    library, function = tokens[at].text or "", after[1].text
    if after[0] != _Token("mark", ".") or after[1].kind != "name":
        return None
    if function in _PURE[library]:
        return []
    given = [token for token in after[2:7] if token.text != "("]
    first, second = given[0], given[2] if given[1] == _Token("mark", ",") else _Token("mark", "")
    called = f"{library}.{function}"
    if first.kind != "text" or first.text is None:
        return None
    if given[1].text not in (")", ",") and after[2].kind != "text":
        return None  # the text is joined with another one
    word = Word(first.text)
    if called in ("os.execute", "io.popen"):
        return reader.inner(first.text, cwd=command.cwd)
    if called == "os.remove":
        return reader.touch("fs.delete", word, command, name)
    if called == "os.rename" and second.kind == "text" and second.text is not None:
        gone = reader.touch("fs.delete", word, command, name, ("move",))
        return gone + reader.touch("fs.write", Word(second.text), command, name, ("move",))
    if called == "os.getenv":
        secret = names_secret(first.text)
        variable = f"${first.text}"
        read = Effect("secret.print", "secret", variable, False, PROVED, name, "variable")
        return [read] if secret else []
    if called in ("io.open", "io.lines", "io.input", "io.output"):
        return _opened(called, word, second, reader, command, name)
    return None


def _opened(
    called: str, word: Word, mode: _Token, reader: Reading, command: Command, name: str
) -> list[Effect] | None:
    if called in ("io.lines", "io.input") or (mode.kind == "mark" and called == "io.open"):
        return reader.touch("fs.read", word, command, name)
    if called == "io.output":
        return reader.touch("fs.write", word, command, name)
    if mode.kind != "text" or mode.text is None:
        return None
    read = reader.touch("fs.read", word, command, name) if "r" in mode.text else []
    writes = not mode.text.startswith("r") or "+" in mode.text
    return read + (reader.touch("fs.write", word, command, name) if writes else [])


def _tokens(text: str) -> list[_Token]:
    """Split Lua into names, texts and marks; comments and numbers are left out."""
    found: list[_Token] = []
    at, size = 0, len(text)
    while at < size and len(found) < MAX_TOKENS:
        char = text[at]
        if char.isspace():
            at += 1
        elif text.startswith("--", at):
            end = _long_end(text, at + 2)
            line = text.find("\n", at)
            at = end[1] if end else (line if line != -1 else size)
        elif char == "[" and (long := _long_end(text, at)) is not None:
            found.append(_Token("text", text[long[0] : long[1] - long[2]]))
            at = long[1]
        elif char in "'\"":
            value, at = _quoted(text, at)
            found.append(_Token("text", value))
        elif char.isalnum() or char == "_":
            end_of_name = at
            while end_of_name < size and (text[end_of_name].isalnum() or text[end_of_name] == "_"):
                end_of_name += 1
            found.append(_Token("number" if char.isdigit() else "name", text[at:end_of_name]))
            at = end_of_name
        else:
            mark = next((two for two in ("..", "::") if text.startswith(two, at)), char)
            found.append(_Token("mark", mark))
            at += len(mark)
    return found


def _long_end(text: str, at: int) -> tuple[int, int, int] | None:
    """Return where a long bracket's content begins, where it ends, and how long its end is."""
    if text[at : at + 1] != "[":
        return None
    level = at + 1
    while text[level : level + 1] == "=":
        level += 1
    if text[level : level + 1] != "[":
        return None
    closing = "]" + "=" * (level - at - 1) + "]"
    end = text.find(closing, level + 1)
    return (level + 1, end + len(closing), len(closing)) if end != -1 else (level + 1, len(text), 0)


def _quoted(text: str, at: int) -> tuple[str | None, int]:
    """Return a quoted text, None where it holds an escape that is not followed, and its end."""
    quote, made, known = text[at], "", True
    at += 1
    while at < len(text) and text[at] != quote:
        if text[at] == "\\":
            at += 1
            escape = _ESCAPES.get(text[at : at + 1])
            known = known and escape is not None
            made += escape or ""
        else:
            made += text[at]
        at += 1
    return (made if known else None), at + 1
