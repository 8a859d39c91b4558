"""JavaScript, Ruby, Perl and PHP brought to the syntax tree of Python, as far as calls go.

Statements, blocks and functions are flattened: what is read is which calls
there are, on which owner, with which arguments, and what names are given.
Nothing is refused; what has no counterpart becomes a value that is not known.
Each token is passed once.
"""

import ast

from toolgate.gate.effects.inline.calls import Calls
from toolgate.gate.effects.inline.keywords import JOINS, SILENT
from toolgate.gate.effects.inline.operands import Operands
from toolgate.gate.effects.inline.statements import Statements
from toolgate.gate.effects.inline.tokens import tokenize


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


class _Lower(Statements, Operands, Calls):
    """Reads expressions; statements, operands and calls are read by what it is made of."""

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

    def _operation(self, left: ast.expr, operator: str, binding: int) -> ast.expr:
        if binding == 1:
            right = self._expression(1)
            return self._assign(left, operator, right)
        if operator == "?":
            return self._choice(left)
        right = self._expression(binding) or ast.Constant(None)
        if binding == 3:
            return ast.BoolOp(ast.Or(), [left, right])
        if operator == JOINS[self.language]:
            return ast.BinOp(left, ast.Add(), right)
        if operator == "<<" and self.language == "ruby":
            self.body.append(
                ast.Expr(ast.Call(ast.Attribute(left, "push", ast.Load()), [right], []))
            )
        if operator == "%" and self.language in ("ruby", "python"):
            return ast.BinOp(left, ast.Mod(), right)
        if operator == "/" and self.language == "python":
            return ast.BinOp(left, ast.Div(), right)
        if binding == 4 and operator != "|":
            return ast.Compare(left, [ast.Eq()], [right])
        return ast.BinOp(left, ast.Sub(), right)

    def _choice(self, test: ast.expr) -> ast.expr:
        yes = ast.Constant(None) if self._is(":") else self._expression(2) or ast.Constant(None)
        if not self._take(":"):
            self.body.append(ast.Expr(yes))
            return test
        return ast.IfExp(test, yes, self._expression(2) or ast.Constant(None))

    def _assign(self, target: ast.expr, operator: str, value: ast.expr | None) -> ast.expr:
        value = value or ast.Constant(None)
        if operator == "=":
            self.body.append(ast.Assign([target], value))
        elif operator in ("||=", "??=", "&&=", "//="):
            self.body.append(ast.Assign([target], ast.BoolOp(ast.Or(), [target, value])))
        elif operator[0] == JOINS[self.language] and isinstance(target, ast.Name):
            self.body.append(ast.AugAssign(target, ast.Add(), value))
        elif isinstance(target, ast.Name):
            self.body.append(ast.AugAssign(target, ast.Sub(), value))
        else:
            self.body.append(ast.Expr(target))
        return value

    def _arrow(self, left: ast.expr) -> ast.expr:
        """Read an arrow function; its body is read where it stands."""
        self.position += 1
        names = [node.id for node in ast.walk(left) if isinstance(node, ast.Name)]
        body = self._expression(1) or ast.Constant(None)
        arguments = ast.arguments([], [ast.arg(item) for item in names], None, [], [], None, [])
        function = ast.Lambda(arguments, body)
        if not isinstance(left, ast.Name):
            self.body.append(ast.Expr(left))  # by default
        if isinstance(left, ast.Dict):
            self.patterns[id(function)] = left
        return function

    def _unary(self) -> ast.expr | None:
        while True:
            token = self._at()
            silent = token.value in SILENT[self.language]
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
