"""What a verification finds, the causes of it put in order, and the verdict it makes.

A layer reports what it sees, where it sees it. The findings of one neighbourhood are
put in order afterwards: the first is the fault, the ones it brings with it name it as
their cause.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from toolgate.verify.faults import BY_CODE, CONDITIONAL, FAIL, FOLLOWS, INCOMPLETE, PASS, RANK
from toolgate.verify.words import printable

MOST_OF_A_CODE = 1000
"""How many findings of one code a report holds; the others are counted."""


class Finding(NamedTuple):
    """One thing that is not as it must be.

    Args:
        code: a code of ``FAULTS``.
        layer: ``entries``, ``log`` or ``execution``.
        entry: digest of the entry, or ``file:line`` where there is none.
        message: one sentence: what, where, expected, got.
        cause: ``code entry`` of the finding this one follows from; None for a fault of its own.
    """

    code: str
    layer: str
    entry: str
    message: str
    cause: str | None = None


class Seen(NamedTuple):
    """A finding and the neighbourhood it was seen in.

    Args:
        finding: the finding, without cause.
        session: the session it belongs to; None for the spine or the whole ledger.
        turn: the turn, if it belongs to one.
    """

    finding: Finding
    session: str | None = None
    turn: int | None = None


class Found:
    """Findings as they arise: the first of each code in full, the others counted.

    A ledger that is damaged from end to end has as many findings as entries, and who reads
    the first thousand of a kind knows what the others are.

    Args:
        most: how many of a code are kept.

    Attributes:
        more: how many of each code were not.
    """

    def __init__(self, most: int = MOST_OF_A_CODE) -> None:
        self.more: Counter[str] = Counter()
        self._most = most
        self._kept: list[Seen] = []
        self._counts: Counter[str] = Counter()

    def __iter__(self) -> Iterator[Seen]:
        return iter(self._kept)

    def append(self, item: Seen) -> None:
        """Take a finding."""
        code = item.finding.code
        if self._counts[code] < self._most:
            self._counts[code] += 1
            self._kept.append(item)
        else:
            self.more[code] += 1

    def extend(self, items: Iterable[Seen]) -> None:
        """Take findings in the order in which they arose."""
        for item in items:
            self.append(item)

    def take(self) -> list[Seen]:
        """Return what was kept and forget it; what counts for its code counts still."""
        kept, self._kept = self._kept, []
        return kept

    def begin(self) -> None:
        """Forget everything."""
        self.more.clear()
        self._counts.clear()
        self._kept.clear()


def finding(code: str, entry: str, message: str) -> Finding:
    """Return a finding of a known code, its sentence free of characters a terminal obeys."""
    return Finding(code, BY_CODE[code].layer, entry, printable(message))


def attribute(seen: Iterable[Seen]) -> list[Finding]:
    """Put findings in order and name the cause of those that follow from another.

    A cause lies in the same session (in the same turn, where both belong to
    one) or on the spine, and comes earlier in the table of faults.

    Returns:
        Faults of their own first, each followed by what it brings with it.
    """
    ordered = sorted(seen, key=lambda item: RANK[item.finding.code])
    causes = _Causes()
    follows: dict[str, list[Finding]] = defaultdict(list)
    primary: list[Finding] = []
    for item in ordered:
        cause = causes.of(item)
        if cause is None:
            causes.add(item)
            primary.append(item.finding)
        else:
            follows[cause].append(item.finding._replace(cause=cause))
    result: list[Finding] = []
    for found in primary:
        result.append(found)
        result += follows.pop(_name(found), [])
    return result


class _Causes:
    """The faults found so far, by what they explain and where."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str | None, int | None], str] = {}
        self._added: set[tuple[str, str | None, int | None]] = set()

    def add(self, item: Seen) -> None:
        place = (item.finding.code, item.session, item.turn)
        if place in self._added:
            return  # the first fault of a kind explains what the next one would
        self._added.add(place)
        name = _name(item.finding)
        for code in FOLLOWS.get(item.finding.code, ()):
            for turn in {item.turn, None}:
                self._known.setdefault((code, item.session, turn), name)
            if item.turn is None:
                self._known.setdefault((code, item.session, -1), name)

    def of(self, item: Seen) -> str | None:
        code, session, turn = item.finding.code, item.session, item.turn
        places: list[tuple[str, str | None, int | None]] = [(code, session, turn)]
        if turn is not None:
            places.append((code, session, -1))
        if session is not None:
            places.append((code, None, -1))
        for place in places:
            if place in self._known:
                return self._known[place]
        return None


def _name(found: Finding) -> str:
    return f"{found.code} {found.entry}"


def verdict(found: Iterable[Finding], *, conditional: bool) -> str:
    """Return the verdict over some findings.

    Args:
        found: all findings.
        conditional: whether a condition remains (entries no pin covers, an inferred approval).
    """
    verdicts = {BY_CODE[item.code].verdict for item in found}
    if FAIL in verdicts:
        return FAIL
    if INCOMPLETE in verdicts:
        return INCOMPLETE
    return CONDITIONAL if conditional else PASS
