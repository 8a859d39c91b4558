"""What the expressions of a program can be: texts, lists of words, the names of what is called."""

import ast

from toolgate.gate.effects.inline.names import MAX_VARIANTS
from toolgate.gate.effects.inline.naming import HOLE_NAME, UNKNOWN, Texts
from toolgate.gate.effects.inline.texts import TextValues
from toolgate.gate.shell.model import HOLE

_SPLITS = frozenset(("shlex.split", "Shellwords.split", "Shellwords.shellsplit"))

__all__ = ["HOLE_NAME", "UNKNOWN", "Texts", "Values"]


class Values(TextValues):
    """Values of one program's expressions.

    Args:
        names: the program's names.
        home: the user's home, "" when not known.
    """

    def lists(self, node: ast.expr | None, depth: int = 0) -> list[list[ast.expr]] | None:
        """Return every list an expression may be, item by item; None when it is no known list."""
        if node is None or depth > 6:
            return None
        self.names.work.spend(6)
        if isinstance(node, ast.List | ast.Tuple):
            return self._spread(node.elts, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left = self.lists(node.left, depth + 1)
            right = self.lists(node.right, depth + 1)
            if left is None:
                return None
            return [one + two for one in left for two in right or [[ast.Constant(None)]]][
                :MAX_VARIANTS
            ]
        if isinstance(node, ast.IfExp):
            body = self.lists(node.body, depth + 1)
            other = self.lists(node.orelse, depth + 1)
            return None if body is None or other is None else body + other
        if isinstance(node, ast.Name):
            return self._named_lists(node.id, depth)
        if isinstance(node, ast.Call):
            return self._called_lists(node, depth)
        return None

    def _spread(self, items: list[ast.expr], depth: int) -> list[list[ast.expr]]:
        found: list[list[ast.expr]] = [[]]
        for item in items:
            inner = item.value if isinstance(item, ast.Starred) else item
            lists = self.lists(inner, depth + 1) if self._spreads(item) else None
            if lists is None:
                unknown = isinstance(item, ast.Starred)
                lists = [[ast.Constant(None) if unknown else item]]
            found = [one + two for one in found for two in lists][:MAX_VARIANTS]
        return found

    def _spreads(self, item: ast.expr) -> bool:
        """Say whether an item of a list is a list that becomes part of it."""
        if isinstance(item, ast.Starred):
            return True
        if self.words.language == "perl":
            return isinstance(item, ast.List | ast.Tuple) or (
                isinstance(item, ast.Name) and item.id.startswith("@")
            )
        # In Ruby and JavaScript ``*a`` and ``...a`` have been passed as ``a``.
        return self.names.flat and isinstance(item, ast.Name) and self._is_list_name(item.id)

    def _is_list_name(self, name: str) -> bool:
        given = self.names.given(name)
        return bool(given) and all(isinstance(value, ast.List) for value in given)

    def _named_lists(self, name: str, depth: int) -> list[list[ast.expr]] | None:
        given = self.names.given(name)
        if not given or len(given) > 3 or name in self._resolving:
            return None
        self._resolving.add(name)
        found: list[list[ast.expr]] = []
        for value in given:
            lists = self.lists(value, depth + 1)
            if lists is None:
                found = []
                break
            for items in lists:
                for grown in self.names.grown(name, items):
                    found += self._spread(grown, depth + 1)
        self._resolving.discard(name)
        return found[:MAX_VARIANTS] or None

    def _called_lists(self, node: ast.Call, depth: int) -> list[list[ast.expr]] | None:
        called = self.dotted(node.func)
        method = called.rpartition(".")[2]
        if called in ("list", "tuple", "Array.from") and node.args:
            return self.lists(node.args[0], depth + 1)
        if (
            method in ("copy", "slice", "dup")
            and isinstance(node.func, ast.Attribute)
            and not node.args
        ):
            return self.lists(node.func.value, depth + 1)
        if method == "concat" and isinstance(node.func, ast.Attribute) and node.args:
            return self.lists(ast.BinOp(node.func.value, ast.Add(), node.args[0]), depth + 1)
        texts = UNKNOWN
        if called in _SPLITS and node.args:
            texts = self.texts(node.args[0])
        elif method in ("split", "shellsplit") and isinstance(node.func, ast.Attribute):
            glue = self.texts(node.args[0])[0] if node.args else " "
            texts = self.texts(node.func.value) if glue == " " else UNKNOWN
        if any(HOLE in text for text in texts):
            return None
        return [[ast.Constant(word) for word in _words(text, called)] for text in texts]


def _words(text: str, called: str) -> list[str]:
    if called not in _SPLITS and not called.endswith("shellsplit"):
        return text.split()
    from shlex import split  # few programs take words apart

    try:
        return split(text)
    except ValueError:
        return [HOLE]
