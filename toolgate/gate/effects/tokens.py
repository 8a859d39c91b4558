"""Tokens of inline code in languages whose literals are alike enough to share a reader."""

from typing import NamedTuple

from toolgate.gate.shell.model import HOLE

_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_HASH_COMMENTS = frozenset(("perl", "ruby", "php", "awk"))
_SLASH_COMMENTS = frozenset(("javascript", "php"))
# Words behind which a slash begins a pattern and does not divide.
_BEFORE_PATTERN = frozenset(
    (
        "return",
        "split",
        "if",
        "unless",
        "and",
        "or",
        "not",
        "when",
        "grep",
        "map",
        "while",
        "typeof",
    )
)
# Quoting operators: kind of the literal, and how many delimited parts follow.
_PERL_QUOTES = {
    "q": ("text", 1),
    "qq": ("text", 1),
    "qw": ("words", 1),
    "qx": ("tick", 1),
    "qr": ("", 1),
    "m": ("", 1),
    "s": ("", 2),
    "tr": ("", 2),
    "y": ("", 2),
}
_RUBY_QUOTES = {"q": "text", "Q": "text", "w": "words", "W": "words", "x": "tick", "r": ""}


class Token(NamedTuple):
    """A token of inline code: ``name``, ``text`` (a literal), ``tick`` or ``mark``."""

    kind: str
    value: str


MAX_DEPTH = 10
_NOT_KNOWN = [Token("name", "eval"), Token("mark", "("), Token("mark", ")")]


def tokenize(text: str, language: str, depth: int = 0) -> list[Token]:
    """Split code into names, literals and marks; comments and patterns are left out.

    Code inside a literal (``#{...}``, ``${...}``) becomes tokens in front of it.
    Literals nested too deep are read as code that is not known.
    """
    if depth > MAX_DEPTH:
        return _NOT_KNOWN
    return _Tokens(text, language, depth).read()


class _Tokens:
    def __init__(self, text: str, language: str, depth: int) -> None:
        self.depth = depth
        self.no_pattern_before = 0
        self.text = text
        self.language = language
        self.position = 0
        self.tokens: list[Token] = []

    def read(self) -> list[Token]:
        """Return the tokens, in source order."""
        while self.position < len(self.text):
            char = self.text[self.position]
            if char in "'\"`":
                self.position += 1
                value = self._quoted(char, char != "'")
                self.tokens.append(Token("tick" if char == "`" else "text", value))
            elif char.isalpha() or char in "_$@":
                self._name()
            elif self._comment(char) or self._pattern(char) or self._percent(char):
                continue
            else:
                if char == "\n" and self.language in ("awk", "ruby"):
                    self.tokens.append(Token("mark", ";"))
                elif not char.isspace():
                    self.tokens.append(Token("mark", char))
                self.position += 1
        return self.tokens

    def _name(self) -> None:
        start = self.position
        self.position += 1
        while self.position < len(self.text) and (
            self.text[self.position].isalnum() or self.text[self.position] in "_$"
        ):
            self.position += 1
        name = self.text[start : self.position]
        quote = _PERL_QUOTES.get(name) if self.language == "perl" else None
        if quote is not None and self._opens():
            self._operator(*quote)
        else:
            self.tokens.append(Token("name", name))

    def _opens(self) -> bool:
        """Say whether a quoting operator's delimiter follows, and not ``=>``, ``,`` or ``;``."""
        rest = self.text[self.position :]
        mark = rest.lstrip()[:1]
        before = self.tokens[-1].value if self.tokens else ""
        if not mark or (before in ("->", "{", "sub") and mark == "}"):
            return False
        if mark == "=" and rest.lstrip()[1:2] in (">", "=", "~", " "):
            return False
        return not (mark.isalnum() or mark in "_,;) " or (mark == "#" and rest[:1].isspace()))

    def _operator(self, kind: str, parts: int) -> None:
        value = self._delimited(kind != "text" or parts > 1)
        second = self._second_part() if parts == 2 else ""
        if kind == "words":
            self.tokens += _listed(value)
        elif kind:
            self.tokens.append(Token(kind, value))
        if not kind:
            flags = self.position
            while self.position < len(self.text) and self.text[self.position].isalpha():
                self.position += 1
            evaluated = self.text[flags : self.position].count("e") if parts == 2 else 0
            if evaluated:  # the replacement is code
                self.tokens += tokenize(second, self.language, self.depth + 1)
            if evaluated > 1:  # and what it gives is code again
                self.tokens.append(Token("name", "eval"))

    def _second_part(self) -> str:
        before = self.text[self.position - 1 : self.position]
        if before in _PAIRS.values():
            return self._delimited(False)
        return self._quoted(before, False)

    def _delimited(self, interpolates: bool) -> str:
        while self.position < len(self.text) and self.text[self.position].isspace():
            self.position += 1
        opening = self.text[self.position : self.position + 1]
        self.position += 1
        return self._quoted(_PAIRS.get(opening, opening), interpolates, opening)

    def _quoted(self, closing: str, interpolates: bool, opening: str = "") -> str:
        """Pass a literal up to its end; code and variables in it are holes."""
        out: list[str] = []
        depth = 0
        while self.position < len(self.text):
            char = self.text[self.position]
            if char == "\\" and self.position + 1 < len(self.text):
                following = self.text[self.position + 1]
                plain = {"n": "\n", "t": "\t"}.get(following, following)
                out.append(plain if interpolates or following in ("\\", closing) else char + plain)
                self.position += 2
                continue
            if char == closing and not depth:
                self.position += 1
                break
            if opening in _PAIRS and char in (opening, closing):
                depth += 1 if char == opening else -1
            if interpolates and self._interpolated():
                out.append(HOLE)
                continue
            out.append(char)
            self.position += 1
        return "".join(out)

    def _interpolated(self) -> bool:
        """Pass ``${...}`` and ``#{...}``, whose code is read too, or a variable's name."""
        char, following = self.text[self.position], self.text[self.position + 1 : self.position + 2]
        ruby = self.language == "ruby"
        if following == "{" and char in ("#" if ruby else "$@"):
            end = self._closing(self.position + 2)
            inner = self.text[self.position + 2 : end]
            self.tokens += tokenize(inner, self.language, self.depth + 1)
            self.tokens.append(Token("mark", ";"))
            self.position = end + 1
            return True
        sigil = char in "$@" if self.language == "perl" else char == "$" and self.language == "php"
        if sigil and (following.isalpha() or following == "_"):
            self.position += 1
            while self.position < len(self.text) and (
                self.text[self.position].isalnum() or self.text[self.position] == "_"
            ):
                self.position += 1
            return True
        return False

    def _closing(self, start: int) -> int:
        depth = 0
        for index in range(start, len(self.text)):
            depth += (self.text[index] == "{") - (self.text[index] == "}")
            if depth < 0:
                return index
        return len(self.text)

    def _comment(self, char: str) -> bool:
        rest = self.text[self.position : self.position + 2]
        block = rest == "/*" and self.language in _SLASH_COMMENTS
        line = rest == "//" and self.language in _SLASH_COMMENTS
        line = line or (char == "#" and self.language in _HASH_COMMENTS and self._word_start())
        if not (block or line):
            return False
        end = self.text.find("*/" if block else "\n", self.position + 2 if block else self.position)
        self.position = len(self.text) if end == -1 else end + (2 if block else 0)
        return True

    def _word_start(self) -> bool:
        return not self.position or self.text[self.position - 1] not in "$@{"

    def _pattern(self, char: str) -> bool:
        """Pass ``/.../`` where an expression begins, and not a division."""
        if char != "/" or self.language == "php" or self.position < self.no_pattern_before:
            return False
        before = self.tokens[-1] if self.tokens else Token("mark", "(")
        value = before.kind in ("text", "tick") or before.value in (")", "]", "}")
        value = value or before.value.isdigit()
        value = value or (before.kind == "name" and before.value not in _BEFORE_PATTERN)
        if value and not (self.language == "awk" and before.value == "}"):
            return False
        end, bracket = self.position + 1, False
        while end < len(self.text) and self.text[end] != "\n":
            if self.text[end] == "\\":
                end += 1
            elif self.text[end] in "[]":
                bracket = self.text[end] == "["
            elif self.text[end] == "/" and not bracket:
                self.position = end + 1
                self.tokens.append(Token("mark", ")"))
                return True
            end += 1
        self.no_pattern_before = end
        return False

    def _percent(self, char: str) -> bool:
        if char != "%" or self.language != "ruby":
            return False
        letter = self.text[self.position + 1 : self.position + 2]
        opening = self.text[self.position + 2 : self.position + 3]
        if letter in _RUBY_QUOTES and opening and not opening.isalnum() and opening != " ":
            self.position += 2
            kind = _RUBY_QUOTES[letter]
        elif letter in ("(", "{", "[") and not (self.tokens and self.tokens[-1].kind == "name"):
            self.position += 1
            kind = "text"
        else:
            return False
        value = self._delimited(letter not in ("q", "w"))
        if kind == "words":
            self.tokens += _listed(value)
        elif kind:
            self.tokens.append(Token(kind, value))
        return True


def _listed(value: str) -> list[Token]:
    made: list[Token] = []
    for word in value.split():
        made += [Token("text", word), Token("mark", ",")]
    return made[:-1]
