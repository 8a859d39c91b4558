"""Where a ledger keeps what, and how its bytes reach the disk."""

import fcntl
import os
from collections.abc import Mapping
from types import TracebackType
from typing import NamedTuple, NoReturn

from toolgate.canonical import digest, parse
from toolgate.errors import CanonicalizationError, LedgerError

SALT_BYTES = 32
_TAIL_BYTES = 128 * 1024
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


_APPEND = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC


class Tail(NamedTuple):
    """How a run of ledger bytes ends.

    Args:
        good: bytes up to and including the last line that parses.
        last: that line without its line feed; None when no line parses.
        fragment: the bytes after it.
        open: whether only the line feed of that line is missing.
    """

    good: int
    last: bytes | None
    fragment: bytes
    open: bool


def default_root(environ: Mapping[str, str]) -> str:
    """Return where the ledger of this user lies.

    Args:
        environ: the environment; ``TOOLGATE_LEDGER``, ``XDG_STATE_HOME`` and ``HOME`` are read.
    """
    chosen = environ.get("TOOLGATE_LEDGER")
    if chosen:
        return os.path.abspath(chosen)
    state = environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        home = environ.get("HOME") or os.path.expanduser("~")
        state = os.path.join(home, ".local", "state")
    return os.path.join(state, "toolgate", "ledger")


def session_name(session: str) -> str:
    """Return the name of a session's files: its id if that is safe, else ``x-`` and its digest."""
    first = session[:1]
    if len(session) <= 64 and first != "-" and first and _SAFE.issuperset(session):
        return session
    return "x-" + digest(session.encode("utf-8", "surrogatepass"))[7:]


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
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        fail("open", path, error)
    try:
        sync(fd, path)
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


class Locked:
    """A file held under an exclusive lock; ``fd`` appends to it.

    ``created`` says whether the file was born under this lock: it appears under
    its name only once it is locked, so nobody else was ever inside.

    Args:
        path: the file to lock; created if absent.
        durable: whether leaving waits for the disk, after unlocking.
    """

    __slots__ = ("created", "dirty", "durable", "fd", "path")

    def __init__(self, path: str, *, durable: bool = False) -> None:
        self.path = path
        self.durable = durable
        self.dirty = False
        self.created = False
        self.fd = -1

    def __enter__(self) -> "Locked":
        try:
            while not (self._lock_existing() or self._lock_new()):
                self._close()
        except OSError as error:
            self._close()
            fail("open", self.path, error)
        except BaseException:
            self._close()
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
        self._close()
        if os.path.lexists(self.path):
            return False
        fresh = f"{self.path}.{os.getpid()}.new"
        self.fd = os.open(fresh, _APPEND | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX)
            os.link(fresh, self.path)
            self.created = True
        except FileExistsError:
            return False  # another writer was first
        except OSError:  # no links here: make it under its name, and let the spine tell its past
            os.close(os.open(self.path, _APPEND | os.O_CREAT, 0o600))
            return False
        finally:
            _unlink(fresh)
        if self.durable:
            sync_directory(os.path.dirname(self.path))
        return True

    def append(self, data: bytes) -> None:
        """Append bytes with one write."""
        self.dirty = True
        write_all(self.fd, data, self.path)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            fcntl.flock(self.fd, fcntl.LOCK_UN)
            if self.durable and self.dirty:
                sync(self.fd, self.path)
        except OSError as error:
            fail("unlock", self.path, error)
        finally:
            self._close()

    def _close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def tail_of(data: bytes) -> Tail | None:
    """Say how a run of ledger bytes ends; None when no line in it parses."""
    end = len(data)
    while end > 0:
        closed = data[end - 1 : end] == b"\n"
        stop = end - 1 if closed else end
        start = data.rfind(b"\n", 0, stop) + 1
        if is_whole(data[start:stop]):
            return Tail(end, data[start:stop], data[end:], not closed)
        end = start
    return None


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


def is_whole(line: bytes) -> bool:
    """Say whether a line, without its line feed, was written to its end."""
    # A line that was cut does not end with a brace of its own often enough to matter.
    if not line.endswith(b"}") or not line.startswith(b"{"):
        return False
    try:
        return type(parse(line)) is dict
    except CanonicalizationError:
        return False


def salt(root: str) -> bytes:
    """Return the 32 secret bytes that key this ledger's resource names.

    They lie beside the ledger directory, never in it, so that a ledger can be
    handed to an auditor as it is. Created on first use, by one process.

    Args:
        root: the ledger directory.

    Raises:
        LedgerError: the salt cannot be read, created, or has another length.
    """
    path = os.path.abspath(root) + ".salt"
    found = _read_salt(path)
    if found is None:
        make_directory(os.path.dirname(path))
        found = _create_salt(path)
    if len(found) != SALT_BYTES:
        raise LedgerError(f"{path} holds {len(found)} bytes; expected {SALT_BYTES}")
    return found


def known_salt(root: str) -> bytes | None:
    """Return a ledger's salt; None when it is not there. Never creates one.

    Raises:
        LedgerError: it cannot be read, or has another length.
    """
    path = os.path.abspath(root) + ".salt"
    found = _read_salt(path)
    if found is not None and len(found) != SALT_BYTES:
        raise LedgerError(f"{path} holds {len(found)} bytes; expected {SALT_BYTES}")
    return found


def _read_salt(path: str) -> bytes | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        fail("read", path, error)
    try:
        return os.read(fd, SALT_BYTES + 1)
    except OSError as error:
        fail("read", path, error)
    finally:
        os.close(fd)


def _create_salt(path: str) -> bytes:
    """Create the salt under a lock on its directory; a concurrent creator wins."""
    try:
        lock = os.open(os.path.dirname(path), os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            found = _read_salt(path)
            if found is None:
                found = os.urandom(SALT_BYTES)
                put_file(path, found)
            return found
        finally:
            os.close(lock)
    except OSError as error:
        fail("create", path, error)


def put_file(path: str, data: bytes) -> None:
    """Write a whole new file under its name at once. The caller holds the lock that covers it.

    Raises:
        LedgerError: the disk did not take it; nothing is left under the name.
    """
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
