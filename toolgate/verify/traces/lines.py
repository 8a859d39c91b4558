"""The JSON objects of a trace file, one after the other, within bounded memory.

A trace is written by other programs, which are less strict about JSON than a
ledger is: lone surrogates and NaN occur in results. They are read leniently
here; whatever has no canonical form simply has no digest.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from toolgate.canonical import digest_of
from toolgate.errors import CanonicalizationError, UnavailableError

MAX_LINE_BYTES = 32 * 1024 * 1024
MAX_DOCUMENT_BYTES = 64 * 1024 * 1024
MOST_MARKS = 4 * 1024 * 1024
"""How many braces, brackets and commas an object may hold, those in its strings included: about
as many values come of them, and a value of two bytes may take sixty."""

_PIECE = 1024 * 1024
_MARKS = (b"{", b"[", b",")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Item(NamedTuple):
    """A line of a trace file.

    Args:
        number: its number, from 1.
        value: the object it holds; None when it holds none.
        torn: whether it is the last one and has no line feed.
    """

    number: int
    value: dict[str, Any] | None
    torn: bool = False


def objects(path: str) -> Iterator[Item]:
    """Yield what stands on the lines of a file; blank lines are passed over.

    A file that is one JSON object over several lines, of at most 64 MiB, is yielded as
    one item. A line of more than 32 MiB is no object, nor is one of too many values.

    Args:
        path: the file.

    Raises:
        UnavailableError: it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            number, first = 0, True
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if not line.strip():
                    continue
                value = None if len(line) > MAX_LINE_BYTES else _decode(line)
                if first and value is None and line.lstrip().startswith(b"{"):
                    yield from _document(line, file)
                    return
                first, closed = False, line.endswith(b"\n")
                if not closed and len(line) > MAX_LINE_BYTES:
                    _skip_line(file)
                yield Item(number, value if isinstance(value, dict) else None, not closed)
    except OSError as error:
        raise UnavailableError(f"cannot read the trace {path}: {error.strerror}") from error


def _document(begun: bytes, file: Any) -> Iterator[Item]:
    """Yield a file that is one object over several lines, or else the lines of its beginning."""
    data = begun + file.read(max(MAX_DOCUMENT_BYTES - len(begun), 0))
    cut = bool(file.read(1))
    value = None if cut else _decode(data)
    if isinstance(value, dict):
        yield Item(1, value)
        return
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            value = _decode(line) if len(line) <= MAX_LINE_BYTES else None
            yield Item(number, value if isinstance(value, dict) else None, number == len(lines))
    if cut:
        yield Item(len(lines) + 1, None)


def _skip_line(file: Any) -> None:
    while piece := file.readline(_PIECE):
        if piece.endswith(b"\n"):
            return


def _decode(data: bytes) -> Any:
    """Return the JSON value of some bytes; None when they are none, or hold too many."""
    if len(data) > MOST_MARKS and sum(map(data.count, _MARKS)) > MOST_MARKS:
        return None
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def decoded(text: Any) -> Any:
    """Return the JSON value a text holds; None when it holds none."""
    return _decode(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else None


def digest_or_none(value: object) -> str | None:
    """Return a value's digest; None where it has no canonical form."""
    try:
        return digest_of(value)
    except CanonicalizationError:
        return None


def text_or_none(value: object) -> str | None:
    """Return a value that is text and not empty, else None."""
    return value if isinstance(value, str) and value else None


def microseconds(text: object) -> int | None:
    """Return the time of an ISO 8601 text with a zone, in microseconds UTC."""
    if not isinstance(text, str) or len(text) > 64:
        return None
    try:
        when = datetime.fromisoformat(text)
        if when.tzinfo is None:
            return None
        since = when - _EPOCH
    except (ValueError, OverflowError):
        return None
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
