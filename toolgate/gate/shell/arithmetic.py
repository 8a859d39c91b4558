"""Arithmetic over values that are known: ``$((x + 1))``.

Source: bash reference manual, Shell Arithmetic; POSIX.1-2024, Arithmetic Expansion.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from toolgate.gate.shell.model import HOLE, Word

if TYPE_CHECKING:
    from toolgate.gate.shell.expand import Expander

MAX_EXPRESSION = 128
_MOST = 2**63
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
# Higher binds tighter; what assigns, compares or chooses is not followed.
_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2}


def stands_for(walk: "Expander", node: Any) -> Word:
    """Return the number an arithmetic expansion makes; inside a loop it is another each time."""
    sources = walk.substitutions(node)
    raw = walk.text(node)
    if sources or walk.looping or not (raw.startswith("$((") and raw.endswith("))")):
        return Word(HOLE, sources=sources)

    def look_up(name: str) -> str | None:
        values = walk.state.look_up(name)
        return values[0].text if len(values) == 1 and values[0].known else None

    value = value_of(raw[3:-2], look_up)
    return Word(HOLE if value is None else value)


def value_of(text: str, look_up: Callable[[str], str | None]) -> str | None:
    """Return the number an expression stands for; None where that is not followed.

    Args:
        text: what stands between ``$((`` and ``))``.
        look_up: gives a variable's value, None where it is not known.
    """
    if len(text) > MAX_EXPRESSION:
        return None
    try:
        tokens = _tokens(text, look_up)
        value, end = _sum(tokens, 0, 0)
    except (ValueError, IndexError, ZeroDivisionError, RecursionError):
        return None
    return str(value) if end == len(tokens) and -_MOST <= value < _MOST else None


def _tokens(text: str, look_up: Callable[[str], str | None]) -> list[str | int]:
    """Return operators as text and operands as numbers.

    Raises:
        ValueError: something stands there that is not followed.
    """
    found: list[str | int] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char in " \t\n":
            at += 1
        elif char in _BINDS or char in "()":
            if text[at - 1 : at] == char and char in "+-*":
                raise ValueError(text)  # ++, -- and ** are other operators
            found.append(char)
            at += 1
        else:
            end = at + (char == "$")
            while end < len(text) and text[end] in _WORD:
                end += 1
            name = text[at:end]
            if name[:1].isdigit():
                found.append(_number(name))
            else:
                bare = name.removeprefix("$")  # $1 is an argument, 1 a number
                found.append(_number(look_up(bare) if bare else None))
            at = end
    return found


def _number(text: str | None) -> int:
    """Read a decimal number; one that begins with 0 is octal, and what is empty counts as 0."""
    if text == "":
        return 0
    digits = (text or "").removeprefix("-")
    plain = digits.isascii() and digits.isdigit() and len(digits) < 20
    if not plain or (digits[0] == "0" and digits != "0"):
        raise ValueError(text)
    return int(text or "")


def _sum(tokens: list[str | int], at: int, least: int) -> tuple[int, int]:
    """Return the value of operands joined by operators that bind tighter than some."""
    left, at = _operand(tokens, at)
    while at < len(tokens):
        operator = tokens[at]
        binds = _BINDS.get(operator, 0) if isinstance(operator, str) else 0
        if isinstance(operator, int) or (not binds and operator != ")"):
            raise ValueError(operator)
        if binds <= least:
            break
        right, at = _sum(tokens, at + 1, binds)
        left = _applied(str(operator), left, right)
    return left, at


def _operand(tokens: list[str | int], at: int) -> tuple[int, int]:
    token = tokens[at]
    if isinstance(token, int):
        return token, at + 1
    if token in ("-", "+"):
        value, at = _operand(tokens, at + 1)
        return -value if token == "-" else value, at
    if token != "(":
        raise ValueError(token)
    value, at = _sum(tokens, at + 1, 0)
    if tokens[at] != ")":
        raise ValueError(tokens[at])
    return value, at + 1


def _applied(operator: str, left: int, right: int) -> int:
    """Return what an operator makes of two numbers; division cuts towards zero, as in C."""
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    quotient = abs(left) // abs(right)
    quotient = quotient if (left < 0) == (right < 0) else -quotient
    return quotient if operator == "/" else left - quotient * right
