"""Copies a ledger between directories and databases, line for line.

What is copied is the ledger as it was at one moment, whole or not at all: a
directory gets its name when everything is in it, a database commits once.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from toolgate.canonical import digest, parse
from toolgate.errors import CanonicalizationError, LedgerError, SegmentError
from toolgate.ledger import packs
from toolgate.ledger.address import require_driver
from toolgate.ledger.directory import LOCK_FILE, spine_files
from toolgate.ledger.files import (
    fail,
    is_postgresql,
    make_directory,
    session_name,
    sync,
    sync_directory,
)
from toolgate.ledger.regular import open_regular

_CHUNK_BYTES = 1 << 20
_BLOBS = ("policies", "keys")
_OPEN = b'"kind":"session_open"'

Progress = Callable[[int, int], None]


class Copied(NamedTuple):
    """What a copy holds.

    Args:
        sessions: streams of sessions.
        lines: physical lines, the spine's included.
        left_out: streams that end in an unfinished line, which was not copied.
    """

    sessions: int
    lines: int
    left_out: list[str]


class Source(Protocol):
    """A ledger that is copied."""

    def streams(self) -> dict[str, int]:
        """Return the length in bytes of every stream, by name."""

    def read(self, stream: str, size: int) -> Iterator[bytes]:
        """Yield the first bytes of a stream."""

    def blobs(self) -> Iterator[tuple[str, bytes]]:
        """Yield the files beside the streams, by name."""

    def close(self) -> None:
        """Let go of it."""


class Target(Protocol):
    """An empty place that a ledger is copied to."""

    def write(self, stream: str, lines: Iterator[bytes]) -> None:
        """Write a stream's lines, each with its line feed."""

    def keep(self, name: str, data: bytes) -> None:
        """Write a file beside the streams."""

    def finish(self) -> None:
        """Make the copy count."""

    def abandon(self) -> None:
        """Leave nothing behind."""


def export(source: str, target: str, progress: Progress = lambda _done, _total: None) -> Copied:
    """Copy a ledger.

    Args:
        source: a ledger directory, sealed segments included, or ``postgresql://...``.
        target: a directory or database that holds nothing yet.
        progress: told how many bytes are copied, out of how many.

    Raises:
        LedgerError: there is no ledger, the target is not empty, or one of them cannot be
            read or written.
    """
    held = _source(source)
    try:
        return _Copy(held, _target(target), progress).run()
    finally:
        held.close()


class _Copy:
    """A copy while it is made."""

    def __init__(self, source: Source, target: Target, progress: Progress) -> None:
        self._source = source
        self._target = target
        self._progress = progress
        self._done = 0
        self._lines = 0
        self._left_out: list[str] = []
        self._opened: set[str] = set()

    def run(self) -> Copied:
        """Copy everything, then make it count."""
        try:
            streams = self._source.streams()
            total = sum(streams.values())
            for stream, size in streams.items():
                self._target.write(stream, self._whole_lines(stream, size, total))
            # The writer knows a session that never had an entry of its own by its empty file.
            for stream in sorted(self._opened - streams.keys()):
                self._target.write(stream, iter(()))
            for name, data in self._source.blobs():
                self._target.keep(name, data)
            self._target.finish()
        except OSError as error:
            self._target.abandon()
            raise LedgerError(f"cannot copy the ledger: {error.strerror}") from error
        except BaseException:
            self._target.abandon()
            raise
        sessions = len({name for name in streams if name.startswith("session/")} | self._opened)
        return Copied(sessions, self._lines, self._left_out)

    def _whole_lines(self, stream: str, size: int, total: int) -> Iterator[bytes]:
        rest: list[bytes] = []  # joined once, or a line of many pieces takes quadratic time
        for chunk in self._source.read(stream, size):
            first, *more = chunk.split(b"\n")
            rest.append(first)
            for following in more:
                line = b"".join(rest)
                rest = [following]
                self._note(stream, line)
                yield line + b"\n"
            self._done += len(chunk)
            self._progress(self._done, total)
        if any(rest):
            self._left_out.append(stream)

    def _note(self, stream: str, line: bytes) -> None:
        self._lines += 1
        if stream.startswith("spine/") and _OPEN in line:
            try:
                session = parse(line)["session"]
            except (CanonicalizationError, KeyError, TypeError):
                return
            if type(session) is str:
                self._opened.add("session/" + session_name(session))


class Folder:
    """A ledger directory that is copied."""

    def __init__(self, root: str) -> None:
        self._root = root
        if not spine_files(root):
            raise LedgerError(f"no ledger here (no spine file in {root})")

    def streams(self) -> dict[str, int]:
        """Return the length of every stream at one moment.

        Under the spine's lock no turn opens or closes, so what the session files hold
        then belongs to turns the spine has opened, and is all that its closes count.
        """
        lock = self._lock()
        try:
            sealed = {
                item.name: item.bytes
                for stem in packs.stems(self._root)
                for item in packs.read_manifest(self._root, stem).sessions
            }
            sizes = {f"session/{name}": size for name, size in sealed.items()}
            for name in self._names("sessions"):
                if name.endswith(".jsonl"):
                    path = os.path.join(self._root, "sessions", name)
                    sizes[f"session/{name[:-6]}"] = os.stat(path).st_size
            spine = {
                f"spine/{name[6:18]}": os.stat(os.path.join(self._root, name)).st_size
                for name in spine_files(self._root)
            }
            return {**spine, **dict(sorted(sizes.items()))}
        except SegmentError as error:
            raise LedgerError(f"cannot copy {self._root}: {error}") from error
        finally:
            if lock is not None:
                os.close(lock)

    def _lock(self) -> int | None:
        """Hold writers off for a moment; where there is no lock file there is no writer."""
        try:
            lock = os.open(os.path.join(self._root, LOCK_FILE), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        fcntl.flock(lock, fcntl.LOCK_SH)
        return lock

    def _names(self, folder: str) -> list[str]:
        try:
            return sorted(os.listdir(os.path.join(self._root, folder)))
        except FileNotFoundError:
            return []

    def read(self, stream: str, size: int) -> Iterator[bytes]:
        """Yield the first bytes of a stream, from its file or its segment."""
        path = os.path.join(self._root, file_of(stream))
        try:
            file = open_regular(path)
        except FileNotFoundError:
            yield from self._read_sealed(stream.removeprefix("session/"), size)
            return
        with file:
            while size and (chunk := file.read(min(_CHUNK_BYTES, size))):
                size -= len(chunk)
                yield chunk

    def _read_sealed(self, name: str, size: int) -> Iterator[bytes]:
        try:
            for chunk in packs.chunks(self._root, name):
                yield chunk[:size]
                size -= min(size, len(chunk))
        except SegmentError as error:
            raise LedgerError(f"cannot copy {self._root}: {error}") from error

    def blobs(self) -> Iterator[tuple[str, bytes]]:
        """Yield policies and public keys."""
        for folder in _BLOBS:
            for name in self._names(folder):
                with open_regular(os.path.join(self._root, folder, name)) as file:
                    yield f"{folder}/{name}", file.read()

    def close(self) -> None:
        """Do nothing: no file stays open."""


class NewFolder:
    """An empty or absent directory that a ledger is copied to."""

    def __init__(self, root: str) -> None:
        self._root = os.path.abspath(root)
        self._made = f"{self._root}.{os.getpid()}.unfinished"
        try:
            taken = os.listdir(self._root)
        except FileNotFoundError:
            taken = []
        except OSError as error:
            fail("copy to", root, error)
        if taken:
            raise LedgerError(f"{root} is not empty; a ledger is copied to an empty place only")
        shutil.rmtree(self._made, ignore_errors=True)
        make_directory(os.path.join(self._made, "sessions"))

    def write(self, stream: str, lines: Iterator[bytes]) -> None:
        """Write a stream as a file."""
        self._put(file_of(stream), lines)

    def keep(self, name: str, data: bytes) -> None:
        """Write a policy or key."""
        _check_place(name)
        make_directory(os.path.join(self._made, os.path.dirname(name)))
        self._put(name, iter((data,)))

    def _put(self, name: str, chunks: Iterator[bytes]) -> None:
        _check_place(name)
        path = os.path.join(self._made, name)
        with open(path, "xb", opener=_private) as file:
            file.writelines(chunks)
            file.flush()
            sync(file.fileno(), path)

    def finish(self) -> None:
        """Give the directory its name."""
        for folder, _, _ in os.walk(self._made):
            sync_directory(folder)
        os.rename(self._made, self._root)
        sync_directory(os.path.dirname(self._root))

    def abandon(self) -> None:
        """Remove what was written."""
        shutil.rmtree(self._made, ignore_errors=True)


def file_of(stream: str) -> str:
    """Return the name of the file that holds a stream."""
    kind, _, name = stream.partition("/")
    return f"spine-{name}.jsonl" if kind == "spine" else f"sessions/{name}.jsonl"


def _check_place(name: str) -> None:
    """Refuse a name that a database gives and that would lead out of the copy."""
    folder, _, file = name.rpartition("/")
    known = file.startswith("spine-") if not folder else folder in ("sessions", *_BLOBS)
    if not known or file in ("", ".", ".."):
        raise LedgerError(f"cannot copy the ledger: {name!r:.120} is the name of none of its files")


def row_of(stream: str, n: int, start: int, line: bytes) -> tuple[Any, ...]:
    """Return the row that holds a line.

    Args:
        stream: the stream.
        n: the line's number, from 1.
        start: where it begins, in bytes.
        line: its bytes, without line feed.
    """
    return stream, n, start, digest(line), line


def _source(place: str) -> Source:
    if not is_postgresql(place):
        return Folder(place)
    require_driver()
    from toolgate.ledger.copy_postgres import Snapshot

    return Snapshot(place)


def _target(place: str) -> Target:
    if not is_postgresql(place):
        return NewFolder(place)
    require_driver()
    from toolgate.ledger.copy_postgres import NewDatabase

    return NewDatabase(place)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
