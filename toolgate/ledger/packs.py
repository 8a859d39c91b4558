"""Sealed segments: what their manifests say, and how to read what they pack.

A segment is a directory in ``segments/`` that gets its name once it is complete.
It holds the pack (the files of closed sessions, a gzip member each), the pack's
twin in Parquet and the manifest. See ``spec/storage.md``.
"""

import os
import re
import zlib
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from toolgate.canonical import MAX_INTEGER, parse_line, profile_bytes
from toolgate.errors import CanonicalizationError, LedgerError, SegmentError
from toolgate.ledger.files import session_name
from toolgate.ledger.regular import open_regular
from toolgate.records import is_digest

FOLDER = "segments"
MANIFEST, PACK, TWIN = "manifest.json", "sessions.jsonl.gz", "entries.parquet"
VERSION = 1

_NAME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})-([1-9][0-9]{0,8})")
_CHUNK_BYTES = 1 << 18
_GZIP = 31
_ENTRY_END = b',"v":1}\n'


class Kept(NamedTuple):
    """A file of a segment: its length in bytes and its digest."""

    bytes: int
    digest: str


class Packed(NamedTuple):
    """One session in a pack.

    Args:
        name: the session's name, which its file had.
        session: the session id.
        offset: where its gzip member begins, in bytes.
        length: how long that is, in bytes.
        bytes: length of the session's file.
        digest: digest of that file.
        lines: its physical lines.
        entries: those of them that are entries.
        close: digest of the session_close it was sealed behind.
    """

    name: str
    session: str
    offset: int
    length: int
    bytes: int
    digest: str
    lines: int
    entries: int
    close: str


class Manifest(NamedTuple):
    """What a segment holds.

    Args:
        day: the UTC day its sessions were last closed on, as ``YYYY-MM-DD``.
        number: which segment of that day it is, from 1.
        pack: the pack.
        twin: the Parquet file; None if none was made.
        sessions: the sessions, by name.
    """

    day: str
    number: int
    pack: Kept
    twin: Kept | None
    sessions: tuple[Packed, ...]

    @property
    def stem(self) -> str:
        """Return the segment's name."""
        return f"{self.day}-{self.number}"

    def encoded(self) -> bytes:
        """Return the manifest's bytes."""
        return (
            profile_bytes(
                {
                    "v": VERSION,
                    "day": self.day,
                    "number": self.number,
                    "pack": self.pack._asdict(),
                    "twin": self.twin and self.twin._asdict(),
                    "sessions": [item._asdict() for item in self.sessions],
                }
            )
            + b"\n"
        )


class Tally:
    """Counts a session's bytes as they pass.

    Attributes:
        lines: whole lines.
        entries: lines that end like an entry.
    """

    def __init__(self) -> None:
        self.lines = 0
        self.entries = 0
        self._hash = sha256()
        self._ending = b""

    def add(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self._hash.update(chunk)
        self.lines += chunk.count(b"\n")
        seen = self._ending + chunk
        self.entries += seen.count(_ENTRY_END)
        self._ending = seen[1 - len(_ENTRY_END) :]

    def digest(self) -> str:
        """Return the digest of the bytes."""
        return "sha256:" + self._hash.hexdigest()


def stems(root: str) -> list[str]:
    """Return the names of a ledger's segments, oldest first.

    Raises:
        LedgerError: the folder cannot be read.
    """
    try:
        names = os.listdir(os.path.join(root, FOLDER))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise LedgerError(f"cannot read {root}/{FOLDER}: {error.strerror}") from error
    found = [match for name in names if (match := _NAME.fullmatch(name))]
    ordered = sorted((match[1], int(match[2])) for match in found)
    return [f"{day}-{number}" for day, number in ordered]


def folder_of(root: str, stem: str) -> str:
    """Return where a segment lies."""
    return os.path.join(root, FOLDER, stem)


def read_manifest(root: str, stem: str) -> Manifest:
    """Read one manifest.

    Raises:
        LedgerError: the file cannot be read.
        SegmentError: it is no manifest of that name.
    """
    return manifest_of(_manifest_bytes(root, stem), stem)


def manifest_of(data: bytes, stem: str) -> Manifest:
    """Read a manifest's bytes.

    Raises:
        SegmentError: they are no manifest of that name.
    """
    try:
        body = parse_line(data.removesuffix(b"\n"))
        made = _manifest(body)
        if made.encoded() == data and made.stem == stem and body["v"] == VERSION:
            return made
    except (CanonicalizationError, KeyError, TypeError, ValueError):
        pass
    raise SegmentError(f"{FOLDER}/{stem}/{MANIFEST} is not the manifest of that segment")


def _manifest(body: dict[str, Any]) -> Manifest:
    twin = body["twin"]
    sessions = tuple(_packed(item) for item in body["sessions"])
    end = 0
    for item in sessions:
        _expect(item.offset == end)
        end += item.length
    names = [item.name for item in sessions]
    _expect(sorted(set(names)) == names)
    made = Manifest(
        body["day"],
        body["number"],
        _kept(body["pack"]),
        None if twin is None else _kept(twin),
        sessions,
    )
    _expect(made.pack.bytes == end and type(made.day) is str and type(made.number) is int)
    return made


def _packed(item: dict[str, Any]) -> Packed:
    made = Packed(**item)
    _expect(type(made.session) is str and made.name == session_name(made.session))
    _expect(is_digest(made.digest) and is_digest(made.close))
    for number in (made.offset, made.length, made.bytes, made.lines, made.entries):
        _expect(type(number) is int and 0 <= number <= MAX_INTEGER)
    return made


def _kept(item: dict[str, Any]) -> Kept:
    made = Kept(**item)
    _expect(type(made.bytes) is int and made.bytes >= 0 and is_digest(made.digest))
    return made


def _expect(holds: bool) -> None:
    if not holds:
        raise ValueError


def find(root: str, name: str) -> tuple[Manifest, Packed] | None:
    """Return a session's latest copy among the segments; None if it was never sealed.

    Args:
        root: the ledger directory.
        name: the session's name.

    Raises:
        LedgerError: a manifest cannot be read.
        SegmentError: one is missing, or the one that names the session is damaged.
    """
    needle = b'"name":"' + name.encode() + b'"'
    for stem in reversed(stems(root)):
        data = _manifest_bytes(root, stem)
        if needle in data:
            manifest = manifest_of(data, stem)
            for item in manifest.sessions:
                if item.name == name:
                    return manifest, item
    return None


def unpacked(folder: str, item: Packed) -> Iterator[bytes]:
    """Yield the bytes of a session's file out of a segment, no more than it had.

    Args:
        folder: the segment's directory.
        item: the session.

    Raises:
        LedgerError: the pack cannot be read.
        SegmentError: the pack does not hold them.
    """
    left, behind = item.bytes, item.length
    pack = f"{FOLDER}/{os.path.basename(folder)}/{PACK}"
    other = SegmentError(f"{pack} does not hold the file of session {item.name} as it was packed")
    member = zlib.decompressobj(_GZIP)
    try:
        for read in _chunks(os.path.join(folder, PACK), item.offset, item.length):
            behind -= len(read)
            waiting = read
            while waiting:
                if member.eof:  # as any gzip does, another member behind it is read as well
                    member = zlib.decompressobj(_GZIP)
                data = member.decompress(waiting, _CHUNK_BYTES)
                waiting = member.unused_data or member.unconsumed_tail
                left -= len(data)
                if left < 0:
                    raise other
                yield data
    except FileNotFoundError:
        raise SegmentError(f"{pack} is missing") from None
    except zlib.error:
        raise other from None
    except OSError as error:
        raise LedgerError(f"cannot read {pack}: {error.strerror}") from error
    if left or behind or not member.eof:
        raise other


def content(root: str, name: str) -> bytes:
    """Return a sealed session's file; empty if the session was never sealed.

    Raises:
        LedgerError: a segment cannot be read.
        SegmentError: the segment that packs the session is damaged.
    """
    return b"".join(chunks(root, name))


def chunks(root: str, name: str) -> Iterator[bytes]:
    """Yield a sealed session's file in pieces; what they are is known when they end.

    Raises:
        LedgerError: a segment cannot be read.
        SegmentError: the segment that packs the session is damaged.
    """
    found = find(root, name)
    if found is None:
        return
    manifest, item = found
    tally = Tally()
    for chunk in unpacked(folder_of(root, manifest.stem), item):
        tally.add(chunk)
        yield chunk
    if tally.digest() != item.digest:
        raise SegmentError(f"{FOLDER}/{manifest.stem}: session {name} has another digest")


def _chunks(path: str, offset: int, length: int) -> Iterator[bytes]:
    with open_regular(path) as file:
        file.seek(offset)
        while length and (read := file.read(min(_CHUNK_BYTES, length))):
            length -= len(read)
            yield read


def _manifest_bytes(root: str, stem: str) -> bytes:
    path = os.path.join(folder_of(root, stem), MANIFEST)
    try:
        with open_regular(path) as file:
            return file.read()
    except FileNotFoundError:
        raise SegmentError(f"{FOLDER}/{stem}/{MANIFEST} is missing") from None
    except OSError as error:
        raise LedgerError(f"cannot read {path}: {error.strerror}") from error
