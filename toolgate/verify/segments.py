"""Sealed segments as a ledger's reader sees them, and whether they are what they say.

Nothing a manifest says is believed for the entries: those are read and judged
as if they lay in their session's file.
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import zip_longest
from typing import NamedTuple

from toolgate.errors import LedgerError, SegmentError
from toolgate.ledger import packs, twin
from toolgate.ledger.packs import FOLDER, PACK, TWIN, Kept, Manifest, Packed, Tally
from toolgate.ledger.regular import open_regular
from toolgate.verify.read import Bad, Line
from toolgate.verify.spool import read_bytes

_CHUNK_BYTES = 1 << 20


class Damage(NamedTuple):
    """Something that is not as a manifest says.

    Args:
        where: the file.
        message: one sentence.
        session: the session id, if it is about one.
    """

    where: str
    message: str
    session: str | None = None


class Segments:
    """The segments of a ledger directory.

    Args:
        root: the ledger directory.

    Attributes:
        sessions: length in bytes of the latest copy of every sealed session, by name.
        unread_twins: how many twins could not be compared because pyarrow is missing.

    Raises:
        LedgerError: a manifest cannot be read.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._manifests: list[Manifest] = []
        self._copies: dict[str, list[tuple[str, Packed]]] = defaultdict(list)
        self._damage: list[Damage] = []
        self.unread_twins = 0
        for stem in packs.stems(root):
            try:
                manifest = packs.read_manifest(root, stem)
            except SegmentError as error:
                self._damage.append(Damage(f"{FOLDER}/{stem}", str(error)))
                continue
            self._manifests.append(manifest)
            for item in manifest.sessions:
                self._copies[item.name].append((stem, item))
        self.sessions = {name: copies[-1][1].bytes for name, copies in self._copies.items()}

    def __len__(self) -> int:
        return len(self._manifests) + len(self._damage)

    def read(self, name: str) -> Iterator[Line | Bad]:
        """Yield the entries of a sealed session, from its latest copy.

        A copy that cannot be unpacked whole yields nothing; ``damage`` says so.
        """
        stem, item = self._copies[name][-1]
        try:  # all is unpacked before the first line is read
            yield from read_bytes(self._unpacked(stem, item), f"{FOLDER}/{stem}/{name}.jsonl")
        except SegmentError:
            return

    def _unpacked(self, stem: str, item: Packed) -> Iterator[bytes]:
        return packs.unpacked(packs.folder_of(self._root, stem), item)

    def damage(self, closes: Mapping[str, str]) -> Iterator[Damage]:
        """Hold every segment to its manifest.

        Args:
            closes: the session of each session_close on the spine, by entry digest.
        """
        yield from self._damage
        for manifest in self._manifests:
            yield from self._of_files(manifest)
            yield from self._of_sessions(manifest, closes)
        for name in sorted(self._copies):
            yield from self._of_copies(name)

    def _of_files(self, manifest: Manifest) -> Iterator[Damage]:
        kept = [(PACK, manifest.pack)]
        if manifest.twin is not None:
            kept.append((TWIN, manifest.twin))
        for file, says in kept:
            where = f"{FOLDER}/{manifest.stem}/{file}"
            found = _kept(os.path.join(self._root, where))
            if found is None:
                yield Damage(where, f"{where} is missing; the manifest names it")
            elif found != says:
                yield Damage(where, f"{where} is {found.digest}; the manifest says {says.digest}")
            elif file == TWIN:
                yield from self._of_twin(manifest, where)

    def _of_twin(self, manifest: Manifest, where: str) -> Iterator[Damage]:
        """Compare a twin with the entries of its pack, row by row."""
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            self.unread_twins += 1
            return
        folder = packs.folder_of(self._root, manifest.stem)
        packed = (
            row
            for item in manifest.sessions
            for row in twin.rows_of(twin.lines_of(self._unpacked(manifest.stem, item)))
        )
        try:
            for one, other in zip_longest(twin.read(os.path.join(folder, TWIN)), packed):
                if one != other:
                    yield Damage(where, f"{where} says other than the entries it stands for")
                    return
        except SegmentError:
            return  # said of the pack
        except (OSError, ValueError) as error:
            yield Damage(where, f"{where} cannot be read as a twin: {type(error).__name__}")

    def _of_sessions(self, manifest: Manifest, closes: Mapping[str, str]) -> Iterator[Damage]:
        for item in manifest.sessions:
            where = f"{FOLDER}/{manifest.stem}/{item.name}.jsonl"
            try:
                tally = Tally()
                for chunk in self._unpacked(manifest.stem, item):
                    tally.add(chunk)
            except SegmentError as error:
                yield Damage(where, str(error), item.session)
                continue
            if tally.digest() != item.digest:
                message = f"{where} is {tally.digest()}; the manifest says {item.digest}"
                yield Damage(where, message, item.session)
            elif (tally.lines, tally.entries) != (item.lines, item.entries):
                message = (
                    f"{where} has {tally.lines} lines and {tally.entries} entries; the manifest "
                    f"says {item.lines} and {item.entries}"
                )
                yield Damage(where, message, item.session)
            elif closes.get(item.close) != item.session:
                message = f"{where}: the manifest names {item.close}, which closes no such session"
                yield Damage(where, message, item.session)

    def _of_copies(self, name: str) -> Iterator[Damage]:
        """A session that went on after it was sealed must begin with what was sealed."""
        copies = self._copies[name]
        lengths = [item.bytes for _, item in copies]
        path = os.path.join(self._root, "sessions", name + ".jsonl")
        try:
            begun = _prefixes(_file(path), lengths)
        except FileNotFoundError:
            *copies, last = copies
            try:
                begun = _prefixes(self._unpacked(*last), lengths)
            except SegmentError:
                return  # said of that copy
        for stem, item in copies:
            if begun.get(item.bytes) != item.digest:
                where = f"{FOLDER}/{stem}/{name}.jsonl"
                message = f"session {item.session} does not begin with what {where} packs of it"
                yield Damage(where, message, item.session)


def _kept(path: str) -> Kept | None:
    """Return a file's length and digest; None when it is not there."""
    hashed, size = sha256(), 0
    try:
        for chunk in _file(path):
            hashed.update(chunk)
            size += len(chunk)
    except FileNotFoundError:
        return None
    return Kept(size, "sha256:" + hashed.hexdigest())


def _file(path: str) -> Iterator[bytes]:
    try:
        with open_regular(path) as file:
            while chunk := file.read(_CHUNK_BYTES):
                yield chunk
    except FileNotFoundError:
        raise
    except OSError as error:
        raise LedgerError(f"cannot read {path}: {error.strerror}") from error


def _prefixes(chunks: Iterator[bytes], lengths: list[int]) -> dict[int, str]:
    """Return the digest of the first so many bytes, for each length that there is."""
    hashed, size = sha256(), 0
    found = {0: "sha256:" + hashed.hexdigest()}
    wanted = set(lengths)
    for chunk in chunks:
        for length in [length for length in wanted if size < length <= size + len(chunk)]:
            part = hashed.copy()
            part.update(chunk[: length - size])
            found[length] = "sha256:" + part.hexdigest()
        hashed.update(chunk)
        size += len(chunk)
    return found
