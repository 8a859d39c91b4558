"""Tokens of code in languages whose literals are alike enough to share a reader."""

from toolgate.gate.effects.inline.literals import MAX_DEPTH, Literals, Token, joined
from toolgate.gate.shell.model import HOLE

MAX_TOKENS = 5_000
_CLOSING = frozenset((")", "]", "}", ">"))
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
# Variables of Perl whose name is one mark: ``$,``, ``$/``, ``$"``.
_PERL_SPECIAL = tuple(".,/\\|!&+\"'")
_PYTHON_PREFIXES = frozenset(("r", "b", "u", "f", "t", "rb", "br", "fr", "rf", "tr", "rt"))
_END_MARKS = {"perl": ("__END__", "__DATA__"), "ruby": ("__END__",), "php": ("__halt_compiler",)}


def tokenize(text: str, language: str, depth: int = 0) -> list[Token]:
    """Split code into names, literals and marks; comments and patterns are left out.

    Literals nested too deep are read as code that is not known.
    """
    if depth > MAX_DEPTH:
        return [Token("broken", "")]
    return _Tokens(text, language, depth).read()


class _Tokens(Literals):
    """Reads the tokens of one piece of code."""

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
                interpolates = char == "`" if self.language == "javascript" else char != "'"
                self._literal("tick" if char == "`" else "text", char, interpolates)
            elif char.isalpha() or char in "_$" or (char == "@" and self.language != "php"):
                if self._name():
                    break
            elif char.isdigit():
                self._number()
            elif not (self._comment(char) or self._pattern(char) or self._quotes(char)):
                self._mark(char)
        return self.tokens

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

    def _operator(self, kind: str, parts: int) -> None:
        """Read what a quoting operator quotes; ``s///e`` runs its second part as code."""
        pieces = self._delimited(kind != "text" or parts > 1)
        second = self._second_part() if parts == 2 else []
        if kind == "words":
            self._listed(joined(pieces))
        elif kind:
            self._add(kind, joined(pieces), *pieces)
        else:
            flags = self.position
            while self.position < self.size and self.text[self.position].isalpha():
                self.position += 1
            evaluated = self.text[flags : self.position].count("e") if parts == 2 else 0
            self._add("text", HOLE, *pieces)
            if evaluated:
                self._add("mark", ";")
                self.tokens += self._tokenized(joined(second), self.language, self.depth + 1)
                self._add("mark", ";")
            if evaluated > 1:  # what it gives is code again
                self.tokens += [Token("name", "eval"), Token("mark", "("), Token("mark", ")")]

    def _second_part(self) -> "list[str | tuple[Token, ...]]":
        before = self.text[self.position - 1 : self.position]
        return self._delimited(False) if before in _CLOSING else self._quoted(before, False)

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
                    self._embedded(
                        [HOLE, tuple(self._tokenized(f'"{body}"', "ruby", self.depth + 1))]
                    )
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
            self._listed(joined(pieces))
        elif kind:
            self._add(kind, joined(pieces), *pieces)
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
