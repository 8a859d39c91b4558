"""Parameter expansions with an operator (``${f%.py}``, ``${x:-y}``) over values that are known.

Source: bash reference manual, Shell Parameter Expansion.
"""

from typing import TYPE_CHECKING, Any

from toolgate.gate.shell.model import HOLE, Word
from toolgate.gate.shell.state import TEMPORARY

if TYPE_CHECKING:
    from toolgate.gate.shell.expand import Expander

MAX_VALUE = 1_024
MAX_OPERAND = 256
_GLOB = "*?["
# Operands with any of these are words of their own, to be expanded first: not followed here.
_NOT_PLAIN = frozenset("$`'\"\\{}()")
_OPERATORS = ("##", "#", "%%", "%", ":-", "-", ":+", "+", "//", "/", "^^", "^", ",,", ",", ":")
_DEFAULTS = (":-", ":+", "-", "+")
_KEEP_THE_START = ("%", "-", ":-", "+", ":+")


def stands_for(walk: "Expander", node: Any, named: list[Any]) -> list[Word]:
    """Return what an expansion with an operator or a subscript stands for."""
    raw = walk.text(node)
    name = walk.text(named[0]) if named else ""
    if not raw.startswith("${" + name) or not name:
        return [Word(HOLE)]
    inside = raw[2 + len(name) : -1]
    if name.endswith("]"):  # an array's element
        array, _, index = name[:-1].partition("[")
        if inside or not index.isdigit() or len(index) > 3:
            return [Word(HOLE)]
        return [walk.state.item(array, int(index))]
    if not name.replace("_", "a").isalnum():
        return [Word(HOLE)]
    if name == "TMPDIR" and name not in walk.state.values:
        return [Word(TEMPORARY if inside == "%/" else _temporary(raw))]
    values = walk.state.look_up(name)
    keeps = inside.startswith(_KEEP_THE_START)
    if not keeps and any(value.text.startswith(TEMPORARY) for value in values):
        return [Word(HOLE)]  # which letters TMPDIR's folder has is not known
    operator = next((mark for mark in _DEFAULTS if inside.startswith(mark)), "")
    if operator and len(named) == 2 and _NOT_PLAIN & set(inside):
        return _defaulted(operator, walk.single(named[1]), inside, walk.text(named[1]), values)
    return operated(inside, values)


def _temporary(raw: str) -> str:
    """Return a temporary folder for TMPDIR with such a folder as its default, else a hole."""
    for start in ("${TMPDIR:-", "${TMPDIR-"):
        default = raw.removeprefix(start).removesuffix("}").rstrip("/")
        if raw.startswith(start) and default in ("/tmp", "/var/tmp"):
            return default
    return HOLE


def _defaulted(
    operator: str, default: Word, inside: str, source: str, values: list[Word]
) -> list[Word]:
    """Return what ``${x:-WORD}`` or ``${x:+WORD}`` stands for, of a word that is expanded first."""
    if inside != operator + source or default.glob:
        return [Word(HOLE)]
    found: list[Word] = []
    for value in values:
        if not value.known or value.glob or (not value.text and not operator.startswith(":")):
            found.append(Word(HOLE, sources=value.sources, variables=default.variables))
        else:
            found.append(default if bool(value.text) == operator.endswith("+") else value)
    return list(dict.fromkeys(found))


def operated(inside: str, values: list[Word]) -> list[Word]:
    """Return the words an expansion may stand for; one hole where that is not followed.

    Args:
        inside: the operator and its operand: what stands behind the name.
        values: the words the variable may stand for.
    """
    operator = next((mark for mark in _OPERATORS if inside.startswith(mark)), "")
    operand = inside[len(operator) :]
    if not operator or len(operand) > MAX_OPERAND or _NOT_PLAIN & set(operand):
        return [Word(HOLE)]
    return list(dict.fromkeys(_one(operator, operand, value) for value in values))


def _one(operator: str, operand: str, value: Word) -> Word:
    if not value.known or len(value.text) > MAX_VALUE:
        return Word(HOLE, sources=value.sources)
    if operator in ("#", "##", "%", "%%"):
        cut = _cut_name if value.glob else _cut
        text = cut(value.text, operand, operator)
    else:
        changed = _renamed if value.glob else _changed
        text = changed(operator, operand, value.text)
    if text is None:
        return Word(HOLE, sources=value.sources)
    return value._replace(text=text)


def _changed(operator: str, operand: str, text: str) -> str | None:
    if operator in ("-", "+") and not text:
        return None  # a variable that is not set is held as an empty one; here they differ
    if operator in (":-", "-"):
        return text or operand
    if operator in (":+", "+"):
        return operand if text else ""
    if operator in ("^^", ",,") and not operand:
        return text.upper() if operator == "^^" else text.lower()
    if operator in ("^", ",") and not operand:
        first = text[:1].upper() if operator == "^" else text[:1].lower()
        return first + text[1:]
    if operator in ("/", "//"):
        old, _, new = operand.partition("/")
        if not old or old[0] in "#%" or any(char in old for char in _GLOB) or "&" in new:
            return None
        return text.replace(old, new) if operator == "//" else text.replace(old, new, 1)
    if operator == ":":
        return _substring(operand, text)
    return None


def _renamed(operator: str, operand: str, text: str) -> str | None:
    """Return a pattern for the names that changed letters make of those a pattern stands for.

    Where neither what is looked for nor what is put there holds a ``/``, they stay in the folder.
    """
    folder, slash, _ = text.rpartition("/")
    if folder:
        return None  # the folder's own name may change too
    if operator in ("^", "^^", ",", ",,"):
        return f"{slash}*"
    old, _, new = operand.partition("/")
    replaces = operator in ("/", "//") and old and old[0] not in "#%" and "/" not in new
    return f"{slash}*" if replaces else None


def _substring(operand: str, text: str) -> str | None:
    start, colon, length = operand.partition(":")
    if not start.strip().isdigit() or (colon and not length.strip().isdigit()):
        return None
    return text[int(start) :][: int(length)] if colon else text[int(start) :]


def _cut(text: str, pattern: str, operator: str) -> str | None:
    """Cut what a pattern matches off a text's start (``#``) or end (``%``)."""
    if "[" in pattern:
        return None
    cuts = range(len(text) + 1)
    front = operator[0] == "#"
    longest = len(operator) == 2
    for cut in cuts if front != longest else reversed(cuts):
        taken, left = (text[:cut], text[cut:]) if front else (text[cut:], text[:cut])
        if _matches(taken, pattern):
            return left
    return text


def _matches(text: str, pattern: str) -> bool:
    """Match a pattern of literals, ``*`` and ``?``, in time bound by the product of both."""
    reached = {0}
    for char in pattern:
        if char == "*":
            reached = set(range(min(reached), len(text) + 1)) if reached else reached
        else:
            reached = {
                at + 1 for at in reached if at < len(text) and (char == "?" or text[at] == char)
            }
    return len(text) in reached


def _cut_name(text: str, pattern: str, operator: str) -> str | None:
    """Cut every name a file pattern may stand for, where the cut is the same for all of them."""
    if not any(char in pattern for char in _GLOB):
        if operator[0] == "%":
            return text.removesuffix(pattern) if text.endswith(pattern) else None
        return text.removeprefix(pattern) if text.startswith(pattern) else None
    before, mark, after = text.rpartition("." if pattern == ".*" else "/")
    if not mark or (any(char in after for char in _GLOB) and pattern == ".*"):
        return None
    if operator == "%" and pattern == ".*" and "/" not in after:
        return before
    if operator == "%" and pattern == "/*":
        return before or None
    return after if operator == "##" and pattern == "*/" else None
