"""Secrets of the environment in a program: which expressions hold one, and where it goes."""

import ast

from toolgate.gate.effects.inline.values import Values
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.shell.model import HOLE

MAX_DEPTH = 30

_WORDS = frozenset(
    (
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "APIKEY",
        "CREDENTIALS",
        "PAT",
        "SECRETS",
    )
)
_PAIRS = (
    "API_KEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "SECRET_KEY",
    "SIGNING_KEY",
    "ENCRYPTION_KEY",
    "MASTER_KEY",
    "AUTH_KEY",
)
# A name that ends so tells where or how, and is no secret itself.
_ENDS = frozenset(
    (
        "FILE",
        "PATH",
        "DIR",
        "URL",
        "NAME",
        "TTL",
        "LIMIT",
        "COUNT",
        "LENGTH",
        "ENABLED",
        "EXPIRY",
        "EXPIRES",
    )
)
# Calls whose value tells nothing of what they are given.
_HIDING = frozenset(
    (
        *("bool", "len", "isinstance", "type", "Boolean", "empty", "isset", "strlen", "defined"),
        *(
            "length",
            "size",
            "nil?",
            "empty?",
            "include?",
            "key?",
            "has_key?",
            "exists",
            "hasOwnProperty",
        ),
        *("keys", "sha256", "sha1", "md5", "Object.keys", "array_keys", "startswith", "startsWith"),
        *("start_with?", "present?", "any?", "int", "parseInt"),
    )
)
# Where a secret goes to whom it was made for.
_CREDENTIALS = frozenset(
    (
        "headers",
        "auth",
        "header",
        "Authorization",
        "authorization",
        "cookies",
        "cert",
        "env",
        "X-API-Key",
    )
)


def is_secret_variable(name: str) -> bool:
    """Say whether a variable of the environment holds a secret, by its name."""
    upper = name.upper()
    parts = upper.split("_")
    if parts[-1] in _ENDS:
        return False
    return not _WORDS.isdisjoint(parts) or any(pair in upper for pair in _PAIRS)


class Exposure:
    """Follows secrets of the environment to where they are printed, kept or sent.

    Args:
        values: what expressions can be.
        name: the program that runs the code.
    """

    def __init__(self, values: Values, name: str) -> None:
        self.values = values
        self.words = values.words
        self.name = name
        self._names: dict[str, str] = {}
        self._resolving: set[str] = set()
        self._reads = self._reads_environment()

    def _reads_environment(self) -> bool:
        """Say whether the program names the environment at all; most do not."""
        heads = {name.partition(".")[0] for name in (*self.words.environment, *self.words.getters)}
        heads |= {item.partition(".")[2] for item in (*self.words.environment, *self.words.getters)}
        return bool(heads & self.values.names.mentioned)

    def printed(self, node: ast.Call, called: str) -> list[Effect]:
        """Return that a call prints a secret, if it does."""
        if not self._reads or called not in self.words.prints:
            return []
        return self._exposed(node.args, "secret.print")

    def kept(self, node: ast.Call, written: list[Effect]) -> list[Effect]:
        """Return that a call writes a secret to a file, if it does."""
        secret = self.secret_in(node.args) if self._reads else ""
        return [
            Effect("secret.persist", e.scope, e.resource, True, PROVED, self.name, "environment")
            for e in written
            if secret and e.type == "fs.write"
        ]

    def sent(self, node: ast.Call) -> str:
        """Return the secret a call sends, "" for none.

        A credential in a header goes to whom it was made for, and is none.
        """
        if not self._reads:
            return ""
        inner = [item for item in node.args if not isinstance(item, ast.Dict)]
        inner += [key.value for key in node.keywords if key.arg not in _CREDENTIALS]
        return self.secret_in(inner)

    def _exposed(self, nodes: list[ast.expr], kind: str) -> list[Effect]:
        found = self.secret_in(nodes)
        if not found:
            return []
        return [Effect(kind, "secret", found, False, PROVED, self.name, "environment")]

    def secret_in(self, nodes: list[ast.expr]) -> str:
        """Return the name of a secret in some expressions, "" for none."""
        for node in nodes:
            found = self._secret(node, 0)
            if found:
                return found
        return ""

    def _secret(self, node: ast.AST, depth: int) -> str:
        if depth > MAX_DEPTH or isinstance(node, ast.Compare | ast.Constant | ast.Lambda):
            return ""
        if isinstance(node, ast.Name):
            return self._of_name(node.id, depth)
        if isinstance(node, ast.Call):
            return self._of_call(node, depth)
        if isinstance(node, ast.Subscript | ast.Attribute):
            owner = self.values.dotted(node.value)
            if owner in self.words.environment and not self._is_method(node):
                key = (
                    self.values.texts(node.slice)[0]
                    if isinstance(node, ast.Subscript)
                    else node.attr
                )
                return self._variable(key)
            if (
                isinstance(node, ast.Attribute)
                and self.values.dotted(node) in self.words.environment
            ):
                return "environment"
            hides = isinstance(node, ast.Attribute) and node.attr in _HIDING
            return "" if hides else self._secret(node.value, depth + 1)
        if isinstance(node, ast.IfExp):
            return self._secret(node.body, depth + 1) or self._secret(node.orelse, depth + 1)
        for child in ast.iter_child_nodes(node):
            found = self._secret(child, depth + 1)
            if found:
                return found
        return ""

    def _is_method(self, node: ast.Subscript | ast.Attribute) -> bool:
        return isinstance(node, ast.Attribute) and self.words.language != "javascript"

    def _variable(self, name: str) -> str:
        return f"${name}" if HOLE not in name and is_secret_variable(name) else ""

    def _of_name(self, name: str, depth: int) -> str:
        if (
            name in self.words.environment
            or self.values.names.imported.get(name) in self.words.environment
        ):
            return "environment"
        if name in self._names or name in self._resolving:
            return self._names.get(name, "")
        self._resolving.add(name)
        found = ""
        for value in self.values.names.given(name):
            found = found or (self._secret(value, depth + 1) if value is not None else "")
        self._resolving.discard(name)
        self._names[name] = found
        return found

    def _of_call(self, node: ast.Call, depth: int) -> str:
        called = self.values.dotted(node.func)
        if called in self.words.getters:
            return (
                self._variable(self.values.texts(node.args[0])[0]) if node.args else "environment"
            )
        if called in self.words.environment:
            return "environment"
        method = called.rpartition(".")[2]
        if called in _HIDING or method in _HIDING:
            return ""
        owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        inner = [*owner, *node.args, *(key.value for key in node.keywords)]
        for item in inner:
            found = self._secret(item, depth + 1)
            if found:
                return found
        return ""
