"""What a ledger needs of the place it is kept in, and nothing about which place that is.

A store holds one stream for the spine and one for each session. A stream is
bytes that are only ever appended to, under its exclusive lock; the lock of a
session is always taken before that of the spine. Beside the streams it keeps
policies and, for the next process, where each session stands.
Two stores that are told the same keep the same bytes.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Protocol, Self

from toolgate.ledger.index import Tail
from toolgate.ledger.recall import Keys, Needles, Recall


class Stream(Protocol):
    """A stream while its exclusive lock is held.

    Leaving it gives the lock back. With durability ``fsync`` it then waits until
    what was appended is on the disk.

    Attributes:
        path: what it is called in messages.
        created: whether it was born under this lock, so that it has no past.
    """

    path: str
    created: bool

    def __enter__(self) -> Self:
        """Wait for the lock."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the lock back."""

    def identity(self) -> int:
        """Return a number that changes when earlier bytes may be others than before."""

    def size(self) -> int:
        """Return how many bytes it has."""

    def read(self, start: int, stop: int | None = None) -> bytes:
        """Return its bytes from one position to another, or to its end."""

    def tail(self) -> Tail:
        """Say how it ends, reading no more of it than needed."""

    def append(self, data: bytes) -> None:
        """Append bytes at once, or fail."""

    def sync(self) -> None:
        """Wait until what was appended is on the disk."""


class SpineStream(Stream, Protocol):
    """The spine while its lock is held.

    It is a row of files, each named by the number of its first entry. Positions
    count through all of them; ``base`` is the position at which the last begins.
    """

    base: int

    def begin_file(self, seq: int) -> None:
        """Append to a new file from here on, whose first entry will be this one."""


class Store(Protocol):
    """A place ledgers are kept in.

    Attributes:
        where: what it is called in messages; holds no secret.
        durable: whether an append waits for the disk.
        boot: what a cached state must have been written under to be believed;
            None where nothing is cached.
    """

    where: str
    durable: bool
    boot: str | None

    def session(self, name: str, *, since: int = 0) -> Stream:
        """Return a session's stream, not yet locked.

        Args:
            name: the session's name.
            since: position from which on it will be read, so that a place far away can send
                that along with the lock.
        """

    def spine(self, *, alone: bool = False) -> SpineStream:
        """Return the spine, not yet locked.

        Args:
            alone: whether no other stream rests on what will be appended, so that in a
                group it may reach the disk with the rest.
        """

    def exists(self) -> bool:
        """Say whether the spine has begun."""

    def spine_tail(self) -> Tail:
        """Say how the spine ends, without its lock."""

    def session_tail(self, name: str) -> Tail:
        """Say how a session's stream ends, without its lock."""

    def spine_lines(self, needles: Sequence[bytes], since: int) -> Iterator[tuple[int, bytes]]:
        """Yield the spine's whole lines that contain any of some bytes, and where each begins.

        Args:
            needles: the bytes; none for every line.
            since: position of the first line to look at.
        """

    def begun(self, name: str) -> bool:
        """Say whether a session's own stream has lines, without its lock."""

    def lacks(self, name: str, needle: bytes) -> bool:
        """Say whether a session's own stream surely has no such bytes; False where that is dear."""

    def recall(self, name: str, keys_of: Keys, needles_of: Needles) -> Recall:
        """Return what finds lines in a session's stream, without its lock.

        Args:
            name: the session's name.
            keys_of: returns the keys a decision's line is to be found under.
            needles_of: returns the bytes by which a key's decisions are found.
        """

    def locked(self) -> AbstractContextManager[object]:
        """Hold the spine's lock without appending to it."""

    def has(self, name: str) -> bool:
        """Say whether a file beside the streams is there."""

    def read(self, name: str) -> bytes | None:
        """Return a file beside the streams; None when it is not there."""

    def keep(self, name: str, data: bytes) -> None:
        """Put a file beside the streams, at once. The caller holds the spine's lock."""

    def load_state(self, name: str) -> bytes | None:
        """Return what ``keep_state`` was last given for a session; None if there is nothing."""

    def keep_state(self, name: str, data: bytes) -> None:
        """Keep where a session stands, for the next process. Nothing is lost if it cannot."""

    def drop_state(self, name: str) -> None:
        """Forget where a session stands, before the spine changes under it."""

    def load_cache(self, name: str) -> bytes | None:
        """Return what ``keep_cache`` was last given under a name; None if there is nothing."""

    def keep_cache(self, name: str, data: bytes) -> None:
        """Keep what was read of the spine, whose lock the caller holds. No harm if it cannot."""

    def group(self) -> AbstractContextManager[None]:
        """Let appends share one wait for the disk, which ends with the block."""
