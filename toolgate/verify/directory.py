"""The files of a ledger directory: which there are, how long, and how to read each.

The verifier takes a ledger through what ``Directory`` offers and knows no path,
so that entries kept elsewhere can be verified by offering the same.
"""

import fcntl
import os
import re
from collections.abc import Iterator

from toolgate.canonical import digest
from toolgate.errors import LedgerError
from toolgate.ledger.regular import open_regular
from toolgate.verify.read import Bad, Line, read_file
from toolgate.verify.segments import Segments


class Directory:
    """The files of a ledger directory, and how long they were when it was opened.

    A writer may be at work meanwhile; what it adds is told apart by its offset.

    Args:
        root: where it lies.

    Attributes:
        spine: the spine's files, oldest first.
        beside: files of a run that lie here and are no part of the ledger.
        sessions: length of every session's file in bytes, by its name without ending.
        spine_size: length of the last spine file, in bytes.
        segments: the sealed sessions.

    Raises:
        LedgerError: it is no readable directory, or holds no spine.
    """

    forks = True

    def __init__(self, root: str) -> None:
        self.root = root
        names = _names(root, missing=False)
        self.spine = sorted(name for name in names if _SPINE.fullmatch(name))
        if not self.spine:
            raise LedgerError(f"no ledger here (no spine file in {root})")
        self.beside = [name for name in _BESIDE if name in names]
        found = _names(os.path.join(root, "sessions"))
        self.sessions = {
            name[:-6]: size
            for name in found
            if name.endswith(".jsonl")
            and (size := _size_if_there(os.path.join(root, "sessions", name))) is not None
        }
        self.spine_size = _size(os.path.join(root, self.spine[-1]))
        # Sealing removes a file once a segment holds it, so the segments are looked at last.
        self.segments = Segments(root)
        self.sessions = {**self.segments.sessions, **self.sessions}

    @property
    def empty(self) -> bool:
        """Say whether nothing was ever written: a spine and files without a byte."""
        return len(self.spine) == 1 and not self.spine_size and not any(self.sessions.values())

    def runs(self) -> list[str]:
        """Return the names of the ledgers in ``runs/``, which are no part of this one."""
        folder = os.path.join(self.root, "runs")
        try:
            names = os.listdir(folder)
        except OSError:
            return []
        return sorted(name for name in names if _holds_spine(os.path.join(folder, name)))

    def read_spine(self) -> Iterator[Line | Bad]:
        """Yield the spine, file after file.

        Only the last file is appended to, so what tears another one's end will never be
        sealed: it is no fragment.
        """
        for name in self.spine:
            for item in read_file(os.path.join(self.root, name), name):
                if isinstance(item, Bad) and item.torn and name != self.spine[-1]:
                    yield item._replace(torn=False)
                else:
                    yield item

    def has_session(self, name: str) -> bool:
        """Say whether a session has a file by now, or is sealed."""
        return name in self.segments.sessions or os.path.exists(self._path(name))

    def read_session(self, name: str) -> Iterator[Line | Bad]:
        """Return the entries of one session's file, or of what a segment holds of it."""
        if not os.path.exists(self._path(name)):
            if name not in self.segments.sessions:
                self.segments = Segments(self.root)  # it was sealed meanwhile
            if name in self.segments.sessions:
                return self.segments.read(name)
        return read_file(self._path(name), f"sessions/{name}.jsonl")

    def _path(self, name: str) -> str:
        return os.path.join(self.root, "sessions", name + ".jsonl")

    def is_growing(self, file: str, end: int) -> bool:
        """Say whether a writer is at a file, or has added to it.

        The kernel may show a line page by page, so half of one is no torn line as
        long as its writer holds the lock.

        Args:
            file: path below the ledger directory.
            end: how much of it was read, in bytes.
        """
        if file.startswith("segments/"):
            return False
        path = os.path.join(self.root, file)
        lock = os.path.join(self.root, _SPINE_LOCK) if _SPINE.fullmatch(file) else path
        return _is_locked(lock) or _size(path) > end

    def policy(self, version: str) -> bytes | None:
        """Return the text kept under a policy's digest; None when there is none."""
        return self._kept(version[7:] + ".json", MAX_POLICY_BYTES)

    def signature(self, version: str) -> bytes | None:
        """Return what is kept as the author's signature of a policy; None when nothing is."""
        return self._kept(version[7:] + ".sig", MAX_SIGNATURE_BYTES)

    def _kept(self, name: str, most: int) -> bytes | None:
        path = os.path.join(self.root, "policies", name)
        try:
            with open_regular(path) as file:
                return file.read(most)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LedgerError(f"cannot read {path}: {error.strerror}") from error


def session_name(session: str) -> str:
    """Return the name of a session's file, without its ending."""
    if _PLAIN.fullmatch(session):
        return session
    return "x-" + digest(session.encode("utf-8", "surrogatepass"))[7:]


MAX_SIGNATURE_BYTES = 4096
MAX_POLICY_BYTES = 64 * 1024 * 1024  # of a longer one no more is read, so its digest is another
_SPINE_LOCK = "spine.lock"
_SPINE = re.compile(r"spine-[0-9]{12}\.jsonl")
_BESIDE = ("run.json", "journal.jsonl")
_PLAIN = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError as error:
        raise LedgerError(f"cannot read {path}: {error.strerror}") from error


def _size_if_there(path: str) -> int | None:
    return _size(path) if os.path.exists(path) else None


def _is_locked(path: str) -> bool:
    """Say whether somebody holds a lock, without waiting for it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # no lock file, no writer
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(fd)
    return False


def _holds_spine(path: str) -> bool:
    try:
        return any(_SPINE.fullmatch(name) for name in os.listdir(path))
    except OSError:  # a file, or gone meanwhile
        return False


def _names(path: str, *, missing: bool = True) -> list[str]:
    try:
        return os.listdir(path)
    except FileNotFoundError:
        if missing:
            return []
        raise LedgerError(f"there is no ledger at {path}") from None
    except OSError as error:
        raise LedgerError(f"cannot read the ledger at {path}: {error.strerror}") from error
