"""Reads a ledger's lines into entries, lazily and within bounded memory.

Nothing here judges: a line that is not an entry comes out as ``Bad``, with the
bytes that a recovery entry must name to cover it.
"""

import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Struct

from toolgate.canonical import parse_line
from toolgate.errors import CanonicalizationError, LedgerError, RecordError
from toolgate.ledger.regular import open_regular
from toolgate.records import check
from toolgate.verify import shapes
from toolgate.verify.shapes import Decision, Entry, Other, Outcome, Recovery

MAX_LINE_BYTES = 64 * 1024
_BLOCK_BYTES = 64 * 1024
_KEPT_LINES = 8

_KIND = b'"kind":"'
_encode = msgspec.json.Encoder().encode
_RESOURCE = re.compile(r"h:[0-9a-f]{32}").fullmatch
_HEX = b"0123456789abcdef"
_RARE = frozenset((b"audit", b"approval", b"key_rotate", b"checkpoint"))


class Line(Struct, frozen=True, gc=False):
    """An entry and where it stands.

    Args:
        file: path below the ledger directory.
        number: physical line, from 1.
        offset: where it begins, in bytes.
        raw: its bytes without the line feed.
        digest: its entry digest.
        entry: what it says.
        event: digest of its event (the decision_digest), if it is a decision.
    """

    file: str
    number: int
    offset: int
    raw: bytes
    digest: str
    entry: Entry
    event: str

    @property
    def where(self) -> str:
        """Return the place for people."""
        return f"{self.file}:{self.number}"


class Bad(NamedTuple):
    """A run of lines that are no entries.

    Args:
        file: path below the ledger directory.
        offset: where it begins, in bytes.
        end: where it ends, in bytes.
        lines: number and bytes (at most 64 KiB and one) of the first few of them.
        total: how many lines they are.
        torn: whether the run ends the file without a line feed.
        last: number of the last line.
        covered: whether the entry behind it is the recovery that names exactly these bytes.
    """

    file: str
    offset: int
    end: int
    lines: tuple[tuple[int, bytes], ...]
    total: int
    torn: bool
    last: int
    covered: bool


def decode(raw: bytes) -> Entry | None:
    """Read one line; None unless it is byte for byte a valid entry.

    Args:
        raw: the line without its line feed.
    """
    if len(raw) > MAX_LINE_BYTES:
        return None
    kind = _kind_of(raw)
    known = _KNOWN.get(kind)
    if known is None:
        return _decode_rare(raw) if kind in _RARE else None
    try:
        entry: Entry = known[0](raw)
        # Byte identity refuses what decoding forgives: order, spacing, escapes, 1.0, -0.
        return entry if _encode(entry) == raw and known[1](entry) else None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _kind_of(raw: bytes) -> bytes:
    """Return the kind a line seems to have; its shape says whether it has."""
    if raw.startswith(b'{"axis":'):
        return b"decision"
    if raw.startswith(b'{"ev":{"action_ref":'):
        return b"outcome"
    at = raw.rfind(_KIND) + len(_KIND)
    return raw[at : raw.find(b'"', at)]


def _decision_fits(entry: Decision) -> bool:
    """Check what the shape of a decision leaves open."""
    ev = entry.ev
    digests = [ev.action_ref, ev.args_digest, ev.decision_id, ev.policy_version, *entry.basis]
    if entry.facts:
        digests += [fact.entry for fact in entry.facts]
    for effect in entry.effects:
        if _RESOURCE(effect.resource) is None:
            return False
    return _place_fits(entry, digests)


def _outcome_fits(entry: Outcome) -> bool:
    """Check what the shape of an outcome leaves open."""
    ev, result = entry.ev, entry.ev.result_digest
    digests = [ev.action_ref, ev.decision_digest]
    if result is not None:
        digests.append(result)
    empty = ev.terminal_state in ("refused", "unresolved")
    return empty is (result is None) and _place_fits(entry, digests)


def _spine_fits(entry: Any) -> bool:
    """Check what the shape of a spine entry leaves open."""
    held = [getattr(entry.ev, name, None) for name in _DIGEST_FIELDS]
    return _place_fits(entry, [value for value in held if value is not None])


def _recovery_fits(entry: Recovery) -> bool:
    """Check what the shape of a recovery leaves open."""
    alone = entry.session is None
    placed = (entry.turn is None) is alone and (not entry.parents) is alone
    return placed and _spine_fits(entry)


def _place_fits(entry: Any, digests: list[str]) -> bool:
    """Check times, parents and chain fields, and the form of them and of other digests."""
    parents, prev = entry.parents, entry.prev_digest
    if entry.ts != entry.ev.ts or (prev is UNSET) is not (entry.seq is UNSET):
        return False
    if len(parents) > 1 and any(a >= b for a, b in pairwise(parents)):
        return False
    digests += parents
    if prev is not UNSET:
        digests.append(prev)
    return _are_digests(digests)


def _are_digests(texts: list[str]) -> bool:
    """Say whether texts are digests; the shape has checked their lengths.

    Of "sha256:" and hex digits only "sh:" is no hex digit, so taking these away from
    all of them at once shows any other character. A regular expression takes half as
    long again, and this is done for every digest of the ledger.
    """
    count, text = len(texts), " " + " ".join(texts)
    return (
        text.count(" sha256:") == count and text.encode().translate(None, _HEX) == b" sh:" * count
    )


_DIGEST_FIELDS = ("digest", "ledger_head_digest", "policy", "root", "spawned_by")
_KNOWN: dict[bytes, tuple[Callable[[bytes], Any], Callable[[Any], bool]]] = {
    b"decision": (msgspec.json.Decoder(shapes.Decision).decode, _decision_fits),
    b"outcome": (msgspec.json.Decoder(shapes.Outcome).decode, _outcome_fits),
    b"recovery": (msgspec.json.Decoder(shapes.Recovery).decode, _recovery_fits),
    b"session_open": (msgspec.json.Decoder(shapes.SessionOpen).decode, _spine_fits),
    b"turn_open": (msgspec.json.Decoder(shapes.TurnOpen).decode, _spine_fits),
    b"policy_set": (msgspec.json.Decoder(shapes.PolicySet).decode, _spine_fits),
    b"turn_close": (msgspec.json.Decoder(shapes.TurnClose).decode, _spine_fits),
    b"session_close": (msgspec.json.Decoder(shapes.SessionClose).decode, _spine_fits),
}


def _decode_rare(raw: bytes) -> Entry | None:
    try:
        body = parse_line(raw)
        check(body)
    except (CanonicalizationError, RecordError):
        return None
    return Other(**{name: body[name] for name in Other.__struct_fields__})


def read_file(path: str, name: str) -> Iterator[Line | Bad]:
    """Read one ledger file.

    Args:
        path: where it lies.
        name: what it is called in findings.

    Raises:
        LedgerError: it cannot be read.
    """
    run: _Run | None = None
    number = offset = 0
    for raw, first, closed in _pieces(path):
        if first:
            number += 1
            entry = decode(raw) if closed else None
            if entry is not None:
                if run is not None:
                    yield run.end(entry)
                    run = None
                digest = "sha256:" + sha256(raw).hexdigest()
                event = ""
                if isinstance(entry, Decision):
                    event = "sha256:" + sha256(_encode(entry.ev)).hexdigest()
                yield Line(name, number, offset, raw, digest, entry, event)
                offset += len(raw) + 1
                continue
        if run is None:
            run = _Run(name, offset)
        run.add(number if first else 0, raw, closed)
        offset += len(raw) + closed
    if run is not None:
        yield run.end(None)


def _pieces(path: str) -> Iterator[tuple[bytes, bool, bool]]:
    """Yield a file's lines without their line feeds, over-long ones in pieces.

    With each piece comes whether it begins a line and whether a line feed ends it.
    """
    try:
        with open_regular(path, 0) as file:
            rest, first = b"", True
            while block := file.read(_BLOCK_BYTES):
                lines = (rest + block).split(b"\n")
                rest = lines.pop()
                for line in lines:
                    yield line, first, True
                    first = True
                if len(rest) > MAX_LINE_BYTES:
                    yield rest, first, False
                    rest, first = b"", False
            if rest:
                yield rest, first, False
    except OSError as error:
        raise LedgerError(f"cannot read {path}: {error.strerror}") from error


class _Run:
    """A run of lines that are no entries, while it is being read."""

    def __init__(self, name: str, offset: int) -> None:
        self._name = name
        self._offset = offset
        self._hash = sha256()
        self._length = 0
        self._count = 0
        self._last = 0
        self._lines: list[tuple[int, bytes]] = []
        self._closed = False

    def add(self, number: int, text: bytes, closed: bool) -> None:
        """Take a piece; ``number`` is 0 when it continues a line."""
        if self._closed:  # the feed before the recovery entry is not part of the fragment
            self._hash.update(b"\n")
            self._length += 1
        self._closed = closed
        self._hash.update(text)
        self._length += len(text)
        if number:
            self._count += 1
            self._last = number
            if len(self._lines) < _KEPT_LINES:
                self._lines.append((number, text[: MAX_LINE_BYTES + 1]))

    def end(self, entry: Entry | None) -> Bad:
        """Close the run; ``entry`` is what stands behind it."""
        covered = (
            isinstance(entry, Recovery)
            and entry.ev.offset == self._offset
            and entry.ev.length == self._length
            and entry.ev.digest == "sha256:" + self._hash.hexdigest()
        )
        return Bad(
            file=self._name,
            offset=self._offset,
            end=self._offset + self._length + self._closed,
            lines=tuple(self._lines),
            total=self._count,
            torn=not self._closed,
            last=self._last,
            covered=covered,
        )
