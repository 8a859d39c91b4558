"""Packs the closed sessions of past days into segments, and unpacks them again.

Nothing is rewritten. A segment is written under another name and gets its own
when it is complete; only then are the files it packs removed, each under its
lock and only if it is still what was packed. So a sealing that dies leaves
every session in its file, in a finished segment, or in both alike; the next one
cleans up.
"""

import gzip
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import NamedTuple

from toolgate.canonical import digest, parse
from toolgate.errors import LedgerError, SegmentError
from toolgate.ledger import packs, twin
from toolgate.ledger.append import Ledger
from toolgate.ledger.directory import Files
from toolgate.ledger.files import (
    Locked,
    fail,
    is_postgresql,
    make_directory,
    put_file,
    session_name,
    sync,
    sync_directory,
    write_all,
)
from toolgate.ledger.packs import FOLDER, MANIFEST, PACK, TWIN, Kept, Manifest, Packed, Tally
from toolgate.ledger.state import lines_of

_LOCK_FILE = "seal.lock"
_UNFINISHED = "unfinished-"
_CHUNK_BYTES = 1 << 20
_LEVEL = 6
_SESSION_KIND = b'"kind":"session_'

Progress = Callable[[int, int], None]


class Sealed(NamedTuple):
    """What a sealing did.

    Args:
        segments: the names of the segments it made.
        sessions: how many sessions are in them.
        removed: how many session files were removed.
        recovered: what was recovered first, one sentence each.
        left: sessions that were left alone because their file does not begin with what a
            segment packs of them.
    """

    segments: list[str]
    sessions: int
    removed: int
    recovered: list[str]
    left: list[str]


class _Closed(NamedTuple):
    """A closed session: its id, the UTC day of its last close, and that entry's digest."""

    session: str
    day: str
    close: str


def seal(
    root: str,
    *,
    ts: int,
    before: str | None = None,
    keep: bool = False,
    with_twin: bool = True,
    idle_us: int = 3_600_000_000,
    progress: Progress = lambda _done, _total: None,
) -> Sealed:
    """Recover a ledger, then pack its closed sessions by the day they were last closed on.

    Args:
        root: the ledger directory.
        ts: now, microseconds UTC.
        before: pack what was closed before this UTC day, ``YYYY-MM-DD``; None for today.
        keep: leave the session files in place.
        with_twin: also write each segment's entries as Parquet.
        idle_us: the recovery closes sessions whose last entry is at least this old.
        progress: told how many sessions are packed, out of how many.

    Raises:
        LedgerError: something could not be read or written, or a segment is damaged.
        UnavailableError: a twin is wanted and pyarrow is missing.
    """
    root = _directory(root)
    if with_twin:
        twin.require()
    recovered = Ledger(root, durability="fsync").recover(ts=ts, idle_us=idle_us)
    with _alone(root):
        work = _Work(Files(root, durable=True))
        days = work.days(before or day_of(ts))
        total = sum(len(names) for names in days.values())
        made: list[str] = []
        done = packed = 0
        for day, names in sorted(days.items()):
            manifest = work.pack(day, names, with_twin, _counting(progress, done, total))
            done += len(names)
            if manifest is not None:
                made.append(manifest.stem)
                packed += len(manifest.sessions)
        removed = 0 if keep else sum(map(work.remove, work.leftovers()))
        return Sealed(made, packed, removed, recovered, work.left)


def unpack(root: str, *, keep: bool = False, progress: Progress = lambda _d, _t: None) -> int:
    """Give every sealed session its file back, byte for byte, and remove the segments.

    Args:
        root: the ledger directory.
        keep: leave the segments in place.
        progress: told how many sessions are unpacked, out of how many.

    Returns:
        How many files were restored.

    Raises:
        LedgerError: something could not be read or written, or a segment is damaged.
    """
    root = _directory(root)
    with _alone(root):
        files = Files(root, durable=True)
        stems = packs.stems(root)
        names = sorted({item.name for item in _packed_in(root, stems)})
        restored = 0
        for done, name in enumerate(names, 1):
            restored += not os.path.exists(files.path_of(name))
            with files.session(name):  # the writer's own way to go on with a sealed session
                pass
            progress(done, len(names))
        for stem in () if keep else stems:
            _discard(packs.folder_of(root, stem))
        return restored


class _Work:
    """A sealing while it runs.

    Args:
        files: the ledger.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._root = files.where
        self._latest = {item.name: item for item in _packed_in(self._root, packs.stems(self._root))}
        self._end = files.spine_size()
        self._closed = self._closed_sessions()
        self.left: list[str] = []

    def _closed_sessions(self) -> dict[str, _Closed]:
        """Return the sessions that are closed, by name."""
        found: dict[str, _Closed] = {}
        for _, line in self._files.spine_lines((_SESSION_KIND,), 0):
            body = parse(line)
            session = body["session"]
            if type(session) is not str or body["kind"] not in ("session_open", "session_close"):
                continue
            name = session_name(session)
            found.pop(name, None)
            if body["kind"] == "session_close":
                found[name] = _Closed(session, day_of(body["ts"]), digest(line))
        return found

    def days(self, before: str) -> dict[str, list[str]]:
        """Return the sessions to pack, by the UTC day of their last close, each sorted."""
        days: dict[str, list[str]] = {}
        for name, item in sorted(self._closed.items()):
            if item.day >= before or not _size(self._files.path_of(name)):
                continue
            if not self._continues(name):
                self.left.append(item.session)
            elif not self._is_packed(name):
                days.setdefault(item.day, []).append(name)
        return days

    def _continues(self, name: str) -> bool:
        """Say whether a session's file begins with what a segment holds of it, if any does."""
        item = self._latest.get(name)
        if item is None:
            return True
        path = self._files.path_of(name)
        return _size(path) >= item.bytes and _digest(path, item.bytes) == item.digest

    def _is_packed(self, name: str) -> bool:
        """Say whether a session's file is what a segment holds of it."""
        item = self._latest.get(name)
        return (
            item is not None
            and _size(self._files.path_of(name)) == item.bytes
            and self._continues(name)
        )

    def pack(
        self, day: str, names: list[str], with_twin: bool, progress: Callable[[int], None]
    ) -> Manifest | None:
        """Make a segment of some sessions; None when none of them can be packed."""
        taken = [int(stem[11:]) for stem in packs.stems(self._root) if stem[:10] == day]
        manifest = Manifest(day, max(taken, default=0) + 1, Kept(0, ""), None, ())
        final = packs.folder_of(self._root, manifest.stem)
        folder = packs.folder_of(self._root, _UNFINISHED + manifest.stem)
        os.mkdir(folder, 0o700)
        manifest = self._write_pack(folder, manifest, names, progress)
        if not manifest.sessions:
            shutil.rmtree(folder)
            return None
        if with_twin:
            manifest = manifest._replace(twin=_write_twin(folder, manifest.sessions))
        put_file(os.path.join(folder, MANIFEST), manifest.encoded())
        os.rename(folder, final)
        sync_directory(os.path.dirname(final))
        self._latest.update({item.name: item for item in manifest.sessions})
        return manifest

    def _write_pack(
        self, folder: str, manifest: Manifest, names: list[str], progress: Callable[[int], None]
    ) -> Manifest:
        sessions: list[Packed] = []
        path = os.path.join(folder, PACK)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            out = _Hashed(fd, path)
            for done, name in enumerate(names, 1):
                item = self._add(out, name)
                if item is not None:
                    sessions.append(item)
                progress(done)
            sync(fd, path)
        finally:
            os.close(fd)
        return manifest._replace(pack=Kept(out.bytes, out.digest()), sessions=tuple(sessions))

    def _add(self, out: "_Hashed", name: str) -> Packed | None:
        """Append a session's file to a pack; None if the session went on meanwhile."""
        closed, begin, tally = self._closed[name], out.bytes, Tally()
        with self._files.session(name) as held:
            tail, size = held.tail(), held.size()
            if tail.open or tail.fragment or self._went_on(closed.session):
                return None
            with gzip.GzipFile("", "wb", _LEVEL, out, mtime=0) as member:
                for start in range(0, size, _CHUNK_BYTES):
                    chunk = held.read(start, min(start + _CHUNK_BYTES, size))
                    tally.add(chunk)
                    member.write(chunk)
        return Packed(
            name=name,
            session=closed.session,
            offset=begin,
            length=out.bytes - begin,
            bytes=size,
            digest=tally.digest(),
            lines=tally.lines,
            entries=tally.entries,
            close=closed.close,
        )

    def _went_on(self, session: str) -> bool:
        return any(True for _ in lines_of(self._files, session, self._end))

    def leftovers(self) -> list[str]:
        """Return the sessions that have a file although a segment holds the same bytes."""
        return [name for name in sorted(self._latest) if self._is_packed(name)]

    def remove(self, name: str) -> bool:
        """Remove a session's file if it is still what a segment holds."""
        with self._files.session(name) as held:
            if not self._is_packed(name):
                return False
            self._files.drop_state(name)
            os.unlink(held.path)
        return True


class _Hashed:
    """A file that is written to, its length and its digest."""

    def __init__(self, fd: int, path: str) -> None:
        self._fd = fd
        self._path = path
        self._hash = sha256()
        self.bytes = 0

    def write(self, data: bytes) -> int:
        """Write bytes."""
        self._hash.update(data)
        self.bytes += len(data)
        write_all(self._fd, data, self._path)
        return len(data)

    def flush(self) -> None:
        """Do nothing: nothing was held back."""

    def digest(self) -> str:
        """Return the digest of what was written."""
        return "sha256:" + self._hash.hexdigest()


def _write_twin(folder: str, sessions: tuple[Packed, ...]) -> Kept:
    path = os.path.join(folder, TWIN)
    twin.write(
        path,
        (
            row
            for item in sessions
            for row in twin.rows_of(twin.lines_of(packs.unpacked(folder, item)))
        ),
    )
    os.chmod(path, 0o600)
    with open(path, "rb") as file:
        sync(file.fileno(), path)
    size = _size(path)
    return Kept(size, _digest(path, size))


def day_of(ts: int) -> str:
    """Return the UTC day of a time in microseconds, as ``YYYY-MM-DD``."""
    return time.strftime("%Y-%m-%d", time.gmtime(ts // 1_000_000))


@contextmanager
def _alone(root: str) -> Iterator[None]:
    """Hold the lock of sealing, and clear what a sealing that died has left unfinished."""
    folder = os.path.join(root, FOLDER)
    try:
        make_directory(folder)
        with Locked(os.path.join(folder, _LOCK_FILE)):
            for name in os.listdir(folder):
                if name.startswith(_UNFINISHED):
                    shutil.rmtree(os.path.join(folder, name))
            yield
    except OSError as error:
        fail("seal or unpack", root, error)
    except SegmentError as error:
        raise LedgerError(f"cannot seal or unpack {root}: {error}") from error


def _directory(root: str) -> str:
    if is_postgresql(root):
        raise LedgerError(
            "a database is not sealed; toolgate ledger export copies it to a directory"
        )
    if not Files(root, durable=True).exists():
        raise LedgerError(f"no ledger here (no spine file in {root})")
    return os.path.abspath(root)


def _packed_in(root: str, stems: list[str]) -> Iterator[Packed]:
    """Yield every packed session, older segments first."""
    for stem in stems:
        yield from packs.read_manifest(root, stem).sessions


def _discard(folder: str) -> None:
    """Remove a segment; it loses its name first, so that it is there whole or not at all."""
    away = os.path.join(os.path.dirname(folder), _UNFINISHED + os.path.basename(folder))
    os.rename(folder, away)
    shutil.rmtree(away)


def _counting(progress: Progress, before: int, total: int) -> Callable[[int], None]:
    return lambda done: progress(before + done, total)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def _digest(path: str, length: int) -> str:
    """Return the digest of a file's first bytes."""
    hashed = sha256()
    with open(path, "rb") as file:
        while length and (chunk := file.read(min(_CHUNK_BYTES, length))):
            hashed.update(chunk)
            length -= len(chunk)
    return "sha256:" + hashed.hexdigest()
