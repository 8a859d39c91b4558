"""Reads a ledger's lines into entries, lazily and within bounded memory.

Nothing here judges: a line that is not an entry comes out as ``Bad``, with the
bytes that a recovery entry must name to cover it.
"""

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
_BUFFER_BYTES = 128 * 1024
_KEPT_LINES = 8

_NAME = b'"kind":"'
_encode_into = msgspec.json.Encoder().encode_into
_SHAPED = bytes.maketrans(b"0123456789abcdef", b"0" * 16)  # every hex digit reads 0
_DIGEST_SHAPE = b" sh0000:" + b"0" * 64
_RESOURCE_SHAPE = b"h:" + b"0" * 32
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


class _Kind(Struct, frozen=True):
    """How the lines of one kind are read.

    Args:
        read: decodes one, as the shape of its kind.
        digests: returns the digests it has in places of its own, each with a space
            before it; None if one of its rules is broken.
    """

    read: Callable[[bytes], Any]
    digests: Callable[[Any], str | None]


class Decoder:
    """Reads lines, for one thread at a time: it encodes into buffers of its own.

    Encoding into a buffer that is there takes half the time of encoding into new
    bytes. Each length has one of its own, for a buffer that shrinks is moved.
    """

    def __init__(self) -> None:
        self._decision = bytearray()
        self._outcome = bytearray()
        self._other = bytearray()
        self._event = bytearray()

    def decode(self, raw: bytes) -> Entry | None:
        """Read one line; None unless it is byte for byte a valid entry.

        Args:
            raw: the line without its line feed.
        """
        if raw.startswith(b'{"axis":'):  # a guess, which the shape confirms or not
            kind, buffer = _DECISION, self._decision
        elif raw.startswith(b'{"ev":{"action_ref":'):
            kind, buffer = _OUTCOME, self._outcome
        else:
            at = raw.rfind(_NAME) + len(_NAME)
            name = raw[at : raw.find(b'"', at)]
            if name not in _KNOWN:
                return _decode_rare(raw) if name in _RARE else None
            kind, buffer = _KNOWN[name], self._other
        if len(raw) > MAX_LINE_BYTES:
            return None
        try:
            entry = kind.read(raw)
            # Byte identity refuses what decoding forgives: order, spacing, escapes, 1.0, -0.
            _encode_into(entry, buffer)
            if buffer != raw:
                return None
            digests = kind.digests(entry)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None
        return entry if digests is not None and _fits(entry, digests) else None

    def event_digest(self, entry: Decision) -> str:
        """Return the decision_digest of a decision."""
        _encode_into(entry.ev, self._event)
        return "sha256:" + sha256(self._event).hexdigest()


def decode(raw: bytes) -> Entry | None:
    """Read one line; None unless it is byte for byte a valid entry.

    Args:
        raw: the line without its line feed.
    """
    return Decoder().decode(raw)


def _fits(entry: Any, digests: str) -> bool:
    """Check what all shapes leave open: times, parents, the chain, and what a digest is.

    Digests are looked at all at once and without a regular expression, which takes
    twice as long: this is done for every line of a ledger.

    Args:
        entry: the entry.
        digests: those it has in places of its own kind; the shape has checked their length.
    """
    parents, prev = entry.parents, entry.prev_digest
    if entry.ts != entry.ev.ts or (prev is UNSET) is not (entry.seq is UNSET):
        return False
    if len(parents) == 1:
        digests += " " + parents[0]
    elif parents:
        digests += " " + " ".join(parents)
        if any(a >= b for a, b in pairwise(parents)):
            return False
    if prev is not UNSET:
        digests += " " + prev
    count = len(digests) // len(_DIGEST_SHAPE)
    shape = digests.encode().translate(_SHAPED)
    return shape == _DIGEST_SHAPE * count and digests.count(" sha256:") == count


def _of_decision(entry: Decision) -> str | None:
    ev = entry.ev
    for effect in entry.effects:
        if effect.resource.encode().translate(_SHAPED) != _RESOURCE_SHAPE:
            return None
    digests = f" {ev.action_ref} {ev.args_digest} {ev.decision_id} {ev.policy_version}"
    if entry.basis or entry.facts:
        digests += "".join([" " + one for one in entry.basis])
        digests += "".join([" " + fact.entry for fact in entry.facts])
    return digests


def _of_outcome(entry: Outcome) -> str | None:
    ev, result = entry.ev, entry.ev.result_digest
    empty = ev.terminal_state in ("refused", "unresolved")
    if empty is not (result is None):
        return None
    digests = f" {ev.action_ref} {ev.decision_digest}"
    return digests if result is None else f"{digests} {result}"


def _of_recovery(entry: Recovery) -> str | None:
    """Return the digests of a recovery, which belongs to a session's turn or to nothing."""
    alone = entry.session is None
    placed = (entry.turn is None) is alone and (not entry.parents) is alone
    return " " + entry.ev.digest if placed else None


def _of_session_open(entry: shapes.SessionOpen) -> str:
    return "" if entry.ev.spawned_by is None else " " + entry.ev.spawned_by


def _of_turn_open(entry: shapes.TurnOpen) -> str:
    return ""


def _of_policy_set(entry: shapes.PolicySet) -> str:
    return " " + entry.ev.policy


def _of_turn_close(entry: shapes.TurnClose) -> str:
    return f" {entry.ev.ledger_head_digest} {entry.ev.root}"


def _of_session_close(entry: shapes.SessionClose) -> str:
    return " " + entry.ev.ledger_head_digest


_DECISION = _Kind(msgspec.json.Decoder(shapes.Decision).decode, _of_decision)
_OUTCOME = _Kind(msgspec.json.Decoder(shapes.Outcome).decode, _of_outcome)
_KNOWN = {
    b"decision": _DECISION,
    b"outcome": _OUTCOME,
    b"recovery": _Kind(msgspec.json.Decoder(shapes.Recovery).decode, _of_recovery),
    b"session_open": _Kind(msgspec.json.Decoder(shapes.SessionOpen).decode, _of_session_open),
    b"turn_open": _Kind(msgspec.json.Decoder(shapes.TurnOpen).decode, _of_turn_open),
    b"policy_set": _Kind(msgspec.json.Decoder(shapes.PolicySet).decode, _of_policy_set),
    b"turn_close": _Kind(msgspec.json.Decoder(shapes.TurnClose).decode, _of_turn_close),
    b"session_close": _Kind(msgspec.json.Decoder(shapes.SessionClose).decode, _of_session_close),
}


def _decode_rare(raw: bytes) -> Entry | None:
    if len(raw) > MAX_LINE_BYTES:
        return None
    try:
        body = parse_line(raw)
        check(body)
    except (CanonicalizationError, RecordError):
        return None
    return Other(**{name: body[name] for name in Other.__struct_fields__})


def read_file(path: str, name: str) -> Iterator[Line | Bad]:
    """Read one ledger file, its over-long lines in pieces.

    Args:
        path: where it lies.
        name: what it is called in findings.

    Raises:
        LedgerError: it cannot be read.
    """
    decoder = Decoder()
    run: _Run | None = None
    number = offset = 0
    first = True
    try:
        with open_regular(path, _BUFFER_BYTES) as file:
            while piece := file.readline(MAX_LINE_BYTES + 1):
                closed = piece.endswith(b"\n")
                raw = piece[:-1] if closed else piece
                number += first
                entry = decoder.decode(raw) if first and closed else None
                if entry is not None:
                    if run is not None:
                        yield run.end(entry)
                        run = None
                    digest = "sha256:" + sha256(raw).hexdigest()
                    event = decoder.event_digest(entry) if type(entry) is Decision else ""
                    yield Line(name, number, offset, raw, digest, entry, event)
                else:
                    if run is None:
                        run = _Run(name, offset)
                    run.add(number if first else 0, raw, closed)
                    if not closed and len(piece) <= MAX_LINE_BYTES:
                        # The file's end, whatever a writer adds meanwhile: the rest of a
                        # line that is being written would look like a line of its own.
                        break
                offset += len(piece)
                first = closed
    except OSError as error:
        raise LedgerError(f"cannot read {path}: {error.strerror}") from error
    if run is not None:
        yield run.end(None)


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
                self._lines.append((number, text))

    def end(self, entry: Entry | None) -> Bad:
        """Close the run; ``entry`` is what stands behind it."""
        covered = (
            type(entry) is Recovery
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
