"""One order for the entries of several files.

The spine's order is proved, and so is the order in a session's file; between
the two a turn's entries stand behind its opening and before its close. Where
that leaves a choice the clocks decide, which is no claim.
"""

from bisect import bisect_right

from toolgate.verify.directory import session_name
from toolgate.verify.read import Bad, Line
from toolgate.verify.shapes import SessionOpen, TurnClose, TurnOpen

Key = tuple[int, int, int]
"""Place on the spine, 0 for the spine's own entry there and 1 behind it, and the time."""

_EARLIEST = -(2**63)


class Order:
    """Gives entries keys; all of the spine is taken first."""

    def __init__(self) -> None:
        self._latest: list[int] = []
        self._begins: dict[str, int] = {}
        self._opens: dict[tuple[str | None, int | None], int] = {}
        self._closes: dict[tuple[str | None, int | None], int] = {}

    def spine(self, item: Line | Bad) -> Key:
        """Take the next item of the spine and return its key."""
        at = len(self._latest)
        latest = self._latest[-1] if self._latest else _EARLIEST
        if isinstance(item, Line):
            entry = item.entry
            latest = max(latest, entry.ts)
            if isinstance(entry, SessionOpen):
                self._begins.setdefault(session_name(entry.session or ""), at)
            elif isinstance(entry, TurnOpen):
                self._opens.setdefault((entry.session, entry.turn), at)
            elif isinstance(entry, TurnClose):
                self._closes.setdefault((entry.session, entry.turn), at)
        self._latest.append(latest)
        return (at, 0, 0)

    def first(self, name: str, *, begun: bool = False) -> Key:
        """Return a key before those of a session's file.

        Args:
            name: the file's name without its ending.
            begun: whether the session may have been opened before what was taken of the spine.
                If not, its items stand behind its opening, and behind all if it has none.
        """
        unknown = -1 if begun else len(self._latest)
        return (self._begins.get(name, unknown), 1, _EARLIEST)

    def inside(self, item: Line | Bad, before: Key) -> Key:
        """Return the key of a session file's item.

        Args:
            item: the item.
            before: the key of the item before it in the same file, at first ``first``.
        """
        if isinstance(item, Bad):
            return before
        entry = item.entry
        turn = (entry.session, entry.turn)
        low = max(self._opens.get(turn, -1), before[0])
        begin = min(max(low, 0), len(self._latest))
        end = max(self._closes.get(turn, len(self._latest)), begin)
        at = bisect_right(self._latest, entry.ts, begin, end) - 1
        return max(before, (max(at, low), 1, entry.ts))
