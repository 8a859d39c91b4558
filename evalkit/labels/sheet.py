"""The form a labeler fills in: CSV that a spreadsheet opens without running it."""

import csv
import io
from collections.abc import Sequence

COLUMNS = ("id", "tool", "input", "cwd_class", "verdict", "context_limited", "note")
BYTE_ORDER_MARK = "\ufeff"

_STARTS = ("=", "+", "-", "@", "\t", "\r")


def neutral(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula.

    An apostrophe is put before a cell that begins with ``= + - @``, a tab or
    a carriage return. Answers are joined by id, so the text may change.
    """
    return "'" + text if text.startswith(_STARTS) else text


def sheet(rows: Sequence[tuple[str, str, str, str]]) -> bytes:
    """Return the form as UTF-8 CSV with a byte order mark.

    Args:
        rows: opaque id, tool, input and cwd class of each item, in order.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([*(neutral(cell.replace("\x00", "\ufffd")) for cell in row), "", "", ""])
    return (BYTE_ORDER_MARK + out.getvalue()).encode("utf-8")
