"""Awk programs: what they run, write to and read from besides their operands."""

from toolgate.gate.effects.inline.access import access
from toolgate.gate.effects.inline.tokens import Token, tokenize
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command

MAX_TOKENS = 400

_NOTHING = Token("mark", "")


def effects_of_awk(text: str, reader: Reading, command: Command, name: str) -> list[Effect]:
    """Return what an awk program does beyond printing.

    ``>`` and ``|`` redirect only in a print statement and outside its brackets;
    elsewhere they compare and are alternatives.
    """
    tokens = tokenize(text, "awk")
    made: list[Effect] = []
    prints, depth = False, 0
    for position, token in enumerate(tokens):
        before = tokens[position - 1] if position else _NOTHING
        after = tokens[position + 1] if position + 1 < len(tokens) else _NOTHING
        mark = token.value if token.kind == "mark" else ""
        if token.kind == "name" and token.value in ("print", "printf"):
            prints, depth = True, 0
        elif mark in (";", "}"):
            prints = False
        elif mark and mark in "()":
            depth += 1 if mark == "(" else -1
        elif mark == "@" or (token.kind == "name" and token.value in ("@load", "@include")):
            made.append(reader.unknown("awk-load", name))
        elif token.kind == "name" and token.value == "system" and after.value == "(":
            made += _run(_expression(tokens, position + 2), reader, command, name)
        elif token.kind == "name" and token.value == "getline":
            made += _getline(tokens, position, reader, command, name)
        elif mark == "|" and prints and depth <= 0 and before.value != "|" and after.value != "|":
            start = position + (2 if after.value == "&" else 1)
            if _at(tokens, start).value != "getline":
                made += _run(_expression(tokens, start), reader, command, name)
        elif mark == ">" and prints and depth <= 0 and before.value != ">":
            start = position + (2 if after.value == ">" else 1)
            if after.value != "=":
                path = _expression(tokens, start)
                made += access("fs.write", path, reader, command, name)
    return made


def _at(tokens: list[Token], position: int) -> Token:
    return tokens[position] if 0 <= position < len(tokens) else _NOTHING


def _expression(tokens: list[Token], start: int) -> str:
    """Return an expression's text: one literal, a literal and a hole, or a hole."""
    parts: list[Token] = []
    depth = 0
    for token in tokens[start : start + MAX_TOKENS]:
        mark = token.value if token.kind == "mark" else ""
        if mark in (";", "}") or (mark == ")" and depth == 0):
            break
        if mark and mark in "()":
            depth += 1 if mark == "(" else -1
        else:
            parts.append(token)
    if parts and all(part.kind == "text" for part in parts):
        return "".join(part.value for part in parts)
    return parts[0].value + HOLE if parts and parts[0].kind == "text" else HOLE


def _getline(
    tokens: list[Token], position: int, reader: Reading, command: Command, name: str
) -> list[Effect]:
    before = _at(tokens, position - 1)
    if before.value in ("|", "&"):
        piped = _at(tokens, position - (2 if before.value == "|" else 3))
        return _run(piped.value if piped.kind == "text" else HOLE, reader, command, name)
    for ahead in (1, 2):  # a variable may stand between
        if _at(tokens, position + ahead).value == "<":
            source = _at(tokens, position + ahead + 1)
            path = source.value if source.kind == "text" else HOLE
            return access("fs.read", path, reader, command, name)
    return []


def _run(text: str, reader: Reading, command: Command, name: str) -> list[Effect]:
    if HOLE in text:
        return [reader.code_not_known(name)]
    return reader.inner(text, cwd=command.cwd)
