"""The streams of a ledger in PostgreSQL while their locks are held."""

from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from toolgate.canonical import digest
from toolgate.ledger.index import Tail

if TYPE_CHECKING:
    from toolgate.ledger.postgres import Database

END_OF_ALL = 2**62


class End(NamedTuple):
    """Where a stream ends.

    Args:
        stream: its name.
        n: the number of its last line, 0 if it has none.
        size: its size in bytes.
        line: its last line, without its line feed.
    """

    stream: str
    n: int
    size: int
    line: bytes


class _Rows:
    """A stream while its lock is held, which is until its transaction ends."""

    created = False

    def __init__(self, database: "Database", stream: str) -> None:
        self.path = f"{database.where} {stream}"
        self._database = database
        self._last = End(stream, 0, 0, b"")

    def __enter__(self) -> Self:
        self._database.begin()
        try:
            self._lock()
        except BaseException:
            self._database.end(True)
            raise
        return self

    def _lock(self) -> None:
        raise NotImplementedError

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._database.end(kind is not None)

    def identity(self) -> int:
        """Return a number that changes when this process has lost track of the rows."""
        return self._database.epoch

    def tail(self) -> Tail:
        """Say how they end."""
        return self._database.tail_of(self._last)

    def append(self, data: bytes) -> None:
        """Append whole lines, a row each."""
        rows = []
        stream, n, size, _ = self._last
        for line in data.split(b"\n")[:-1]:
            n += 1
            rows.append((stream, n, size, digest(line), line))
            size += len(line) + 1
            self._last = End(stream, n, size, line)
        self._database.insert(rows)

    def sync(self) -> None:
        """Do nothing: the rows of a transaction reach the disk together or not at all."""


class Rows(_Rows):
    """A session's stream while its lock is held.

    Args:
        database: the ledger.
        name: the session's name there.
        since: the position from which on it comes along with the lock.
    """

    def __init__(self, database: "Database", name: str, since: int) -> None:
        super().__init__(database, f"session/{name}")
        self._name = name
        self._since = since
        self._begin = 0
        self._data = bytearray()

    def _lock(self) -> None:
        stream = self._last.stream
        found = self._database.look(self._name, stream, self._since)
        if not found:
            return
        self._begin = found[0][1]
        self._data += b"".join([line + b"\n" for _, _, line in found])
        self._last = End(stream, found[-1][0], self._begin + len(self._data), found[-1][2])

    def size(self) -> int:
        """Return how many bytes the rows are, each with its line feed."""
        return self._last.size

    def read(self, start: int, stop: int | None = None) -> bytes:
        """Return the rows' bytes from one position to another, or to their end."""
        if start < self._begin:
            return self._database.bytes_of(self._last.stream, start, stop)
        end = END_OF_ALL if stop is None else stop
        return bytes(self._data[start - self._begin : end - self._begin])

    def append(self, data: bytes) -> None:
        """Append whole lines, a row each."""
        super().append(data)
        self._data += data


class SpineRows(_Rows):
    """The spine while its lock is held. Positions count through all of its streams."""

    def __init__(self, database: "Database") -> None:
        super().__init__(database, _spine(1))
        self.base = 0
        self._before: list[End] = []

    def _lock(self) -> None:
        self._database.lock("spine")
        ends = self._database.spine_ends()
        if ends:
            *self._before, self._last = ends
        self.base = sum(end.size for end in self._before)

    def size(self) -> int:
        """Return how many bytes the spine has."""
        return self.base + self._last.size

    def read(self, start: int, stop: int | None = None) -> bytes:
        """Return the spine's bytes between two positions that lie in one stream."""
        begin = 0
        for stream, _, size, _ in [*self._before, self._last._replace(size=END_OF_ALL)]:
            if start < begin + size:
                end = None if stop is None else stop - begin
                return self._database.bytes_of(stream, start - begin, end)
            begin += size
        return b""

    def tail(self) -> Tail:
        """Say how the spine ends; a last stream without an entry follows the one before it."""
        found = super().tail()
        if found.last is None and self._before:
            found = found._replace(last=self._database.tail_of(self._before[-1]).last)
        return found._replace(good=self.base + found.good)

    def begin_file(self, seq: int) -> None:
        """Append to a new stream from here on."""
        self._before.append(self._last)
        self.base += self._last.size
        self._last = End(_spine(seq), 0, 0, b"")


def _spine(seq: int) -> str:
    return f"spine/{seq:012d}"
