"""What follows a value: members, indexes, calls and their arguments."""

import ast

from toolgate.gate.effects.inline.cursor import Cursor, Keyword
from toolgate.gate.effects.inline.keywords import (
    BLOCK_FUNCTIONS,
    LIST_FUNCTIONS,
    MAKES,
    PHP_STATEMENTS,
)
from toolgate.gate.effects.inline.literals import Token

# What a method without brackets can stand before in Ruby and Perl.
STARTS_ARGUMENT = frozenset(("text", "tick", "name", "number", "glob"))


class Calls(Cursor):
    """What follows a value: members, indexes, calls and their arguments."""

    def _postfix(self, node: ast.expr) -> ast.expr:
        while True:
            token = self._at()
            mark = token.value if token.kind == "mark" else ""
            member = mark in ("?.", "&.", "->", "::") or (
                mark == "." and self.language in ("javascript", "ruby", "python")
            )
            if member and self._at(1).kind == "name":
                self.position += 2
                node = ast.Attribute(node, self._at(-1).value, ast.Load())
            elif member and self._at(1).kind == "mark" and self._at(1).value in "([{":
                self.position += 1
                if self.language == "ruby" and self._is("("):
                    node = ast.Attribute(node, "call", ast.Load())
            elif mark == "(" and self._calls(node, token):
                self.position += 1
                node = self._called(node, self._items(")"))
            elif (
                mark == "["
                and not (token.line and self.bare)
                and not (token.spaced and self._takes_bare(node))
            ):
                self.position += 1
                node = ast.Subscript(node, self._index("]"), ast.Load())
            elif (
                mark == "{" and self.language == "perl" and not token.spaced and self._indexes(node)
            ):
                self.position += 1
                key = self._index("}")
                if isinstance(key, ast.Name) and "$" not in key.id:
                    key = ast.Constant(key.id)
                node = ast.Subscript(node, key, ast.Load())
            elif (
                self.language == "ruby"
                and (mark == "{" or token.value == "do")
                and self._has_block(node)
            ):
                node = self._block(node)
            elif (
                token.kind == "tick"
                and self.language == "javascript"
                and isinstance(node, ast.Name | ast.Attribute)
            ):
                self.position += 1
                node = self._called(node, [self._literal(token)])
            elif mark in ("++", "--"):
                self.position += 1
            elif self._takes_bare(node) and self._argument_follows(token):
                node = self._called(node, self._arguments())
            else:
                return node

    def _calls(self, node: ast.expr, token: Token) -> bool:
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.Lambda) and self.language not in (
            "php",
            "perl",
        ):
            return False
        return not (token.line and self.language == "ruby")

    def _indexes(self, node: ast.expr) -> bool:
        """Say whether braces behind a value are an index: ``$h{a}``, ``$x->{a}``, ``$h{a}{b}``."""
        if isinstance(node, ast.Name):
            return node.id.startswith("$")
        return isinstance(node, ast.Subscript)

    def _index(self, closer: str) -> ast.expr:
        """Return the index up to a closing bracket; what else stands there is kept as well."""
        items = self._items(closer)
        self.body += [ast.Expr(item) for item in items[1:]]
        return items[0] if items else ast.Constant(None)

    def _has_block(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call | ast.Attribute | ast.Name)

    def _block(self, node: ast.expr) -> ast.expr:
        """Read a block of Ruby; its first parameter stands for what its method goes over."""
        braces = self._is("{")
        self.position += 1
        if self._is("|"):
            self._block_parameters(node)
        if braces:
            self._nested("}")
        return node if isinstance(node, ast.Call) else ast.Call(node, [], [])

    def _block_parameters(self, node: ast.expr | None) -> None:
        self.position += 1
        names: list[str] = []
        while self.position < len(self.tokens) and not self._take("|"):
            name = self._at()
            before = self.position
            if self._take("="):  # by default
                value = self._expression(5)
                self.body += [ast.Expr(value)] if value is not None else []
            elif name.kind == "name":
                names.append(name.value)
            self.position += self.position == before
        function = node.func if isinstance(node, ast.Call) else node
        if names and isinstance(function, ast.Attribute):
            values = node if function.attr in MAKES else function.value
            self._bind(ast.Name(names[0], ast.Store()), values or ast.Constant(None))
            names = names[1:]
        arguments = ast.arguments([], [ast.arg(item) for item in names], None, [], [], None, [])
        if names:
            self.body.append(ast.Expr(ast.Lambda(arguments, ast.Constant(None))))

    def _called(self, node: ast.expr, items: list[ast.expr]) -> ast.expr:
        """Return a call, with keys and values as keywords and ``&:method`` as a call of its own."""
        keywords: list[ast.keyword] = []
        arguments: list[ast.expr] = []
        for item in items:
            if (
                isinstance(item, ast.Starred)
                and isinstance(item.value, ast.Constant)
                and isinstance(node, ast.Attribute)
            ):
                each = ast.Attribute(node.value, str(item.value.value), ast.Load())
                self.body.append(ast.Expr(ast.Call(each, [], [])))
            elif isinstance(item, ast.Dict):
                arguments += [] if isinstance(item, Keyword) else [item]
                for key, value in zip(item.keys, item.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        keywords.append(ast.keyword(key.value, value))
            else:
                arguments.append(item)
        self._bind_functions(node, arguments)
        listed = isinstance(node, ast.Name) and node.id in LIST_FUNCTIONS and len(arguments) > 1
        if listed and self.language == "perl":
            self._bind(ast.Name("$_", ast.Store()), arguments[-1])
        return ast.Call(node, arguments, keywords)

    def _bind_functions(self, node: ast.expr, arguments: list[ast.expr]) -> None:
        """Give the first parameter of a function that is handed over what its method goes over."""
        for item in arguments:
            if isinstance(item, ast.Lambda) and item.args.args and isinstance(node, ast.Attribute):
                pattern = self.patterns.get(id(item))
                name = item.args.args.pop(0).arg
                if pattern is not None:
                    item.args.args.clear()
                self._bind(pattern or ast.Name(name, ast.Store()), node.value)

    def _takes_bare(self, node: ast.expr) -> bool:
        """Say whether a value may be a method or function that is called without brackets."""
        if isinstance(node, ast.Attribute):
            return self.language == "ruby"
        if not isinstance(node, ast.Name) or node.id[0] in "$@%?":
            return False
        if self.language == "python":
            return node.id in ("print", "exec")
        return self.bare or (self.language == "php" and node.id in PHP_STATEMENTS)

    def _argument_follows(self, token: Token) -> bool:
        if token.line and self.language == "ruby":
            return False
        if token.kind == "mark":
            opens = token.value == "[" and token.spaced
            opens = opens or (
                token.value in ("%", "@") and self._at(1).kind == "name" and not self._at(1).spaced
            )
            opens = opens or (
                token.value == ":" and self._at(1).kind == "name" and not self._at(1).spaced
            )
            opens = opens or token.value in ("\\", "->")
            block = token.value == "{" and self.language == "perl"
            opens = opens or (block and (token.spaced or self._at(-1).value in BLOCK_FUNCTIONS))
            return opens and self.language != "php"
        return token.kind in STARTS_ARGUMENT and not self._ends_arguments(token)

    def _arguments(self) -> list[ast.expr]:
        """Return the arguments of a call without brackets."""
        found: list[ast.expr] = []
        self._deeper()
        while self.position < len(self.tokens):
            node = self._expression(1)
            if node is None:
                break
            found.append(self._keyed(node))
            follows = self.language == "perl" and self._at().kind in ("text", "tick", "name")
            handle = follows and len(found) == 1 and not self._ends_arguments(self._at())
            if not (self._take(",") or self._take("=>") or handle):
                break
        self.depth -= 1
        return found
