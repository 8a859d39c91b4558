"""Finds digests that occur twice among more than memory should hold.

They are gathered, sorted by the run and laid down in a temporary file without a
name, which is gone with the process however that ends. The runs are merged a
block at a time.
"""

import struct
import tempfile
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

from toolgate.errors import LedgerError

_BYTES = 32
_ITEM = struct.Struct(f"{_BYTES}s")
_RUN = 1 << 16
_MERGE_BYTES = 1 << 21
_PREFIX = "sha256:"


class Run(NamedTuple):
    """Sorted digests in a file: which one, where they begin and end, in bytes."""

    file: int
    start: int
    end: int


class SortedRuns:
    """Digests, in sorted runs.

    Several processes may add to them: the first opens a file for each other one,
    these ``begin`` with theirs, and the first one takes what they wrote.

    Raises:
        LedgerError: a temporary file cannot be written or read.
    """

    def __init__(self) -> None:
        self._files: list[IO[bytes]] = []
        self._mine = 0
        self._held = bytearray()
        self._runs: list[Run] = []

    def add(self, digests: Iterable[str]) -> None:
        """Add some digests, given as ``sha256:<hex>``."""
        self._held += bytes.fromhex("".join([digest[len(_PREFIX) :] for digest in digests]))
        if len(self._held) >= _RUN * _BYTES:
            self._write()

    def open(self, others: int) -> None:
        """Open the files of so many other processes, and the one of this process."""
        self._files += [_temporary() for _ in range(1 + others - len(self._files))]

    def begin(self, process: int) -> None:
        """Forget everything, and write to the file of a process, counted from 1."""
        self._mine = process
        self._held.clear()
        self._runs = []

    def written(self) -> list[Run]:
        """Write what is still in memory, and return what this process wrote."""
        self._write()
        return self._runs

    def take(self, runs: Iterable[Run]) -> None:
        """Add what another process wrote."""
        self._runs += runs

    def close(self) -> None:
        """Let the temporary files go."""
        for file in self._files:
            file.close()

    def repeated(self) -> Iterator[str]:
        """Yield each digest as often as it was added again, in ascending order."""
        last = b""
        for items in self._merged():
            # Most blocks hold nothing twice, which a set says faster than sorting does.
            once = set(items)
            if len(once) == len(items) and last not in once:
                last = max(items)
                continue
            for item in sorted(items):
                if item == last:
                    yield _PREFIX + item.hex()
                last = item

    def _write(self) -> None:
        if not self._held:
            return
        self.open(0)
        file = self._files[self._mine]
        try:
            start = file.seek(0, 2)
            file.write(b"".join(sorted(_items(self._held))))
            file.flush()
            self._runs.append(Run(self._mine, start, file.tell()))
        except OSError as error:
            raise LedgerError(f"cannot write a temporary file: {error.strerror}") from error
        self._held.clear()

    def _merged(self) -> Iterator[list[bytes]]:
        """Yield all digests block by block, each block above the one before it."""
        if not self._runs:
            if self._held:
                yield _items(self._held)
            return
        self._write()
        size = max(_MERGE_BYTES // len(self._runs) // _BYTES, 1) * _BYTES
        waiting = [_Reader(self._files[run.file], run, size) for run in self._runs]
        while waiting:
            # What is not above the least of the blocks' ends is complete in them.
            upto = min(reader.items[-1] for reader in waiting)
            yield [item for reader in waiting for item in reader.take(upto)]
            waiting = [reader for reader in waiting if reader.items]


class _Reader:
    """One run while it is merged; ``items`` is the block that is next, empty at the end."""

    def __init__(self, file: IO[bytes], run: Run, size: int) -> None:
        self._file = file
        self._at = run.start
        self._end = run.end
        self._size = size
        self.items: list[bytes] = []
        self._fill()

    def take(self, upto: bytes) -> list[bytes]:
        """Take the digests of the block that are not above one of them."""
        cut = bisect_right(self.items, upto)
        taken, self.items = self.items[:cut], self.items[cut:]
        if not self.items:
            self._fill()
        return taken

    def _fill(self) -> None:
        try:
            self._file.seek(self._at)
            data = self._file.read(min(self._size, self._end - self._at))
        except OSError as error:
            raise LedgerError(f"cannot read a temporary file: {error.strerror}") from error
        self._at += len(data)
        self.items = _items(data)


def _items(data: bytes | bytearray) -> list[bytes]:
    return [item for (item,) in _ITEM.iter_unpack(data)]


def _temporary() -> IO[bytes]:
    try:
        return tempfile.TemporaryFile(prefix="toolgate-")
    except OSError as error:
        raise LedgerError(f"cannot create a temporary file: {error.strerror}") from error
