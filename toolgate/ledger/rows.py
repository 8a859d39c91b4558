"""The streams of a ledger in PostgreSQL while their locks are held."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from toolgate.canonical import digest
from toolgate.ledger.index import Tail

if TYPE_CHECKING:
    from toolgate.ledger.postgres import Database

END_OF_ALL = 2**62


class Rows:
    """A stream while its lock is held, which is until its transaction ends.

    Args:
        database: the ledger.
        stream: its name.
    """

    created = False

    def __init__(self, database: "Database", stream: str) -> None:
        self.path = f"{database.where} {stream}"
        self._database = database
        self._stream = stream
        self._n = 0
        self._size = 0

    def __enter__(self) -> Self:
        self._database.begin()
        try:
            self._lock()
        except BaseException:
            self._database.end(True)
            raise
        return self

    def _lock(self) -> None:
        self._database.lock(self._stream)
        self._n, self._size, _ = self._database.end_of(self._stream)

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

    def size(self) -> int:
        """Return how many bytes the rows are, each with its line feed."""
        return self._size

    def read(self, start: int, stop: int | None = None) -> bytes:
        """Return the rows' bytes from one position to another, or to their end."""
        return self._database.bytes_of(self._stream, start, stop)

    def tail(self) -> Tail:
        """Say how they end."""
        return self._database.tail_of(self._stream)

    def append(self, data: bytes) -> None:
        """Append whole lines, a row each."""
        rows = []
        for line in data.split(b"\n")[:-1]:
            self._n += 1
            rows.append((self._stream, self._n, self._size, digest(line), line))
            self._size += len(line) + 1
        self._database.insert(rows)

    def sync(self) -> None:
        """Do nothing: the rows of a transaction reach the disk together or not at all."""


class SpineRows(Rows):
    """The spine while its lock is held. Positions count through all of its streams."""

    def __init__(self, database: "Database") -> None:
        super().__init__(database, _spine(1))
        self.base = 0
        self._before: list[tuple[str, int]] = []

    def _lock(self) -> None:
        self._database.lock("spine")
        streams = self._database.spine_streams()
        if streams:
            *self._before, (self._stream, _) = streams
        self.base = sum(size for _, size in self._before)
        self._n, self._size, _ = self._database.end_of(self._stream)

    def size(self) -> int:
        """Return how many bytes the spine has."""
        return self.base + self._size

    def read(self, start: int, stop: int | None = None) -> bytes:
        """Return the spine's bytes between two positions that lie in one stream."""
        begin = 0
        for stream, size in [*self._before, (self._stream, END_OF_ALL)]:
            if start < begin + size:
                end = None if stop is None else stop - begin
                return self._database.bytes_of(stream, start - begin, end)
            begin += size
        return b""

    def tail(self) -> Tail:
        """Say how the spine ends; a last stream without an entry follows the one before it."""
        found = super().tail()
        if found.last is None and self._before:
            found = found._replace(last=self._database.tail_of(self._before[-1][0]).last)
        return found._replace(good=self.base + found.good)

    def begin_file(self, seq: int) -> None:
        """Append to a new stream from here on."""
        self._before.append((self._stream, self._size))
        self.base += self._size
        self._stream, self._n, self._size = _spine(seq), 0, 0


def _spine(seq: int) -> str:
    return f"spine/{seq:012d}"
