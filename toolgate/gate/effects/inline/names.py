"""The names of a program: what they import, what they are given, how lists of words grow."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from toolgate.gate.effects.inline.vocabulary import Vocabulary
from toolgate.gate.shell.work import Work

MAX_VARIANTS = 8
MAX_WORDS = 200
MAX_NODES = 8_000
MAX_CALLS = 800
# Methods and functions that go over the values of their owner, one by one.
_GROWS = frozenset(("append", "push", "<<", "add"))
_EXTENDS = frozenset(("extend", "concat"))
_PREPENDS = frozenset(("insert", "unshift", "prepend"))
_BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.IfExp, ast.Match)

_TEMPORARY = frozenset(("tmp_path", "tmpdir"))
"""Parameters that pytest gives a folder of the test's own, below the temporary one."""


class CodeTooLongError(Exception):
    """A program has more parts than are read within the time of a decision."""


class Change(NamedTuple):
    """One change of a list.

    Args:
        how: ``append``, ``extend`` or ``insert``.
        items: what is added; for ``extend`` the lists.
        certain: whether it always happens.
    """

    how: str
    items: list[ast.expr]
    certain: bool


class Names:
    """What a program's names import and are given, in source order.

    Args:
        tree: the program.
        words: the vocabulary of its language.
        flat: whether the tree has lost which statements are conditional.
        work: the steps that reading may still cost.
    """

    def __init__(self, tree: ast.AST, words: Vocabulary, *, flat: bool, work: Work) -> None:
        self.words = words
        self.work = work
        self.flat = flat
        self.imported: dict[str, str] = {}
        self.starred: list[str] = []
        self.values: dict[str, list[ast.expr | None]] = {}
        self.changes: dict[str, list[Change]] = {}
        self.parameters: dict[str, list[tuple[str, int]]] = {}
        self.functions: set[str] = set()
        self.calls: list[ast.Call] = []
        self.mentioned: set[str] = set()
        self.taken: list[ast.Name | ast.Attribute] = []
        self._followed: set[int] = set()
        for node, certain in _in_order(tree):
            work.spend(4)
            self._note(node, certain=certain and not flat)
        if len(self.calls) > MAX_CALLS:
            raise CodeTooLongError
        self.called_with = self._call_sites()

    def _note(self, node: ast.AST, *, certain: bool) -> None:
        if isinstance(node, ast.Name | ast.Attribute):
            self.mentioned.add(node.id if isinstance(node, ast.Name) else node.attr)
            if id(node) not in self._followed:
                self.taken.append(node)
        elif isinstance(node, ast.Call):
            self.calls.append(node)
            self._followed.add(id(node.func))
            self._note_change(node, certain=certain)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self._note_import(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.arg):
            self._note_function(node)
        else:
            self._note_value(node, certain=certain)

    def _note_import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for item in node.names:
                package = item.name.partition(".")[0]
                self.imported[item.asname or package] = item.name if item.asname else package
        elif node.module:
            for item in node.names:
                if item.name == "*":
                    self.starred.append(node.module)
                self.imported[item.asname or item.name] = f"{node.module}.{item.name}"
                self.mentioned.add(item.name)

    def _note_value(self, node: ast.AST, *, certain: bool) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, node.value)
            self._followed.update(map(id, node.targets))
            if isinstance(node.targets[0], ast.Name):
                self._followed.add(id(node.value))
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
            self._bind(node.target, node.value)
        elif isinstance(node, ast.AugAssign):
            self._note_growth(node, certain=certain)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            self._bind(node.target, node.iter)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._bind(node.optional_vars, node.context_expr)

    def _note_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.arg) -> None:
        if not isinstance(node, ast.arg):
            self._note_parameters(node.name, node.args)
        else:
            self.values.setdefault(node.arg, []).append(None)

    def _note_parameters(self, name: str, arguments: ast.arguments) -> None:
        self.functions.add(name)
        for position, parameter in enumerate(arguments.args):
            self.parameters.setdefault(parameter.arg, []).append((name, position))

    def _note_change(self, node: ast.Call, *, certain: bool) -> None:
        func = node.func
        if (
            self.words.push
            and isinstance(func, ast.Name)
            and func.id in ("push", "unshift", "array_push")
        ):
            if node.args and isinstance(node.args[0], ast.Name):
                self._change(node.args[0].id, "append", node.args[1:], certain=certain)
        elif isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            name = func.value.id
            if func.attr in _GROWS:
                self._change(name, "append", node.args, certain=certain)
            elif func.attr in _EXTENDS:
                self._change(name, "extend", node.args, certain=certain)
            elif func.attr in _PREPENDS:
                self._change(name, "insert", node.args[func.attr == "insert" :], certain=certain)

    def _note_growth(self, node: ast.AugAssign, *, certain: bool) -> None:
        if isinstance(node.target, ast.Name):
            if isinstance(node.op, ast.Add):
                self._change(node.target.id, "extend", [node.value], certain=certain)
            else:
                self.values.setdefault(node.target.id, []).append(None)

    def _change(self, name: str, how: str, items: list[ast.expr], *, certain: bool) -> None:
        self.changes.setdefault(name, []).append(Change(how, items, certain))

    def _bind(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self.values.setdefault(target.id, []).append(value)
            if isinstance(value, ast.Lambda):
                self._note_parameters(target.id, value.args)
        elif isinstance(target, ast.Dict) and value is not None:
            for key, item in zip(target.keys, target.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    self._bind(item, ast.Attribute(value, key.value, ast.Load()))
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            self.values.setdefault(target.value.id, []).append(None)
        elif isinstance(target, ast.Tuple | ast.List):
            values: list[ast.expr | None] = [None] * len(target.elts)
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(values):
                values = list(value.elts)
            elif isinstance(value, ast.Call) and self._spelled(value.func) == "os.walk":
                values[0] = value
            for item, given in zip(target.elts, values, strict=True):
                self._bind(item, given)

    def _spelled(self, node: ast.expr) -> str:
        """Return a dotted name as it is written, with what was imported so far put in."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        head = self.imported.get(node.id, node.id) if isinstance(node, ast.Name) else "?"
        return ".".join([head, *reversed(parts)])

    def _call_sites(self) -> dict[str, list[ast.Call]]:
        """Return the calls of the program's own functions, by name; none where one is passed on."""
        found: dict[str, list[ast.Call]] = {}
        if not self.functions:
            return found
        callees = set()
        for call in self.calls:
            if isinstance(call.func, ast.Name) and call.func.id in self.functions:
                found.setdefault(call.func.id, []).append(call)
                callees.add(id(call.func))
        for call in self.calls:
            for item in (*call.args, *(keyword.value for keyword in call.keywords)):
                if isinstance(item, ast.Name) and item.id in self.functions:
                    found.pop(item.id, None)
        return found

    def given(self, name: str) -> list[ast.expr | None]:
        """Return every value a name is given; None for one that is not known."""
        values = list(self.values.get(name, ()))
        self.work.spend(4 + len(values))
        for function, position in self.parameters.get(name, ()):
            for call in self.called_with.get(function, ()):
                self.work.spend(4)
                if None in values:
                    values.remove(None)
                values += self._passed(call, name, position)
        if values == [None] and name in _TEMPORARY and name in self.parameters:
            return [ast.Constant("/tmp/pytest-of-user/test")]
        return values

    def _passed(self, call: ast.Call, name: str, position: int) -> list[ast.expr | None]:
        if any(isinstance(item, ast.Starred) for item in call.args):
            return [None]
        if position < len(call.args):
            return [call.args[position]]
        return [item.value for item in call.keywords if item.arg == name]

    def is_assigned(self, name: str) -> bool:
        """Say whether the code itself gives a name its value."""
        return name in self.values

    def grown(self, name: str, base: list[ast.expr]) -> list[list[ast.expr]]:
        """Return what a list may have become by what is added to it: with and without the rest.

        What happens under a condition may not happen, so both are read.
        """
        changes = self.changes.get(name, ())
        certain, every = list(base), list(base)
        for change in changes:
            added = change.items
            if change.how == "extend":
                added = [ast.Starred(item, ast.Load()) for item in added]
            for items in (certain, every) if change.certain else (every,):
                place = 0 if change.how == "insert" else len(items)
                items[place:place] = added
        if len(every) > MAX_WORDS:
            return []
        return [certain, every] if len(certain) != len(every) else [every]


def _in_order(tree: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    """Return every node in source order, and whether it always takes place."""
    stack: list[tuple[ast.AST, bool]] = [(tree, True)]
    passed = 0
    while stack:
        node, certain = stack.pop()
        passed += 1
        if passed > MAX_NODES:
            raise CodeTooLongError
        yield node, certain
        inner = certain and not isinstance(node, _BRANCHES)
        for field in reversed(node._fields):
            value = getattr(node, field, None)
            if field in ("annotation", "returns"):
                continue
            if isinstance(value, list):
                stack += [(item, inner) for item in reversed(value) if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST) and field not in ("ctx", "op"):
                stack.append((value, inner))
