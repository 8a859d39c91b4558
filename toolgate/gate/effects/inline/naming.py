"""The names of what a program calls, from a module or object on."""

import ast
from abc import ABC, abstractmethod

from toolgate.gate.effects.inline.names import Names
from toolgate.gate.effects.inline.vocabulary import acting_owners, canonical
from toolgate.gate.shell.model import HOLE

HOLE_NAME = "hole__"
MAX_TEXTS = 24
Texts = tuple[str, ...]
UNKNOWN: Texts = (HOLE,)
PATH_TYPES = frozenset(("Path", "PurePath", "PosixPath", "PurePosixPath"))


class Naming(ABC):
    """Names what is called in one program.

    Args:
        names: the program's names.
        home: the user's home, "" when not known.
    """

    def __init__(self, names: Names, home: str) -> None:
        self.names = names
        self.words = names.words
        self.home = home or HOLE
        self._resolving: set[str] = set()
        self._known: dict[str, Texts] = {}
        self._depth = 0
        self.unpacked: set[str] = set()

    def dotted(self, node: ast.expr) -> str:
        """Return what a callee is called, from its module on; "?" where its owner is not known."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        name = ".".join([self._head(node, called=not parts), *reversed(parts)])
        return canonical(self.words.language, name)

    def _head(self, node: ast.expr, *, called: bool) -> str:
        if isinstance(node, ast.Name):
            return self._named(node.id, called=called)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and called:
            return self._by_text(node.value)
        if isinstance(node, ast.Await):
            return self._head(node.value, called=called)
        if isinstance(node, ast.Tuple) and node.elts and self.words.language == "javascript":
            return self.dotted(node.elts[-1])  # (0, fs.rmSync)(...)
        if isinstance(node, ast.Call):
            return self._made(node, called=called)
        if isinstance(node, ast.Subscript):
            return self._member(node)
        return "?"

    def _by_text(self, name: str) -> str:
        """Return the function that a text names where it is called: PHP, and Perl's ``&{...}``."""
        if self.words.language == "perl":
            return name.replace("::", ".")
        return name if self.words.language == "php" else "?"

    def _made(self, node: ast.Call, *, called: bool) -> str:
        """Return the name by which the methods of what a call returns go."""
        made = self.dotted(node.func)
        last = made.rpartition(".")[2]
        if last in PATH_TYPES and self.words.language == "python":
            return "Path"
        if made in self.words.objects:
            return self.words.objects[made]
        if made in self.words.importers and node.args:
            return self.texts(node.args[0])[0]
        if made.rpartition(".")[2] == "promisify" and node.args:
            return self.dotted(node.args[0])
        if made.startswith(self.words.clouds):
            return made.partition(".")[0]
        if made == "getattr" and len(node.args) > 1:
            return f"{self.dotted(node.args[0])}.{self.texts(node.args[1])[0]}"
        if called and node.args and self.words.language == "python":
            # attrgetter("system")(os)("..."): the name, of an owner not known.
            return f"?.{self.texts(node.args[0])[0]}"
        return "?"

    def _member(self, node: ast.Subscript) -> str:
        """Return the name of ``owner["name"]``; its owner may not be known."""
        key = self.texts(node.slice)[0]
        if isinstance(node.value, ast.List | ast.Tuple) and len(node.value.elts) == 1:
            return self.dotted(node.value.elts[0])
        if self.words.language != "python":
            owner = self.dotted(node.value)
            return f"{owner}.{key}" if owner != "?" else f"?.{key}"
        # vars(os)["system"], globals()["f"]
        return f"?.{key}"

    def _named(self, name: str, *, called: bool) -> str:
        if name in self.names.imported:
            return self.names.imported[name]
        if name in self.words.environment:
            return name
        given = self.names.given(name)
        if len(given) > MAX_TEXTS:
            return HOLE
        if name not in self._resolving:
            found = self._strictest(name, given, called=called)
            if found:
                return found
        if name in self.words.modules and not any(given):
            return self.words.modules[name]
        if self.names.starred and called and not given:
            return f"{self.names.starred[-1]}.{name}"
        if name[:1] in "$@" and self.words.language in ("php", "perl") and called:
            return "?"
        return name

    def _strictest(self, name: str, given: list[ast.expr | None], *, called: bool) -> str:
        """Return what a name stands for; of several values the one by which most is done."""
        found: list[str] = []
        for value in given:
            if value is not None:
                plain = value.value if isinstance(value, ast.Await) else value
                found.append(self._alias(name, plain, called=called))
        known = [item for item in found if item]
        if len(known) > 1:
            known.sort(key=lambda item: self._weight(canonical(self.words.language, item)))
        return known[-1] if known else ""

    def _weight(self, name: str) -> int:
        """Say how much a name is known to do: 2 as a call, 1 by its members, 0 nothing."""
        if name in self.words.acts:
            return 2
        return int(name in acting_owners(self.words.language))

    def _alias(self, name: str, value: ast.expr, *, called: bool) -> str:
        flat = self.names.flat
        alias = isinstance(value, ast.Name | ast.Attribute | ast.Subscript) and (called or flat)
        spelled = flat and called and isinstance(value, ast.Constant | ast.BinOp | ast.JoinedStr)
        if not (alias or spelled or isinstance(value, ast.Call)):
            return ""
        self._resolving.add(name)
        try:
            if spelled:
                return self.texts(value)[0] if self.words.language in ("php", "perl") else ""
            found = self.dotted(value) if alias else self._head(value, called=False)
        finally:
            self._resolving.discard(name)
        return "" if found.startswith("?") else found

    @abstractmethod
    def texts(self, node: ast.expr | None) -> Texts:
        """Return every text an expression can be; a hole where that is not known."""
