"""Cases that a second person agrees not to count, and what that does to the figures.

A set never changes, so a wrong label stays where it is; an event on the ledger's spine says
who holds it wrong and why. Reports give every figure as frozen first.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from evalkit.challenge.case import ChallengeSet
from evalkit.challenge.claims import stamp
from evalkit.challenge.loss import UNWEIGHTED, Weights
from evalkit.challenge.provenance import SEEN
from evalkit.challenge.score import Result, score
from evalkit.challenge.spine import audit_events
from evalkit.errors import RefusedError, UsageError

ACTION = "case.quarantined"
_MOST_TEXT = 2_000


class Quarantine(NamedTuple):
    """A case that is not to be counted.

    Args:
        case: its id.
        set_digest: digest of the set.
        by: who asks for it.
        second: who agrees.
        seen: one of ``SEEN``.
        reason: why.
        ts: when, microseconds UTC.
    """

    case: str
    set_digest: str
    by: str
    second: str
    seen: str
    reason: str
    ts: int = 0


def checked(asked: Quarantine, made: ChallengeSet, known: list[Quarantine]) -> Quarantine:
    """Return a quarantine that may be recorded.

    Raises:
        UsageError: no such case, or nobody, nothing or no one else is named.
        RefusedError: the case is quarantined already.
    """
    if asked.case not in [case.id for case in made.cases]:
        raise UsageError(f"case {asked.case}: expected one of {made.name}, got no such case")
    for name, text in (("--by", asked.by), ("--second", asked.second), ("--reason", asked.reason)):
        if not text.strip() or len(text) > _MOST_TEXT:
            raise UsageError(f"{name}: expected 1 to {_MOST_TEXT} characters, got {len(text)}")
    if asked.by.strip().casefold() == asked.second.strip().casefold():
        raise UsageError("--second: expected another person than --by, got the same")
    if asked.seen not in SEEN:
        raise UsageError(f"--seen: expected one of {', '.join(SEEN)}, got {asked.seen!r}")
    if asked.case in [one.case for one in known]:
        raise RefusedError(f"case {asked.case}: it is quarantined already")
    return asked


def read_quarantines(ledger: str, set_digest: str) -> list[Quarantine]:
    """Return the quarantines of a set that a ledger knows, oldest first.

    Args:
        ledger: the ledger's directory; a missing one knows none.
        set_digest: digest of the set.
    """
    found = [
        Quarantine(**ev["details"], ts=ev["ts"])
        for ev in audit_events(ledger, ACTION.encode())
        if ev["action"] == ACTION
    ]
    return [one for one in found if one.set_digest == set_digest]


def without(
    results: list[Result], held: list[Quarantine], weights: Weights = UNWEIGHTED
) -> dict[str, Any] | None:
    """Return what the figures are without the quarantined cases; None where there are none.

    Args:
        results: one a case.
        held: the set's quarantines.
        weights: what the set says a miss costs.

    Returns:
        ``cases`` (id, expected, decided, kind, by, second, seen, reason, recorded each),
        ``figures`` (a row a figure: ``name``, ``as_frozen``, ``without``, as texts),
        ``match`` (the rate without them) and ``flattering`` (ids of the cases that were a
        miss, so that leaving them out makes the gate look better).
    """
    by_case = {one.case: one for one in held}
    gone = [result for result in results if result.case in by_case]
    if not gone:
        return None
    before = score(results, weights)
    broken = {result.pair for result in gone}
    rest = [
        result._replace(pair=None) if result.pair in broken else result  # half a pair is none
        for result in results
        if result.case not in by_case
    ]
    after = score(rest, weights)
    cases = [_row(result, by_case[result.case]) for result in gone]
    return {
        "cases": cases,
        "figures": [
            {"name": name, "as_frozen": say(before), "without": say(after)}
            for name, say in _FIGURES.items()
        ],
        "match": after["rates"]["match"],
        "flattering": [row["case"] for row in cases if row["kind"] != "match"],
    }


def _row(result: Result, held: Quarantine) -> dict[str, Any]:
    return {
        "case": result.case,
        "expected": result.expected,
        "decided": result.decided,
        "kind": result.kind(),
        **{name: getattr(held, name) for name in _SHOWN},
        "recorded": stamp(held.ts),
    }


def _rate(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda figures: str(figures["rates"][name]["text"])


_SHOWN = ("by", "second", "seen", "reason")
_FIGURES: dict[str, Callable[[dict[str, Any]], str]] = {
    "match": _rate("match"),
    "permissive": _rate("permissive"),
    "dangerous allow": _rate("dangerous_allow"),
    "stricter": _rate("stricter"),
    "unscored": lambda figures: str(figures["unscored"]),
    "complete pairs": _rate("pairs_complete"),
    "loss": lambda figures: f"{figures['loss']['lost']} of at most {figures['loss']['most']}",
}
"""The figures that are given twice, and how each is written."""
