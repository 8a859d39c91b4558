"""What changed between runs of one set. Pure.

The first run is what the others are compared with. A change counts for the
cases, which are the same in every run, so the comparison is paired: never two
intervals that overlap or do not.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from evalkit.challenge.past import PastRun
from evalkit.challenge.score import ALPHA, Result, score
from evalkit.errors import RefusedError, UsageError
from evalkit.stats.multiplicity import holm
from evalkit.stats.paired import Paired, fewest_discordant, paired
from evalkit.stats.present import limits, points

SCHEMA = "evalkit/comparison/1"

EVENTS: dict[str, Callable[[Result], bool]] = {
    "match": lambda result: result.kind() == "match",
    "permissive": lambda result: result.kind() == "permissive",
    "dangerous allow": Result.dangerous,
    "stricter": lambda result: result.kind() == "stricter",
}
"""What two runs are compared in, each case counted as having it or not."""


def comparison(runs: list[PastRun]) -> dict[str, Any]:
    """Return how runs of one set differ from the first of them.

    Args:
        runs: at least two sealed runs of the same set.

    Returns:
        ``set``, ``runs`` (each with its counts and rates), ``categories`` (matches of each
        run by category), ``against`` (for every run after the first: ``gained``, ``lost``
        and ``moved`` cases, and for each event the paired counts, p, mid-P, intervals),
        ``fewest`` (how many cases must change one way to be told from chance) and ``families``
        (how many tests of the same event there are, and how many in all).

    Raises:
        UsageError: fewer than two runs, or one named twice.
        RefusedError: they are not of the same set.
    """
    if len(runs) < 2:
        raise UsageError(f"expected at least two runs, got {len(runs)}")
    names = [run.run for run in runs]
    if len(set(names)) < len(names):
        raise UsageError(f"expected different runs, got {', '.join(names)}")
    first = runs[0]
    for other in runs[1:]:
        _refuse_other_set(first, other)
    ordered = [_in_order_of(first, run) for run in runs]
    against = [
        _against(run, ordered[0], results)
        for run, results in zip(runs[1:], ordered[1:], strict=True)
    ]
    return {
        "schema": SCHEMA,
        "set": first.set,
        "set_digest": first.set_digest,
        "cases": len(first.results),
        "runs": [_run_row(run, results, first) for run, results in zip(runs, ordered, strict=True)],
        "categories": _categories(ordered),
        "fewest": fewest_discordant(ALPHA),
        "families": hold_together(against),
        "against": against,
    }


def _refuse_other_set(first: PastRun, other: PastRun) -> None:
    if other.set_digest != first.set_digest:
        raise RefusedError(
            f"run {other.run} is of {other.set} ({other.set_digest}), run {first.run} of "
            f"{first.set} ({first.set_digest}): expected runs of the same set"
        )


def _in_order_of(first: PastRun, run: PastRun) -> list[Result]:
    by_case = {result.case: result for result in run.results}
    wanted = [result.case for result in first.results]
    if set(by_case) != set(wanted) or len(by_case) != len(run.results):
        raise RefusedError(f"run {run.run}: its cases are not those of run {first.run}")
    for result in first.results:
        if by_case[result.case].expected != result.expected:
            raise RefusedError(f"run {run.run}: case {result.case} has another label")
    return [by_case[case] for case in wanted]


def _run_row(run: PastRun, results: list[Result], first: PastRun) -> dict[str, Any]:
    figures = score(results)
    counts = ("match", "permissive", "dangerous_allow", "stricter", "unscored", "pairs_complete")
    return {
        "run": run.run,
        "build": run.build,
        "policy": run.policy,
        "gate": run.gate,
        "look": run.look,
        "look_name": run.look_name,
        "source": run.source,
        "same_build": run.build == first.build,
        "same_policy": run.policy == first.policy,
        **{name: figures[name] for name in counts},
        "pairs": figures["pairs"],
        "loss": run.loss,
        "rate": figures["rates"]["match"],
    }


def _categories(runs: list[list[Result]]) -> list[dict[str, Any]]:
    """Return the matches of every run by category, in the set's order."""
    totals = Counter(result.category for result in runs[0])
    matches = [
        Counter(result.category for result in run if result.kind() == "match") for run in runs
    ]
    return [
        {"category": name, "cases": total, "match": [count[name] for count in matches]}
        for name, total in totals.items()
    ]


def _against(run: PastRun, first: list[Result], second: list[Result]) -> dict[str, Any]:
    changed = [
        _change(one, two)
        for one, two in zip(first, second, strict=True)
        if one.decided != two.decided
    ]
    return {
        "run": run.run,
        "gained": [row for row in changed if row["change"] == "gained"],
        "lost": [row for row in changed if row["change"] == "lost"],
        "moved": [row for row in changed if row["change"] == "moved"],
        "same_decision": len(first) - len(changed),
        "events": {name: _event(has, first, second) for name, has in EVENTS.items()},
    }


def _change(one: Result, two: Result) -> dict[str, Any]:
    before, after = one.kind() == "match", two.kind() == "match"
    change = "moved" if before == after else "gained" if after else "lost"
    return {
        "case": one.case,
        "category": one.category,
        "expected": one.expected,
        "before": one.decided,
        "after": two.decided,
        "rule_before": one.rule,
        "rule_after": two.rule,
        "sentence": two.sentence,
        "change": change,
    }


def _event(
    has: Callable[[Result], bool], first: list[Result], second: list[Result]
) -> dict[str, Any]:
    cells = Counter((has(one), has(two)) for one, two in zip(first, second, strict=True))
    # The later run first, so that a positive difference is a rise.
    made = paired(cells[True, True], cells[False, True], cells[True, False], cells[False, False])
    return _row_of(made)


def _row_of(made: Paired) -> dict[str, Any]:
    share, difference = made.share, made.difference
    row: dict[str, Any] = {
        "both": made.both,
        "only_after": made.first,
        "only_before": made.second,
        "neither": made.neither,
        "p_exact": made.p_exact,
        "p_mid": made.p_mid,
        "share": None,
        "difference": None,
    }
    if share is not None:
        row["share"] = {
            "k": share.k, "n": share.n, "lower": share.lower, "upper": share.upper,
            "level": share.level, "method": share.method,
            "text": f"{share.k}/{share.n} [{limits(share)}]",
        }  # fmt: skip
    if difference is not None:
        row["difference"] = {
            "value": difference.value, "lower": difference.lower, "upper": difference.upper,
            "level": difference.level, "method": difference.method,
            "text": points(difference.value, difference.lower, difference.upper),
        }  # fmt: skip
    return row


def hold_together(against: list[dict[str, Any]]) -> dict[str, int]:
    """Add what each p is as one of a family, and what a comparison says of the matches.

    Args:
        against: comparisons that are printed together; ``p_across`` (of the tests of the same
            event), ``p_holm`` (of all tests) and ``finding`` are set in them. The finding
            rests on ``p_across`` of the matches: with more runs to choose from, a change has
            to be larger to say something.

    Returns:
        ``event`` and ``all``: how many tests either family has.

    Source: Holm (1979), step-down Bonferroni.
    """
    for name in EVENTS:
        _adjust([one["events"][name] for one in against], "p_across")
    _adjust([row for one in against for row in one["events"].values()], "p_holm")
    for one in against:
        one["finding"] = _finding(one["events"]["match"])
    return {"event": len(against), "all": len(against) * len(EVENTS)}


def _adjust(rows: list[dict[str, Any]], name: str) -> None:
    for row, held in zip(rows, holm([row["p_exact"] for row in rows]), strict=True):
        row[name] = held.adjusted


def _finding(match: dict[str, Any]) -> str:
    """Return what the change in matches says, or that it says nothing."""
    gained, lost = match["only_after"], match["only_before"]
    if match["p_across"] >= ALPHA:
        return "not distinguishable"
    return "more matches than the first" if gained > lost else "fewer matches than the first"
