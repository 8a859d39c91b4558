"""Reading fields of a set file so that all its faults are reported at once. Pure."""

import json
import re
from collections.abc import Sequence
from typing import Any


def shown(value: object) -> str:
    """Return a value as it is quoted in a message: JSON, at most 60 characters."""
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def is_date(text: str) -> bool:
    """Say whether a text is a date as ``YYYY-MM-DD``."""
    return _DATE.fullmatch(text) is not None


_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")


class Faults:
    """The faults found so far, one sentence each."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, where: str, expected: str, got: str) -> None:
        """Record a fault.

        Args:
            where: path of the field, e.g. ``cases[3].expected``.
            expected: what belongs there.
            got: what is there, already quoted.
        """
        self.found.append(f"{where}: expected {expected}, got {got}")


class Fields:
    """Typed access to one object of the file; what does not fit becomes a fault.

    Args:
        body: the object; anything else is a fault and reads as empty.
        where: path of the object.
        faults: where faults go.
    """

    def __init__(self, body: object, where: str, faults: Faults) -> None:
        self.where = where
        self.faults = faults
        if type(body) is not dict:
            faults.add(where or "file", "an object", shown(body))
            body = {}
        self.body: dict[str, Any] = body

    def path(self, name: str) -> str:
        """Return the path of a field."""
        return f"{self.where}.{name}" if self.where else name

    def _missing(self, name: str, expected: str) -> None:
        got = shown(self.body[name]) if name in self.body else "nothing"
        self.faults.add(self.path(name), expected, got)

    def text(self, name: str) -> str:
        """Return a required, non-empty text."""
        value = self.body.get(name)
        if type(value) is str and value.strip():
            return value
        self._missing(name, "non-empty text")
        return ""

    def optional_text(self, name: str) -> str | None:
        """Return a text, or None when the field is absent or null."""
        value = self.body.get(name)
        if value is None or type(value) is str:
            return value
        self._missing(name, "text")
        return None

    def label(self, name: str) -> str | None:
        """Return a number or a text as text, or None when the field is absent or null."""
        value = self.body.get(name)
        if type(value) is int:
            return str(value)
        if value is None or (type(value) is str and value.strip()):
            return value
        self._missing(name, "text or an integer")
        return None

    def word(self, name: str, words: Sequence[str]) -> str:
        """Return a required text out of a closed list; its first word when it is not."""
        value = self.body.get(name)
        if type(value) is str and value in words:
            return value
        self._missing(name, "one of " + ", ".join(words))
        return words[0]

    def optional_word(self, name: str, words: Sequence[str]) -> str | None:
        """Return a text out of a closed list, or None when the field is absent or null."""
        return None if self.body.get(name) is None else self.word(name, words)

    def words(self, name: str, words: Sequence[str]) -> tuple[str, ...]:
        """Return a list of texts out of a closed list; absent is empty."""
        value = self.texts(name)
        if not all(item in words for item in value):
            self._missing(name, "a list of " + ", ".join(words))
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; one text counts as a list of one; absent is empty."""
        value = self.body.get(name)
        if value is None:
            return ()
        if type(value) is str:
            return (value,)
        if type(value) is list and all(type(item) is str for item in value):
            return tuple(value)
        self._missing(name, "a list of texts")
        return ()

    def flag(self, name: str) -> bool:
        """Return a boolean; absent is false."""
        value = self.body.get(name, False)
        if type(value) is bool:
            return value
        self._missing(name, "true or false")
        return False

    def whole(self, name: str, least: int, most: int) -> int:
        """Return a required integer within bounds; ``least`` when it is none."""
        value = self.body.get(name)
        if type(value) is int and least <= value <= most:
            return value
        self._missing(name, f"an integer from {least} to {most}")
        return least

    def object(self, name: str, expected: str) -> dict[str, Any]:
        """Return a required object; it may be empty."""
        value = self.body.get(name)
        if type(value) is dict:
            return value
        self._missing(name, expected)
        return {}

    def items(self, name: str, kind: type, expected: str) -> Any:
        """Return a required, non-empty object or list."""
        value = self.body.get(name)
        if type(value) is kind and value:
            return value
        self._missing(name, expected)
        return kind()
