"""JavaScript, Ruby, Perl and PHP brought to the syntax tree of Python, as far as calls go.

Statements, blocks and functions are flattened: what is read is which calls
there are, on which owner, with which arguments, and what names are given.
Nothing is refused; what has no counterpart becomes a value that is not known.
Each token is passed once.
"""

import ast

from toolgate.gate.effects.inline.tokens import Token, tokenize

MAX_DEPTH = 60
HASH_ALL = "%"

_END = Token("mark", "")
_CLOSERS = frozenset((")", "]", "}"))
# How tight operators bind; what is not listed ends an expression.
_BINDING = {
    **dict.fromkeys(
        ("=", "+=", ".=", "||=", "&&=", "??=", "//=", "-=", "*=", "/=", "<<=", ">>="), 1
    ),
    **dict.fromkeys(("?",), 2),
    **dict.fromkeys(("||", "&&", "??", "or", "and", "//", "xor"), 3),
    **dict.fromkeys(("==", "===", "!=", "!==", "<", ">", "<=", ">=", "=~", "!~", "<=>", "in"), 4),
    **dict.fromkeys(("instanceof", "eq", "ne", "lt", "gt", "le", "ge", "cmp", "|", "&", "^"), 4),
    **dict.fromkeys(("<<", ">>", "..", "..."), 5),
    **dict.fromkeys(("+", "-", "."), 6),
    **dict.fromkeys(("*", "/", "%", "**", "x"), 7),
}
_JOINS = {"javascript": "+", "ruby": "+", "perl": ".", "php": ".", "python": "+"}
# Words that stand before a value and change nothing about what it calls.
_SILENT = {
    "javascript": frozenset(
        (
            *("const", "let", "var", "new", "await", "return", "throw", "typeof", "void", "yield"),
            *("async", "static", "export", "default", "extends", "delete", "of", "else", "try"),
            *("finally", "do", "case"),
        )
    ),
    "ruby": frozenset(
        (
            *("return", "yield", "not", "then", "begin", "ensure", "else", "do", "defined?", "end"),
            *("loop", "raise", "BEGIN", "END", "alias", "undef"),
        )
    ),
    "perl": frozenset(
        (
            *("my", "our", "local", "state", "return", "not", "do", "else", "defined", "scalar"),
            *("ref", "BEGIN", "END", "try", "finally", "new", "wantarray"),
        )
    ),
    "php": frozenset(
        (
            *(
                "new",
                "return",
                "throw",
                "yield",
                "static",
                "public",
                "private",
                "protected",
                "final",
            ),
            *("abstract", "readonly", "const", "var", "global", "clone", "case", "default", "else"),
            *("try", "finally", "do", "as", "use", "declare", "goto", "extends", "implements"),
        )
    ),
    "python": frozenset(
        (
            *(
                "await",
                "return",
                "yield",
                "not",
                "else",
                "try",
                "finally",
                "with",
                "lambda",
                "pass",
            ),
            *("assert", "raise", "del", "nonlocal", "global", "async", "from"),
        )
    ),
}
_CONDITIONS = {
    "javascript": frozenset(("if", "while", "switch", "catch")),
    "ruby": frozenset(("if", "unless", "while", "until", "elsif", "case", "when", "rescue")),
    "perl": frozenset(("if", "unless", "while", "until", "elsif")),
    "php": frozenset(("if", "while", "elseif", "switch", "match", "catch")),
    "python": frozenset(("if", "while", "elif", "except")),
}
_DEFINES = {
    "javascript": frozenset(("function", "class")),
    "ruby": frozenset(("def", "class", "module")),
    "perl": frozenset(("sub", "package")),
    "php": frozenset(("function", "fn", "class", "interface", "trait", "namespace", "enum")),
    "python": frozenset(("def", "class")),
}
_NAMED_SCOPES = frozenset(("class", "module", "package", "interface", "trait", "namespace", "enum"))
_JUMPS = {
    "javascript": frozenset(("break", "continue")),
    "ruby": frozenset(("end", "break", "next", "redo", "retry")),
    "perl": frozenset(("next", "last", "redo")),
    "php": frozenset(("break", "continue", "endif", "endforeach", "endwhile", "endfor")),
    "python": frozenset(("break", "continue")),
}
# Words that may stand behind a call without brackets and are no argument of it.
_ENDS_ARGUMENTS = {
    "javascript": frozenset(("in", "of", "instanceof", "else", "do")),
    "ruby": frozenset(
        (
            *("or", "and", "if", "unless", "do", "end", "while", "until", "then", "in", "rescue"),
            *("else", "elsif", "ensure"),
        )
    ),
    "perl": frozenset(
        ("or", "and", "xor", "if", "unless", "for", "foreach", "while", "until", "else", "elsif")
    ),
    "php": frozenset(("or", "and", "xor", "as", "instanceof", "else")),
    "python": frozenset(("or", "and", "in", "is", "if", "else", "for", "as")),
}
_WORD_OPERATORS = frozenset(("eq", "ne", "lt", "gt", "le", "ge", "cmp", "x"))  # of Perl
_WORD_VALUES = {
    "true": True,
    "false": False,
    "null": None,
    "nil": None,
    "undef": None,
    "undefined": None,
}
_PHP_STATEMENTS = frozenset(("include", "include_once", "require", "require_once", "print", "echo"))
_LIST_FUNCTIONS = frozenset(("map", "grep", "first", "any", "all"))
_BLOCK_FUNCTIONS = frozenset(("map", "grep", "sort", "eval", "do", "first", "any", "all", "try"))
# Methods of Ruby whose block is given what they open or find, and not what they belong to.
_MAKES = frozenset(
    (
        *("open", "new", "popen", "start", "glob", "each_child", "children", "foreach", "entries"),
        *("each_entry", "then", "mktmpdir"),
    )
)
# What a method without brackets can stand before in Ruby and Perl.
_STARTS_ARGUMENT = frozenset(("text", "tick", "name", "number", "glob"))


class Flat(ast.Module):
    """A tree whose statements have lost what they stand in."""


def lower(text: str, language: str) -> tuple[Flat, bool]:
    """Return the tree of some code, and whether all of it could be read.

    Raises:
        RecursionError: it is nested too deep.
    """
    reader = _Lower(tokenize(text, language), language, 0)
    reader.statements("")
    return Flat(reader.body, []), not reader.broken


class _Lower:
    def __init__(self, tokens: list[Token], language: str, depth: int) -> None:
        self.tokens = tokens
        self.language = language
        self.depth = depth
        self.position = 0
        self.body: list[ast.stmt] = []
        self.broken = False
        self.patterns: dict[int, ast.Dict] = {}
        self.bare = language in ("ruby", "perl")

    # Moving over the tokens

    def _at(self, ahead: int = 0) -> Token:
        place = self.position + ahead
        return self.tokens[place] if place < len(self.tokens) else _END

    def _is(self, *values: str) -> bool:
        token = self._at()
        return token.kind == "mark" and token.value in values

    def _take(self, value: str) -> bool:
        if self._is(value):
            self.position += 1
            return True
        return False

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise RecursionError("code is nested too deep")

    # Statements

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
        if word in _DEFINES[self.language]:
            self._definition()
            return True
        if word in _CONDITIONS[self.language] or word in _JUMPS[self.language]:
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
            return
        target = self._primary()
        if self._at().value in ("of", "in") or (self._is("(") and self.language == "perl"):
            self.position += self._at().value != "("
            values = self._expression()
            if target is not None and values is not None:
                self._bind(target, values)

    def _bind(self, target: ast.expr, values: ast.expr) -> None:
        self.body.append(ast.For(target, values, [ast.Pass()], []))

    def _modifier(self, node: ast.expr) -> None:
        """Read ``... for LIST`` of Perl, which gives ``$_`` its values."""
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
        if word in _NAMED_SCOPES:
            return
        if self._take("("):
            self._parameters(name, ")")
        elif self.language == "ruby" and self._at().kind == "name" and not self._at().line:
            self._parameters(name, "")

    def _parameters(self, name: str, closer: str) -> list[str]:
        names: list[str] = []
        before = len(self.body)
        for item in self.statements(closer) if closer else []:
            if isinstance(item, ast.Name | ast.Tuple | ast.List | ast.Dict | ast.Starred):
                names += [node.id for node in ast.walk(item) if isinstance(node, ast.Name)]
        for given in self.body[before:]:  # by default
            if isinstance(given, ast.Assign) and isinstance(given.targets[0], ast.Name):
                names.append(given.targets[0].id)
        arguments = ast.arguments([], [ast.arg(item) for item in names], None, [], [], None, [])
        if name:
            self.body.append(ast.FunctionDef(name, arguments, [ast.Pass()], []))
        else:
            self.body.append(ast.Expr(ast.Lambda(arguments, ast.Constant(None))))
        return names

    # Expressions

    def _expression(self, tight: int = 0) -> ast.expr | None:
        self._deeper()
        try:
            left = self._unary()
            while left is not None:
                operator = self._at().value
                binding = self._binding(operator)
                if operator == "=>" and self.language == "javascript":
                    left = self._arrow(left)
                    continue
                if not binding or binding < tight or (binding == tight and tight != 1):
                    return left
                self.position += 1
                left = self._operation(left, operator, binding)
            return left
        finally:
            self.depth -= 1

    def _binding(self, operator: str) -> int:
        if self._at().kind == "mark":
            return _BINDING.get(operator, 0)
        if self._at().kind != "name" or operator not in _BINDING:
            return 0
        own = self._ends_arguments(self._at())
        return _BINDING[operator] if own else 0

    def _ends_arguments(self, token: Token) -> bool:
        if token.kind != "name":
            return False
        foreign = token.value in _WORD_OPERATORS and self.language == "perl"
        return foreign or token.value in _ENDS_ARGUMENTS[self.language]

    def _operation(self, left: ast.expr, operator: str, binding: int) -> ast.expr:
        if binding == 1:
            right = self._expression(1)
            return self._assign(left, operator, right)
        if operator == "?":
            return self._choice(left)
        right = self._expression(binding) or ast.Constant(None)
        if binding == 3:
            return ast.BoolOp(ast.Or(), [left, right])
        if operator == _JOINS[self.language]:
            return ast.BinOp(left, ast.Add(), right)
        if operator == "<<" and self.language == "ruby":
            self.body.append(
                ast.Expr(ast.Call(ast.Attribute(left, "push", ast.Load()), [right], []))
            )
        if operator == "%" and self.language == "ruby":
            return ast.BinOp(left, ast.Mod(), right)
        if binding == 4 and operator != "|":
            return ast.Compare(left, [ast.Eq()], [right])
        return ast.BinOp(left, ast.Sub(), right)

    def _choice(self, test: ast.expr) -> ast.expr:
        yes = ast.Constant(None) if self._is(":") else self._expression(2) or ast.Constant(None)
        if not self._take(":"):
            return test
        return ast.IfExp(test, yes, self._expression(2) or ast.Constant(None))

    def _assign(self, target: ast.expr, operator: str, value: ast.expr | None) -> ast.expr:
        value = value or ast.Constant(None)
        if operator == "=":
            self.body.append(ast.Assign([target], value))
        elif operator in ("||=", "??=", "&&=", "//="):
            self.body.append(ast.Assign([target], ast.BoolOp(ast.Or(), [target, value])))
        elif operator[0] == _JOINS[self.language] and isinstance(target, ast.Name):
            self.body.append(ast.AugAssign(target, ast.Add(), value))
        elif isinstance(target, ast.Name):
            self.body.append(ast.AugAssign(target, ast.Sub(), value))
        return value

    def _arrow(self, left: ast.expr) -> ast.expr:
        """Read an arrow function; its body is read where it stands."""
        self.position += 1
        names = [node.id for node in ast.walk(left) if isinstance(node, ast.Name)]
        body = self._expression(1) or ast.Constant(None)
        arguments = ast.arguments([], [ast.arg(item) for item in names], None, [], [], None, [])
        function = ast.Lambda(arguments, body)
        if isinstance(left, ast.Dict):
            self.patterns[id(function)] = left
        return function

    def _unary(self) -> ast.expr | None:
        while True:
            token = self._at()
            silent = token.value in _SILENT[self.language]
            if (
                token.kind == "name" and silent and self._at(1).value not in ("=>", ":", "=", ".")
            ) or (
                token.kind == "mark"
                and token.value
                in (
                    "!",
                    "-",
                    "+",
                    "~",
                    "\\",
                    "...",
                    "++",
                    "--",
                    "*",
                    "**",
                )
            ):
                self.position += 1
            else:
                break
        node = self._primary()
        return self._postfix(node) if node is not None else None

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
        if token.value in _CONDITIONS[self.language] or self._ends_arguments(token):
            return None
        if token.value in _DEFINES[self.language]:
            before = len(self.body)
            self._definition()
            made = [item.value for item in self.body[before:] if isinstance(item, ast.Expr)]
            functions = [item for item in made if isinstance(item, ast.Lambda)]
            nothing = ast.arguments([], [], None, [], [], None, [])
            function = functions[-1] if functions else ast.Lambda(nothing, ast.Constant(None))
            self._braces_follow()
            return function
        self.position += 1
        if token.value in _WORD_VALUES:
            return ast.Constant(_WORD_VALUES[token.value])
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
        reader = _Lower(list(tokens), self.language, self.depth)
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
            if self.language == "python" and self._at(1).value == "=" and self._at().kind == "name":
                self.position += 2
                key = ast.Constant(self._at(-2).value)
                found.append(ast.Dict([key], [self._expression(2) or ast.Constant(None)]))
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
        return self._at().kind == "name" and self._at().value in _CONDITIONS[self.language]

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

    # What follows a value

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
                items = self._items("]")
                node = ast.Subscript(node, items[0] if items else ast.Constant(None), ast.Load())
            elif (
                mark == "{" and self.language == "perl" and not token.spaced and self._indexes(node)
            ):
                self.position += 1
                items = self._items("}")
                key = items[0] if items else ast.Constant(None)
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
        return isinstance(node, ast.Subscript | ast.Attribute | ast.Call)

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
            if self._at().kind == "name":
                names.append(self._at().value)
            self.position += 1
        function = node.func if isinstance(node, ast.Call) else node
        if names and isinstance(function, ast.Attribute):
            values = node if function.attr in _MAKES else function.value
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
                arguments.append(item)
                for key, value in zip(item.keys, item.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        keywords.append(ast.keyword(key.value, value))
            else:
                arguments.append(item)
        self._bind_functions(node, arguments)
        listed = isinstance(node, ast.Name) and node.id in _LIST_FUNCTIONS and len(arguments) > 1
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
        return self.bare or (self.language == "php" and node.id in _PHP_STATEMENTS)

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
            opens = opens or (block and (token.spaced or self._at(-1).value in _BLOCK_FUNCTIONS))
            return opens and self.language != "php"
        return token.kind in _STARTS_ARGUMENT and not self._ends_arguments(token)

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
