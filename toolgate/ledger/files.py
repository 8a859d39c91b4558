"""How a ledger's bytes reach the disk."""

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import NoReturn, Self

from toolgate.canonical import digest
from toolgate.errors import LedgerError
from toolgate.ledger.index import Tail, tail_of

_TAIL_BYTES = 128 * 1024
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


_APPEND = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC


POSTGRESQL = ("postgresql://", "postgres://")


def is_postgresql(place: str) -> bool:
    """Say whether a ledger's place names a database rather than a directory."""
    return place.startswith(POSTGRESQL)


def default_root(environ: Mapping[str, str]) -> str:
    """Return where the ledger of this user lies.

    Args:
        environ: the environment; ``TOOLGATE_LEDGER``, ``XDG_STATE_HOME`` and ``HOME`` are read.
    """
    chosen = environ.get("TOOLGATE_LEDGER")
    if chosen:
        return chosen if is_postgresql(chosen) else os.path.abspath(chosen)
    return os.path.join(_state_directory(environ), "ledger")


def _state_directory(environ: Mapping[str, str]) -> str:
    state = environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        home = environ.get("HOME") or os.path.expanduser("~")
        state = os.path.join(home, ".local", "state")
    return os.path.join(state, "toolgate")


def session_name(session: str) -> str:
    """Return the name of a session's files: its id if that is safe, else ``x-`` and its digest."""
    first = session[:1]
    if len(session) <= 64 and first != "-" and first and _SAFE.issuperset(session):
        return session
    return "x-" + digest(session.encode("utf-8", "surrogatepass"))[7:]


def policy_name(version: str, ending: str) -> str:
    """Return the name of a policy (``.json``) or its author's signature (``.sig``) in a ledger."""
    return f"policies/{version[7:]}{ending}"


def fail(doing: str, path: str, error: OSError) -> NoReturn:
    """Raise the one error a caller sees for any trouble with the disk."""
    why = error.strerror or type(error).__name__
    raise LedgerError(f"cannot {doing} {path}: {why}") from error


def make_directory(path: str) -> None:
    """Create a directory and its parents, each readable by its owner only."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent and parent != path:
        make_directory(parent)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise LedgerError(
                f"cannot create the directory {path}: a file of that name is there"
            ) from None
    except OSError as error:
        fail("create the directory", path, error)


def write_all(fd: int, data: bytes, path: str) -> None:
    """Append bytes with one write, and notice when the disk took only some of them.

    Raises:
        LedgerError: the write failed or was short. What a short write left is
            a fragment that the next writer seals.
    """
    if not data:
        return
    try:
        written = os.write(fd, data)
    except OSError as error:
        fail("append to", path, error)
    if written != len(data):
        raise LedgerError(f"cannot append to {path}: {written} of {len(data)} bytes were taken")


def sync(fd: int, path: str) -> None:
    """Wait until a file's bytes are on the disk."""
    try:
        os.fsync(fd)
    except OSError as error:
        fail("sync", path, error)


def sync_directory(path: str) -> None:
    """Wait until a directory's names are on the disk."""
    with opened(path, "open") as fd:
        sync(fd, path)


@contextmanager
def opened(path: str, verb: str) -> Iterator[int]:
    """Open a file or directory for reading, for a block.

    Args:
        path: where it is.
        verb: what cannot be done if it cannot be opened.

    Raises:
        LedgerError: it cannot be opened.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        fail(verb, path, error)
    try:
        yield fd
    finally:
        os.close(fd)


def read_from(fd: int, offset: int, path: str) -> bytes:
    """Return a file's bytes from an offset to its end."""
    parts: list[bytes] = []
    try:
        while True:
            wanted = max(os.fstat(fd).st_size - offset, 0)
            if not wanted:
                return parts[0] if len(parts) == 1 else b"".join(parts)
            part = os.pread(fd, wanted, offset)
            if not part:
                return b"".join(parts)
            parts.append(part)
            offset += len(part)
    except OSError as error:
        fail("read", path, error)


class OpenFile:
    """A file that is appended to.

    Args:
        path: where it lies.
        durable: whether leaving it waits for the disk.
        later: where it notes that it must be synced, instead of waiting itself.
    """

    __slots__ = ("dirty", "durable", "fd", "later", "path")

    def __init__(
        self, path: str, *, durable: bool = False, later: dict[str, None] | None = None
    ) -> None:
        self.path = path
        self.later = later
        self.durable = durable
        self.dirty = False
        self.fd = -1

    def identity(self) -> int:
        """Return the file's inode: another one means that the file was replaced."""
        return self._stat().st_ino

    def size(self) -> int:
        """Return how many bytes it has."""
        return self._stat().st_size

    def _stat(self) -> os.stat_result:
        try:
            return os.fstat(self.fd)
        except OSError as error:
            fail("read", self.path, error)

    def read(self, start: int, stop: int | None = None) -> bytes:
        """Return its bytes from one offset to another, or to its end."""
        if stop is None:
            return read_from(self.fd, start, self.path)
        try:
            return os.pread(self.fd, stop - start, start)
        except OSError as error:
            fail("read", self.path, error)

    def tail(self) -> Tail:
        """Say how it ends, reading no more of it than needed."""
        return tail_of_file(self.fd, self.path)

    def append(self, data: bytes) -> None:
        """Append bytes with one write."""
        self.dirty = True
        write_all(self.fd, data, self.path)

    def sync(self) -> None:
        """Wait until its bytes are on the disk."""
        sync(self.fd, self.path)

    def leave(self, lock: int) -> None:
        """Give a lock back, then wait for the disk if that was asked for, and close.

        The wait follows the unlocking: within the lock it would halve the pace of
        all writers, and what it waits for can no longer be taken back.
        """
        try:
            fcntl.flock(lock, fcntl.LOCK_UN)
            if self.durable and self.dirty and self.later is not None:
                self.later[self.path] = None
            elif self.durable and self.dirty:
                self.sync()
        except OSError as error:
            fail("unlock", self.path, error)
        finally:
            self.close()

    def close(self) -> None:
        """Close it; closing gives back a lock it still holds."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Locked(OpenFile):
    """A file held under an exclusive lock.

    ``created`` says whether the file was born under this lock, without a past: it
    appears under its name only once it is locked, so nobody else was ever inside.

    Args:
        path: the file to lock; created if absent.
        durable: whether leaving waits for the disk, after unlocking.
        later: where it notes that it must be synced, instead of waiting itself.
        past: returns what a file that is absent begins with.
    """

    __slots__ = ("_past", "created")

    def __init__(
        self,
        path: str,
        *,
        durable: bool = False,
        later: dict[str, None] | None = None,
        past: Callable[[], bytes] = bytes,
    ) -> None:
        super().__init__(path, durable=durable, later=later)
        self.created = False
        self._past = past

    def __enter__(self) -> Self:
        try:
            while not (self._lock_existing() or self._lock_new()):
                self.close()
        except OSError as error:
            self.close()
            fail("open", self.path, error)
        except BaseException:
            self.close()
            raise
        return self

    def _lock_existing(self) -> bool:
        """Lock the file under its name; say whether the name still means that file."""
        try:
            self.fd = os.open(self.path, _APPEND)
            fcntl.flock(self.fd, fcntl.LOCK_EX)
            mine, there = os.fstat(self.fd), os.stat(self.path)
        except FileNotFoundError:
            return False
        return (mine.st_ino, mine.st_dev) == (there.st_ino, there.st_dev)

    def _lock_new(self) -> bool:
        """Lock a file that has no name yet, then give it the name if that is still free."""
        self.close()
        if os.path.lexists(self.path):
            return False
        fresh = f"{self.path}.{os.getpid()}.new"
        self.fd = os.open(fresh, _APPEND | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX)
            past = self._past()
            if past:
                self.append(past)
                self.sync()
            return self._name(fresh, bool(past))
        finally:
            _unlink(fresh)

    def _name(self, fresh: str, has_past: bool) -> bool:
        """Give a file its name if that is still free; say whether it is this one."""
        try:
            os.link(fresh, self.path)
        except FileExistsError:
            return False  # another writer was first
        except OSError:  # no links here: let the spine tell its past
            self._name_without_links(fresh, has_past)
            return False
        self.created = not has_past
        if self.durable:
            sync_directory(os.path.dirname(self.path))
        return True

    def _name_without_links(self, fresh: str, has_past: bool) -> None:
        if not has_past:
            os.close(os.open(self.path, _APPEND | os.O_CREAT, 0o600))
            return
        folder = os.open(os.path.dirname(self.path), os.O_RDONLY | os.O_CLOEXEC)
        try:  # a rename would replace what another writer has begun to append to
            fcntl.flock(folder, fcntl.LOCK_EX)
            if not os.path.lexists(self.path):
                os.rename(fresh, self.path)
        finally:
            os.close(folder)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave(self.fd)


def tail_of_file(fd: int, path: str) -> Tail:
    """Say how a ledger file ends, reading no more of it than needed."""
    try:
        size = os.fstat(fd).st_size
    except OSError as error:
        fail("read", path, error)
    start = max(size - _TAIL_BYTES, 0)
    found = tail_of(read_from(fd, start, path))
    if found is None and start:
        start = 0
        found = tail_of(read_from(fd, 0, path))
    if found is None:
        return Tail(0, None, read_from(fd, 0, path), False)
    return found._replace(good=found.good + start)


def beside(root: str, ending: str) -> str:
    """Return where a thing lies that belongs to a ledger and must not be in it.

    Args:
        root: the ledger directory, or ``postgresql://...``, whose things lie in this
            user's state directory.
        ending: ``.salt`` or ``.vault``.
    """
    if not is_postgresql(root):
        return os.path.abspath(root) + ending
    from toolgate.ledger.address import database_name

    name = digest(database_name(root).encode())[7:23]
    return os.path.join(_state_directory(os.environ), f"postgresql-{name}{ending}")


def put_file(path: str, data: bytes) -> None:
    """Write a whole new file under its name at once. The caller holds the lock that covers it.

    Raises:
        LedgerError: the disk did not take it; nothing is left under the name.
    """
    if os.path.lexists(path) and not os.path.isfile(path):
        # A device or a folder under this name is not ours to put a file in the place of.
        raise LedgerError(f"cannot create {path}: something that is no file has that name")
    fresh = path + ".new"
    try:
        _unlink(fresh)  # left by a process that was killed here
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            write_all(fd, data, fresh)
            os.fsync(fd)
        finally:
            os.close(fd)
        os.rename(fresh, path)
    except OSError as error:
        fail("create", path, error)
    sync_directory(os.path.dirname(path))


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
