"""PowerShell text as its simple commands; what cannot be read so is named."""

from typing import NamedTuple

from toolgate.gate.shell.model import HOLE, Word

MAX_DEPTH = 12
_OPENING = {"(": ")", "{": "}", "[": "]"}
_LEADING = frozenset(
    (
        *("if", "elseif", "else", "while", "until", "for", "foreach", "switch", "do", "try"),
        *("catch", "finally", "begin", "process", "end", "return", "throw", "trap", "param"),
    )
)
_GIVING = frozenset(("in", "+=", "-=", "*=", "/=", "%=", "??="))
_HOMES = frozenset(("home", "env:userprofile", "env:home"))
_CONSTANTS = frozenset(("null", "true", "false"))
# Methods that give back a value and change nothing.
_VALUES = frozenset(
    (
        *("tostring", "trim", "trimend", "trimstart", "split", "replace", "substring", "contains"),
        *("startswith", "endswith", "toupper", "tolower", "indexof", "padleft", "padright"),
        *("getenumerator", "gettype", "equals", "adddays", "addhours", "join", "format"),
        *("combine", "getfilename", "getextension", "round", "max", "min", "newguid"),
    )
)


class Call(NamedTuple):
    """One simple command.

    Args:
        words: the program and its arguments.
        writes: the files its output goes to, each with ``>`` or ``>>``.
        piped: whether the output of another is its input.
        sourced: whether the file it names is run (``.`` and ``&``).
    """

    words: tuple[Word, ...]
    writes: tuple[tuple[str, Word], ...] = ()
    piped: bool = False
    sourced: bool = False


class Text(NamedTuple):
    """PowerShell text, read.

    Args:
        calls: its simple commands, in order, inner ones before the one they are part of.
        methods: names of .NET methods it calls that may change something, with their argument.
        faults: why part of it is not known.
    """

    calls: tuple[Call, ...]
    methods: tuple[tuple[str, str], ...]
    faults: tuple[str, ...]


def read_powershell(text: str, home: str) -> Text:
    """Read PowerShell text.

    Args:
        text: what PowerShell is to run.
        home: the user's home, for ``$HOME``; "" when not known.
    """
    reader = _Reader(home)
    reader.read(text, 0)
    return Text(tuple(reader.calls), tuple(reader.methods), tuple(dict.fromkeys(reader.faults)))


class _Reader:
    def __init__(self, home: str) -> None:
        self.home = home
        self.calls: list[Call] = []
        self.methods: list[tuple[str, str]] = []
        self.faults: list[str] = []

    def read(self, text: str, depth: int) -> None:
        """Read statements, each up to its end or the next pipe."""
        if depth > MAX_DEPTH:
            self.faults.append("too-deep")
            return
        position, piped = 0, False
        while position < len(text):
            position, piped = self._statement(text, position, depth, piped=piped)

    def _statement(self, text: str, at: int, depth: int, *, piped: bool) -> tuple[int, bool]:
        """Read one command; return where the next begins and whether it is piped into."""
        words: list[Word] = []
        writes: list[tuple[str, Word]] = []
        sourced = expression = False
        target = ""
        while at < len(text):
            char = text[at]
            if char in " \t\r":
                at += 1
            elif char == "#":
                end = text.find("\n", at)
                at = len(text) if end < 0 else end
            elif text.startswith("<#", at):
                end = text.find("#>", at)
                at = len(text) if end < 0 else end + 2
            elif char in ";\n" or text.startswith(("||", "&&"), at):
                self._end(words, writes, piped=piped, sourced=sourced, expression=expression)
                return at + (2 if char in "|&" else 1), False
            elif char == "|":
                self._end(words, writes, piped=piped, sourced=sourced, expression=expression)
                return at + 1, True
            elif char == "&" or (char == "." and not words and text[at + 1 : at + 2] in " \t"):
                sourced = sourced or not words
                at += 1
            elif self._redirects(text, at):
                at, target = self._redirection(text, at)
            elif char == "=" and expression:
                words, expression, at = [], False, at + 1  # what it is given is a command again
            else:
                word, at, plain = self._word(text, at, depth)
                if target:
                    writes.append((target, word))
                    target = ""
                    continue
                if not words and plain and word.text.lower() in _LEADING:
                    continue
                if not words and plain and word.text.lower() in ("function", "filter"):
                    _, at, _ = self._word(text, _blank(text, at), depth)
                    continue
                if expression and word.text.lower() in _GIVING:
                    words, expression = [], False
                    continue
                number = word.text.lstrip("+-.")[:1].isdigit()
                value = not words and not sourced and (not plain or number)
                expression = expression or value
                words.append(word)
        self._end(words, writes, piped=piped, sourced=sourced, expression=expression)
        return at, False

    def _end(
        self,
        words: list[Word],
        writes: list[tuple[str, Word]],
        *,
        piped: bool,
        sourced: bool,
        expression: bool,
    ) -> None:
        if expression:
            words = []
        if words or writes:
            self.calls.append(Call(tuple(words), tuple(writes), piped, sourced))

    @staticmethod
    def _redirects(text: str, at: int) -> bool:
        return text[at] == ">" or (text[at] in "123456*" and text[at + 1 : at + 2] == ">")

    @staticmethod
    def _redirection(text: str, at: int) -> tuple[int, str]:
        at += text[at] != ">"
        op = ">>" if text.startswith(">>", at) else ">"
        at += len(op)
        if text.startswith("&", at):  # into another stream
            return at + 2, ""
        return at, op

    def _word(self, text: str, at: int, depth: int) -> tuple[Word, int, bool]:
        """Read one word; say whether it is plain, so that it may name a command."""
        made, plain, start = "", True, at
        while at < len(text) and text[at] not in " \t\r\n;|&)}":
            char = text[at]
            if char == "`":
                made += text[at + 1 : at + 2]
                at += 2
            elif char == "@" and text[at + 1 : at + 2] in ("'", '"') and at == start:
                part, at = _here_string(text, at)
                made, plain = made + part, False
            elif char == "'":
                part, at = _single(text, at)
                made, plain = made + part, False
            elif char == '"':
                part, at = self._double(text, at, depth)
                made, plain = made + part, False
            elif char == "$" or (char == "@" and text[at + 1 : at + 2] in ("(", "{", "$")):
                part, at = self._variable(text, at, depth)
                made, plain = made + part, plain and at > start and bool(made)
            elif char in "({":
                inner, at = _balanced(text, at)
                self._inner(made, inner, depth)
                made, plain = made + HOLE, False
            elif char == "[" and not made:
                inner, at = _balanced(text, at)
                made, plain = f"[{inner}]", False
            elif char == ">" or (char == "=" and not plain and made == HOLE):
                break
            else:
                made += char
                at += 1
        if at == start:
            at += 1  # a bracket that closes nothing
        return Word(made), at, plain

    def _inner(self, before: str, inner: str, depth: int) -> None:
        """Read what stands in brackets, and the method whose arguments it is."""
        name = before.rpartition(".")[2].rpartition("::")[2].lower() if before else ""
        if name and ("." in before or "::" in before) and name not in _VALUES:
            literal = inner.strip().partition(",")[0].strip()
            known = literal[:1] in ("'", '"') and literal[-1:] == literal[:1] and "$" not in literal
            self.methods.append((name, literal[1:-1] if known else HOLE))
        self.read(inner, depth + 1)

    def _double(self, text: str, at: int, depth: int) -> tuple[str, int]:
        made = ""
        at += 1
        while at < len(text):
            char = text[at]
            if char == "`":
                made += text[at + 1 : at + 2]
                at += 2
            elif char == '"':
                if text[at + 1 : at + 2] != '"':
                    return made, at + 1
                made += '"'
                at += 2
            elif char == "$":
                part, at = self._variable(text, at, depth)
                made += part
            else:
                made += char
                at += 1
        self.faults.append("open-quote")
        return made, at

    def _variable(self, text: str, at: int, depth: int) -> tuple[str, int]:
        """Read a variable, a subexpression, an array or a table; return what is known of it."""
        table = text.startswith("@{", at)
        at += 1
        if text[at : at + 1] in ("(", "{"):
            named = text[at] == "{" and not table
            inner, at = _balanced(text, at)
            if table and any(mark in inner for mark in "({&"):
                self.faults.append("table")
            elif not table and not named:
                self.read(inner, depth + 1)
            return HOLE, at
        start = at
        while at < len(text) and (text[at].isalnum() or text[at] in "_:?"):
            at += 1
        name = text[start:at].lower()
        if name in _HOMES and self.home:
            return self.home, at
        if name in _CONSTANTS:
            return name, at
        return HOLE if name else "$", at


def _single(text: str, at: int) -> tuple[str, int]:
    made = ""
    at += 1
    while at < len(text):
        end = text.find("'", at)
        if end < 0:
            return made + text[at:], len(text)
        made += text[at:end]
        if text[end + 1 : end + 2] != "'":
            return made, end + 1
        made += "'"
        at = end + 2
    return made, at


def _here_string(text: str, at: int) -> tuple[str, int]:
    """Read ``@'...'@``; of one in double quotes nothing is known."""
    end = text.find("\n" + text[at + 1] + "@", at + 2)
    inner = text[at + 2 :] if end < 0 else text[at + 2 : end]
    known = inner.lstrip("\r\n") if text[at + 1] == "'" else HOLE
    return known, len(text) if end < 0 else end + 3


def _balanced(text: str, at: int) -> tuple[str, int]:
    """Return what stands between a bracket and the one that closes it, and where that ends."""
    start, waiting = at + 1, [_OPENING[text[at]]]
    at += 1
    while at < len(text) and waiting:
        char = text[at]
        if char == "`":
            at += 1
        elif char in "'\"":
            at = _past_quote(text, at) - 1
        elif char in _OPENING:
            waiting.append(_OPENING[char])
        elif char == waiting[-1]:
            waiting.pop()
        at += 1
    return text[start : at if waiting else at - 1], at


def _past_quote(text: str, at: int) -> int:
    quote = text[at]
    at += 1
    while at < len(text) and text[at] != quote:
        at += 2 if text[at] == "`" and quote == '"' else 1
    return at + 1


def _blank(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t":
        at += 1
    return at
