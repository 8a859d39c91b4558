"""Lists that do not grow with the ledger: the first of a kind in full, the others counted."""

from collections.abc import Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Listed(Generic[Item]):
    """Items as they arise.

    Args:
        most: how many are kept; None for all.

    Attributes:
        more: how many were not.
    """

    def __init__(self, most: int | None) -> None:
        self.more = 0
        self._most = most
        self._taken = 0
        self._kept: list[Item] = []

    def __iter__(self) -> Iterator[Item]:
        return iter(self._kept)

    def append(self, item: Item) -> bool:
        """Take an item; say whether it was kept."""
        kept = self._most is None or self._taken < self._most
        if kept:
            self._taken += 1
            self._kept.append(item)
        else:
            self.more += 1
        return kept

    def take(self) -> list[Item]:
        """Return what was kept and forget it; it counts still."""
        kept, self._kept = self._kept, []
        return kept

    def begin(self) -> None:
        """Forget everything."""
        self.more = self._taken = 0
        self._kept.clear()
