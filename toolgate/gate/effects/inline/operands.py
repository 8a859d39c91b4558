"""Operands: names, literals, lists, tables and blocks."""

import ast

from toolgate.gate.effects.inline.cursor import Cursor, Keyword
from toolgate.gate.effects.inline.keywords import CONDITIONS, DEFINES, WORD_VALUES
from toolgate.gate.effects.inline.literals import Token

HASH_ALL = "%"


class Operands(Cursor):
    """Operands: names, literals, lists, tables and blocks."""

    def _primary(self) -> ast.expr | None:
        token = self._at()
        if token.kind in ("text", "tick", "glob"):
            self.position += 1
            return self._literal(token)
        if token.kind == "number":
            self.position += 1
            return ast.Constant(
                int(token.value) if token.value.isdigit() and len(token.value) < 10 else 0.5
            )
        if token.kind == "name":
            return self._name(token)
        if token.kind == "broken":
            self.broken = True
            self.position += 1
            return ast.Name("?", ast.Load())
        return self._bracketed(token.value)

    def _name(self, token: Token) -> ast.expr | None:
        if token.value in CONDITIONS[self.language] or self._ends_arguments(token):
            return None
        if token.value in DEFINES[self.language]:
            before = len(self.body)
            self._definition()
            made = [item.value for item in self.body[before:] if isinstance(item, ast.Expr)]
            functions = [item for item in made if isinstance(item, ast.Lambda)]
            nothing = ast.arguments([], [], None, [], [], None, [])
            function = functions[-1] if functions else ast.Lambda(nothing, ast.Constant(None))
            self._braces_follow()
            return function
        self.position += 1
        if token.value in WORD_VALUES:
            return ast.Constant(WORD_VALUES[token.value])
        if token.value == "import" and self._is("("):
            return ast.Name("require", ast.Load())
        return ast.Name(token.value, ast.Load())

    def _braces_follow(self) -> None:
        if self._take("{"):
            self._nested("}")

    def _nested(self, closer: str) -> list[ast.expr]:
        self._deeper()
        try:
            return self.statements(closer)
        finally:
            self.depth -= 1

    def _literal(self, token: Token) -> ast.expr:
        if token.inner:
            parts: list[ast.expr] = []
            for piece in token.inner:
                if isinstance(piece, str):
                    parts.append(ast.Constant(piece))
                else:
                    parts.append(ast.FormattedValue(self._inside(piece), -1, None))
            node: ast.expr = ast.JoinedStr(parts)
        else:
            node = ast.Constant(token.value)
        if token.kind == "glob":
            return ast.Call(ast.Name("glob", ast.Load()), [node], [])
        if token.kind == "tick" and self.language != "javascript":
            return ast.Call(ast.Name("`", ast.Load()), [node], [])
        return node

    def _inside(self, tokens: tuple[Token, ...]) -> ast.expr:
        """Return the expression inside a literal; its other statements are kept as well."""
        self._deeper()
        reader = type(self)(list(tokens), self.language, self.depth)
        found = reader.statements("")
        self.depth -= 1
        self.body += reader.body
        self.broken = self.broken or reader.broken
        return found[0] if len(found) == 1 else ast.Name("?", ast.Load())

    def _bracketed(self, mark: str) -> ast.expr | None:
        if mark == "(":
            self.position += 1
            items = self._items(")")
            return items[0] if len(items) == 1 else ast.Tuple(items, ast.Load())
        if mark == "[":
            self.position += 1
            return ast.List(self._items("]"), ast.Load())
        if mark == "{":
            self.position += 1
            return self._braces()
        if mark == ":" and self.language == "ruby" and self._at(1).kind in ("name", "text"):
            self.position += 2
            return ast.Constant(self._at(-1).value)
        if mark == "::" and self._at(1).kind == "name":
            self.position += 1
            return self._primary()
        if mark == "->" and self.language == "ruby":
            self.position += 1
            if self._take("("):
                self._parameters("", ")")
            return ast.Constant(None)
        if mark in ("&", "%", "@", "$") and self.language in ("perl", "php", "ruby"):
            return self._sigil(mark)
        return None

    def _sigil(self, mark: str) -> ast.expr | None:
        """Read ``%ENV``, ``&$code``, ``@{...}``, ``@``-quiet calls, and ``&:method``."""
        self.position += 1
        following = self._at()
        if mark == "&" and self.language == "ruby":
            if self._is(":") and self._at(1).kind == "name":
                self.position += 2
                return ast.Starred(ast.Constant(self._at(-1).value), ast.Load())
            return self._unary()
        if mark == "%" and following.kind == "name" and self.language == "perl":
            self.position += 1
            return ast.Name(HASH_ALL + following.value.lstrip("$"), ast.Load())
        if self._is("{"):
            self.position += 1
            inner = self._nested("}")
            return inner[0] if len(inner) == 1 else ast.Name("?", ast.Load())
        return self._unary()

    def _items(self, closer: str) -> list[ast.expr]:
        """Return the expressions up to a closing bracket; of a pair its key and its value."""
        found: list[ast.expr] = []
        self._deeper()
        while self.position < len(self.tokens) and not self._take(closer):
            before = self.position
            if self._is(",", ";", "=>") or self._is_separator() or self._keyword_inside():
                self.position += 1
                continue
            if self.language == "python" and self._at().value == "for":
                self.position += 1
                self._loop()
                continue
            if self.language == "python" and self._at(1).value == "=" and self._at().kind == "name":
                self.position += 2
                key = ast.Constant(self._at(-2).value)
                found.append(Keyword([key], [self._expression(2) or ast.Constant(None)]))
                continue
            node = self._expression()
            if node is not None:
                found.append(self._keyed(node))
            if self.position == before:
                self.broken = self.broken or self._at().kind == "broken"
                self.position += 1
        self.depth -= 1
        return found

    def _is_separator(self) -> bool:
        """Say whether a colon separates, and does not begin a symbol."""
        symbol = self.language == "ruby" and self._at(1).kind in ("name", "text")
        return self._is(":") and not (symbol and not self._at(1).spaced)

    def _keyword_inside(self) -> bool:
        return self._at().kind == "name" and self._at().value in CONDITIONS[self.language]

    def _keyed(self, node: ast.expr) -> ast.expr:
        """Return a pair for what is followed by ``=>`` or ``:`` and its value, else the node."""
        if not (self._is("=>", ":")) or (
            self._at(1).kind == "mark" and self._at(1).value in ")]};,"
        ):
            return node
        if self._is(":") and self.language not in ("javascript", "ruby", "php"):
            return node
        self.position += 1
        value = self._expression(1) or ast.Constant(None)
        key: ast.expr = (
            ast.Constant(node.id) if isinstance(node, ast.Name) and "$" not in node.id else node
        )
        return ast.Dict([key], [value])

    def _braces(self) -> ast.expr:
        """Read a table of keys and values, or a block; a block's statements are read as such."""
        if self.language == "ruby" and self._is("|"):
            self._block_parameters(None)
        keys: list[ast.expr | None] = []
        values: list[ast.expr] = []
        self._deeper()
        while self.position < len(self.tokens) and not self._take("}"):
            before = self.position
            if self._is(",", ";", ")", "]", ":", "=>"):
                self.position += 1
            elif (
                self._at().kind == "name"
                and self._at(1).value not in (":", "=>", ",", "}")
                and self._keyword(self._at().value)
            ):
                continue
            else:
                node = self._expression()
                if node is not None:
                    self._modifier(node)
                    pair = self._keyed(node)
                    if isinstance(pair, ast.Dict) and pair is not node:
                        keys += pair.keys
                        values += pair.values
                    else:
                        name = node.id if isinstance(node, ast.Name) else None
                        keys.append(ast.Constant(name) if name else None)
                        values.append(node)
            if self.position == before:
                self.broken = self.broken or self._at().kind == "broken"
                self.position += 1
        self.depth -= 1
        return ast.Dict(keys, values)
