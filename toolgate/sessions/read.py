"""Reads session records back from the chain and says whether the chain holds."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from toolgate.canonical import parse
from toolgate.errors import CanonicalizationError, RefusedError
from toolgate.records import ZERO_DIGEST
from toolgate.sessions.moments import moment_of
from toolgate.sessions.record import Record, decode, text_of
from toolgate.sessions.store import ACTION
from toolgate.verify.place import open_ledger
from toolgate.verify.read import Bad, Line
from toolgate.verify.shapes import Other

_STEP = 4096
_ID = re.compile(r"[0-9a-f]{24}")


class Kept(NamedTuple):
    """The newest version of a record.

    Args:
        record: the record.
        text: its JSON text, byte for byte as stored.
        rests: the sources of each field that says something.
        audit_seq: number of its entry on the spine.
        audit_hash: digest of that entry.
        versions: how many versions there are.
    """

    record: Record
    text: str
    rests: dict[str, list[str]]
    audit_seq: int
    audit_hash: str
    versions: int

    def as_json(self) -> dict[str, Any]:
        """Return it as one JSON object."""
        return {
            "record": parse(self.text.encode()),
            "rests": self.rests,
            "auditSeq": self.audit_seq,
            "auditHash": self.audit_hash,
            "versions": self.versions,
        }


class Reading(NamedTuple):
    """What a ledger holds of sessions.

    Args:
        kept: the newest version of each record, by id, the last stored last.
        verify_error: the first fault of the spine; None if it holds.
        head: number and digest of its last entry.
    """

    kept: dict[str, Kept]
    verify_error: str | None
    head: tuple[int, str]

    def find(self, wanted: str) -> list[Kept]:
        """Return the records with an id or a session id."""
        if _ID.fullmatch(wanted) and wanted in self.kept:
            return [self.kept[wanted]]
        return [one for one in self.kept.values() if one.record.session_id == wanted]


class Wanted(NamedTuple):
    """Which records are wanted; None wants all.

    Args:
        user: user or vendor's user, case ignored.
        harness: the harness.
        ring: the ring.
        tool: a tool it used.
        since: those that had not ended before, microseconds UTC.
        until: those that began before, microseconds UTC.
    """

    user: str | None = None
    harness: str | None = None
    ring: str | None = None
    tool: str | None = None
    since: int | None = None
    until: int | None = None

    def takes(self, record: Record) -> bool:
        """Say whether a record is wanted; one without a time is in no span."""
        if self.user is not None:
            users = {record.user.casefold(), record.vendor_user.casefold()}
            if self.user.casefold() not in users:
                return False
        if self.harness is not None and record.harness != self.harness:
            return False
        if self.ring is not None and record.ring != self.ring:
            return False
        if self.tool is not None and self.tool not in record.tools:
            return False
        if self.since is not None and (record.end is None or record.end < self.since):
            return False
        return self.until is None or (record.start is not None and record.start < self.until)


def time_of(text: str) -> int | None:
    """Return a day or an RFC 3339 time in UTC as microseconds; None if it is neither."""
    return moment_of(text if "T" in text else f"{text}T00:00:00Z")


def read(root: str, progress: Callable[[int], None] | None = None) -> Reading:
    """Read every spine entry, link by link; a later version of a record hides the earlier.

    Raises:
        LedgerError: there is no ledger, or it cannot be read.
    """
    chain = _Chain()
    kept: dict[str, Kept] = {}
    for count, line in enumerate(chain.lines(open_ledger(root).read_spine()), 1):
        entry = line.entry
        if isinstance(entry, Other) and entry.kind == "audit" and entry.ev["action"] == ACTION:
            one = _kept(line, entry)
            if isinstance(one, str):
                chain.fault(f"{line.where}: {one}")
            else:
                before = kept.pop(one.record.id, None)
                versions = 1 if before is None else before.versions + 1
                kept[one.record.id] = one._replace(versions=versions)
        if progress is not None and not count % _STEP:
            progress(count)
    return Reading(kept, chain.error, chain.head)


class _Chain:
    """The spine while it is read."""

    def __init__(self) -> None:
        self.error: str | None = None
        self.head = (0, ZERO_DIGEST)

    def fault(self, what: str) -> None:
        """Note a fault; the first is the one that is told."""
        self.error = self.error or what

    def lines(self, items: Iterator[Line | Bad]) -> Iterator[Line]:
        """Yield what follows the entry before it, and what does not as well."""
        for item in items:
            if isinstance(item, Bad):
                if not item.covered and not item.torn:
                    self.fault(f"{item.file}:{item.last}: a line is no entry")
                continue
            seq = getattr(item.entry, "seq", None)
            if seq != self.head[0] + 1:
                self.fault(f"{item.where}: seq {seq}; expected {self.head[0] + 1}")
            elif getattr(item.entry, "prev_digest", None) != self.head[1]:
                self.fault(f"{item.where}: entry {seq} does not name the one before it")
            self.head = (seq if isinstance(seq, int) else self.head[0] + 1, item.digest)
            yield item


def _kept(line: Line, entry: Other) -> Kept | str:
    """Return the record an entry holds, or what is wrong with it."""
    details = entry.ev["details"]
    text, rests = details.get("record"), details.get("rests", {})
    if not isinstance(text, str) or not isinstance(rests, dict):
        return "a session.record entry without record"
    try:
        record = decode(parse(text.encode()), "a session.record")
    except (CanonicalizationError, RefusedError):
        return "a session.record entry whose record breaks the format"
    if text_of(record) != text or entry.ev["target"] != record.id:
        return "a session.record entry whose record is not in its one form"
    seq = entry.seq if isinstance(entry.seq, int) else 0
    return Kept(record, text, rests, seq, line.digest, 1)
