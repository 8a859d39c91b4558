"""Literals of code: quotes, here-documents, escapes, and the code inside them."""

from abc import ABC, abstractmethod
from typing import NamedTuple

from toolgate.gate.shell.model import HOLE

MAX_DEPTH = 10
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "a": "\a", "0": "\0"}


# What stands before the brace that opens code in a literal.
_OPENS_CODE = {"javascript": "$", "ruby": "#", "perl": "$@", "php": "$"}


class Token(NamedTuple):
    """A token of code.

    Args:
        kind: ``name``, ``number``, ``text`` (a literal), ``tick`` (a literal in
            backticks), ``glob`` (a pattern of file names), ``mark``, or ``broken``
            where a literal has no end.
        value: its text; of a literal what it stands for, ``HOLE`` for code in it.
        inner: of a literal that holds code, its pieces: text, or tokens.
        spaced: whether a blank stands before it.
        line: whether it is the first on its line.
    """

    kind: str
    value: str
    inner: tuple["str | tuple[Token, ...]", ...] = ()
    spaced: bool = False
    line: bool = False


class _Document(NamedTuple):
    """A here-document whose body is still to come: its token, its end, and how it is read."""

    place: int
    word: str
    loose: bool
    interpolates: bool


class Literals(ABC):
    """Reads the literals of one piece of code.

    Args:
        text: the code.
        language: what it is written in.
        depth: how many literals it is inside.
    """

    def __init__(self, text: str, language: str, depth: int) -> None:
        self.depth = depth
        self.no_pattern_before = 0
        self.text = text
        self.size = len(text)
        self.language = language
        self.position = 0
        self.tokens: list[Token] = []
        self.inner = 0
        self.spaced = False
        self.line = True
        self.documents: list[_Document] = []

    def _add(self, kind: str, value: str, *inner: "str | tuple[Token, ...]") -> None:
        pieces = inner if any(not isinstance(piece, str) for piece in inner) else ()
        self.inner += sum(len(piece) + 2 for piece in pieces)
        self.tokens.append(Token(kind, value, pieces, self.spaced, self.line))
        self.spaced = self.line = False

    def _embedded(self, pieces: "list[str | tuple[Token, ...]]") -> None:
        """Keep the code that a pattern holds, as a literal nobody uses."""
        if any(not isinstance(piece, str) for piece in pieces):
            self._add("text", HOLE, *pieces)

    def _delimited(self, interpolates: bool) -> "list[str | tuple[Token, ...]]":
        self.position = self._next_visible()
        opening = self.text[self.position : self.position + 1]
        self.position += 1
        return self._quoted(_PAIRS.get(opening, opening), interpolates, opening)

    def _literal(self, kind: str, closing: str, interpolates: bool) -> None:
        pieces = self._quoted(closing, interpolates)
        self._add(kind, joined(pieces), *pieces)

    def _quoted(
        self, closing: str, interpolates: bool, opening: str = ""
    ) -> "list[str | tuple[Token, ...]]":
        """Pass a literal up to its end and return its pieces."""
        pieces: list[str | tuple[Token, ...]] = []
        out: list[str] = []
        depth = 0
        while self.position < self.size:
            char = self.text[self.position]
            if char == "\\" and self.position + 1 < self.size:
                escapes = interpolates or self.language == "javascript"
                out.append(self._escape(escapes, closing))
                continue
            if char == closing and not depth:
                self.position += 1
                return [*pieces, "".join(out)]
            if char == "\n" and closing in "'\"" and self.language in ("javascript", "awk"):
                break  # no literal there goes over a line's end: its beginning was misread
            if opening in _PAIRS and char in (opening, closing):
                depth += 1 if char == opening else -1
            code = self._interpolated() if interpolates and char in "$@#" else None
            if code is not None:
                pieces += ["".join(out), code]
                out = []
                continue
            out.append(char)
            self.position += 1
        self.tokens.append(Token("broken", ""))
        return [*pieces, "".join(out)]

    def _python_literal(self, prefix: str) -> None:
        """Read a literal of Python up to its end, which may be three quotes."""
        quote = self.text[self.position]
        closing = quote * 3 if self.text.startswith(quote * 3, self.position) else quote
        self.position += len(closing)
        coded = "f" in prefix or "t" in prefix
        pieces: list[str | tuple[Token, ...]] = []
        out: list[str] = []
        while self.position < self.size and not self.text.startswith(closing, self.position):
            char = self.text[self.position]
            if char == "\\" and self.position + 1 < self.size:
                out.append(self._escape("r" not in prefix, quote))
            elif coded and self.text.startswith(("{{", "}}"), self.position):
                out.append(char)
                self.position += 2
            elif coded and char == "{":
                end = self._closing(self.position + 1)
                inner = self.text[self.position + 1 : end]
                pieces += ["".join(out), tuple(self._tokenized(inner, "python", self.depth + 1))]
                out = []
                self.position = end + 1
            elif char == "\n" and len(closing) == 1:
                break
            else:
                out.append(char)
                self.position += 1
        if not self.text.startswith(closing, self.position):
            self.tokens.append(Token("broken", ""))
        self.position += len(closing)
        pieces.append("".join(out))
        self._add("text", joined(pieces), *pieces)

    def _escape(self, interpolates: bool, closing: str) -> str:
        """Return what a backslash and the characters behind it stand for."""
        following = self.text[self.position + 1]
        self.position += 2
        if not interpolates:
            return following if following in ("\\", closing) else "\\" + following
        if following in "xu":
            return self._code_point(following)
        if following == "\n":
            return "" if self.language == "javascript" else "\n"
        if following in "01234567":
            end = self.position
            while end < min(self.size, self.position + 2) and self.text[end] in "01234567":
                end += 1
            digits, self.position = following + self.text[self.position : end], end
            return chr(int(digits, 8))
        return _ESCAPES.get(following, following)

    def _code_point(self, kind: str) -> str:
        braced = self.text[self.position : self.position + 1] == "{"
        start = self.position + braced
        end = start
        while end < min(self.size, start + (6 if braced else 2 if kind == "x" else 4)):
            if self.text[end] not in "0123456789abcdefABCDEF":
                break
            end += 1
        if end == start:
            return kind
        code = int(self.text[start:end], 16)
        self.position = end + (braced and self.text[end : end + 1] == "}")
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else HOLE

    def _interpolated(self) -> "tuple[Token, ...] | None":
        """Pass ``${...}`` and ``#{...}`` or a variable's name in a literal; return its tokens."""
        char, following = self.text[self.position], self.text[self.position + 1 : self.position + 2]
        if following == "{" and char in _OPENS_CODE.get(self.language, ""):
            end = self._closing(self.position + 2)
            inner = self.text[self.position + 2 : end]
            self.position = end + 1
            if self.language in ("perl", "php") and inner.isidentifier():
                inner = "$" + inner  # ${name} is $name
            return tuple(self._tokenized(inner, self.language, self.depth + 1))
        sigil = char in "$@" if self.language == "perl" else char == "$" and self.language == "php"
        if sigil and (following.isalpha() or following == "_"):
            start = self.position
            self.position += 1
            while self.position < self.size and (
                self.text[self.position].isalnum() or self.text[self.position] == "_"
            ):
                self.position += 1
            self._index()
            return tuple(
                self._tokenized(self.text[start : self.position], self.language, self.depth + 1)
            )
        return None

    def _index(self) -> None:
        """Pass one index behind a variable in a literal: ``$ENV{HOME}``, ``$row[0]``."""
        opening = self.text[self.position : self.position + 1]
        pairs = {"{": "}", "[": "]"} if self.language == "perl" else {"[": "]"}
        if opening in pairs:
            end = self.text.find(pairs[opening], self.position, self.position + 80)
            if end != -1 and all(
                c.isalnum() or c in "_'\"$" for c in self.text[self.position + 1 : end]
            ):
                self.position = end + 1

    def _closing(self, start: int) -> int:
        depth = 0
        for index in range(start, self.size):
            depth += (self.text[index] == "{") - (self.text[index] == "}")
            if depth < 0:
                return index
        return self.size

    def _listed(self, value: str) -> None:
        self._add("mark", "[")
        for word in value.split():
            self._add("text", word)
            self._add("mark", ",")
        self._add("mark", "]")

    def _next_visible(self) -> int:
        at = self.position
        while at < self.size and self.text[at].isspace():
            at += 1
        return at

    def _here_document(self) -> bool:
        text, at = self.text, self.position
        width = 3 if self.language == "php" else 2
        if not text.startswith("<" * width, at):
            return False
        at += width
        indented = text[at : at + 1] in ("~", "-")
        at += indented
        while self.language == "php" and text[at : at + 1] == " ":
            at += 1
        quote = text[at : at + 1] if text[at : at + 1] in ("'", '"', "`") else ""
        at += len(quote)
        start = at
        while at < self.size and (text[at].isalnum() or text[at] == "_"):
            at += 1
        word = text[start:at]
        bare = not quote and not (word[:1].isupper() or word[:1] == "_")
        if not word or (bare and not indented) or (quote and text[at : at + 1] != quote):
            return False
        if not quote and self._is_value_before() and not indented and self.language == "ruby":
            return False
        self.position = at + len(quote)
        self._add("tick" if quote == "`" else "text", "")
        loose = indented or self.language == "php"
        self.documents.append(_Document(len(self.tokens) - 1, word, loose, quote != "'"))
        return True

    def _document(self, document: "_Document") -> None:
        """Read a document's body, which begins here, into the literal that stands for it."""
        start = at = self.position
        while at < self.size:
            stop = self.text.find("\n", at)
            stop = self.size if stop == -1 else stop
            line = self.text[at:stop].strip() if document.loose else self.text[at:stop]
            if line == document.word or (
                self.language == "php" and line.rstrip(";,)") == document.word
            ):
                break
            at = stop + 1
        inside = type(self)(self.text[start:at], self.language, self.depth + 1)
        pieces: list[str | tuple[Token, ...]] = [HOLE]
        if self.depth < MAX_DEPTH:
            pieces = inside._quoted("", document.interpolates)
        code = tuple(pieces) if any(not isinstance(piece, str) for piece in pieces) else ()
        token = self.tokens[document.place]
        self.tokens[document.place] = token._replace(value=joined(pieces), inner=code)
        closing = self.text.find(document.word, at)
        self.position = self.size if closing == -1 else closing + len(document.word)

    @abstractmethod
    def read(self) -> list[Token]:
        """Return the tokens, in source order."""

    @abstractmethod
    def _is_value_before(self) -> bool:
        """Say whether the token before is a value."""

    def _tokenized(self, text: str, language: str, depth: int) -> list[Token]:
        """Return the tokens of code inside a literal; nested too deep it is not known."""
        if depth > MAX_DEPTH:
            return [Token("broken", "")]
        return type(self)(text, language, depth).read()


def joined(pieces: "list[str | tuple[Token, ...]]") -> str:
    return "".join(piece if isinstance(piece, str) else HOLE for piece in pieces)
