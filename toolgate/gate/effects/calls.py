"""Inline code of languages without a parser here, read by its tokens.

Names of calls that start processes, touch files or reach hosts are looked up
in a table a language; the first literal argument is what they act on. A call
whose argument is no literal acts on something unknown.
"""

from typing import NamedTuple

from toolgate.gate.effects.access import access
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command

_JAVASCRIPT = {
    "exec": "shell",
    "execSync": "shell",
    "spawn": "argv",
    "spawnSync": "argv",
    "execFile": "argv",
    "execFileSync": "argv",
    "unlink": "delete",
    "unlinkSync": "delete",
    "rm": "delete",
    "rmSync": "delete",
    "rmdir": "delete",
    "rmdirSync": "delete",
    "writeFile": "write",
    "writeFileSync": "write",
    "appendFile": "write",
    "appendFileSync": "write",
    "createWriteStream": "write",
    "readFile": "read",
    "readFileSync": "read",
    "createReadStream": "read",
    "fetch": "fetch",
    "eval": "opaque",
    "Function": "opaque",
}
_RUBY = {
    "system": "shell",
    "exec": "shell",
    "spawn": "shell",
    "popen": "shell",
    "capture2": "shell",
    "capture3": "shell",
    "delete": "delete",
    "unlink": "delete",
    "rm": "delete",
    "rm_r": "delete",
    "rm_f": "delete",
    "rm_rf": "delete",
    "remove_dir": "delete",
    "rmtree": "delete",
    "write": "write",
    "read": "read",
    "readlines": "read",
    "eval": "opaque",
    "get": "fetch",
    "post": "send",
    "post_form": "send",
}
_PERL = {
    "system": "shell",
    "exec": "shell",
    "unlink": "delete",
    "rmtree": "delete",
    "rmdir": "delete",
    "remove_tree": "delete",
    "open": "open",
    "eval": "opaque",
}
_PHP = {
    "exec": "shell",
    "shell_exec": "shell",
    "system": "shell",
    "passthru": "shell",
    "popen": "shell",
    "proc_open": "shell",
    "unlink": "delete",
    "rmdir": "delete",
    "file_put_contents": "write",
    "file_get_contents": "read",
    "fopen": "open",
    "curl_exec": "opaque",
    "fsockopen": "send",
    "eval": "opaque",
}
_AWK = {"system": "shell"}
_TABLES = {"javascript": _JAVASCRIPT, "ruby": _RUBY, "perl": _PERL, "php": _PHP, "awk": _AWK}
_NEEDS_PROCESS_MODULE = frozenset(
    ("exec", "execSync", "spawn", "spawnSync", "execFile", "execFileSync")
)
_AMBIGUOUS = frozenset(("delete", "write", "read", "get", "post", "rm"))
_OWNERS = frozenset(
    (
        "File",
        "IO",
        "Dir",
        "FileUtils",
        "Pathname",
        "HTTP",
        "Net",
        "fs",
        "fsp",
        "promises",
        "axios",
        "https",
        "http",
    )
)


class Token(NamedTuple):
    """A token of inline code: ``name``, ``text`` (a literal), ``tick`` or ``mark``."""

    kind: str
    value: str


def effects_of_calls(
    language: str, text: str, reader: Reading, command: Command, name: str
) -> list[Effect]:
    """Return what inline code does, by the calls it makes."""
    tokens = tokenize(text)
    table = _TABLES[language]
    made: list[Effect] = []
    for position, token in enumerate(tokens):
        if token.kind == "tick" and language in ("ruby", "perl", "php"):
            made += _run(token.value, reader, name)
        elif token.kind == "mark" and token.value in ("|", ">") and language == "awk":
            made += _awk_output(token.value, tokens, position, reader, command, name)
        elif (
            token.kind == "name"
            and token.value in table
            and _is_call(language, token.value, tokens, position, text)
        ):
            literal = _arguments(tokens, position, joined=table[token.value] == "argv")
            made += _effect(table[token.value], literal, text, reader, command, name)
    return made


def _is_call(language: str, called: str, tokens: list[Token], position: int, text: str) -> bool:
    if language == "javascript" and called in _NEEDS_PROCESS_MODULE:
        return "child_process" in text
    if called in _AMBIGUOUS:
        owners = {token.value for token in tokens[max(0, position - 3) : position]}
        return bool(owners & _OWNERS)
    return True


def _arguments(tokens: list[Token], position: int, *, joined: bool) -> str:
    """Return the literal arguments of a call: the first, or all of them joined by blanks."""
    following = tokens[position + 1 : position + 40]
    if following and following[0].value == "(":
        following = following[1:]
    texts: list[str] = []
    for token in following:
        if token.kind in ("text", "tick"):
            texts.append(token.value)
            if not joined:
                break
        elif token.kind == "name" or token.value not in ",[]":
            break
    return " ".join(texts) if texts else HOLE


def _effect(
    kind: str, literal: str, text: str, reader: Reading, command: Command, name: str
) -> list[Effect]:
    if kind in ("shell", "argv"):
        return _run(literal, reader, name)
    if kind == "opaque":
        return [reader.code_not_known(name)]
    if kind == "delete":
        how = ("recursive",) if "recursive" in text or "rm_r" in text or "tree" in text else ()
        return access("fs.delete", literal, reader, command, name, how)
    if kind == "open":
        if "|" in literal:
            return _run(literal.strip("| "), reader, name)
        writes = ">" in text or "'w" in text or '"w' in text
        return access(
            "fs.write" if writes else "fs.read", literal.strip("<>+ "), reader, command, name
        )
    if kind in ("fetch", "send"):
        sends = kind == "send" or "POST" in text or "PUT" in text
        return [reader.net("net.send" if sends else "net.fetch", literal, name)]
    return access("fs." + kind, literal, reader, command, name)


def _run(literal: str, reader: Reading, name: str) -> list[Effect]:
    return [reader.code_not_known(name)] if HOLE in literal else reader.inner(literal)


def _awk_output(
    mark: str, tokens: list[Token], position: int, reader: Reading, command: Command, name: str
) -> list[Effect]:
    before = tokens[position - 1] if position else Token("mark", "")
    after = tokens[position + 1] if position + 1 < len(tokens) else Token("mark", "")
    if mark == "|":
        if after.value == "getline":
            return _run(before.value if before.kind == "text" else HOLE, reader, name)
        return _run(after.value, reader, name) if after.kind == "text" else []
    # A comparison has a number or name on its right; only a literal surely names a file.
    return access("fs.write", after.value, reader, command, name) if after.kind == "text" else []


def tokenize(text: str) -> list[Token]:
    """Split code into names, literals and marks; comments of ``#`` and ``//`` are kept as marks."""
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        char = text[position]
        if char in "'\"`":
            end, value = _literal(text, position)
            tokens.append(Token("tick" if char == "`" else "text", value))
            position = end
        elif char.isalpha() or char in "_$":
            end = position
            while end < len(text) and (text[end].isalnum() or text[end] in "_$"):
                end += 1
            tokens.append(Token("name", text[position:end]))
            position = end
        else:
            if not char.isspace():
                tokens.append(Token("mark", char))
            position += 1
    return tokens


def _literal(text: str, start: int) -> tuple[int, str]:
    quote = text[start]
    out: list[str] = []
    position = start + 1
    while position < len(text) and text[position] != quote:
        if text[position] == "\\" and position + 1 < len(text):
            out.append({"n": "\n", "t": "\t"}.get(text[position + 1], text[position + 1]))
            position += 2
        elif quote != "'" and text[position] in "$#" and text[position + 1 : position + 2] == "{":
            out.append(HOLE)
            end = text.find("}", position)
            position = len(text) if end == -1 else end + 1
        else:
            out.append(text[position])
            position += 1
    return position + 1, "".join(out)
