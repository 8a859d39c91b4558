"""What a reader gives back, and how it says what it could not read. Pure."""

import re
from typing import Any, NamedTuple

from evalkit.challenge.case import LABELS
from evalkit.challenge.fields import shown
from evalkit.errors import SetError

MOST_FAULTS = 20
SOURCE = "source"
"""What a file to be imported is called in messages."""


class Draft(NamedTuple):
    """Cases that were read from another shape, before a person has looked at them.

    Args:
        cases: objects as a set file has them; ``expected`` is None where nobody has labeled.
        categories: name to description.
        fixtures: what holds for every case, as a set file has it.
        rows: how many rows, objects or files were read.
        left_out: what of them is in no case, each with how many: ``{"PostToolUse": 3}``.
        policy: the prose the labels follow, where the source has it.
        labels_mean: what a label stands for, where the source says so.
        name: what the source calls itself, or "".
        where: which row each case comes from, such as ``row 3``; for messages.
    """

    cases: list[dict[str, Any]]
    categories: dict[str, str]
    fixtures: dict[str, Any]
    rows: int
    left_out: dict[str, int]
    policy: str = ""
    labels_mean: str = ""
    name: str = ""
    where: list[str] = []  # noqa: RUF012  # a NamedTuple's default; never changed


class RowFaults:
    """The faults of a source: one sentence each, with row and field.

    Args:
        source: the file's name.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._found: list[str] = []

    def add(self, row: str, field: str, expected: str, got: object) -> None:
        """Record a fault.

        Args:
            row: which row, such as ``row 3``.
            field: the field's name.
            expected: what belongs there.
            got: the value; it is quoted, cut short.
        """
        self._found.append(f"{row}, field {field}: expected {expected}, got {shown(got)}")

    def say(self, row: str, sentence: str) -> None:
        """Record a fault of a whole row."""
        self._found.append(f"{row}: {sentence}")

    def raise_any(self) -> None:
        """Refuse the source where a fault was found.

        Raises:
            SetError: carries the faults, the first ``MOST_FAULTS`` of them.
        """
        more = len(self._found) - MOST_FAULTS
        if self._found:
            rest = [f"and {more} more"] if more > 0 else []
            raise SetError(self._source, [*self._found[:MOST_FAULTS], *rest])

    def label(self, row: str, field: str, value: object) -> str | None:
        """Return a label; None where nobody has labeled; anything else is a fault."""
        if value in (None, ""):
            return None
        if type(value) is str and value in LABELS:
            return value
        self.add(row, field, "one of " + ", ".join(LABELS) + ", or nothing", value)
        return None

    def text(self, row: str, field: str, value: object) -> str:
        """Return a non-empty text; anything else is a fault."""
        if type(value) is str and value.strip():
            return value
        self.add(row, field, "non-empty text", value)
        return ""

    def object(self, row: str, field: str, value: object) -> dict[str, Any]:
        """Return an object; anything else is a fault."""
        if isinstance(value, dict):
            return value
        self.add(row, field, "an object", value)
        return {}


def numbered_id(number: int, of: int) -> str:
    """Return the id of a row that has none.

    Args:
        number: the row, from 1.
        of: how many rows there are.
    """
    return f"r{number:0{len(str(of))}}"


def category_of(tool: str) -> str:
    """Return the category of a tool's calls: its name, in the characters a category may have."""
    name = re.sub(r"[^A-Za-z0-9 ._:/-]", "-", tool)[:100]
    return name if name[:1].isalnum() else f"tool {name}"[:100].rstrip()
