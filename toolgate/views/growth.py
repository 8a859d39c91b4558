"""What is added to a ledger while somebody looks on, wherever it is kept."""

import os
from typing import Protocol

from toolgate.errors import LedgerError
from toolgate.ledger.address import require_driver
from toolgate.ledger.files import is_postgresql
from toolgate.verify.directory import Directory


class Growth(Protocol):
    """A ledger whose streams grow; they are called as the files of a directory are."""

    def names(self) -> list[str]:
        """Return the streams' names: the spine's, oldest first, then the sessions', sorted."""

    def read(self, name: str, begin: int) -> tuple[int, bytes] | None:
        """Return a stream's size and its bytes from an offset on; None when it is not there."""


def open_growth(place: str) -> Growth:
    """Open a ledger to see what is added to it.

    Args:
        place: a directory, or ``postgresql://...``.

    Raises:
        LedgerError: it cannot be read.
    """
    if not is_postgresql(place):
        return GrowingDirectory(place)
    require_driver()
    from toolgate.verify.postgres import GrowingDatabase

    return GrowingDatabase(place)


class GrowingDirectory:
    """The files of a ledger directory.

    Args:
        root: the directory.
    """

    def __init__(self, root: str) -> None:
        self._root = root

    def names(self) -> list[str]:
        """Return the files' names below the directory."""
        directory = Directory(self._root)
        return [
            *directory.spine,
            *(f"sessions/{name}.jsonl" for name in sorted(directory.sessions)),
        ]

    def read(self, name: str, begin: int) -> tuple[int, bytes] | None:
        """Return a file's size and its bytes from an offset on; a sealed one is not there."""
        path = os.path.join(self._root, name)
        try:
            with open(path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(begin)
                return size, file.read(max(size - begin, 0))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LedgerError(f"cannot read {path}: {error.strerror}") from error
