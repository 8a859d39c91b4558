"""Prints the rows of a view: plain text into a pipe, with emphasis on a terminal."""

import json
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from toolgate.views.sheet import Row

_WIDEST = 110
_PIPE = 100

_STYLES: dict[str, dict[str, Any]] = {
    "title": {"bold": True},
    "head": {"bold": True, "underline": True},
    "code": {"bold": True},
    "good": {"fg": "green"},
    "bad": {"fg": "red", "bold": True},
    "warn": {"fg": "yellow"},
}


def width() -> int:
    """Return how many columns a page may have: what is readable, and what the terminal has."""
    import shutil

    columns = shutil.get_terminal_size((_PIPE, 24)).columns
    return min(columns, _WIDEST)


def print_view(
    view: Any, rows: "Callable[..., Iterable[Row]]", *, root: str, as_json: bool
) -> None:
    """Print a view of a ledger.

    Args:
        view: what is shown.
        rows: makes rows of it, for a number of columns and the ledger's place in a command.
        root: the ledger.
        as_json: print one JSON object instead.
    """
    if as_json:
        from toolgate.views.gather import as_json as said

        click.echo(json.dumps(said(view), ensure_ascii=False, indent=1))
        return
    from shlex import quote

    print_rows(rows(view, width=width(), path=quote(root)))


def print_rows(rows: "Iterable[Row]") -> None:
    """Print rows; a tone is shown by style on a terminal and by nothing elsewhere."""
    styled = sys.stdout.isatty()
    for row in rows:
        style = _STYLES.get(row.tone, {}) if styled else {}
        click.echo(click.style(row.text, **style) if style and row.text else row.text)
