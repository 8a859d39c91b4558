"""Regular expressions that people write into a policy: RE2, so that time is linear in the text.

Loaded where a policy holds one, and never otherwise.

Source: google/re2, ``doc/syntax.txt`` (what has no linear-time form is left out of RE2).
"""

from typing import Any

import re2

_AROUND = {
    "(?=": "look-ahead",
    "(?!": "look-ahead",
    "(?<=": "look-behind",
    "(?<!": "look-behind",
    "(?>": "an atomic group",
    "(?P=": "a back-reference",
    "(?(": "a conditional group",
}
MOST = 1_000
"""Longest pattern, in characters."""

_MEMORY, _MEMORY_OF_ALL = 1 << 18, 1 << 23
"""Bytes a pattern, and all of a policy as one, may take: a pattern such as ``\\pL{300}`` takes a
tenth of a second to compile, and the hook compiles them for every call."""


class Expression:
    """A pattern that is searched for in a call's text, whatever the case of letters.

    Args:
        pattern: in RE2's syntax, without faults.
        memory: bytes that it may take.

    Raises:
        re2.error: it would take more.
    """

    def __init__(self, pattern: str, memory: int = _MEMORY) -> None:
        self._compiled = re2.compile(pattern, _options(memory))

    def found(self, text: bytes) -> bool:
        """Say whether the pattern fits somewhere in a text in UTF-8."""
        return self._compiled.search(text) is not None


def either(patterns: list[str]) -> Expression | None:
    """Return one expression that is found where any of some patterns is, in one pass.

    Not RE2's set, which says that nothing matches when it runs out of memory; a single
    expression is then only slower.

    Args:
        patterns: without faults.

    Returns:
        None where they cannot be one: an open ``\\Q`` takes what follows for text, and all
        together may be too large.
    """
    if any("\\Q" in pattern for pattern in patterns):
        return None
    try:
        return Expression("|".join(f"(?:{pattern})" for pattern in patterns), _MEMORY_OF_ALL)
    except re2.error:
        return None


def pattern_fault(pattern: str) -> str | None:
    """Return why a pattern is refused, with the place in it, or None.

    Args:
        pattern: as a person wrote it.
    """
    if len(pattern) > MOST:
        return f"has {len(pattern)} characters; expected at most {MOST}"
    refused = _not_regular(pattern)
    if refused is not None:
        at, what = refused
        return (
            f"{what} at character {at + 1}: RE2 has none, because the time it takes has no bound; "
            "say it without, or by effects"
        )
    try:
        re2.compile(pattern, _options(_MEMORY))
    except re2.error as error:
        message = error.args[0]
        said = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
        part = said.rpartition(": ")[2]
        at = pattern.find(part)
        where = f" at character {at + 1}" if at >= 0 and part else ""
        return f"{said[:120]}{where}"
    except UnicodeEncodeError as error:
        return f"half a character at character {error.start + 1}"
    return None


def _not_regular(pattern: str) -> tuple[int, str] | None:
    """Return the first place that asks for what no regular expression can do, and what it is."""
    position, inside = 0, False
    while position < len(pattern):
        char = pattern[position]
        if char == "\\":
            after = pattern[position + 1 : position + 2]
            if after == "Q":  # text up to \E stands for itself
                end = pattern.find("\\E", position)
                position = len(pattern) if end < 0 else end + 2
                continue
            if not inside and (after in "123456789" or after in ("k", "g")) and after:
                return position, "a back-reference"
            position += 2
            continue
        if inside:
            inside = char != "]"
        elif char == "[":
            inside = True
            # A bracket that comes first stands for itself.
            follows = pattern[position + 1 : position + 3]
            position += 2 if follows == "^]" else 1 if follows[:1] == "]" else 0
        elif char == "(":
            for opening, what in _AROUND.items():
                if pattern.startswith(opening, position):
                    return position, what
        position += 1
    return None


def _options(memory: int) -> Any:
    options = re2.Options()
    options.max_mem = memory
    options.case_sensitive = False
    options.log_errors = False
    options.never_capture = True
    return options
