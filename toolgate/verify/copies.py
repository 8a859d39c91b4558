"""Copies of one ledger, held against each other: one may end earlier, none may tell otherwise."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from toolgate.verify.read import Bad, Line

Spine = Iterator[Line | Bad]


class Parting(NamedTuple):
    """An entry at which a copy of a ledger parts from another one.

    Args:
        entry: its digest.
        other: digest of the entry that another copy holds in its place.
        before: digest of the entry both follow.
        ledgers: the copies that hold it, sorted.
    """

    entry: str
    other: str
    before: str
    ledgers: tuple[str, ...]


class _Copy(NamedTuple):
    name: str
    entries: Iterator[Line]


def partings(spines: Iterable[tuple[str, Spine]]) -> Iterator[Parting]:
    """Yield where ledgers part that begin with the same entry.

    They are read entry by entry, side by side. Of the entries that follow the same one, the
    least digest is what the others are held against, so that no order matters. Where a chain
    is broken nothing follows, which is told of the ledger itself.

    Args:
        spines: the ledgers, by name.
    """
    begun: dict[str, list[_Copy]] = {}
    for name, spine in spines:
        copy = _Copy(name, _entries(spine))
        first = next(copy.entries, None)
        if first is not None:
            begun.setdefault(first.digest, []).append(copy)
    waiting = [(digest, copies) for digest, copies in begun.items() if len(copies) > 1]
    while waiting:
        before, copies = waiting.pop()
        following: dict[str, list[_Copy]] = {}
        links: dict[str, Any] = {}
        for copy in copies:
            line = next(copy.entries, None)
            if line is not None:
                following.setdefault(line.digest, []).append(copy)
                links[line.digest] = line.entry.prev_digest
        least, *others = sorted(one for one in following if links[one] == before) or [""]
        for other in others:
            yield Parting(other, least, before, tuple(sorted(one.name for one in following[other])))
        waiting += [(digest, same) for digest, same in following.items() if len(same) > 1]


def _entries(spine: Spine) -> Iterator[Line]:
    return (item for item in spine if isinstance(item, Line))
