"""Tokens of code in languages whose literals are alike enough to share a reader."""

from typing import NamedTuple

from toolgate.gate.shell.model import HOLE

MAX_DEPTH = 10
MAX_TOKENS = 5_000

_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_CLOSING = frozenset(_PAIRS.values())
_HASH_COMMENTS = frozenset(("perl", "ruby", "php", "awk", "python"))
_SLASH_COMMENTS = frozenset(("javascript", "php"))
# Words behind which a slash begins a pattern and does not divide.
_BEFORE_PATTERN = frozenset(
    (
        *("return", "split", "if", "unless", "and", "or", "not", "when", "grep", "map", "while"),
        *("typeof", "case", "do", "else", "puts", "print", "in", "of", "join"),
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
_RUBY_QUOTES |= {"i": "words", "I": "words", "s": "text"}
_RAW_QUOTES = frozenset(("q", "w", "i", "s"))
# Longest first.
_OPERATORS = (
    *(
        "===",
        "!==",
        "<=>",
        "**=",
        "||=",
        "&&=",
        "??=",
        "//=",
        "<<=",
        ">>=",
        "...",
        "->",
        "=>",
        "::",
    ),
    *(
        "==",
        "!=",
        "<=",
        ">=",
        "&&",
        "||",
        "??",
        "?.",
        "&.",
        "+=",
        "-=",
        "*=",
        "/=",
        ".=",
        "%=",
        "**",
    ),
    *("<<", ">>", "=~", "!~", "|>", "..", "//", "++", "--"),
)
_OPERATORS_BY_START = {
    start: tuple(item for item in _OPERATORS if item[0] == start)
    for start in {item[0] for item in _OPERATORS}
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "a": "\a", "0": "\0"}
# Variables of Perl whose name is one mark: ``$,``, ``$/``, ``$"``.
_PERL_SPECIAL = tuple(".,/\\|!&+\"'")
_PYTHON_PREFIXES = frozenset(("r", "b", "u", "f", "t", "rb", "br", "fr", "rf", "tr", "rt"))
_END_MARKS = {"perl": ("__END__", "__DATA__"), "ruby": ("__END__",), "php": ("__halt_compiler",)}


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


def tokenize(text: str, language: str, depth: int = 0) -> list[Token]:
    """Split code into names, literals and marks; comments and patterns are left out.

    Literals nested too deep are read as code that is not known.
    """
    if depth > MAX_DEPTH:
        return [Token("broken", "")]
    return _Tokens(text, language, depth).read()


class _Document(NamedTuple):
    """A here-document whose body is still to come: its token, its end, and how it is read."""

    place: int
    word: str
    loose: bool
    interpolates: bool


class _Tokens:
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

    def read(self) -> list[Token]:
        """Return the tokens, in source order."""
        self._documentation()
        while self.position < self.size:
            if len(self.tokens) + self.inner > MAX_TOKENS:
                self.tokens.append(Token("broken", ""))
                break
            char = self.text[self.position]
            if char.isspace():
                self._blank(char)
            elif self.language == "python" and char in "'\"":
                self._python_literal("")
            elif char in "'\"`":
                self.position += 1
                self._literal("tick" if char == "`" else "text", char, char != "'")
            elif char.isalpha() or char in "_$" or (char == "@" and self.language != "php"):
                if self._name():
                    break
            elif char.isdigit():
                self._number()
            elif not (self._comment(char) or self._pattern(char) or self._quotes(char)):
                self._mark(char)
        return self.tokens

    def _add(self, kind: str, value: str, *inner: "str | tuple[Token, ...]") -> None:
        pieces = inner if any(not isinstance(piece, str) for piece in inner) else ()
        self.inner += sum(len(piece) + 2 for piece in pieces)
        self.tokens.append(Token(kind, value, pieces, self.spaced, self.line))
        self.spaced = self.line = False

    def _blank(self, char: str) -> None:
        self.position += 1
        self.spaced = True
        if char != "\n":
            return
        self.line = True
        if self.language == "awk":
            self._add("mark", ";")
        for document in self.documents:
            self._document(document)
        self.documents = []
        self._documentation()

    def _documentation(self) -> None:
        """Pass a block of documentation: ``=pod`` to ``=cut``, ``=begin`` to ``=end``."""
        text, at = self.text, self.position
        if self.language not in ("perl", "ruby") or text[at : at + 1] != "=":
            return
        if text[at + 1 : at + 2].isalpha():
            end = text.find("\n=cut" if self.language == "perl" else "\n=end", at)
            end = text.find("\n", end + 1) if end != -1 else -1
            self.position = self.size if end == -1 else end

    def _mark(self, char: str) -> None:
        if self.language != "awk":
            for operator in _OPERATORS_BY_START.get(char, ()):
                if self.text.startswith(operator, self.position):
                    self.position += len(operator)
                    self._add("mark", operator)
                    return
        self.position += 1
        self._add("mark", char)

    def _number(self) -> None:
        start = self.position
        while self.position < self.size and (
            self.text[self.position].isalnum() or self.text[self.position] in "_."
        ):
            if self.text.startswith("..", self.position):
                break
            joins = self.text[self.position] == "." and self.language in ("perl", "php")
            if joins and not self.text[self.position + 1 : self.position + 2].isdigit():
                break
            self.position += 1
        self._add("number", self.text[start : self.position])

    def _name(self) -> bool:
        """Pass a name, or what a quoting operator quotes; say whether the code ends here."""
        start = self.position
        self.position += 1
        special = self.text[start] == "$" and self.language == "perl"
        if special and self.text[self.position : self.position + 1] in _PERL_SPECIAL:
            self.position += 1
            self._add("name", self.text[start : self.position])
            return False
        while self.position < self.size and (
            self.text[self.position].isalnum() or self.text[self.position] in "_$"
        ):
            self.position += 1
        name = self.text[start : self.position]
        quoted = self.text[self.position : self.position + 1] in ("'", '"')
        if quoted and self.language == "python" and name.lower() in _PYTHON_PREFIXES:
            self._python_literal(name.lower())
            return False
        if name in _END_MARKS.get(self.language, ()):
            return True
        if self.language == "ruby" and self.text[self.position : self.position + 1] in ("?", "!"):
            after = self.text[self.position + 1 : self.position + 2]
            if after in ("(", ")", ".", "") or (after.isspace() and name[0].islower()):
                name += self.text[self.position]
                self.position += 1
        quote = _PERL_QUOTES.get(name) if self.language == "perl" else None
        if quote is not None and self._opens():
            self._operator(*quote)
        else:
            self._add("name", name)
        return False

    def _opens(self) -> bool:
        """Say whether a quoting operator's delimiter follows, and not ``=>``, ``,`` or ``;``."""
        at = self._next_visible()
        mark = self.text[at : at + 1]
        before = self.tokens[-1].value if self.tokens else ""
        if not mark or before == "->" or (before in ("{", "sub") and mark == "}"):
            return False
        if mark == "=" and self.text[at + 1 : at + 2] in (">", "=", "~", " "):
            return False
        blank = at > self.position
        return not (mark.isalnum() or mark in "_,;) " or (mark == "#" and blank))

    def _next_visible(self) -> int:
        at = self.position
        while at < self.size and self.text[at].isspace():
            at += 1
        return at

    def _operator(self, kind: str, parts: int) -> None:
        """Read what a quoting operator quotes; ``s///e`` runs its second part as code."""
        pieces = self._delimited(kind != "text" or parts > 1)
        second = self._second_part() if parts == 2 else []
        if kind == "words":
            self._listed(_joined(pieces))
        elif kind:
            self._add(kind, _joined(pieces), *pieces)
        else:
            flags = self.position
            while self.position < self.size and self.text[self.position].isalpha():
                self.position += 1
            evaluated = self.text[flags : self.position].count("e") if parts == 2 else 0
            self._add("text", HOLE, *pieces)
            if evaluated:
                self._add("mark", ";")
                self.tokens += tokenize(_joined(second), self.language, self.depth + 1)
                self._add("mark", ";")
            if evaluated > 1:  # what it gives is code again
                self.tokens += [Token("name", "eval"), Token("mark", "("), Token("mark", ")")]

    def _embedded(self, pieces: "list[str | tuple[Token, ...]]") -> None:
        """Keep the code that a pattern holds, as a literal nobody uses."""
        if any(not isinstance(piece, str) for piece in pieces):
            self._add("text", HOLE, *pieces)

    def _second_part(self) -> "list[str | tuple[Token, ...]]":
        before = self.text[self.position - 1 : self.position]
        return self._delimited(False) if before in _CLOSING else self._quoted(before, False)

    def _delimited(self, interpolates: bool) -> "list[str | tuple[Token, ...]]":
        self.position = self._next_visible()
        opening = self.text[self.position : self.position + 1]
        self.position += 1
        return self._quoted(_PAIRS.get(opening, opening), interpolates, opening)

    def _literal(self, kind: str, closing: str, interpolates: bool) -> None:
        pieces = self._quoted(closing, interpolates)
        self._add(kind, _joined(pieces), *pieces)

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
                out.append(self._escape(interpolates, closing))
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
                pieces += ["".join(out), tuple(tokenize(inner, "python", self.depth + 1))]
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
        self._add("text", _joined(pieces), *pieces)

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
        ruby = self.language == "ruby"
        if following == "{" and char in ("#" if ruby else "$@") and self.language != "awk":
            end = self._closing(self.position + 2)
            inner = self.text[self.position + 2 : end]
            self.position = end + 1
            if self.language in ("perl", "php") and inner.isidentifier():
                inner = "$" + inner  # ${name} is $name
            return tuple(tokenize(inner, self.language, self.depth + 1))
        sigil = char in "$@" if self.language == "perl" else char == "$" and self.language == "php"
        if sigil and (following.isalpha() or following == "_"):
            start = self.position
            self.position += 1
            while self.position < self.size and (
                self.text[self.position].isalnum() or self.text[self.position] == "_"
            ):
                self.position += 1
            self._index()
            return tuple(tokenize(self.text[start : self.position], self.language, self.depth + 1))
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

    def _comment(self, char: str) -> bool:
        pair = self.text[self.position : self.position + 2]
        block = pair == "/*" and self.language in _SLASH_COMMENTS
        line = pair == "//" and self.language in _SLASH_COMMENTS
        line = line or (char == "#" and self.language in _HASH_COMMENTS and self._word_start())
        if not (block or line):
            return False
        end = self.text.find("*/" if block else "\n", self.position + 2 if block else self.position)
        self.position = self.size if end == -1 else end + (2 if block else 0)
        return True

    def _word_start(self) -> bool:
        return not self.position or self.text[self.position - 1] not in "$@{"

    def _is_value_before(self) -> bool:
        """Say whether the token before is a value, so that a slash divides it."""
        before = self.tokens[-1] if self.tokens else Token("mark", "(")
        if before.kind in ("text", "tick", "number") or before.value in (")", "]", "}"):
            return not (self.language == "awk" and before.value == "}")
        return before.kind == "name" and before.value not in _BEFORE_PATTERN

    def _pattern(self, char: str) -> bool:
        """Pass ``/.../`` where an expression begins, and not a division."""
        if char != "/" or self.language == "php" or self.position < self.no_pattern_before:
            return False
        behind_name = bool(self.tokens) and self.tokens[-1].kind == "name" and self.spaced
        argument = self.language == "ruby" and behind_name
        argument = argument and self.text[self.position + 1 : self.position + 2] not in (" ", "=")
        if self._is_value_before() and not argument:
            return False
        end, bracket = self.position + 1, False
        while end < self.size and self.text[end] != "\n":
            if self.text[end] == "\\":
                end += 1
            elif self.text[end] in "[]":
                bracket = self.text[end] == "["
            elif self.text[end] == "/" and not bracket:
                body = self.text[self.position + 1 : end]
                self.position = end + 1
                if self.language == "ruby" and "#{" in body:
                    self._embedded([HOLE, tuple(tokenize(f'"{body}"', "ruby", self.depth + 1))])
                self._add("text", HOLE)
                return True
            end += 1
        self.no_pattern_before = end
        return False

    def _quotes(self, char: str) -> bool:
        """Pass the other ways of writing a literal: ``%w(...)``, ``<<END``, ``<*.c>``."""
        if char == "%" and self.language == "ruby":
            return self._percent()
        if char == "<" and self.language in ("ruby", "perl", "php"):
            return self._here_document() or (self.language == "perl" and self._angled())
        return False

    def _percent(self) -> bool:
        letter = self.text[self.position + 1 : self.position + 2]
        opening = self.text[self.position + 2 : self.position + 3]
        if letter in _RUBY_QUOTES and opening and not opening.isalnum() and opening not in " =\n":
            self.position += 2
            kind = _RUBY_QUOTES[letter]
        elif letter and letter in "({[|!<" and (not self._is_value_before() or self.spaced):
            self.position += 1
            kind = "text"
        else:
            return False
        pieces = self._delimited(letter not in _RAW_QUOTES)
        if kind == "words":
            self._listed(_joined(pieces))
        elif kind:
            self._add(kind, _joined(pieces), *pieces)
        else:
            self._embedded(pieces)
            self._add("text", HOLE)
        return True

    def _angled(self) -> bool:
        """Pass ``<HANDLE>`` of Perl, a line that is read, or ``<*.c>``, names of files."""
        if self._is_value_before():
            return False
        end = self.text.find(">", self.position + 1, self.position + 200)
        inner = self.text[self.position + 1 : end] if end != -1 else "\n"
        if any(char in inner for char in "\n;=(){}") or inner[:1] == " ":
            return False
        self.position = end + 1
        files = any(char in inner for char in "*?/~.[")
        self._add("glob" if files else "number", inner)
        return True

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
        inside = _Tokens(self.text[start:at], self.language, self.depth + 1)
        pieces: list[str | tuple[Token, ...]] = [HOLE]
        if self.depth < MAX_DEPTH:
            pieces = inside._quoted("", document.interpolates)
        code = tuple(pieces) if any(not isinstance(piece, str) for piece in pieces) else ()
        token = self.tokens[document.place]
        self.tokens[document.place] = token._replace(value=_joined(pieces), inner=code)
        closing = self.text.find(document.word, at)
        self.position = self.size if closing == -1 else closing + len(document.word)

    def _listed(self, value: str) -> None:
        self._add("mark", "[")
        for word in value.split():
            self._add("text", word)
            self._add("mark", ",")
        self._add("mark", "]")


def _joined(pieces: "list[str | tuple[Token, ...]]") -> str:
    return "".join(piece if isinstance(piece, str) else HOLE for piece in pieces)
