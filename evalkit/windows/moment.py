"""Moments of a window: RFC 3339 in UTC with Z, to the microsecond and back."""

import re
from datetime import UTC, datetime, timedelta

HOUR_US = 3_600_000_000

_FORM = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?Z")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def parse_moment(text: str) -> int:
    """Return microseconds since the epoch of a moment such as ``2026-12-01T00:00:00Z``.

    Raises:
        ValueError: another form (a missing zone and offsets included), or a
            date that does not exist.

    Source: RFC 3339, section 5.6, with Z as the only offset.
    """
    if not _FORM.fullmatch(text):
        raise ValueError(f"{text!r:.40} is not a moment in UTC such as 2026-12-01T00:00:00Z")
    try:
        made = datetime.fromisoformat(text[:-1]).replace(tzinfo=UTC)
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}") from None
    return (made - _EPOCH) // _MICROSECOND


def format_moment(ts: int) -> str:
    """Return the moment of microseconds since the epoch, without a fraction that is zero."""
    made = _EPOCH + timedelta(microseconds=ts)
    text = made.strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{made.microsecond:06d}".rstrip("0") + "Z" if made.microsecond else text + "Z"
