"""Times of session records: RFC 3339 in UTC outside, integer microseconds inside."""

import re
from datetime import UTC, datetime

_MOMENT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})"
    r"(?:\.([0-9]{1,9}))?(?:Z|\+00:00)"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = 1_000_000
_LATEST = 253_402_300_799 * _SECOND


def moment_of(value: object) -> int | None:
    """Return an RFC 3339 time in UTC as microseconds; None if it is none, or before 1970."""
    found = _MOMENT.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    try:
        when = datetime(*(int(part) for part in found.groups()[:6]), tzinfo=UTC)  # type: ignore[arg-type,misc]  # six integers
    except ValueError:
        return None
    since = when - _EPOCH
    seconds = since.days * 86_400 + since.seconds
    micros = seconds * _SECOND + int((found[7] or "").ljust(6, "0")[:6])
    return micros if micros >= 0 else None


def moment_text(micros: int) -> str:
    """Return a time as RFC 3339 in UTC, without digits that say nothing."""
    seconds, rest = divmod(min(max(micros, 0), _LATEST), _SECOND)
    text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{rest:06d}".rstrip("0") + "Z" if rest else f"{text}Z"
