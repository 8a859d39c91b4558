"""What a verifier needs of the place a ledger is kept in."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from toolgate.verify.read import Bad, Line
from toolgate.verify.segments import Segments


class Reader(Protocol):
    """A ledger, open for reading; see ``directory.Directory`` for the attributes."""

    @property
    def root(self) -> str:
        """Return what the ledger is called in messages; it holds no secret."""

    @property
    def spine(self) -> Sequence[str]:
        """Return the names of the spine's files, oldest first."""

    @property
    def beside(self) -> Sequence[str]:
        """Return files of a run that lie beside it and are no part of it."""

    @property
    def sessions(self) -> Mapping[str, int]:
        """Return the length of every session's stream in bytes, by its name."""

    @property
    def spine_size(self) -> int:
        """Return the length of the last spine file, in bytes."""

    @property
    def empty(self) -> bool:
        """Say whether nothing was ever written."""

    @property
    def forks(self) -> bool:
        """Say whether several forked processes may read it at once."""

    @property
    def segments(self) -> Segments | None:
        """Return the sealed sessions; None where nothing is sealed."""

    def runs(self) -> list[str]:
        """Return the names of the ledgers of runs, which are no part of this one."""

    def read_spine(self) -> Iterator[Line | Bad]:
        """Yield the spine, file after file."""

    def has_session(self, name: str) -> bool:
        """Say whether a session has entries of its own by now."""

    def read_session(self, name: str) -> Iterator[Line | Bad]:
        """Yield one session's entries."""

    def is_growing(self, file: str, end: int) -> bool:
        """Say whether a writer is at a file, of which so many bytes were read."""

    def policy(self, version: str) -> bytes | None:
        """Return the text kept under a policy's digest; None when there is none."""

    def signature(self, version: str) -> bytes | None:
        """Return what is kept as the author's signature of a policy; None when nothing is."""
