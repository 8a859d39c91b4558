"""Collects what sources say into one record a session, and counts what was done."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from toolgate.sessions.merge import Evidence, Resolved, merge, resolve


class Imported(NamedTuple):
    """What some sources said.

    Args:
        found: one record a session, by harness and session id.
        rows: pieces of evidence that were read.
        merged: those that joined another of the same session.
        redacted: values that redaction withheld.
    """

    found: list[Resolved]
    rows: int
    merged: int
    redacted: int


def collect(pieces: Iterable[Evidence], progress: Callable[[int], None] | None = None) -> Imported:
    """Merge evidence of the same session."""
    sessions: dict[str, Evidence] = {}
    rows = 0
    for rows, piece in enumerate(pieces, 1):  # the last number is the count
        name = piece.parts[0].id
        sessions[name] = merge(sessions[name], piece) if name in sessions else piece
        if progress is not None and not rows % 1024:
            progress(rows)
    found = sorted(
        map(resolve, sessions.values()), key=lambda one: (one.record.harness, one.record.session_id)
    )
    return Imported(found, rows, rows - len(found), sum(one.record.redacted for one in found))
