"""Statements: what a program imports, goes over and defines."""

import ast

from toolgate.gate.effects.inline.cursor import Cursor
from toolgate.gate.effects.inline.keywords import CONDITIONS, DEFINES, JUMPS, NAMED_SCOPES


class Statements(Cursor):
    """Statements: what a program imports, goes over and defines."""

    def statements(self, closer: str) -> list[ast.expr]:
        """Read up to a closing mark, which is passed; return the expressions on the way."""
        found: list[ast.expr] = []
        while self.position < len(self.tokens):
            if closer and self._take(closer):
                return found
            before = self.position
            node = self._statement()
            if node is not None:
                found.append(node)
            if self.position == before:
                self.position += 1
        return found

    def _statement(self) -> ast.expr | None:
        token = self._at()
        if token.kind == "broken":
            self.broken = True
            self.position += 1
            return None
        if token.kind == "mark" and token.value in ";,})]:":
            self.position += 1
            return None
        if token.kind == "name" and self._keyword(token.value):
            return None
        node = self._expression()
        if node is not None:
            self._modifier(node)
            self.body.append(ast.Expr(node))
        return node

    def _keyword(self, word: str) -> bool:
        """Pass a statement that is no expression, or its head; say whether it was one."""
        if word == "import" and self.language == "javascript" and self._at(1).value != "(":
            return self._import()
        if word in ("import", "from") and self.language == "python":
            self._python_import(word)
            return True
        if word in ("use", "require", "no") and self.language == "perl":
            self._perl_module(word)
            return True
        if word in ("for", "foreach"):
            self.position += 1
            self._loop()
            return True
        if word in DEFINES[self.language]:
            self._definition()
            return True
        if word in CONDITIONS[self.language] or word in JUMPS[self.language]:
            self.position += 1
            return True
        return False

    def _import(self) -> bool:
        self.position += 1
        names: list[ast.alias] = []
        whole = ""
        while self.position < len(self.tokens) and self._at().kind != "text":
            token = self._at()
            if token.value == ";":
                return True
            self.position += 1
            if token.kind != "name" or token.value in ("from", "as", "type"):
                if token.value == "as" and self._at().kind == "name":
                    if names:
                        names[-1] = ast.alias(names[-1].name, self._at().value)
                    else:
                        whole = self._at().value
                    self.position += 1
                continue
            names.append(ast.alias(token.value, None))
            if self._at(-2).value not in ("{", ","):
                whole = names.pop().name
        module = self._at().value or "?"
        self.position += 1
        if whole:
            self.body.append(ast.Import([ast.alias(module, whole)]))
        if names:
            self.body.append(ast.ImportFrom(module, names, 0))
        return True

    def _python_import(self, word: str) -> None:
        self.position += 1
        module = self._dotted_name()
        if word == "import":
            self._python_names(module, None)
            while self._take(","):
                self._python_names(self._dotted_name(), None)
            return
        self.position += self._at().value == "import"
        opened = self._take("(")
        while self._at().kind == "name" or self._is("*"):
            name = self._at().value
            self.position += 1
            self._python_names(name, module)
            if not self._take(","):
                break
        if opened:
            self._take(")")

    def _dotted_name(self) -> str:
        parts: list[str] = []
        while (self._at().kind == "name" and self._at().value != "import") or self._is("."):
            if self._at().kind == "name":
                if parts and self._at(-1).value != ".":
                    break
                parts.append(self._at().value)
            self.position += 1
        return ".".join(parts)

    def _python_names(self, name: str, module: str | None) -> None:
        renamed = None
        if self._at().value == "as":
            renamed = self._at(1).value
            self.position += 2
        names = [ast.alias(name, renamed)]
        imported = ast.Import(names) if module is None else ast.ImportFrom(module, names, 0)
        self.body.append(imported)

    def _perl_module(self, word: str) -> None:
        self.position += 1
        parts: list[str] = []
        while self._at().kind == "name" or self._is("::"):
            if self._at().line and parts:
                break
            parts += [self._at().value] if self._at().kind == "name" else []
            self.position += 1
        if parts:
            self.body.append(ast.Import([ast.alias(".".join(parts), ".".join(parts))]))

    def _loop(self) -> None:
        """Read the head of a loop over values: ``for (const x of y)``, ``for my $x (...)``."""
        self.position += self._at().value in ("await", "each")
        opened = self._take("(")
        while self._at().value in ("const", "let", "var", "my", "our"):
            self.position += 1
        if self.language == "php" or (self.language == "perl" and opened):
            values = self._expression()
            listed = [values] if values is not None else []
            while self._take(",") and self.position < len(self.tokens):
                more = self._expression()
                listed += [more] if more is not None else []
            target: ast.expr | None = None
            if self._at().value == "as":
                self.position += 1
                target = self._expression()
                if self._take("=>"):
                    target = self._expression()
            elif self.language == "perl" and self._is(")"):
                target = ast.Name("$_", ast.Store())
            if target is not None and listed:
                self._bind(target, ast.List(listed, ast.Load()))
            else:
                self.body += [ast.Expr(value) for value in listed]
            return
        start = self.position
        target = self._primary()
        if self._at().value in ("of", "in") or (self._is("(") and self.language == "perl"):
            self.position += self._at().value != "("
            values = self._expression()
            if target is not None and values is not None:
                self._bind(target, values)
        else:
            self.position = start  # a loop that counts; its head is read as it stands

    def _bind(self, target: ast.expr, values: ast.expr) -> None:
        self.body.append(ast.For(target, values, [ast.Pass()], []))

    def _modifier(self, node: ast.expr) -> None:
        """Read ``... for LIST`` of Perl, which gives ``$_`` its values, and ``with ... as``."""
        if self.language == "python" and self._at().value == "as":
            self.position += 1
            target = self._primary()
            if target is not None:
                self.body.append(ast.Assign([target], node))
        if self.language == "perl" and self._at().value in ("for", "foreach"):
            self.position += 1
            values = self._expression()
            if values is not None:
                self._bind(ast.Name("$_", ast.Store()), values)

    def _definition(self) -> None:
        """Read the head of a function, whose parameters are not known until it is called."""
        word = self._at().value
        self.position += 1
        while self._is("*", "&"):  # a generator, a reference
            self.position += 1
        name = ""
        if self._at().kind == "name":
            name = self._at().value
            self.position += 1
        while self._is("::", ".", "\\") and self._at(1).kind == "name":
            name = self._at(1).value
            self.position += 2
        if word in NAMED_SCOPES:
            return
        if self._take("("):
            self._parameters(name, ")")
        elif self.language == "ruby" and self._at().kind == "name" and not self._at().line:
            self._parameters(name, "")

    def _parameters(self, name: str, closer: str) -> list[str]:
        names: list[str] = []
        before, start = len(self.body), self.position
        for item in self.statements(closer) if closer else []:
            if isinstance(item, ast.Name | ast.Tuple | ast.List | ast.Dict | ast.Starred):
                names += [node.id for node in ast.walk(item) if isinstance(node, ast.Name)]
        for given in self.body[before:]:  # by default
            if isinstance(given, ast.Assign) and isinstance(given.targets[0], ast.Name):
                names.append(given.targets[0].id)
        taken = self.tokens[start : self.position]
        gathers = any(token.value in ("*", "**", "...", "&") for token in taken)
        arguments = ast.arguments([], [ast.arg(item) for item in names], None, [], [], None, [])
        if name and not gathers:
            self.body.append(ast.FunctionDef(name, arguments, [ast.Pass()], []))
        else:
            self.body.append(ast.Expr(ast.Lambda(arguments, ast.Constant(None))))
        return names
