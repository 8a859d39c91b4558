"""The last entries of a ledger in one order, and those that are being added."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from typing import Any, NamedTuple

from toolgate.canonical import digest
from toolgate.verify.directory import session_name
from toolgate.verify.read import MAX_LINE_BYTES, Bad, Line, decode
from toolgate.verify.reader import Reader
from toolgate.verify.shapes import SessionOpen
from toolgate.views.gather import Progress, watched
from toolgate.views.growth import Growth
from toolgate.views.order import Key, Order

_SPINE = "spine-"

Placed = tuple[Key, int, int, Line | Bad]


class Tail(NamedTuple):
    """The last entries of a ledger.

    Args:
        items: entries, and lines that are none; oldest first.
        ends: how many bytes of each file they go up to, by its name below the ledger.
    """

    items: Iterable[Line | Bad]
    ends: dict[str, int]


def tail(
    directory: Reader, last: int | None, session: str | None, progress: Progress | None = None
) -> Tail:
    """Return the last entries of a ledger, in one order (see ``order``).

    Args:
        directory: the ledger.
        last: how many; None for all, which are read as they are asked for.
        session: only this session's entries; None for everything.
        progress: called now and then with the number of entries read.
    """
    reading = _Reading(directory, session, progress)
    items = reading.everything() if last is None else reading.last(last)
    return Tail(items, _sizes(directory))


class _Reading:
    """Reads the files of a ledger in one order."""

    def __init__(self, directory: Reader, session: str | None, progress: Progress | None) -> None:
        self._directory = directory
        self._session = session
        self._progress = progress
        self._order = Order()
        names = sorted(directory.sessions)
        wanted = None if session is None else session_name(session)
        self._ranks = {name: rank for rank, name in enumerate(names, 1) if wanted in (None, name)}

    def last(self, count: int) -> list[Line | Bad]:
        """Return the last items; memory is bounded by how many they are."""
        spine = ((self._order.spine(item), 0, at, item) for at, item in enumerate(self._spine()))
        kept = _last(spine, count, self._session)
        for name in self._ranks:
            kept += _last(self._placed(name), count, self._session)
            kept = sorted(kept, key=_place)[max(len(kept) - count, 0) :]
        return [item for *_, item in sorted(kept, key=_place)]

    def everything(self) -> Iterator[Line | Bad]:
        """Yield all items; memory is bounded by the sessions that run at the same time."""
        for item in self._spine():
            self._order.spine(item)
        waiting: list[tuple[Key, int, int, Line | Bad, Iterator[Placed]]] = []
        left = dict(self._ranks)

        def start(name: str) -> None:
            if left.pop(name, None) is not None:
                self._push(waiting, self._placed(name))

        for at, item in enumerate(self._spine()):
            while waiting and waiting[0][0] < (at, 0, 0):
                yield from self._pop(waiting)
            if isinstance(item, Line) and isinstance(item.entry, SessionOpen):
                start(session_name(item.entry.session or ""))
            if _is_of(item, self._session):
                yield item
        while waiting:
            yield from self._pop(waiting)
        # Files of sessions that were never opened have no place on the spine.
        for name in list(left):
            start(name)
            while waiting:
                yield from self._pop(waiting)

    def _push(self, waiting: list[Any], items: Iterator[Placed]) -> None:
        placed = next(items, None)
        if placed is not None:
            heappush(waiting, (*placed, items))

    def _pop(self, waiting: list[Any]) -> Iterator[Line | Bad]:
        _, _, _, item, items = heappop(waiting)
        self._push(waiting, items)
        if _is_of(item, self._session):
            yield item

    def _spine(self) -> Iterator[Line | Bad]:
        name, size = self._directory.spine[-1], self._directory.spine_size
        for item in watched(self._directory.read_spine(), self._progress):
            if not _is_new(item, name, size):
                yield item

    def _placed(self, name: str) -> Iterator[Placed]:
        """Give the items of a session's file their keys."""
        file, size = f"sessions/{name}.jsonl", self._directory.sessions[name]
        key = self._order.first(name)
        for at, item in enumerate(watched(self._directory.read_session(name), self._progress)):
            if not _is_new(item, file, size):
                key = self._order.inside(item, key)
                yield key, self._ranks[name], at, item


def _last(items: Iterable[Placed], last: int | None, session: str | None) -> list[Placed]:
    return list(deque((one for one in items if _is_of(one[3], session)), maxlen=last))


def _place(placed: Placed) -> tuple[Key, int, int]:
    return placed[:3]


def _is_new(item: Line | Bad, file: str, size: int) -> bool:
    """Say whether an item was added since the ledger was opened: whoever follows sees it next."""
    return item.file == file and item.offset + _length(item) > size


def _length(item: Line | Bad) -> int:
    """Return how many bytes an item has; of lines that are no entries, at least."""
    if isinstance(item, Line):
        return len(item.raw) + 1
    return 1


def _sizes(directory: Reader) -> dict[str, int]:
    sizes = {f"sessions/{name}.jsonl": size for name, size in directory.sessions.items()}
    return {directory.spine[-1]: directory.spine_size, **sizes}


def _is_of(item: Line | Bad, session: str | None) -> bool:
    if session is None:
        return True
    return isinstance(item, Line) and item.entry.session == session


class Follower:
    """Reads what is added to a ledger, batch after batch.

    A spine file that is started anew and a session that begins are noticed; a
    line is taken once its line feed is there.

    Args:
        growth: the ledger.
        ends: how many bytes of each file are known.
        session: only this session's entries; None for everything.
        note: takes a sentence about a file that is not what it was.
    """

    def __init__(
        self,
        growth: Growth,
        ends: dict[str, int],
        session: str | None,
        note: Callable[[str], None],
    ) -> None:
        self._growth = growth
        self._ends = {name: self._line_begin(name, end) for name, end in ends.items()}
        self._session = session
        self._note = note

    def batch(self) -> list[Line | Bad]:
        """Return what was added since the last call, in the order of its times.

        Raises:
            LedgerError: the ledger cannot be read any more.
        """
        order = Order()
        found: list[Placed] = []
        for rank, name in enumerate(self._names()):
            on_spine = name.startswith(_SPINE)
            key = order.first(name[len("sessions/") : -len(".jsonl")], begun=name in self._ends)
            for at, item in enumerate(self._added(name)):
                key = order.spine(item) if on_spine else order.inside(item, key)
                if _is_of(item, self._session):
                    found.append((key, rank, at, item))
        return [item for *_, item in sorted(found, key=_place)]

    def _names(self) -> list[str]:
        known = min((name for name in self._ends if name.startswith(_SPINE)), default="")
        wanted = None if self._session is None else f"sessions/{session_name(self._session)}.jsonl"
        return [
            name
            for name in self._growth.names()
            if (name >= known if name.startswith(_SPINE) else wanted in (None, name))
        ]

    def _added(self, name: str) -> Iterable[Line | Bad]:
        begin = self._ends.get(name, 0)
        data = self._read(name, begin)
        if data is None:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._ends[name] = begin + len(whole)
        items: list[Line | Bad] = []
        offset = begin
        for raw in whole.split(b"\n")[:-1]:
            items.append(_item(name, offset, raw))
            offset += len(raw) + 1
        return items

    def _read(self, name: str, begin: int) -> bytes | None:
        found = self._growth.read(name, begin)
        if found is None:  # sealed: when it comes back it begins with the same bytes
            return None
        size, data = found
        if size < begin:
            self._note(f"{name} is shorter than it was: {size} bytes, it had {begin}")
            self._ends[name] = size
            return None
        return data

    def _line_begin(self, name: str, end: int) -> int:
        """Return where the line begins that a file ends in at some length."""
        begin = max(end - MAX_LINE_BYTES - 1, 0)
        found = self._growth.read(name, begin)
        if found is None:  # sealed, so that it ends with a whole line
            return end
        return begin + found[1].rfind(b"\n", 0, end - begin) + 1


def _item(name: str, offset: int, raw: bytes) -> Line | Bad:
    entry = decode(raw)
    if entry is None:
        end = offset + len(raw) + 1
        return Bad(name, offset, end, ((0, raw[:MAX_LINE_BYTES]),), 1, False, 0, False)
    return Line(name, 0, offset, raw, digest(raw), entry, "")
