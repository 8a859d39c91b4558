"""What the expressions of a program can be as texts."""

import ast
from abc import abstractmethod
from collections.abc import Callable
from posixpath import dirname, join

from toolgate.gate.effects.inline.decoded import decoded
from toolgate.gate.effects.inline.naming import (
    HOLE_NAME,
    MAX_TEXTS,
    PATH_TYPES,
    UNKNOWN,
    Naming,
    Texts,
)
from toolgate.gate.shell.model import BELOW, HOLE

MAX_LENGTH = 4096
MAX_DEPTH = 40
_SAME_METHODS = frozenset(
    (
        *(
            "resolve",
            "absolute",
            "as_posix",
            "strip",
            "encode",
            "decode",
            "toString",
            "trim",
            "to_s",
        ),
        *(
            "to_str",
            "chomp",
            "freeze",
            "expand_path",
            "each",
            "sort",
            "uniq",
            "to_a",
            "map",
            "flatten",
        ),
        *(
            "select",
            "reject",
            "filter",
            "dup",
            "copy",
            "compact",
            "each_entry",
            "reverse",
            "cleanpath",
        ),
    )
)
_PLACES = {"here": ".", "temp": "/tmp"}


class TextValues(Naming):
    """Texts of one program's expressions."""

    def texts(self, node: ast.expr | None) -> Texts:
        """Return every text an expression can be; a hole where that is not known."""
        if node is None or self._depth > MAX_DEPTH:
            return UNKNOWN
        self._depth += 1
        try:
            found = tuple(dict.fromkeys(self._texts(node)))
        finally:
            self._depth -= 1
        self.names.work.spend(6 + sum(map(len, found)) // 16)
        fits = 0 < len(found) <= MAX_TEXTS and all(len(text) <= MAX_LENGTH for text in found)
        return found if fits else UNKNOWN

    def _texts(self, node: ast.expr) -> Texts:
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            return UNKNOWN if HOLE_NAME in text else (text,)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return (str(node.value),) if 0 <= node.value < 10**9 else UNKNOWN
        if isinstance(node, ast.Name):
            return self._name_texts(node.id)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.JoinedStr):
            return self._product([self.texts(part) for part in node.values], "".join)
        if isinstance(node, ast.FormattedValue):
            return self.texts(node.value) if node.format_spec is None else UNKNOWN
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return tuple(text for item in node.elts for text in self.texts(item)) or UNKNOWN
        if isinstance(node, ast.IfExp):
            return self.texts(node.body) + self.texts(node.orelse)
        if isinstance(node, ast.BoolOp):
            return tuple(text for item in node.values for text in self.texts(item))
        if isinstance(node, ast.Await | ast.Starred):
            return self.texts(node.value)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        return UNKNOWN

    def _attribute(self, node: ast.Attribute) -> Texts:
        if node.attr == "parent":
            return tuple(dirname(text) or "." for text in self.texts(node.value))
        if node.attr in ("path", "href", "pathname"):  # of a directory entry, of a URL
            return self.texts(node.value)
        called = self.dotted(node)
        if called in self.words.places:
            return self._place(called)
        owner = called.rpartition(".")[0]
        if owner in self.words.environment and self.words.language == "javascript":
            return self._variable(node.attr)
        return UNKNOWN

    def _subscript(self, node: ast.Subscript) -> Texts:
        owner = self.dotted(node.value)
        if owner in self.words.environment:
            return self._variable(self.texts(node.slice)[0])
        found = self.words.finds.get(owner + ".[]")
        if found is not None:
            return tuple(join(text, found) if found else text for text in self.texts(node.slice))
        return UNKNOWN

    def _place(self, called: str) -> Texts:
        place = self.words.places[called]
        return (self.home,) if place == "home" else (_PLACES.get(place, place),)

    def _name_texts(self, name: str) -> Texts:
        if name in self._known:
            return self._known[name]
        if name in self.words.places:
            return self._place(name)
        given = self.names.given(name)
        if name in self._resolving or not given:
            return UNKNOWN
        self._resolving.add(name)
        found: Texts = ()
        for value in given:
            found += self.texts(value)
            if len(found) > MAX_TEXTS:
                break
        self._resolving.discard(name)
        grows = self._is_text(given)
        grown = found
        for change in self.names.changes.get(name, ()):
            for item in change.items:
                more = self.texts(item)
                if grows:  # a text that is added to: each length it may have
                    grown = self._product([grown, more], "".join)
                    found += grown
                else:
                    found += more
        if not self._resolving:
            self._known[name] = found if len(found) <= MAX_TEXTS else UNKNOWN
        return found if len(found) <= MAX_TEXTS else UNKNOWN

    def _is_text(self, given: list[ast.expr | None]) -> bool:
        return any(isinstance(value, ast.Constant | ast.JoinedStr | ast.BinOp) for value in given)

    def _operation(self, node: ast.BinOp) -> Texts:
        left = self.texts(node.left)
        if isinstance(node.op, ast.Add):
            return self._product([left, self.texts(node.right)], "".join)
        if isinstance(node.op, ast.Div):
            return self._product([left, self.texts(node.right)], lambda parts: join(*parts))
        if isinstance(node.op, ast.Mod):
            return self._percent(left, node.right)
        return UNKNOWN

    def _percent(self, patterns: Texts, values: ast.expr) -> Texts:
        given = list(values.elts) if isinstance(values, ast.Tuple) else [values]
        found: list[str] = []
        for pattern in patterns:
            pieces = pattern.split("%s")
            if len(pieces) - 1 != len(given) or any("%" in piece for piece in pieces):
                found.append(pattern.split("%", 1)[0] + HOLE)
                continue
            parts: list[Texts] = [(pieces[0],)]
            for value, piece in zip(given, pieces[1:], strict=True):
                parts += [self.texts(value), (piece,)]
            found += self._product(parts, "".join)
        return tuple(found)

    def _call(self, node: ast.Call) -> Texts:
        called = self.dotted(node.func)
        method = called.rpartition(".")[2]
        words = self.words
        if called in words.places:
            return self._place(called)
        if called in words.getters and node.args:
            named = self.texts(node.args[0])[0]
            return self._variable(named)
        plain = decoded(called, [self.texts(item) for item in node.args[:2]])
        if plain is not None:
            self.unpacked.update(text for text in plain if text.strip() and HOLE not in text)
            return plain
        if called == "os.path.expanduser" and node.args:
            return tuple(self._at_home(text) for text in self.texts(node.args[0]))
        if called in words.joins or (
            method in PATH_TYPES and node.args and words.language == "python"
        ):
            return self._product([self.texts(item) for item in node.args], self._joined)
        if (method in PATH_TYPES and words.language == "python") or called.endswith(".cwd"):
            return (".",)
        if called.endswith(("Path.home", "pathlib.Path.home")):
            return (self.home,)
        if called in words.same and node.args:
            found = self.texts(node.args[0])
            return tuple(self._at_home(text) for text in found) if "expand" in called else found
        if called in words.finds and node.args:
            suffix = words.finds[called]
            return tuple(
                join(text, suffix) if suffix else text for text in self.texts(node.args[0])
            )
        if called == "os.walk" and node.args:
            return tuple(join(text, BELOW) for text in self.texts(node.args[0]))
        if called.startswith("tempfile."):
            return ("/tmp/" + HOLE,)
        if isinstance(node.func, ast.Attribute):
            return self._method(node.func, method, node.args)
        return self._function(node, called)

    def _function(self, node: ast.Call, called: str) -> Texts:
        """Return what ``join(" ", ...)`` makes, and what Perl's list functions pass on."""
        if called in ("join", "implode") and len(node.args) > 1:
            listed = ast.List(node.args[1:], ast.Load()) if called == "join" else node.args[1]
            return self._glued(self.texts(node.args[0]), listed)
        if called in ("sprintf", "format") and node.args:
            return self._percent(self.texts(node.args[0]), ast.Tuple(node.args[1:], ast.Load()))
        if called in ("map", "grep", "sort") and self.words.language == "perl" and node.args:
            return self.texts(node.args[-1])
        return UNKNOWN

    def _joined(self, parts: list[str]) -> str:
        if self.words.language in ("javascript", "ruby"):  # a later / does not start anew
            return join(parts[0], *(part.lstrip("/") for part in parts[1:])) if parts else HOLE
        return join(*parts)

    def _glued(self, glue: Texts, values: ast.expr) -> Texts:
        found: list[str] = []
        for items in self.lists(values) or ():
            texts = [self.texts(item) for item in items]
            if any(len(text) != 1 for text in texts):
                return UNKNOWN
            found += [mark.join(text[0] for text in texts) for mark in glue]
        return tuple(found) or UNKNOWN

    def _method(self, func: ast.Attribute, method: str, arguments: list[ast.expr]) -> Texts:
        if method == "join" and self.words.language == "python" and arguments:
            return self._glued(self.texts(func.value), arguments[0])
        if method == "join" and self.words.language in ("javascript", "ruby") and arguments:
            return self._glued(self.texts(arguments[0]), func.value)
        owner = self.texts(func.value)
        if method in _SAME_METHODS:
            return owner
        if method == "expanduser":
            return tuple(self._at_home(text) for text in owner)
        if method in ("joinpath", "concat"):
            glue = "".join if method == "concat" else (lambda parts: join(*parts))
            return self._product([owner, *(self.texts(item) for item in arguments)], glue)
        if method == "iterdir":
            return tuple(join(text, "*") for text in owner)
        if method in ("glob", "rglob") and arguments:
            return tuple(
                join(text, "*") if not pattern.strip("*/") else join(text, BELOW, pattern)
                for text in owner
                for pattern in self.texts(arguments[0])
            )
        if method == "with_suffix":
            return tuple(dirname(text) + "/" + HOLE if "/" in text else HOLE for text in owner)
        if method == "with_name" and arguments:
            return tuple(
                join(dirname(text), new) for text in owner for new in self.texts(arguments[0])
            )
        if method == "format":
            return self._formatted(owner, arguments)
        if method == "replace" and len(arguments) == 2:
            old, new = self.texts(arguments[0]), self.texts(arguments[1])
            known = len(old) == len(new) == 1 and HOLE not in old[0] + new[0] and old[0]
            return tuple(text.replace(old[0], new[0]) for text in owner) if known else UNKNOWN
        return UNKNOWN

    def _formatted(self, patterns: Texts, arguments: list[ast.expr]) -> Texts:
        found: list[str] = []
        for pattern in patterns:
            pieces = pattern.split("{}")
            plain = not any(char in piece for piece in pieces for char in "{}")
            if not plain or len(pieces) - 1 != len(arguments):
                found.append(pattern.split("{", 1)[0] + HOLE)
                continue
            parts: list[Texts] = [(pieces[0],)]
            for value, piece in zip(arguments, pieces[1:], strict=True):
                parts += [self.texts(value), (piece,)]
            found += self._product(parts, "".join)
        return tuple(found)

    def _variable(self, name: str) -> Texts:
        return (self.home,) if name == "HOME" else UNKNOWN

    def _at_home(self, text: str) -> str:
        return self.home + text[1:] if text == "~" or text.startswith("~/") else text

    def _product(self, parts: list[Texts], combine: Callable[[list[str]], str]) -> Texts:
        made: list[list[str]] = [[]]
        for texts in parts:
            made = [[*before, text] for before in made for text in texts]
            if len(made) > MAX_TEXTS:
                return UNKNOWN
        return tuple(combine(item) for item in made if item)

    @abstractmethod
    def lists(self, node: ast.expr | None, depth: int = 0) -> list[list[ast.expr]] | None:
        """Return every list an expression may be; None when it is no known list."""
