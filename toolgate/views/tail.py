"""The last entries of a ledger in one order, and those that are being added."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from toolgate.canonical import digest
from toolgate.errors import LedgerError
from toolgate.verify.read import MAX_LINE_BYTES, Bad, Directory, Line, decode, session_name
from toolgate.views.gather import Progress, watched
from toolgate.views.order import FIRST, Key, Order

_SPINE = "spine-"

Placed = tuple[Key, int, int, Line | Bad]


class Tail(NamedTuple):
    """The last entries of a ledger.

    Args:
        items: entries, and lines that are none; oldest first.
        ends: how many bytes of each file they go up to, by its name below the ledger.
    """

    items: list[Line | Bad]
    ends: dict[str, int]


def tail(
    directory: Directory, last: int | None, session: str | None, progress: Progress | None = None
) -> Tail:
    """Return the last entries of a ledger, in one order (see ``order``).

    Args:
        directory: the ledger.
        last: how many; None for all.
        session: only this session's entries; None for everything.
        progress: called now and then with the number of entries read.
    """
    order = Order()
    spine = (
        (order.spine(item), 0, at, item)
        for at, item in enumerate(watched(directory.read_spine(), progress))
        if not _is_new(item, directory.spine[-1], directory.spine_size)
    )
    kept = _last(spine, last, session)
    names = sorted(directory.sessions)
    if session is not None:
        names = [name for name in names if name == session_name(session)]
    for rank, name in enumerate(names, 1):
        items = watched(directory.read_session(name), progress)
        file, size = f"sessions/{name}.jsonl", directory.sessions[name]
        kept += _last(_placed(items, order, rank, file, size), last, session)
        if last is not None:
            kept = sorted(kept, key=_place)[max(len(kept) - last, 0) :]
    return Tail([item for *_, item in sorted(kept, key=_place)], _sizes(directory))


def _placed(
    items: Iterable[Line | Bad], order: Order, rank: int, file: str, size: int
) -> Iterator[Placed]:
    """Give the items of a session's file their keys."""
    key = FIRST
    for at, item in enumerate(items):
        if not _is_new(item, file, size):
            key = order.inside(item, key)
            yield key, rank, at, item


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


def _sizes(directory: Directory) -> dict[str, int]:
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
        root: the ledger directory.
        ends: how many bytes of each file are known.
        session: only this session's entries; None for everything.
        note: takes a sentence about a file that is not what it was.
    """

    def __init__(
        self,
        root: str,
        ends: dict[str, int],
        session: str | None,
        note: Callable[[str], None],
    ) -> None:
        self._root = root
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
            key = FIRST
            for at, item in enumerate(self._added(name)):
                on_spine = name.startswith(_SPINE)
                key = order.spine(item) if on_spine else order.inside(item, key)
                if _is_of(item, self._session):
                    found.append((key, rank, at, item))
        return [item for *_, item in sorted(found, key=_place)]

    def _names(self) -> list[str]:
        directory = Directory(self._root)
        known = min((name for name in self._ends if name.startswith(_SPINE)), default="")
        wanted = None if self._session is None else session_name(self._session)
        return [
            *(name for name in directory.spine if name >= known),
            *(
                f"sessions/{name}.jsonl"
                for name in sorted(directory.sessions)
                if wanted in (None, name)
            ),
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
        path = os.path.join(self._root, name)
        try:
            with open(path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size < begin:
                    self._note(f"{name} is shorter than it was: {size} bytes, it had {begin}")
                    self._ends[name] = size
                    return None
                file.seek(begin)
                return file.read(size - begin)
        except FileNotFoundError:  # packed away since the directory was listed
            self._ends.pop(name, None)
            return None
        except OSError as error:
            raise LedgerError(f"cannot read {path}: {error.strerror}") from error

    def _line_begin(self, name: str, end: int) -> int:
        """Return where the line begins that a file ends in at some length."""
        begin = max(end - MAX_LINE_BYTES - 1, 0)
        try:
            with open(os.path.join(self._root, name), "rb") as file:
                file.seek(begin)
                return begin + file.read(end - begin).rfind(b"\n") + 1
        except OSError as error:
            raise LedgerError(f"cannot read {name}: {error.strerror}") from error


def _item(name: str, offset: int, raw: bytes) -> Line | Bad:
    entry = decode(raw)
    if entry is None:
        return Bad(name, offset, ((0, raw[:MAX_LINE_BYTES]),), 1, False, 0, False)
    return Line(name, 0, offset, raw, digest(raw), entry, "")
