"""Awk programs: what they run, write to and read from besides their operands."""

from toolgate.gate.effects.inline.access import access
from toolgate.gate.effects.inline.exposure import is_secret_variable
from toolgate.gate.effects.inline.literals import Token
from toolgate.gate.effects.inline.tokens import tokenize
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command

MAX_TOKENS = 400

_NOTHING = Token("mark", "")
_NETWORK = ("/inet/", "/inet4/", "/inet6/")
# What a command reads that a program pipes into: text that is not known here.
_PIPED = 'printf "%s" "$awk_output" | '


def effects_of_awk(text: str, reader: Reading, command: Command, name: str) -> list[Effect]:
    """Return what an awk program does beyond printing."""
    return _Program(text, reader, command, name).effects()


class _Program:
    """The tokens of one program, and the names that are given one literal."""

    def __init__(self, text: str, reader: Reading, command: Command, name: str) -> None:
        self.tokens = tokenize(text, "awk")
        self.reader = reader
        self.command = command
        self.name = name
        self.constants = self._constants()

    def effects(self) -> list[Effect]:
        """Return the effects of every part, in source order.

        ``>`` and ``|`` redirect only in a print statement and outside its brackets;
        elsewhere they compare and are alternatives.
        """
        made: list[Effect] = []
        prints, depth = False, 0
        for position, token in enumerate(self.tokens):
            before, after = self._at(position - 1), self._at(position + 1)
            mark = token.value if token.kind == "mark" else ""
            if token.kind == "name" and token.value in ("print", "printf"):
                prints, depth = True, 0
            elif mark in (";", "}"):
                prints = False
            elif mark and mark in "()":
                depth += 1 if mark == "(" else -1
            elif mark == "@" or (token.kind == "name" and token.value in ("@load", "@include")):
                made.append(self.reader.unknown("awk-load", self.name))
            elif token.kind == "broken":
                made.append(self.reader.unknown("code-does-not-parse", self.name))
            elif token.kind == "name":
                made += self._named(token.value, position)
            elif mark == "|" and prints and depth <= 0 and "|" not in (before.value, after.value):
                start = position + (2 if after.value == "&" else 1)
                if self._at(start).value != "getline":
                    made += self._piped(self._expression(start))
            elif mark == ">" and prints and depth <= 0 and before.value != ">":
                start = position + (2 if after.value == ">" else 1)
                if after.value != "=":
                    made += self._access("fs.write", self._expression(start))
        return made

    def _at(self, position: int) -> Token:
        return self.tokens[position] if 0 <= position < len(self.tokens) else _NOTHING

    def _constants(self) -> dict[str, str]:
        """Return the names that are given one value, and that a literal."""
        given: dict[str, list[str]] = {}
        for position, token in enumerate(self.tokens):
            if token.kind != "name" or self._at(position + 1).value != "=":
                continue
            if self._at(position + 2).value == "=":
                continue
            ends = self._at(position + 3)
            literal = self._at(position + 2).kind == "text"
            literal = literal and (ends.value in (";", "}", ")", ",") or ends is _NOTHING)
            given.setdefault(token.value, []).append(
                self._at(position + 2).value if literal else HOLE
            )
        return {name: values[0] for name, values in given.items() if len(values) == 1}

    def _named(self, word: str, position: int) -> list[Effect]:
        if word == "system" and self._at(position + 1).value == "(":
            return self._run(self._expression(position + 2))
        if word == "getline":
            return self._getline(position)
        if word == "ENVIRON":
            return self._environment(position)
        return []

    def _environment(self, position: int) -> list[Effect]:
        """Return that a secret of the environment is taken, or one whose name is not known."""
        key = self._at(position + 2)
        if self._at(position + 1).value != "[":
            return []  # gone over by its keys
        found = f"${key.value}" if key.kind == "text" else "environment"
        if key.kind == "text" and not is_secret_variable(key.value):
            return []
        return [Effect("secret.print", "secret", found, False, PROVED, self.name, "environment")]

    def _expression(self, start: int) -> str:
        """Return an expression's text: literals, with a hole for each part that is not known."""
        parts: list[str] = []
        depth = 0
        for token in self.tokens[start : start + MAX_TOKENS]:
            mark = token.value if token.kind == "mark" else ""
            if mark in (";", "}") or (mark == ")" and depth == 0):
                break
            if mark and mark in "()":
                depth += 1 if mark == "(" else -1
            elif token.kind in ("text", "number"):
                parts.append(token.value)
            else:
                parts.append(
                    self.constants.get(token.value, HOLE) if token.kind == "name" else HOLE
                )
        joined = "".join(parts)
        return joined.partition(HOLE)[0] + HOLE if HOLE in joined or not parts else joined

    def _getline(self, position: int) -> list[Effect]:
        before = self._at(position - 1)
        if before.value in ("|", "&"):
            piped = self._at(position - (2 if before.value == "|" else 3))
            known = piped.value if piped.kind == "text" else self.constants.get(piped.value, HOLE)
            return self._run(known)
        for ahead in (1, 2):  # a variable may stand between
            if self._at(position + ahead).value == "<":
                source = self._at(position + ahead + 1)
                known = source.value if source.kind == "text" else ""
                return self._access("fs.read", known or self.constants.get(source.value, HOLE))
        return []

    def _access(self, kind: str, path: str) -> list[Effect]:
        if path.startswith(_NETWORK):
            host = path.split("/")[4] if path.count("/") > 3 else HOLE
            return [self.reader.net("net.send", host, self.name, ("send",))]
        return access(kind, path, self.reader, self.command, self.name)

    def _piped(self, text: str) -> list[Effect]:
        """Return what a command does that the program prints into."""
        if text.startswith(_NETWORK):
            return self._access("fs.write", text)
        return self._run(text if HOLE in text else _PIPED + text)

    def _run(self, text: str) -> list[Effect]:
        if HOLE in text:
            return [self.reader.code_not_known(self.name)]
        return self.reader.inner(text, cwd=self.command.cwd)
