"""The spine under its lock: head, append, recovery of a torn end, the next file."""

from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from toolgate.canonical import digest, parse
from toolgate.errors import LedgerError
from toolgate.ledger.chain import EMPTY, Head, link
from toolgate.records import entry

if TYPE_CHECKING:
    from toolgate.ledger.store import Store


class SpineMemory:
    """What a process remembers of the spine between two locks: a hint, never a fact.

    Args (slots):
        identity: of the stream that was appended to last.
        size: its size then.
        length: bytes of its last entry.
        head: the head then.
    """

    __slots__ = ("head", "identity", "length", "size")

    def __init__(self) -> None:
        self.identity = 0
        self.size = -1
        self.length = 0
        self.head = EMPTY


class Spine:
    """The spine while its lock is held. Entries are written in one write, at ``flush``.

    Args:
        store: where the ledger is kept.
        memory: hint shared by the locks of one process.
        rotate: size in bytes from which the next writer begins a new file.
        ts: time of a recovery entry, should one be needed, microseconds UTC.
        alone: whether no other stream rests on what will be appended.
    """

    def __init__(
        self, store: "Store", memory: SpineMemory, *, rotate: int, ts: int, alone: bool = False
    ) -> None:
        self._store = store
        self._memory = memory
        self._rotate = rotate
        self._ts = ts
        self._stream = store.spine(alone=alone)
        self._buffer: list[bytes] = []
        self._length = 0
        self.head = EMPTY
        self.offset = 0
        self.sealed: str | None = None

    def __enter__(self) -> "Spine":
        self._stream.__enter__()
        try:
            self._find_head()
        except BaseException as error:
            self._stream.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def _find_head(self) -> None:
        stream, memory = self._stream, self._memory
        self.offset = stream.size()
        if (stream.identity(), self.offset) == (memory.identity, memory.size):
            self.head, self._length = memory.head, memory.length
        else:
            tail = stream.tail()
            if tail.last is not None:
                self.head = _head_of(tail.last, stream.path)
                self._length = len(tail.last)
            if tail.open:
                self._buffer.append(b"\n")
                self.offset += 1
                self.sealed = "spine: supplied the line feed of its last line"
            elif tail.fragment:
                self._seal(tail.good - stream.base, tail.fragment)
        if self.offset - stream.base >= self._rotate and not self._buffer:
            stream.begin_file(self.head.seq + 1)

    def _seal(self, offset: int, fragment: bytes) -> None:
        """Close a torn end with a line feed and an entry that says what it was."""
        self._buffer.append(b"\n")
        self.offset += 1
        ev = {"offset": offset, "length": len(fragment), "digest": digest(fragment)}
        self.append(entry("recovery", session=None, turn=None, parents=[], ts=self._ts, ev=ev))
        self.sealed = f"spine: sealed a fragment of {len(fragment)} bytes at offset {offset}"

    def identity(self) -> int:
        """Return a number that changes when earlier bytes may be others than before."""
        return self._stream.identity()

    def read(self, start: int, stop: int) -> bytes:
        """Return the spine's bytes from one position to another."""
        return self._stream.read(start, stop)

    @property
    def last(self) -> tuple[int, int, str]:
        """Return where the spine ends, and the length and digest of its last entry."""
        return self.offset, self._length, self.head.digest

    def holds(self, stop: int, length: int, name: str) -> bool:
        """Say whether an entry ends where it once did, ``last`` then.

        Each entry names the one before it, so if one is there all before it are.
        """
        if not 0 < length < stop <= self.offset:
            return False
        return digest(self.read(stop - 1 - length, stop - 1)) == name

    def append(self, body: dict[str, Any]) -> tuple[str, bytes]:
        """Add an entry behind the head; it is on its way to the disk at ``flush``.

        Returns:
            The entry's digest and its line.
        """
        line, self.head = link(body, self.head)
        self._buffer.append(line + b"\n")
        self._length = len(line)
        self.offset += len(line) + 1
        return self.head.digest, line

    def flush(self) -> None:
        """Write what was added, with one write."""
        if not self._buffer:
            return
        data, self._buffer = b"".join(self._buffer), []
        self._memory.size = -1
        self._stream.append(data)

    def lines(self) -> Iterator[bytes]:
        """Yield every line of the spine from the first, without its line feed.

        What was added is written before, so that it is among them.
        """
        self.flush()
        for _, line in self._store.spine_lines((), 0):
            yield line

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self.flush()
                self._remember()
        except BaseException as error:
            kind, value, trace = type(error), error, error.__traceback__
            raise
        finally:
            self._stream.__exit__(kind, value, trace)

    def _remember(self) -> None:
        self._memory.identity = self._stream.identity()
        self._memory.size = self.offset
        self._memory.length = self._length
        self._memory.head = self.head


def _head_of(line: bytes, path: str) -> Head:
    body = parse(line)
    seq = body.get("seq")
    if type(seq) is not int:
        raise LedgerError(f"cannot append to {path}: its last entry has no seq")
    return Head(seq, digest(line))
