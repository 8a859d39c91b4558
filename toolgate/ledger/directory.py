"""A ledger kept in a directory: which file holds what.

The directory's layout is specified in ``spec/storage.md``.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from toolgate.errors import LedgerError, SegmentError
from toolgate.ledger.files import (
    Locked,
    OpenFile,
    fail,
    make_directory,
    opened,
    put_file,
    read_from,
    sync,
    sync_directory,
    tail_of_file,
)
from toolgate.ledger.index import NO_TAIL, Tail, is_whole

if TYPE_CHECKING:
    from toolgate.ledger.recall import Keys, Needles, Recall

LOCK_FILE = "spine.lock"
_SHORT = 262_144
"""Bytes of a session's file that are looked through rather than an index opened."""
_MOST_CACHE_BYTES = 16 * 1024 * 1024
_USUAL_CACHE_BYTES = 64 * 1024
_CACHED = os.O_CLOEXEC | os.O_NONBLOCK  # what is no file must not hold a hook up
BOOT_ID = "/proc/sys/kernel/random/boot_id"


def spine_file(seq: int) -> str:
    """Return the name of the spine file whose first entry has a number."""
    return f"spine-{seq:012d}.jsonl"


_FIRST_FILE = spine_file(1)


def spine_files(root: str) -> list[str]:
    """Return the names of a ledger's spine files, oldest first."""
    try:
        names = os.listdir(root)
    except FileNotFoundError:
        return []
    except OSError as error:
        fail("read", root, error)
    return sorted(
        name
        for name in names
        if name.startswith("spine-")
        and name.endswith(".jsonl")
        and len(name) == len(_FIRST_FILE)
        and name[6:18].isdigit()
    )


class SpineFile(OpenFile):
    """The last of the spine's files, while ``spine.lock`` is held.

    Args:
        root: the ledger directory.
        durable: whether leaving waits for the disk, after unlocking.
        later: where it notes that it must be synced, instead of waiting itself.
    """

    __slots__ = ("_before", "_lock", "_root", "base", "created")

    def __init__(self, root: str, *, durable: bool, later: dict[str, None] | None = None) -> None:
        super().__init__("", durable=durable, later=later)
        self.base = 0
        self.created = False
        self._root = root
        self._before: list[str] = []
        self._lock = Locked(os.path.join(root, LOCK_FILE))

    def __enter__(self) -> Self:
        self._lock.__enter__()
        try:
            *self._before, last = spine_files(self._root) or [_FIRST_FILE]
            self.base = sum(_size(os.path.join(self._root, name)) for name in self._before)
            self._open(last)
        except BaseException:
            self._lock.close()
            raise
        return self

    def _open(self, name: str) -> None:
        self.path = os.path.join(self._root, name)
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
        try:
            try:
                self.fd = os.open(self.path, flags)
            except FileNotFoundError:
                self.fd = os.open(self.path, flags | os.O_CREAT, 0o600)
                self.created = True
        except OSError as error:
            fail("open", self.path, error)
        if self.created and self.durable:
            sync_directory(self._root)

    def size(self) -> int:
        """Return how many bytes the spine has."""
        return self.base + super().size()

    def read(self, start: int, stop: int | None = None) -> bytes:
        """Return the spine's bytes from one position to another, or to its end.

        The positions lie in one file.
        """
        if start >= self.base:
            return super().read(start - self.base, None if stop is None else stop - self.base)
        begin = 0
        for name in self._before:
            path = os.path.join(self._root, name)
            size = _size(path)
            if start < begin + size:
                data = _read(path, start - begin)
                return data if stop is None else data[: stop - start]
            begin += size
        raise LedgerError(f"cannot read the spine in {self._root}: nothing is at {start}")

    def tail(self) -> Tail:
        """Say how the spine ends; a last file without an entry follows the one before it."""
        found = super().tail()
        if found.last is None and self._before:
            last = _tail(os.path.join(self._root, self._before[-1])).last
            found = found._replace(last=last)
        return found._replace(good=self.base + found.good)

    def begin_file(self, seq: int) -> None:
        """Append to a new file from here on.

        With durability ``fsync`` the file before is synced first: else a power cut
        could keep the new file's entries and lose those they follow.
        """
        if self.durable:
            self.sync()
        base = self.size()
        self.close()
        self._before.append(os.path.basename(self.path))
        self.base = base
        self._open(spine_file(seq))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.leave(self._lock.fd)
        finally:
            self._lock.close()


class Files:
    """A ledger directory as a store; see ``store.Store``.

    Args:
        root: the directory.
        durable: whether an append waits for the disk.
    """

    def __init__(self, root: str, *, durable: bool) -> None:
        self.where = os.path.abspath(root)
        self.durable = durable
        self.boot = boot_id()
        self._sessions = os.path.join(self.where, "sessions")
        self._unsynced: dict[str, None] | None = None

    def session(self, name: str, *, since: int = 0) -> Locked:
        """Return a session's file, not yet locked."""
        make_directory(self._sessions)
        return Locked(
            self.path_of(name),
            durable=self.durable,
            later=self._unsynced,
            past=lambda: self._sealed(name),
        )

    def _sealed(self, name: str) -> bytes:
        """Return what a segment holds of a session that has no file."""
        if not os.path.isdir(os.path.join(self.where, "segments")):
            return b""
        from toolgate.ledger import packs

        try:
            return packs.content(self.where, name)
        except SegmentError as error:
            raise LedgerError(f"cannot go on with session {name}: {error}") from error

    def path_of(self, name: str) -> str:
        """Return where a session's file lies, or would."""
        return self._path(name, ".jsonl")

    def spine(self, *, alone: bool = False) -> SpineFile:
        """Return the spine, not yet locked; see ``store.Store``.

        What opens a turn is synced before the turn's entries are written elsewhere, also
        in a group: a power cut must not leave entries of a turn nobody opened.
        """
        make_directory(self.where)
        later = self._unsynced if alone else None
        return SpineFile(self.where, durable=self.durable, later=later)

    def exists(self) -> bool:
        """Say whether there is a spine file."""
        return bool(spine_files(self.where))

    def spine_size(self) -> int:
        """Return how many bytes the spine has, without its lock."""
        return sum(_size(os.path.join(self.where, name)) for name in spine_files(self.where))

    def spine_tail(self) -> Tail:
        """Say how the spine ends, without its lock."""
        for name in reversed(spine_files(self.where)):
            found = _tail(os.path.join(self.where, name))
            if found.last is not None:
                return found
        return NO_TAIL

    def session_tail(self, name: str) -> Tail:
        """Say how a session's file ends, without its lock."""
        path = self.path_of(name)
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return NO_TAIL
        except OSError as error:
            fail("read", path, error)
        try:
            return tail_of_file(fd, path)
        finally:
            os.close(fd)

    def spine_lines(self, needles: Sequence[bytes], since: int) -> Iterator[tuple[int, bytes]]:
        """Yield the spine's lines that contain any of some bytes, and where each begins."""
        begin = 0
        names = spine_files(self.where)
        for name in names:
            path = os.path.join(self.where, name)
            if name != names[-1] and begin + (size := _size(path)) <= since:
                begin += size
                continue
            start = max(since - begin, 0)
            data = _read(path, start)
            for at, line in _lines_with(data, needles or (b"\n",)):
                yield begin + start + at, line
            begin += start + len(data)

    def begun(self, name: str) -> bool:
        """Say whether a session's file has bytes; that of a linear session has none."""
        try:
            return os.stat(self.path_of(name)).st_size > 0
        except FileNotFoundError:
            return False
        except OSError as error:
            fail("read", self.path_of(name), error)

    def lacks(self, name: str, needle: bytes) -> bool:
        """Say whether a short file has no such bytes; of a long one nothing is said.

        That of a linear session is empty: its entries stand on the spine.
        """
        try:
            with open(self.path_of(name), "rb") as file:
                data = file.read(_SHORT + 1)
        except OSError:
            return False  # whoever looks further says what is wrong
        return 0 < len(data) <= _SHORT and needle not in data

    def recall(self, name: str, keys_of: "Keys", needles_of: "Needles") -> "Recall":
        """Return what finds lines in a session's file; see ``store.Store``."""
        from toolgate.ledger.recall import Indexed, Scanned

        path = self.path_of(name)
        if not os.path.exists(path) and (past := self._sealed(name)):
            return Scanned(
                lambda needles: (line for _, line in _lines_with(past, needles)), needles_of
            )
        return Indexed(path, self._path(name, ".facts"), keys_of, needles_of)

    def locked(self) -> Locked:
        """Hold the spine's lock without appending to it."""
        make_directory(self.where)
        return Locked(os.path.join(self.where, LOCK_FILE))

    def has(self, name: str) -> bool:
        """Say whether a file beside the streams is there."""
        return os.path.exists(os.path.join(self.where, name))

    def read(self, name: str) -> bytes | None:
        """Return a file beside the streams; None when it is not there."""
        return _read(os.path.join(self.where, name), 0) if self.has(name) else None

    def keep(self, name: str, data: bytes) -> None:
        """Put a file beside the streams, at once. The caller holds the spine's lock."""
        path = os.path.join(self.where, name)
        make_directory(os.path.dirname(path))
        put_file(path, data)

    def load_state(self, name: str) -> bytes | None:
        """Return a session's cached state; None when there is none."""
        return _cached(self._path(name, ".turn"))

    def keep_state(self, name: str, data: bytes) -> None:
        """Cache a session's state.

        A cache that cannot be written costs the next process a look at the spine
        and nothing else; the entries are on the disk already.
        """
        if not _cache(self._path(name, ".turn"), data):
            self.drop_state(name)

    def load_cache(self, name: str) -> bytes | None:
        """Return what was read of the spine and kept under a name; None when there is none."""
        return _cached(os.path.join(self.where, f"{name}.cache"))

    def keep_cache(self, name: str, data: bytes) -> None:
        """Keep what was read of the spine; what could be written by half is read as nothing."""
        _cache(os.path.join(self.where, f"{name}.cache"), data)

    def drop_state(self, name: str) -> None:
        """Remove a session's cached state before the spine changes under it.

        Raises:
            LedgerError: it is there and cannot be removed.
        """
        path = self._path(name, ".turn")
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
        except OSError as error:
            fail("remove", path, error)

    @contextmanager
    def group(self) -> Iterator[None]:
        """Let appends share one wait for the disk, which ends with the block.

        It waits also when the block fails: earlier appends in it stand.
        """
        if self._unsynced is not None or not self.durable:
            yield
            return
        self._unsynced = {}
        try:
            yield
        finally:
            waiting, self._unsynced = self._unsynced, None
            for path in waiting:
                _sync(path)

    def _path(self, name: str, ending: str) -> str:
        return os.path.join(self._sessions, name + ending)


def _cached(path: str) -> bytes | None:
    """Return a cache's bytes; None when it is not there or cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY | _CACHED)
    except OSError:
        return None
    try:
        # A buffer of the greatest size would cost more than the reading.
        data = os.read(fd, _USUAL_CACHE_BYTES)
        if len(data) < _USUAL_CACHE_BYTES:
            return data
        return data + os.read(fd, _MOST_CACHE_BYTES - len(data))
    except OSError:
        return None
    finally:
        os.close(fd)


def _cache(path: str, data: bytes) -> bool:
    """Write a cache; say whether what is there now is it, or nothing."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _CACHED, 0o600)
    except OSError:
        return True
    try:
        if os.write(fd, data) != len(data):
            os.ftruncate(fd, 0)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True


def boot_id(path: str = BOOT_ID) -> str | None:
    """Return an id of this start of the machine; None where the system has none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(fd, 64).decode("ascii", "replace").strip() or None
    except OSError:
        return None
    finally:
        os.close(fd)


def _lines_with(data: bytes, needles: Sequence[bytes]) -> list[tuple[int, bytes]]:
    """Return the whole lines that contain any of some bytes, and where each begins.

    A last line that lacks but its line feed is one of them: the next append supplies that.
    """
    lines: dict[int, bytes] = {}
    for needle in needles:
        at = data.find(needle)
        while at >= 0:
            begin = data.rfind(b"\n", 0, at) + 1
            stop = data.find(b"\n", at)
            if stop < 0:
                if is_whole(data[begin:]):
                    lines[begin] = data[begin:]
                break
            lines[begin] = data[begin:stop]
            at = data.find(needle, stop + 1)
    return sorted(lines.items())


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError as error:
        fail("read", path, error)


def _read(path: str, start: int) -> bytes:
    with opened(path, "read") as fd:
        return read_from(fd, start, path)


def _sync(path: str) -> None:
    with opened(path, "sync") as fd:
        sync(fd, path)


def _tail(path: str) -> Tail:
    with opened(path, "read") as fd:
        return tail_of_file(fd, path)
