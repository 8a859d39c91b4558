"""Patterns of programs and resources, found by the literal text they begin or end with.

Not by a set of regular expressions: one of 600 patterns such as ``*.x`` was
slower than trying each, and when its automaton grows too large it says that
nothing matches, which here would let a deny rule slip.
"""

from collections.abc import Iterable
from typing import Generic, TypeVar

from toolgate.gate.effects.patterns import matches

Item = TypeVar("Item")


class PatternIndex(Generic[Item]):
    """Items by the patterns a text must match.

    Args:
        entries: an item and its patterns, in which ``*`` stands for any characters.
    """

    def __init__(self, entries: Iterable[tuple[list[str], Item]]) -> None:
        self._exact: dict[str, list[Item]] = {}
        self._heads: dict[str, list[tuple[str, Item]]] = {}
        self._tails: dict[str, list[tuple[str, Item]]] = {}
        self._open: list[tuple[str, Item]] = []
        for patterns, item in entries:
            for pattern in patterns:
                self._add(pattern, item)
        self._head_lengths = sorted({len(head) for head in self._heads})
        self._tail_lengths = sorted({len(tail) for tail in self._tails})

    def _add(self, pattern: str, item: Item) -> None:
        head, star, rest = pattern.partition("*")
        tail = rest.rpartition("*")[2]
        if not star:
            self._exact.setdefault(pattern, []).append(item)
        elif head:
            self._heads.setdefault(head, []).append((pattern, item))
        elif tail:
            self._tails.setdefault(tail, []).append((pattern, item))
        else:
            self._open.append((pattern, item))

    def find(self, text: str) -> list[Item]:
        """Return the items with a pattern that matches, each once a pattern."""
        candidates = list(self._open)
        for length in self._head_lengths:
            candidates += self._heads.get(text[:length], ())
        for length in self._tail_lengths:
            candidates += self._tails.get(text[-length:], ())
        found = [item for pattern, item in candidates if matches(text, pattern)]
        return self._exact.get(text, []) + found
