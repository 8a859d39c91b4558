"""What expressions of inline Python can be: the texts a path, command or URL may have."""

import ast
from collections.abc import Callable
from posixpath import dirname, join

from toolgate.gate.shell.model import BELOW, HOLE

HOLE_NAME = "hole__"
MAX_TEXTS = 24
MAX_LENGTH = 4096

Texts = tuple[str, ...]
UNKNOWN: Texts = (HOLE,)

_SAME = frozenset(
    (
        "os.path.abspath",
        "os.path.realpath",
        "os.path.normpath",
        "os.fspath",
        "os.fsencode",
        "str",
        "sorted",
        "list",
        "set",
        "tuple",
        "reversed",
        "iter",
        "io.StringIO",
    )
)
_PATH_TYPES = frozenset(("Path", "PurePath", "PosixPath", "PurePosixPath"))
_SAME_METHODS = frozenset(("resolve", "absolute", "as_posix", "strip", "encode", "decode"))
_FOUND = {"glob.glob": "", "glob.iglob": "", "os.listdir": "*", "os.scandir": "*"}
_SESSIONS = frozenset(("Session", "Client", "AsyncClient", "ClientSession"))


class Names:
    """The names of a piece of Python: what they import, and every text they are given.

    Args:
        tree: the code.
        home: the user's home, "" when not known.
    """

    def __init__(self, tree: ast.AST, home: str) -> None:
        self.home = home or HOLE
        self.imported: dict[str, str] = {}
        self.starred: list[str] = []
        self.values: dict[str, list[ast.expr | None]] = {}
        self._resolving: set[str] = set()
        self._known: dict[str, Texts] = {}
        for node in ast.walk(tree):
            self._note(node)

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for item in node.names:
                package = item.name.partition(".")[0]
                self.imported[item.asname or package] = item.name if item.asname else package
        elif isinstance(node, ast.ImportFrom) and node.module:
            for item in node.names:
                if item.name == "*":
                    self.starred.append(node.module)
                self.imported[item.asname or item.name] = f"{node.module}.{item.name}"
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
            self._bind(node.target, node.value)
        elif isinstance(node, ast.AugAssign):
            self._bind(node.target, None)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            self._bind(node.target, node.iter)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._bind(node.optional_vars, node.context_expr)
        elif isinstance(node, ast.arg):
            self.values.setdefault(node.arg, []).append(None)

    def _bind(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self.values.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Tuple | ast.List):
            values: list[ast.expr | None] = [None] * len(target.elts)
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(values):
                values = list(value.elts)
            elif isinstance(value, ast.Call) and self.dotted(value.func) == "os.walk":
                values[0] = value
            for item, given in zip(target.elts, values, strict=True):
                self._bind(item, given)

    def is_assigned(self, name: str) -> bool:
        """Say whether the code itself gives a name its value."""
        return name in self.values

    def dotted(self, node: ast.expr) -> str:
        """Return what a callee is called, from its module on; "?" where its owner is not known."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        return ".".join([self._head(node, called=not parts), *reversed(parts)])

    def _head(self, node: ast.expr, *, called: bool) -> str:
        if isinstance(node, ast.Name):
            return self._named(node.id, called=called)
        if isinstance(node, ast.Call):
            made = self.dotted(node.func)
            last = made.rpartition(".")[2]
            if last in _PATH_TYPES:
                return "Path"
            if last in _SESSIONS:
                return made.partition(".")[0]
            if made in ("__import__", "importlib.import_module") and node.args:
                return self.texts(node.args[0])[0]
            if made == "getattr" and len(node.args) > 1:
                return f"{self.dotted(node.args[0])}.{self.texts(node.args[1])[0]}"
            if called and node.args:
                # attrgetter("system")(os)("..."): the name, of an owner not known.
                return f"?.{self.texts(node.args[0])[0]}"
        if isinstance(node, ast.Subscript):
            # vars(os)["system"], globals()["f"]: the name, of an owner not known.
            return f"?.{self.texts(node.slice)[0]}"
        return "?"

    def _named(self, name: str, *, called: bool) -> str:
        if name in self.imported:
            return self.imported[name]
        given = self.values.get(name, [])
        if len(given) == 1 and given[0] is not None and name not in self._resolving:
            value = given[0]
            alias = isinstance(value, ast.Name | ast.Attribute | ast.Subscript) and called
            if alias or isinstance(value, ast.Call):
                self._resolving.add(name)
                found = self._head(value, called=False) if not alias else self.dotted(value)
                self._resolving.discard(name)
                if not found.startswith("?"):
                    return found
        if self.starred and called and not given:
            return f"{self.starred[-1]}.{name}"
        return name

    def texts(self, node: ast.expr | None) -> Texts:
        """Return every text an expression can be; a hole where that is not known."""
        if node is None:
            return UNKNOWN
        found = tuple(dict.fromkeys(self._texts(node)))
        fits = 0 < len(found) <= MAX_TEXTS and all(len(text) <= MAX_LENGTH for text in found)
        return found if fits else UNKNOWN

    def _texts(self, node: ast.expr) -> Texts:
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            return UNKNOWN if HOLE_NAME in text else (text,)
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
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Attribute):
            if node.attr == "parent":
                return tuple(dirname(text) or "." for text in self.texts(node.value))
            if node.attr == "path":  # of a directory entry
                return self.texts(node.value)
        if isinstance(node, ast.Subscript) and self.dotted(node.value) == "os.environ":
            return self._variable(node.slice)
        return UNKNOWN

    def _name_texts(self, name: str) -> Texts:
        if name in self._known:
            return self._known[name]
        if name in self._resolving or name not in self.values:
            return UNKNOWN
        self._resolving.add(name)
        found = tuple(text for value in self.values[name] for text in self.texts(value))
        self._resolving.discard(name)
        self._known[name] = found if len(found) <= MAX_TEXTS else UNKNOWN
        return self._known[name]

    def _operation(self, node: ast.BinOp) -> Texts:
        left = self.texts(node.left)
        if isinstance(node.op, ast.Add):
            return self._product([left, self.texts(node.right)], "".join)
        if isinstance(node.op, ast.Div):
            return self._product([left, self.texts(node.right)], lambda parts: join(*parts))
        if isinstance(node.op, ast.Mod):
            return tuple(text.split("%", 1)[0] + HOLE for text in left)
        return UNKNOWN

    def _call(self, node: ast.Call) -> Texts:
        called = self.dotted(node.func)
        method = called.rpartition(".")[2]
        arguments = [self.texts(item) for item in node.args]
        if called in ("os.path.expanduser",) and arguments:
            return tuple(self._at_home(text) for text in arguments[0])
        if called in ("os.path.join",) or (method in _PATH_TYPES and arguments):
            return self._product(arguments, lambda parts: join(*parts))
        if called in ("os.getcwd", "Path.cwd") or method in _PATH_TYPES or called.endswith(".cwd"):
            return (".",)
        if called.endswith(("Path.home", "pathlib.Path.home")):
            return (self.home,)
        if called in ("os.environ.get", "os.getenv") and node.args:
            return self._variable(node.args[0])
        if called in _SAME and arguments:
            return arguments[0]
        if called in _FOUND and arguments:
            return tuple(
                join(text, _FOUND[called]) if _FOUND[called] else text for text in arguments[0]
            )
        if called == "os.walk" and arguments:
            return tuple(join(text, BELOW) for text in arguments[0])
        if called.startswith("tempfile."):
            return ("/tmp",) if method == "gettempdir" else ("/tmp/" + HOLE,)
        if isinstance(node.func, ast.Attribute):
            return self._method(node.func, method, arguments)
        return UNKNOWN

    def _method(self, func: ast.Attribute, method: str, arguments: list[Texts]) -> Texts:
        owner = self.texts(func.value)
        if method in _SAME_METHODS:
            return owner
        if method == "expanduser":
            return tuple(self._at_home(text) for text in owner)
        if method == "joinpath":
            return self._product([owner, *arguments], lambda parts: join(*parts))
        if method == "iterdir":
            return tuple(join(text, "*") for text in owner)
        if method in ("glob", "rglob") and arguments:
            return tuple(
                join(text, "*") if not pattern.strip("*/") else join(text, BELOW, pattern)
                for text in owner
                for pattern in arguments[0]
            )
        if method == "with_suffix":
            return tuple(dirname(text) + "/" + HOLE if "/" in text else HOLE for text in owner)
        if method == "with_name" and arguments:
            return tuple(join(dirname(text), new) for text in owner for new in arguments[0])
        if method == "format":
            return tuple(text.split("{", 1)[0] + HOLE for text in owner)
        return UNKNOWN

    def _variable(self, node: ast.expr) -> Texts:
        return (self.home,) if self.texts(node) == ("HOME",) else UNKNOWN

    def _at_home(self, text: str) -> str:
        return self.home + text[1:] if text == "~" or text.startswith("~/") else text

    def _product(self, parts: list[Texts], combine: Callable[[list[str]], str]) -> Texts:
        made: list[list[str]] = [[]]
        for texts in parts:
            made = [[*before, text] for before in made for text in texts]
            if len(made) > MAX_TEXTS:
                return UNKNOWN
        return tuple(combine(item) for item in made if item)
