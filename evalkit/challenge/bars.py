"""The thresholds a set's lineage was held to, look by look, and where they were changed. Pure.

A threshold that is lowered until a run passes is no threshold. Every claim keeps its own, so
each change from one look to the next can be named, with the run that made it.
"""

from typing import Any

from evalkit.challenge.claims import Claim, stamp
from evalkit.challenge.threshold import Threshold, threshold

LOOSER, STRICTER, ADDED, REMOVED = "looser", "stricter", "added", "removed"

_Key = tuple[str, str, bool]
"""Rate, field, and whether large values fail."""


def threshold_changes(claims: list[Claim]) -> list[dict[str, Any]]:
    """Return how thresholds changed from one look of a lineage to the next by the same gate.

    Args:
        claims: the looks, oldest first.

    Returns:
        ``look, run, claimed, commit, before, after, change`` for each change, in order: the
        look that made it, both texts ("" where there was none), and ``looser``, ``stricter``,
        ``added`` or ``removed``.
    """
    found: list[dict[str, Any]] = []
    last: dict[str | None, Claim] = {}
    for after in claims:
        gate = after.details.get("gate")
        before, last[gate] = last.get(gate), after
        if before is None:
            continue
        one, two = _bars(before), _bars(after)
        for key in [*one, *(key for key in two if key not in one)]:
            change = _change(one.get(key), two.get(key))
            if change:
                found.append({**_look(after), **_texts(one.get(key), two.get(key)), **change})
    return found


def _bars(claim: Claim) -> dict[_Key, Threshold]:
    """Return a claim's thresholds by what they are about, of several the strictest."""
    made: dict[_Key, Threshold] = {}
    for text in claim.details.get("fail_if") or ():
        one = threshold(text)
        key = (one.rate, one.field, one.sign in (">", ">="))
        if key not in made or _leeway(one) < _leeway(made[key]):
            made[key] = one
    return made


def _leeway(one: Threshold) -> tuple[float, bool]:
    """Return how much a threshold lets pass; the smaller, the stricter."""
    limit = one.limit if one.sign in (">", ">=") else -one.limit
    return limit, one.sign in ("<", ">")  # the limit itself passes


def _change(before: Threshold | None, after: Threshold | None) -> dict[str, str]:
    if before is None or after is None:
        return {"change": ADDED if before is None else REMOVED}
    one, two = _leeway(before), _leeway(after)
    return {} if one == two else {"change": LOOSER if two > one else STRICTER}


def _texts(before: Threshold | None, after: Threshold | None) -> dict[str, str]:
    return {"before": before.text if before else "", "after": after.text if after else ""}


def _look(claim: Claim) -> dict[str, Any]:
    return {
        "look": claim.details["look"],
        "run": claim.run,
        "claimed": stamp(claim.ts),
        "commit": claim.details.get("commit"),
    }


def eased(changes: list[dict[str, Any]], run: str) -> list[dict[str, Any]]:
    """Return the changes by which a run is held to less than the look before it."""
    return [row for row in changes if row["run"] == run and row["change"] in (LOOSER, REMOVED)]
