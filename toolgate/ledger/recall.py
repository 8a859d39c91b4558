"""The entries of a session that name something, found without reading all of them.

A hook starts for every call; what it has to know of the session is a few entries
among thousands. In a directory an index lies beside the session's file, a cache:

    <key> <start> <length>
    =<end> <start of the last line> <digest of the last line>

in blocks, each of which begins with a line feed and ends with a line ``=`` that
says how far of the file it covers. Keys are resources as the entries have them, the
names of facts, and of an outcome the first digits of the decision it answers. What
stands behind the last block is read from the session's file itself. An index that
does not fit the file is made again from it.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from toolgate.canonical import digest
from toolgate.errors import LedgerError
from toolgate.ledger.files import fail
from toolgate.ledger.index import answered_by, decision_digest_of, is_outcome

MAX_UNINDEXED = 32 * 1024
"""Bytes of a session's file that are read each time instead of being indexed."""

_DECISION = b'{"axis":'
_END = b',"v":1}'
_DIGITS = 16
_OUTCOME = b"o:"

Keys = Callable[[bytes], Iterable[bytes]]
"""Returns the keys a decision's line is to be found under."""

Needles = Callable[[bytes], Sequence[bytes]]
"""Returns the bytes one of which stands in every decision that is found under a key."""


class Recall(Protocol):
    """Finds lines of one session."""

    def decisions(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return the decisions found under any of some keys, in order.

        There may be more among them that only look alike.

        Raises:
            LedgerError: the session cannot be read.
        """

    def latest(self, key: bytes) -> Iterator[bytes]:
        """Yield the decisions found under a key, the last one first.

        Raises:
            LedgerError: the session cannot be read.
        """

    def outcomes(self, decision_digest: bytes) -> list[bytes]:
        """Return the outcomes in the session's stream that answer a decision, in order.

        Raises:
            LedgerError: the session cannot be read.
        """

    def close(self) -> None:
        """Let go of what was opened."""


class Scanned:
    """Finds lines by looking through a stream.

    Args:
        lines: yields the lines that contain any of some bytes, in order.
        needles_of: returns the bytes by which a key's decisions are found.
    """

    def __init__(
        self, lines: Callable[[Sequence[bytes]], Iterable[bytes]], needles_of: Needles
    ) -> None:
        self._lines = lines
        self._needles_of = needles_of

    def decisions(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return the decisions that contain what a key is found by."""
        needles = [needle for key in keys for needle in self._needles_of(key)]
        return [line for line in self._lines(needles) if line.startswith(_DECISION)]

    def latest(self, key: bytes) -> Iterator[bytes]:
        """Yield the decisions that contain what a key is found by, the last one first."""
        yield from reversed(self.decisions((key,)))

    def outcomes(self, decision_digest: bytes) -> list[bytes]:
        """Return the outcomes that answer a decision."""
        return _answers(self._lines((decision_digest,)), decision_digest)

    def close(self) -> None:
        """Do nothing: the stream belongs to the ledger."""


class Indexed:
    """Finds lines of a session's file by an index beside it.

    Args:
        path: the session's file.
        index: the index's file.
        keys_of: returns the keys a decision's line is to be found under.
        needles_of: returns the bytes by which a key's decisions are found.
    """

    def __init__(self, path: str, index: str, keys_of: Keys, needles_of: Needles) -> None:
        self._path = path
        self._index_path = index
        self._keys_of = keys_of
        self._needles_of = needles_of
        self._fd = -1
        self._index = b""
        self._index_end = 0
        self._recent = b""
        self._tail: list[tuple[int, bytes]] = []
        self._opened = False

    def decisions(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return the decisions found under any of some keys."""
        return [line for line in self._under(keys) if line.startswith(_DECISION)]

    def latest(self, key: bytes) -> Iterator[bytes]:
        """Yield the decisions found under a key, the last one first."""
        self._open()
        for _, line in reversed(self._in_tail(key)):
            if line.startswith(_DECISION) and key in self._all_keys(line):
                yield line
        seen: set[tuple[int, int]] = set()
        for place in self._places_back(key):
            line = b"" if place in seen else self._line(*place)
            seen.add(place)
            if line.startswith(_DECISION) and key in self._all_keys(line):
                yield line

    def outcomes(self, decision_digest: bytes) -> list[bytes]:
        """Return the outcomes that answer a decision."""
        return _answers(self._under((_outcome_key(decision_digest),)), decision_digest)

    def close(self) -> None:
        """Close the session's file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _under(self, keys: Sequence[bytes]) -> list[bytes]:
        self._open()
        # Most of what is looked up stands nowhere; that costs one search and nothing more.
        wanted = [key for key in dict.fromkeys(keys) if self._may_hold(key)]
        if not wanted:
            return []
        places = sorted({place for key in wanted for place in self._places_back(key)})
        lines = [self._line(start, length) for start, length in places]
        recent = {start: line for key in wanted for start, line in self._in_tail(key)}
        lines += [recent[start] for start in sorted(recent)]
        # A row of an index whose writer died may be cut short: the line itself must fit.
        needles = [needle for key in wanted for needle in self._needles(key)]
        return [
            line
            for line in lines
            if line.endswith(_END) and any(needle in line for needle in needles)
        ]

    def _may_hold(self, key: bytes) -> bool:
        if self._index.rfind(key) >= 0:
            return True
        recent = self._recent
        return bool(recent) and any(recent.rfind(one) >= 0 for one in self._needles(key))

    def _needles(self, key: bytes) -> Sequence[bytes]:
        """Return the bytes one of which stands in every line found under a key."""
        return (key[len(_OUTCOME) :],) if key.startswith(_OUTCOME) else self._needles_of(key)

    def _in_tail(self, key: bytes) -> list[tuple[int, bytes]]:
        """Return the lines behind the index that may be found under a key."""
        if not self._tail:
            return []
        needles = self._needles(key)
        return [item for item in self._tail if any(needle in item[1] for needle in needles)]

    def _places_back(self, key: bytes) -> Iterator[tuple[int, int]]:
        """Yield the places of a key from the index's end on."""
        # Searching backwards for the key alone takes a third of the time of "\nKEY ".
        index = self._index
        at = index.rfind(key, 0, self._index_end)
        while at >= 0:
            begin = at + len(key)
            if index[at - 1 : at] == b"\n" and index[begin : begin + 1] == b" ":
                stop = index.find(b"\n", begin)
                start, _, length = index[begin + 1 : stop].partition(b" ")
                yield int(start), int(length)
            at = index.rfind(key, 0, at)

    def _line(self, start: int, length: int) -> bytes:
        try:
            return os.pread(self._fd, length, start)
        except OSError as error:
            fail("read", self._path, error)

    def _all_keys(self, line: bytes) -> Iterable[bytes]:
        if line.startswith(_DECISION) and line.endswith(_END):
            return self._keys_of(line)
        if is_outcome(line) and line.endswith(_END):
            return (_outcome_key(answered_by(line)),)
        return ()

    def _open(self) -> None:
        if self._opened:
            return
        try:
            self._fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            self._opened = True
            return
        except OSError as error:
            fail("read", self._path, error)
        try:
            size = os.fstat(self._fd).st_size
        except OSError as error:
            fail("read", self._path, error)
        covered = self._load(size)
        self._tail = self._lines_from(covered, size)
        self._opened = True
        if size - covered > MAX_UNINDEXED:
            self._extend(covered)

    def _load(self, size: int) -> int:
        """Take the index if it fits the file, and return how far of it is covered."""
        data = _read_whole(self._index_path)
        last = data.rfind(b"\n=")
        stop = data.find(b"\n", last + 1)
        fields = data[last + 2 : stop].split(b" ") if last >= 0 and stop >= 0 else []
        if len(fields) == 3 and fields[0].isdigit() and fields[1].isdigit():
            end, start = int(fields[0]), int(fields[1])
            if (
                start < end <= size
                and digest(self._line(start, end - start - 1)).encode() == (fields[2])
            ):
                self._index, self._index_end = data, stop + 1
                return end
        if data:
            _remove(self._index_path)
        return 0

    def _lines_from(self, start: int, size: int) -> list[tuple[int, bytes]]:
        """Return the whole lines from a position on, and where each begins."""
        data = self._recent = self._line(start, size - start) if size > start else b""
        lines: list[tuple[int, bytes]] = []
        at = 0
        while (stop := data.find(b"\n", at)) >= 0:
            lines.append((start + at, data[at:stop]))
            at = stop + 1
        if data[at:].endswith(_END):
            # It lacks but its line feed, which the next append supplies.
            lines.append((start + at, data[at:]))
        return lines

    def _rows(self, lines: list[tuple[int, bytes]]) -> Iterator[bytes]:
        """Yield the rows of an index's block; outcomes of decisions without a key have none."""
        keyless: set[bytes] = set()
        for begin, line in lines:
            keys = dict.fromkeys(self._all_keys(line))
            if line.startswith(_DECISION) and not keys:
                keyless.add(_outcome_key(decision_digest_of(line).encode()))
            for key in keys:
                if key not in keyless:
                    yield b"%b %d %d" % (key, begin, len(line))

    def _extend(self, covered: int) -> None:
        """Append what was read behind the index to it, for the next process."""
        lines = self._tail
        if not lines:
            return
        start, last = lines[-1]
        if self._line(start + len(last), 1) != b"\n":
            lines = lines[:-1]
        if not lines:
            return
        start, last = lines[-1]
        rows = list(self._rows(lines))
        end = start + len(last) + 1
        rows.append(b"=%d %d %b" % (end, start, digest(last).encode()))
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        try:
            fd = os.open(self._index_path, flags, 0o600)
        except OSError:
            return  # only speed is lost
        try:
            os.write(fd, b"\n" + b"\n".join(rows) + b"\n")
        except OSError:
            _remove(self._index_path)
        finally:
            os.close(fd)


def _answers(lines: Iterable[bytes], decision_digest: bytes) -> list[bytes]:
    return [line for line in lines if is_outcome(line) and answered_by(line) == decision_digest]


def _outcome_key(decision_digest: bytes) -> bytes:
    return _OUTCOME + decision_digest[7 : 7 + _DIGITS]


def _read_whole(path: str) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        size = os.fstat(fd).st_size
        data = os.read(fd, size)
        return data if len(data) == size else b""
    except OSError:
        return b""
    finally:
        os.close(fd)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise LedgerError(f"cannot remove the stale index {path}: {error.strerror}") from error
