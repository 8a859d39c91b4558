"""Where the bars of a timeline lie: percentages across, pixels down."""

from typing import NamedTuple

from toolgate.views import phrases
from toolgate.views.moments import clock, lasted
from toolgate.views.timeline import UNENDED, Call, Timeline, Turn, is_late, span

LANE_PX, AXIS_PX = 30, 22
DASHED = ("unresolved", "pending", "silent")
"""Fates of calls whose end nobody reported: their bars have no right edge that is known."""

_PLOT = 96.0
_LETTER_PERCENT = 0.85
_SYMBOL_PERCENT = 2.4
_TICKS = 6
_MS, _S, _MIN, _H, _DAY = 1000, 10**6, 60 * 10**6, 3600 * 10**6, 24 * 3600 * 10**6
_ROUND = [
    *(factor * unit for unit in (1, 10, 100, _MS, 10 * _MS, 100 * _MS) for factor in (1, 2, 5)),
    *(factor * _S for factor in (1, 2, 5, 10, 20, 30)),
    *(factor * _MIN for factor in (1, 2, 5, 10, 20, 30)),
    *(factor * _H for factor in (1, 2, 4, 6, 12)),
    *(factor * unit for unit in (_DAY, 10 * _DAY, 100 * _DAY, 1000 * _DAY) for factor in (1, 2, 5)),
]


class Bar(NamedTuple):
    """A call's bar.

    Args:
        number: the call's number.
        fate: what became of it.
        x: its left edge, percent.
        width: its width, percent.
        y: the upper edge of its lane, pixels.
        hatched: width of the part in which an answer was awaited, percent; all of it where
            waiting and running cannot be told apart.
        dashed: whether its end is not known.
        later: whether it went on behind the turn's close.
        label: the text above it; as much as there is room for.
        title: what a pointer or a screen reader is told.
    """

    number: int
    fate: str
    x: float
    width: float
    y: int
    hatched: float
    dashed: bool
    later: bool
    label: str
    title: str


class Tick(NamedTuple):
    """A mark on a time axis."""

    x: float
    label: str


class Picture(NamedTuple):
    """A turn's bars and its axis.

    Args:
        height: pixels.
        ticks: the axis.
        bars: the calls.
        close: where the turn was closed, percent; None while it is open.
    """

    height: int
    ticks: list[Tick]
    bars: list[Bar]
    close: float | None


class Block(NamedTuple):
    """A turn in the overview."""

    number: int
    x: float
    width: float
    label: str
    title: str


class Overview(NamedTuple):
    """All turns on one axis, and the calls that did not simply run.

    Args:
        ticks: the axis.
        blocks: the turns.
        notes: (fate, percent, call number) of calls that were denied, failed or stayed open.
    """

    ticks: list[Tick]
    blocks: list[Block]
    notes: list[tuple[str, float, int]]


class _Scale:
    """From times to percentages."""

    def __init__(self, begin: int, end: int) -> None:
        self._begin = begin
        self._length = max(end - begin, 1)

    def x(self, ts: int) -> float:
        share = (ts - self._begin) / self._length
        return round(min(max(share, 0.0), 1.0) * _PLOT, 3)

    def ticks(self) -> list[Tick]:
        """Return marks at round distances from the beginning."""
        step = _step(self._length)
        return [
            Tick(self.x(self._begin + at), f"+{lasted(at)}" if at else clock(self._begin))
            for at in range(0, self._length + 1, step)
        ]


def _step(length: int) -> int:
    """Return the round distance, microseconds, that gives at most a handful of marks."""
    return next((step for step in _ROUND if length <= step * _TICKS), max(length // _TICKS, 1))


def picture(turn: Turn) -> Picture:
    """Return a turn's picture."""
    scale = _Scale(turn.begin, turn.until)
    follows: dict[int, float] = {}
    bars: list[Bar] = []
    for call in sorted(turn.calls, key=lambda one: (-one.begin, -one.number)):
        bars.append(_bar(call, turn, scale, follows.get(call.lane, 100.0)))
        follows[call.lane] = bars[-1].x
    close = None if turn.end is None else scale.x(turn.end)
    height = max(turn.lanes, 1) * LANE_PX + AXIS_PX
    return Picture(height, scale.ticks(), bars[::-1], close)


def _bar(call: Call, turn: Turn, scale: _Scale, room_to: float) -> Bar:
    begin, end = span(call, turn.until)
    x, width = scale.x(begin), round(scale.x(end) - scale.x(begin), 3)
    hatched = 0.0
    if call.how == "inferred" and call.fate not in UNENDED:
        hatched = width
    elif call.asked_until is not None:
        hatched = round(min(scale.x(call.asked_until) - x, width), 3)
    return Bar(
        number=call.number,
        fate=call.fate,
        x=x,
        width=width,
        y=call.lane * LANE_PX,
        hatched=max(hatched, 0.0),
        dashed=call.fate in DASHED,
        later=is_late(call, turn),
        label=_label(call, x, room_to),
        title=_title(call),
    )


def _label(call: Call, x: float, room_to: float) -> str:
    """Return the longest label there is room for."""
    room = (room_to - x - _SYMBOL_PERCENT) / _LETTER_PERCENT
    labels = (f"{call.number} {call.tool}", f"{call.number}")
    return next((text for text in labels if len(text) <= room), "")


def _title(call: Call) -> str:
    took = "" if call.end is None else f" after {lasted(call.end - call.begin)}"
    because = f": {call.because}" if call.because else ""
    return (
        f"{call.number}. {call.tool} {call.call}, {clock(call.begin)}: "
        f"{phrases.STATES[call.state]} by rule {call.rule}{because}; "
        f"{phrases.SHORT_FATES[call.fate]}{took}"
    )


def overview(line: Timeline) -> Overview:
    """Return the picture of a whole session."""
    scale = _Scale(line.begin, line.until)
    blocks = []
    for at, turn in enumerate(line.turns):
        x = scale.x(turn.begin)
        width = round(scale.x(turn.until) - x, 3)
        after = scale.x(line.turns[at + 1].begin) if at + 1 < len(line.turns) else 100.0
        label = str(turn.number)
        room = after - x >= len(label) * _LETTER_PERCENT + 0.4
        title = f"Turn {turn.number}: {len(turn.calls)} calls, {lasted(turn.until - turn.begin)}"
        blocks.append(Block(turn.number, x, width, label if room else "", title))
    notes = [(call.fate, scale.x(call.begin), call.number) for call in line.calls]
    return Overview(
        scale.ticks(), blocks, [one for one in notes if one[0] not in ("ok", "decided")]
    )
