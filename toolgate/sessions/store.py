"""Stores session records in the ledger's chain: the only way in."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from toolgate.errors import LedgerError
from toolgate.ledger.append import Ledger
from toolgate.sessions.identity import Directory
from toolgate.sessions.merge import Resolved
from toolgate.sessions.record import Record, check, text_of

ACTION = "session.record"
MAX_RECORD_BYTES = 48 * 1024
MAX_ESCAPED_BYTES = 56 * 1024
"""A record is kept as a text within an entry, where its quotation marks take two bytes."""
_KEPT = 500
_LISTS = ("models", "mcp_servers", "tools", "repos", "files")


class Stored(NamedTuple):
    """A record as it was stored.

    Args:
        id: its id.
        audit_hash: digest of its entry.
        resolved: whether its user is known to the directory.
    """

    id: str
    audit_hash: str
    resolved: bool


class StoppedError(LedgerError):
    """An append failed midway; what was stored stays.

    Args:
        stored: how many records are stored.
    """

    def __init__(self, stored: int, total: int, why: str) -> None:
        self.stored = stored
        super().__init__(f"{stored} of {total} records are stored, then: {why}")


def fitted(record: Record) -> Record:
    """Return a record that fits an entry.

    Of a record over 48 KiB the first 500 values of each list are kept, or half as many
    until it fits; ``redacted`` grows by the number that was dropped.
    """
    kept = _KEPT
    while not _fits(text_of(record)) and kept:
        short = {name: getattr(record, name)[:kept] for name in _LISTS}
        dropped = sum(len(getattr(record, name)) - len(short[name]) for name in _LISTS)
        record = record._replace(**short, redacted=record.redacted + dropped)
        kept //= 2
    return record


def _fits(text: str) -> bool:
    return len(text) <= MAX_RECORD_BYTES and len(text) + text.count('"') <= MAX_ESCAPED_BYTES


def store(
    ledger: Ledger, found: Iterable[Resolved], *, directory: Directory, actor: str, ts: int
) -> list[Stored]:
    """Store records: all are checked before the first is appended.

    Whatever a record says of its user is discarded; the directory alone says it.

    Args:
        ledger: the ledger.
        found: the records.
        directory: who is known.
        actor: who imports them.
        ts: now, microseconds UTC.

    Raises:
        RefusedError: a record breaks the format; nothing was stored.
        StoppedError: an append failed; earlier ones stay.
    """
    batch: list[tuple[Record, dict[str, list[str]]]] = []
    for number, item in enumerate(found, 1):
        record = item.record._replace(user=directory.user_of(item.record.vendor_user))
        check(record, f"record {number}")
        batch.append((fitted(record), item.rests))
    return _append(ledger, batch, actor, ts)


def _append(
    ledger: Ledger, batch: Sequence[tuple[Record, dict[str, list[str]]]], actor: str, ts: int
) -> list[Stored]:
    stored: list[Stored] = []
    for record, rests in batch:
        details = {"record": text_of(record), "rests": rests}
        try:
            entry = ledger.audit(
                action=ACTION, actor=actor, target=record.id, details=details, ts=ts
            )
        except LedgerError as error:
            raise StoppedError(len(stored), len(batch), str(error)) from None
        stored.append(Stored(record.id, entry, bool(record.user)))
    return stored
