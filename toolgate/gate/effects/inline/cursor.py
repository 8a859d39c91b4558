"""A place among the tokens of a program, and what its readers share."""

import ast
from abc import ABC, abstractmethod

from toolgate.gate.effects.inline.keywords import BINDING, ENDS_ARGUMENTS, WORD_OPERATORS
from toolgate.gate.effects.inline.literals import Token

END = Token("mark", "")
MAX_DEPTH = 60


class Keyword(ast.Dict):
    """An argument of Python that is given by its name."""


class Cursor(ABC):
    """A place among the tokens of a program, and what its readers share."""

    def __init__(self, tokens: list[Token], language: str, depth: int) -> None:
        self.tokens = tokens
        self.language = language
        self.depth = depth
        self.position = 0
        self.body: list[ast.stmt] = []
        self.broken = False
        self.patterns: dict[int, ast.Dict] = {}
        self.bare = language in ("ruby", "perl")

    def _at(self, ahead: int = 0) -> Token:
        place = self.position + ahead
        return self.tokens[place] if place < len(self.tokens) else END

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

    def _binding(self, operator: str) -> int:
        if self._at().kind == "mark":
            return BINDING.get(operator, 0)
        if self._at().kind != "name" or operator not in BINDING:
            return 0
        own = self._ends_arguments(self._at())
        return BINDING[operator] if own else 0

    def _ends_arguments(self, token: Token) -> bool:
        if token.kind != "name":
            return False
        foreign = token.value in WORD_OPERATORS and self.language == "perl"
        return foreign or token.value in ENDS_ARGUMENTS[self.language]

    @abstractmethod
    def _bind(self, target: ast.expr, values: ast.expr) -> None:
        """Give a name the values that are gone over."""

    @abstractmethod
    def _block_parameters(self, node: ast.expr | None) -> None:
        """Read the parameters of a block of Ruby."""

    @abstractmethod
    def _definition(self) -> None:
        """Read the head of a function."""

    @abstractmethod
    def _expression(self, tight: int = 0) -> ast.expr | None:
        """Return the expression that begins here."""

    @abstractmethod
    def _items(self, closer: str) -> list[ast.expr]:
        """Return the expressions up to a closing bracket."""

    @abstractmethod
    def _keyed(self, node: ast.expr) -> ast.expr:
        """Return a pair for a key and its value, else the node."""

    @abstractmethod
    def _keyword(self, word: str) -> bool:
        """Pass a statement that is no expression, or its head; say whether it was one."""

    @abstractmethod
    def _literal(self, token: Token) -> ast.expr:
        """Return what a literal stands for."""

    @abstractmethod
    def _loop(self) -> None:
        """Read the head of a loop over values."""

    @abstractmethod
    def _modifier(self, node: ast.expr) -> None:
        """Read what may follow a statement on its line."""

    @abstractmethod
    def _nested(self, closer: str) -> list[ast.expr]:
        """Read up to a closing mark, one level deeper."""

    @abstractmethod
    def _parameters(self, name: str, closer: str) -> list[str]:
        """Read the parameters of a function."""

    @abstractmethod
    def _primary(self) -> ast.expr | None:
        """Return the value that begins here, alone."""

    @abstractmethod
    def _unary(self) -> ast.expr | None:
        """Return the value that begins here, with what follows it."""

    @abstractmethod
    def statements(self, closer: str) -> list[ast.expr]:
        """Read up to a closing mark, which is passed; return the expressions on the way."""
