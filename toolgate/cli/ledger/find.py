"""Finding a decision by what a person has of it."""

from typing import TYPE_CHECKING

from toolgate.errors import InputError

if TYPE_CHECKING:
    from toolgate.verify.read import Line
    from toolgate.verify.shapes import Decision

_FEWEST_DIGITS = 8
_MOST_NAMED = 5


def find_decision(root: str, wanted: str) -> "tuple[Line, Decision]":
    """Return the decision somebody means.

    Args:
        root: the ledger directory.
        wanted: a decision digest, an entry digest, at least 8 hex digits that begin one of
            them, or a call id, which means the latest decision on that call.

    Raises:
        InputError: there is none, or more than one.
        LedgerError: the ledger cannot be read.
    """
    from toolgate.verify.place import open_ledger
    from toolgate.verify.read import Line
    from toolgate.verify.shapes import Decision

    digits = wanted.removeprefix("sha256:")
    begins = len(digits) >= _FEWEST_DIGITS and not digits.strip("0123456789abcdef")
    by_digest: dict[str, tuple[Line, Decision]] = {}
    by_call: dict[str, tuple[Line, Decision]] = {}
    directory = open_ledger(root)
    streams = [directory.read_spine(), *map(directory.read_session, sorted(directory.sessions))]
    for stream in streams:
        for item in stream:
            if not isinstance(item, Line) or not isinstance(item.entry, Decision):
                continue
            if begins and (item.event[7:].startswith(digits) or item.digest[7:].startswith(digits)):
                by_digest[item.event] = (item, item.entry)
            if item.entry.intent.call == wanted:
                by_call[item.entry.session or ""] = (item, item.entry)
    found = [*by_call.values()] or [*by_digest.values()]
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError(f"the ledger at {directory.root} holds no decision {wanted!r}")
    named = ", ".join(line.event for line, _ in found[:_MOST_NAMED])
    raise InputError(f"{wanted!r} means {len(found)} decisions; which one: {named}")


def time_text(ts: int) -> str:
    """Return a time in microseconds UTC for people."""
    from datetime import UTC, datetime, timedelta

    when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=ts)
    return when.strftime("%Y-%m-%d %H:%M:%S UTC")
