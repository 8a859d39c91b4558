"""The spine under its lock: head, append, recovery of a torn end."""

import os
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

from toolgate.canonical import digest, parse
from toolgate.errors import LedgerError
from toolgate.ledger.chain import EMPTY, Head, link
from toolgate.ledger.files import (
    Locked,
    fail,
    is_whole,
    read_from,
    sync,
    sync_directory,
    tail_of_file,
    write_all,
)
from toolgate.records import entry

FIRST_FILE = "spine-000000000001.jsonl"
LOCK_FILE = "spine.lock"


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
        and len(name) == len(FIRST_FILE)
        and name[6:18].isdigit()
    )


class SpineMemory:
    """What a process remembers of the spine between two locks: a hint, never a fact.

    Args (slots):
        inode: the file that was appended to last.
        size: its size then.
        head: the head then.
    """

    __slots__ = ("head", "inode", "size")

    def __init__(self) -> None:
        self.inode = 0
        self.size = -1
        self.head = EMPTY


class Spine:
    """The spine while its lock is held. Entries are written in one write, at ``flush``.

    Args:
        root: the ledger directory.
        memory: hint shared by the locks of one process.
        durable: whether leaving waits for the disk, after unlocking.
        ts: time of a recovery entry, should one be needed, microseconds UTC.
    """

    def __init__(self, root: str, memory: SpineMemory, *, durable: bool, ts: int) -> None:
        self._root = root
        self._memory = memory
        self._durable = durable
        self._ts = ts
        self._lock = Locked(os.path.join(root, LOCK_FILE))
        self._buffer: list[bytes] = []
        self._written = False
        self.fd = -1
        self.path = ""
        self.head = EMPTY
        self.offset = 0
        self.sealed: str | None = None

    def __enter__(self) -> "Spine":
        self._lock.__enter__()
        try:
            self._open()
            self._find_head()
        except BaseException:
            self._close()
            self._lock.__exit__(None, None, None)
            raise
        return self

    def _open(self) -> None:
        names = spine_files(self._root)
        self.path = os.path.join(self._root, names[-1] if names else FIRST_FILE)
        try:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self.fd = os.open(self.path, flags, 0o600)
        except OSError as error:
            fail("open", self.path, error)
        if not names and self._durable:
            sync_directory(self._root)

    def _find_head(self) -> None:
        found = os.fstat(self.fd)
        if (found.st_ino, found.st_size) == (self._memory.inode, self._memory.size):
            self.head, self.offset = self._memory.head, self._memory.size
            return
        tail = tail_of_file(self.fd, self.path)
        self.offset = found.st_size
        if tail.last is not None:
            self.head = _head_of(tail.last, self.path)
        if tail.open:
            self._buffer.append(b"\n")
            self.offset += 1
            self.sealed = "spine: supplied the line feed of its last line"
        elif tail.fragment:
            self._seal(tail.good, tail.fragment)

    def _seal(self, offset: int, fragment: bytes) -> None:
        """Close a torn end with a line feed and an entry that says what it was."""
        self._buffer.append(b"\n")
        self.offset += 1
        ev = {"offset": offset, "length": len(fragment), "digest": digest(fragment)}
        self.append(entry("recovery", session=None, turn=None, parents=[], ts=self._ts, ev=ev))
        self.sealed = f"spine: sealed a fragment of {len(fragment)} bytes at offset {offset}"

    def append(self, body: dict[str, Any]) -> tuple[str, bytes]:
        """Add an entry behind the head; it is on its way to the disk at ``flush``.

        Returns:
            The entry's digest and its line.
        """
        line, self.head = link(body, self.head)
        self._buffer.append(line + b"\n")
        self.offset += len(line) + 1
        return self.head.digest, line

    def flush(self) -> None:
        """Write what was added, with one write."""
        if not self._buffer:
            return
        data, self._buffer = b"".join(self._buffer), []
        self._memory.size = -1
        self._written = True
        write_all(self.fd, data, self.path)

    def lines(self) -> Iterator[bytes]:
        """Yield every line of the spine from the first, without its line feed.

        What was added is written before, so that it is among them.
        """
        self.flush()
        for name in spine_files(self._root):
            path = os.path.join(self._root, name)
            try:
                with open(path, "rb") as file:
                    for line in file:
                        yield line.rstrip(b"\n")
            except OSError as error:
                fail("read", path, error)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            try:
                if kind is None:
                    self.flush()
                    self._remember()
            finally:
                self._lock.__exit__(None, None, None)
            if self._written and self._durable:
                sync(self.fd, self.path)
        finally:
            self._close()

    def _remember(self) -> None:
        self._memory.inode = os.fstat(self.fd).st_ino
        self._memory.size = self.offset
        self._memory.head = self.head

    def _close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def _head_of(line: bytes, path: str) -> Head:
    body = parse(line)
    seq = body.get("seq")
    if type(seq) is not int:
        raise LedgerError(f"cannot append to {path}: its last entry has no seq")
    return Head(seq, digest(line))


def session_lines(
    root: str, session: bytes, since: tuple[str, int]
) -> list[tuple[str, int, bytes]]:
    """Return the spine's lines that may belong to a session, in order.

    Args:
        root: the ledger directory.
        session: the session id as JSON text.
        since: spine file and offset of the first line to look at; ("", 0) for all.

    Returns:
        File name, offset and line (without line feed). A line is returned when
        it contains the session id as a ``session`` field at any depth.
    """
    return lines_with(root, (b'"session":' + session,), since)


def lines_with(
    root: str, needles: Sequence[bytes], since: tuple[str, int] = ("", 0)
) -> list[tuple[str, int, bytes]]:
    """Return the spine's whole lines that contain any of some bytes; else as ``session_lines``.

    A last line that lacks but its line feed is one of them: the next append supplies that.
    """
    found: list[tuple[str, int, bytes]] = []
    for name in spine_files(root):
        if name < since[0]:
            continue
        path = os.path.join(root, name)
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            fail("read", path, error)
        try:
            start = since[1] if name == since[0] else 0
            data = read_from(fd, start, path)
        finally:
            os.close(fd)
        lines: dict[int, bytes] = {}
        for needle in needles:
            at = data.find(needle)
            while at >= 0:
                begin = data.rfind(b"\n", 0, at) + 1
                stop = data.find(b"\n", at)
                if stop < 0:
                    if is_whole(data[begin:]):
                        lines[start + begin] = data[begin:]
                    break
                lines[start + begin] = data[begin:stop]
                at = data.find(needle, stop)
        found += [(name, offset, lines[offset]) for offset in sorted(lines)]
    return found
