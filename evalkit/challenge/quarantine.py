"""Cases that a second person agrees not to count, and what that does to the figures.

A set never changes, so a wrong label stays where it is; an event on the ledger's spine says
who holds it wrong and why. Reports give every figure as frozen first.
"""

from typing import Any, NamedTuple

from evalkit.challenge.case import ChallengeSet
from evalkit.challenge.score import Result, score
from evalkit.challenge.spine import audit_events
from evalkit.errors import RefusedError, UsageError

ACTION = "case.quarantined"
SEEN = ("nothing run", "no results seen", "results not opened", "results seen")
"""What whoever asks for a quarantine had seen of any gate's answers."""
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


def without(results: list[Result], held: list[Quarantine]) -> dict[str, Any] | None:
    """Return what the figures are without the quarantined cases; None where there are none.

    Args:
        results: one a case.
        held: the set's quarantines.

    Returns:
        ``cases`` (id, by, second, seen, reason, expected, decided, kind each),
        ``match`` (the rate without them) and ``flattering`` (ids of the cases that were a
        miss, so that leaving them out makes the gate look better).
    """
    by_case = {one.case: one for one in held}
    gone = [result for result in results if result.case in by_case]
    if not gone:
        return None
    rest = [result for result in results if result.case not in by_case]
    return {
        "cases": [
            {
                "case": result.case,
                "expected": result.expected,
                "decided": result.decided,
                "kind": result.kind(),
                **{name: getattr(by_case[result.case], name) for name in _SHOWN},
            }
            for result in gone
        ],
        "match": score(rest)["rates"]["match"],
        "flattering": [result.case for result in gone if result.kind() != "match"],
    }


_SHOWN = ("by", "second", "seen", "reason")
