"""Lines of text for a terminal of any width, from text that anybody may have written."""

from textwrap import wrap
from typing import NamedTuple

_LABEL = 14
_NARROW = 60
_LEAST = 24

TITLE, HEAD, BODY, CODE, GOOD, BAD, WARN = (
    "title",
    "head",
    "body",
    "code",
    "good",
    "bad",
    "warn",
)
"""The tones of a line; how they look is for who prints it."""


class Row(NamedTuple):
    """A line and its tone."""

    text: str
    tone: str = BODY


class Sheet:
    """Collects wrapped lines.

    Args:
        width: columns of the terminal.
    """

    def __init__(self, width: int) -> None:
        self._width = max(width, _LEAST)
        self._label = _LABEL if width >= _NARROW else 0
        self.rows: list[Row] = []

    def title(self, text: str) -> None:
        """Add the title."""
        self._add(text, "", "", TITLE)

    def head(self, text: str) -> None:
        """Add a heading with an empty line before it."""
        self.rows.append(Row(""))
        self._add(text, "", "", HEAD)

    def say(self, text: str) -> None:
        """Add a sentence of its own."""
        self._add(text, "  ", "  ")

    def item(self, label: str, text: str) -> None:
        """Add a line with a label; without one it continues the item before it."""
        if self._label:
            first = "  " + label.ljust(self._label)
            self._add(text, first, " " * (2 + self._label))
        else:
            self._add(text, f"  {label}: " if label else "    ", "    ")

    def exact(self, label: str, value: str) -> None:
        """Add a label and a value that is not broken, so that it can be copied."""
        if self._label:
            self.rows.append(Row(plain("  " + label.ljust(self._label) + value)))
        else:
            self.rows += [Row(plain(f"  {label}:")), Row("    " + plain(value))]

    def bullet(self, text: str) -> None:
        """Add one of several points."""
        indent = " " * (2 + self._label if self._label else 4)
        self._add(text, indent + "- ", indent + "  ")

    def command(self, text: str) -> None:
        """Add a command, unbroken so that it can be copied."""
        self.rows.append(Row("    " + plain(text), CODE))

    def blank(self) -> None:
        """Add an empty line."""
        self.rows.append(Row(""))

    def _add(self, text: str, first: str, rest: str, tone: str = BODY) -> None:
        made = wrap(
            plain(text),
            self._width,
            initial_indent=plain(first),
            subsequent_indent=rest,
            break_on_hyphens=False,
        )
        self.rows += [Row(line, tone) for line in made]


def plain(text: str) -> str:
    """Return text without the characters a terminal obeys."""
    return "".join([char if char.isprintable() else "?" for char in text])
