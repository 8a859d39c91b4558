"""A session's timeline as text: time runs downwards, calls that run stand side by side."""

from collections.abc import Iterator
from textwrap import wrap
from typing import NamedTuple

from toolgate.verify.words import counted
from toolgate.views import phrases
from toolgate.views.moments import clock, lasted, moment
from toolgate.views.sheet import BAD, BODY, GOOD, HEAD, WARN, Row, Sheet, plain
from toolgate.views.timeline import UNENDED, Call, Moment, Timeline, Turn

_WIDE = 80
_LANES = (4, 10)
_LEAST_TEXT = 20

MARKS = {
    "ok": "✓",
    "error": "✗",
    "timeout": "◷",
    "cancelled": "■",
    "refused": "⊖",
    "unresolved": "?",
    "denied": "⊘",
    "asked": "…",
    "decided": "·",
    "violation": "!",
}
"""What stands in a call's lane where it ends."""

_TONES = {
    "ok": GOOD,
    "error": WARN,
    "timeout": WARN,
    "cancelled": WARN,
    "refused": WARN,
    "unresolved": BAD,
    "denied": WARN,
    "asked": WARN,
    "silent": BAD,
    "violation": BAD,
}


class _Event(NamedTuple):
    """One line of a turn: at which time, of which call, what it says."""

    ts: int
    call: Call | None
    opens: bool
    closes: bool
    mark: str
    text: str
    tone: str


def timeline_rows(line: Timeline, *, width: int, path: str) -> list[Row]:
    """Return a session's timeline, line by line.

    Args:
        line: the timeline.
        width: columns of the terminal.
        path: where the ledger lies, for the command that verifies it.
    """
    sheet = Sheet(width)
    _top(sheet, line)
    rows = sheet.rows
    for turn in line.turns:
        rows += _turn_rows(turn, width)
    if line.strays:
        rows.append(Row(""))
        rows.append(Row("Reports that no decision waited for", HEAD))
        for stray in line.strays:
            call = "a call without id" if stray.call is None else f"call {stray.call}"
            said = f"{moment(stray.ts)}  {stray.tool} ran as {call}, without a decision"
            rows += _wrapped(said, "  ! ", "    ", width, BAD)
    end = Sheet(width)
    end.head("How to read it")
    end.say(
        "Time runs downwards, one lane a call. ┬ a call begins, │ it waits or runs; it ends with "
        "✓ ok, ✗ error, ◷ time was up, ■ interrupted, ⊖ refused by host or user, ⊘ denied, "
        "… asked and nothing followed, · decided only, ? end not reported, ! ran unauthorized. "
        "Calls in one turn that do not name each other are put in order by the clock, which "
        "proves nothing."
    )
    end.head("Not checked here")
    end.say("Digests, signatures, the chain and traces. To check them:")
    end.command(f"toolgate ledger verify {path}")
    return rows + end.rows


def _top(sheet: Sheet, line: Timeline) -> None:
    state = "open" if line.is_open else "closed"
    sheet.title(f"Session {line.session}: {state}, {counted(len(line.calls), 'call')}")
    sheet.item(
        "time", f"{moment(line.begin)} to {moment(line.until)} ({lasted(line.until - line.begin)})"
    )
    for part in line.parts:
        label = "part" if len(line.parts) > 1 else "host"
        number = f"{part.number}, host " if len(line.parts) > 1 else ""
        how = "still open" if part.end is None else phrases.SESSION_ENDED[part.closed_by or ""]
        sheet.item(label, f"{number}{part.host}, from {clock(part.begin)}; {how}")
        if part.spawned_by is not None:
            sheet.item("started by", f"decision {phrases.short(part.spawned_by)}")
    if line.shape is None:
        sheet.item("host", "the ledger does not hold the session's opening")
    elif line.shape == "linear":
        sheet.item("shape", "linear: its entries stand in the ledger's one chain")
    if not line.executes:
        sheet.item("run", "a measuring run: calls are decided and nothing is executed")
    sheet.item("principal", ", ".join(line.principals) or "none")
    for version, name in line.policies.items():
        sheet.item("policy", f"{name or 'without a name'} ({phrases.short(version)})")
    sheet.item("calls", _tally(line.calls))
    if line.torn:
        sheet.item("torn", f"{counted(line.torn, 'line')} of its file can not be read as entries")


def _tally(calls: list[Call]) -> str:
    """Return how many calls had which fate."""
    counts: dict[str, int] = {}
    for call in calls:
        counts[call.fate] = counts.get(call.fate, 0) + 1
    said = [
        f"{counts[fate]} {word}" for fate, word in phrases.SHORT_FATES.items() if fate in counts
    ]
    return "; ".join(said) or "none"


def turn_title(turn: Turn) -> str:
    """Return a turn's heading."""
    if turn.number == 0:
        return "In no turn"
    if turn.key is None:
        return f"Turn {turn.number}, whose opening the ledger does not hold"
    part = "" if turn.key_part == 1 else f", part {turn.key_part}"
    return f"Turn {turn.number}: {phrases.prompt(turn.key)}{part}"


def turn_says(turn: Turn) -> str:
    """Return when a turn was and how it began and ended."""
    why = phrases.TURN_BEGAN.get(turn.why or "", turn.why or "")
    if turn.end is None:
        ended = "still open"
    else:
        by = phrases.TURN_ENDED[turn.closed_by or ""]
        took = lasted(turn.end - turn.begin)
        entries = counted(turn.entries or 0, "entry")
        ended = f"closed {clock(turn.end)} after {took} over {entries}, because {by}"
    began = f"{moment(turn.begin)}; {why}" if why else moment(turn.begin)
    side = f"; up to {turn.lanes} calls side by side" if turn.lanes > 1 else ""
    return f"{began}; {ended}{side}"


def _turn_rows(turn: Turn, width: int) -> list[Row]:
    rows = [Row("")]
    rows += _wrapped(turn_title(turn), "", "  ", width, HEAD)
    rows += _wrapped(turn_says(turn), "  ", "  ", width, BODY)
    if not turn.calls and not turn.seals:
        rows.append(Row("  no call"))
        return rows
    most = min(_LANES[width >= _WIDE], turn.lanes)
    live: dict[int, str] = {}
    for event in _events(turn):
        rows += _event_rows(event, live, most, width)
    return rows


def _events(turn: Turn) -> Iterator[_Event]:
    """Return what happens in a turn, in the order of the clock."""
    found = [
        (event.ts, at, event)
        for at, event in enumerate(event for call in turn.calls for event in _of_call(call, turn))
    ]
    base = len(found)
    for at, seal in enumerate(turn.seals):
        said = f"a torn end of {counted(seal.length, 'byte')} was sealed by a recovery"
        found.append((seal.ts, base + at, _Event(seal.ts, None, False, False, "~", said, WARN)))
    if turn.end is not None and any(ts > turn.end for ts, _, _ in found):
        closed = _Event(turn.end, None, False, False, "", "the turn was closed", BODY)
        found.append((turn.end, 2 * base + len(turn.seals), closed))
    for _, _, event in sorted(found, key=lambda one: one[:2]):
        yield event


def _of_call(call: Call, turn: Turn) -> Iterator[_Event]:
    """Return what happens to one call; what comes after its turn closes no lane there."""
    shown = [one for one in call.moments if one.kind != "approval" or one.ts >= call.begin]
    inside = [one for one in shown if turn.end is None or one.ts <= turn.end] or shown[:1]
    name = f"{call.tool} {call.call}"
    for at, one in enumerate(shown):
        ends = one is inside[-1] and (call.fate in UNENDED or one.kind == "outcome")
        mark, tone = "", BODY
        if one.kind == "outcome":
            fate = "violation" if call.fate == "violation" else one.word
            mark, tone = MARKS.get(fate, ""), _TONES.get(fate, BODY)
        elif ends:
            mark, tone = MARKS.get(call.fate, ""), _TONES.get(call.fate, BODY)
        yield _Event(one.ts, call, at == 0, ends, mark, f"{name}: {moment_says(call, one)}", tone)


def moment_says(call: Call, one: Moment) -> str:
    """Return what happened to a call at one moment."""
    if one.kind == "decision":
        return _decision_says(call, one)
    if one.kind == "approval":
        return approval_says(call, one)
    fate = "violation" if call.fate == "violation" else one.word
    after = "" if one.word == "unresolved" else f" after {lasted(one.ts - call.begin)}"
    late = ", behind its turn" if one.note == "late" else ""
    return f"{phrases.SHORT_FATES[fate]}{after}{late} ({phrases.REPORTED[one.by]})"


def approval_says(call: Call, one: Moment) -> str:
    """Return what an approval says about a call."""
    by = "signed" if one.note == "signature" else "by the host's telemetry"
    verb = "approved" if one.word == "approve" else "refused"
    cited = any(held.entry == one.entry and held.cited for held in call.approvals)
    return f"{verb} by {one.by}, {by}{'' if cited else '; no decision on this call rests on it'}"


def _decision_says(call: Call, one: Moment) -> str:
    said = f"{phrases.STATES[one.word]} by rule {one.by}"
    if one.note == "replaced":
        return said + "; asked about again below"
    if one.note == "answered":
        return said + (f": {call.because}" if call.because else "")
    return answer_says(call) or said + (f": {call.because}" if call.because else "")


def answer_says(call: Call) -> str:
    """Return on whose word a call that had to be confirmed was allowed or refused, else ""."""
    if call.state == "asked" or call.how in ("not needed", "missing"):
        return ""
    given = [one.principal for one in call.approvals if one.cited]
    by = f" by {phrases.listed(given)}" if given else ""
    return f"{phrases.STATES[call.state]}: {phrases.CONFIRMED[call.how]}{by}"


def _event_rows(event: _Event, live: dict[int, str], most: int, width: int) -> list[Row]:
    """Return an event's lines, and keep which lanes go on.

    Args:
        event: the event.
        live: the lanes in use and how they look; changed here.
        most: how many lanes are drawn; the others are counted.
        width: columns of the terminal.
    """
    lane = None if event.call is None else event.call.lane
    if lane is not None and event.opens:
        live[lane] = "│"
    here = dict(live)
    if lane is not None:
        here[lane] = event.mark or ("┬" if event.opens else "├")
        if event.closes:
            live.pop(lane, None)
    elif event.mark:
        here[0] = here.get(0, event.mark)
    first = f"  {clock(event.ts)} {_lanes(here, most)} "
    rest = f"  {' ' * 12} {_lanes(live, most)} "
    return _wrapped(event.text, first, rest, width, event.tone)


def _lanes(live: dict[int, str], most: int) -> str:
    drawn = "".join([live.get(lane, " ") for lane in range(most)])
    beyond = sum(lane >= most for lane in live)
    return f"{drawn} +{beyond}" if beyond else drawn


def _wrapped(text: str, first: str, rest: str, width: int, tone: str) -> list[Row]:
    columns = max(width, len(first) + _LEAST_TEXT)
    made = wrap(
        plain(text),
        columns,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
    )
    return [Row(line, tone) for line in made]
