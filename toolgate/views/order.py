"""One order for the entries of several files.

The spine's order is proved, and so is the order in a session's file; between
the two a turn's entries stand behind its opening and before its close. Where
that leaves a choice the clocks decide, which is no claim.
"""

from bisect import bisect_right

from toolgate.verify.read import Bad, Line
from toolgate.verify.shapes import TurnClose, TurnOpen

Key = tuple[int, int, int]
"""Place on the spine, 0 for the spine's own entry there and 1 behind it, and the time."""


class Order:
    """Gives entries keys; the spine's entries come first, those of one file in their order."""

    def __init__(self) -> None:
        self._latest: list[int] = []
        self._opens: dict[tuple[str | None, int | None], int] = {}
        self._closes: dict[tuple[str | None, int | None], int] = {}

    def spine(self, item: Line | Bad) -> Key:
        """Take the next item of the spine and return its key."""
        at = len(self._latest)
        latest = self._latest[-1] if self._latest else -(2**63)
        if isinstance(item, Line):
            entry = item.entry
            latest = max(latest, entry.ts)
            if isinstance(entry, TurnOpen):
                self._opens.setdefault((entry.session, entry.turn), at)
            elif isinstance(entry, TurnClose):
                self._closes.setdefault((entry.session, entry.turn), at)
        self._latest.append(latest)
        return (at, 0, 0)

    def inside(self, item: Line | Bad, before: Key) -> Key:
        """Return the key of a session file's item.

        Args:
            item: the item.
            before: the key of the item before it in the same file.
        """
        if isinstance(item, Bad):
            return before
        entry = item.entry
        turn = (entry.session, entry.turn)
        low = self._opens.get(turn, -1)
        high = self._closes.get(turn, len(self._latest))
        at = bisect_right(self._latest, entry.ts, max(low, 0), max(high, low, 0)) - 1
        return max(before, (max(at, low), 1, entry.ts))


FIRST: Key = (-1, 1, -(2**63))
"""A key before all others."""
