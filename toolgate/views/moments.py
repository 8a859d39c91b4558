"""Times and durations for people."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS, _S, _MIN, _H, _DAY = 1000, 10**6, 60 * 10**6, 3600 * 10**6, 24 * 3600 * 10**6


def when(ts: int) -> datetime:
    """Return a time as the library's object.

    Args:
        ts: microseconds since the epoch, within the ledger's range (years 1684 to 2255).
    """
    return _EPOCH + timedelta(microseconds=ts)


def stamp(ts: int) -> str:
    """Return a time as programs write it: ``2027-01-15T08:00:00.001000Z``."""
    return when(ts).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def moment(ts: int) -> str:
    """Return a time for people, to the millisecond: ``2027-01-15 08:00:00.001 UTC``."""
    return f"{when(ts):%Y-%m-%d} {clock(ts)} UTC"


def clock(ts: int) -> str:
    """Return the time of day, to the millisecond: ``08:00:00.001``."""
    return f"{when(ts):%H:%M:%S.%f}"[:-3]


def lasted(us: int) -> str:
    """Return a duration with three figures at most; a negative one keeps its sign.

    Args:
        us: microseconds.
    """
    sign, us = ("-" if us < 0 else ""), abs(us)
    if us < _MS:
        said = f"{us} µs"
    elif us < _S:
        said = f"{_short(us, _MS)} ms"
    elif us < _MIN:
        said = f"{_short(us, _S)} s"
    elif us < _H:
        said = f"{us // _MIN} min {us % _MIN // _S:02} s"
    elif us < _DAY:
        said = f"{us // _H} h {us % _H // _MIN:02} min"
    else:
        said = f"{us // _DAY} d {us % _DAY // _H:02} h"
    return sign + said


def _short(us: int, unit: int) -> str:
    """Return a number of units below 1000, cut to one decimal below 10, else to none."""
    return f"{us // unit}.{us * 10 // unit % 10}" if us < 10 * unit else str(us // unit)
