"""The grade of a closed window, from its record alone, with every reason.

VOID: entries of the ledger contradict each other. EXPLORATORY: records are
missing, or the data were there before anything was promised. VALID WITH DEVIATIONS: as
declared but for what is listed. A graded-down window still prints its numbers.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from toolgate.verify.faults import FAULTS, INCOMPLETE

VALID, DEVIATIONS = "VALID", "VALID WITH DEVIATIONS"
EXPLORATORY, VOID = "EXPLORATORY", "VOID"
# Findings that say a record is missing, and which one: no entry contradicts another. What is
# only unfinished makes no ledger FAIL, so it makes none VOID either.
_GAPS = {"log.orphan_allow", *(fault.code for fault in FAULTS if fault.verdict == INCOMPLETE)}
GRADES = (VALID, DEVIATIONS, EXPLORATORY, VOID)


class Reason(NamedTuple):
    """Why a window is not simply VALID.

    Args:
        grade: the best grade that is left.
        sentence: what was found, for people.
    """

    grade: str
    sentence: str


def grade(record: dict[str, Any]) -> tuple[str, list[Reason]]:
    """Return a record's grade and the reasons for it, gravest first.

    Args:
        record: a close record; ``grade`` and ``reasons`` in it are not read.
    """
    found = [*_ledger(record), *_promise(record), *_drift(record), *_volume(record)]
    reasons = sorted(found, key=lambda reason: -GRADES.index(reason.grade))
    return (reasons[0].grade if reasons else VALID), reasons


def _ledger(record: dict[str, Any]) -> Iterator[Reason]:
    ledger, lines, flow = record["ledger"], record["lines"], record["flow"]
    codes = ", ".join(f"{code} {count}" for code, count in sorted(ledger["findings"].items()))
    if ledger["verdict"] == "FAIL":
        found = ledger["findings"]
        gaps = found and all(code in _GAPS or code.startswith("execution.") for code in found)
        # What is missing or did not match is named call by call; anything else may be an edit.
        yield Reason(EXPLORATORY if gaps else VOID, f"the ledger does not verify: {codes}")
    elif ledger["verdict"] == INCOMPLETE:
        yield Reason(DEVIATIONS, f"the ledger was incomplete at closing: {codes}")
    if lines["bad"]:
        yield Reason(DEVIATIONS, f"{_n(lines['bad'], 'line')} of the ledger could not be read")
    if lines["duplicates"]:
        yield Reason(DEVIATIONS, f"{_n(lines['duplicates'], 'duplicate line')} dropped")
    if flow["late_outcomes"]:
        yield Reason(
            DEVIATIONS,
            f"{_n(flow['late_outcomes'], 'outcome')} arrived after the end, within the grace",
        )
    if flow["after_grace"]:
        yield Reason(
            DEVIATIONS, f"{_n(flow['after_grace'], 'outcome')} arrived after the grace, not used"
        )


def _promise(record: dict[str, Any]) -> Iterator[Reason]:
    declared = record["declaration"]
    if declared["body"]["retrospective"]:
        yield Reason(EXPLORATORY, "declared as retrospective: the calls had already been made")
    elif declared["declared_us"] >= declared["start_us"]:
        yield Reason(EXPLORATORY, "the chain shows the declaration only after the start")


def _drift(record: dict[str, Any]) -> Iterator[Reason]:
    expected = record["declaration"]["body"]["expected"]
    for name, table in (("build", "builds"), ("policy", "policies")):
        rows = record["tables"][table]
        wanted = expected[name]
        other = sum(row["calls"] for row in rows if wanted and row[name] != wanted)
        total = sum(row["calls"] for row in rows)
        if other:
            yield Reason(
                EXPLORATORY,
                f"{other} of {total} calls were decided by another {name} than declared",
            )
        elif not wanted and len(rows) > 1:
            yield Reason(
                DEVIATIONS,
                f"{len(rows)} different {table} decided in this window; none was declared",
            )


def _volume(record: dict[str, Any]) -> Iterator[Reason]:
    rows = record["slice"]["rows"]
    volume = record["declaration"]["body"]["volume"]
    low, high = volume["min"], volume["max"]
    if low is not None and rows < low:
        yield Reason(DEVIATIONS, f"{_n(rows, 'call')}; at least {low} were expected")
    if high is not None and rows > high:
        yield Reason(DEVIATIONS, f"{_n(rows, 'call')}; at most {high} were expected")
    if rows == 0:
        yield Reason(DEVIATIONS, "no calls: nothing is estimated")


def _n(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
