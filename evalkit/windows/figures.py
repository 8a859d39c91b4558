"""Every figure of a closed window, computed once from the slice's integers."""

from typing import Any

from evalkit import metrics
from evalkit.stats.present import FEWEST_FOR_A_PERCENTAGE, percent, rate_json
from evalkit.windows.declare import Declaration
from evalkit.windows.slice import Slice

_STATES = ("allowed", "asked", "denied")
FEW_SESSIONS, LARGE_SHARE = 30, 0.20


def figures(cut: Slice, declaration: Declaration) -> dict[str, Any]:
    """Return the counts, rates and tables of a slice.

    Returns:
        A JSON object with ``lines``, ``flow``, ``slice``, ``metrics``, ``asks``,
        ``project_code``, ``sessions`` and ``tables``.
    """
    level = float(declaration.body["level"])
    exclusions = [
        {"sql": item["sql"], "reason": item["reason"], "calls": calls}
        for item, calls in zip(declaration.body["exclusions"], cut.flow.exclusions, strict=True)
    ]
    return {
        "lines": cut.lines._asdict(),
        "flow": {**cut.flow._asdict(), "exclusions": exclusions},
        "slice": {"digest": cut.digest, "rows": cut.flow.rows},
        "metrics": [
            _measure(cut, metrics.REGISTRY[item["name"], item["version"]], level)
            for item in declaration.body["metrics"]
        ],
        "asks": [
            _measure(cut, metrics.ANSWERED_BY_APPROVAL, level),
            _measure(cut, metrics.ANSWERED_BY_EXECUTION, level),
        ],
        "project_code": _measure(cut, metrics.PROJECT_CODE, level),
        "sessions": _sessions(cut),
        "tables": _tables(cut, level),
    }


def _measure(cut: Slice, metric: metrics.Metric, level: float) -> dict[str, Any]:
    k, n = metrics.count(cut.connection, metric)
    return {
        "name": metric.name,
        "version": metric.version,
        "sentence": metric.sentence,
        **rate_json(k, n, level),
    }


def _sessions(cut: Slice) -> dict[str, Any]:
    total, largest, asked, denied = metrics.sessions(cut.connection)
    rows = cut.flow.rows
    clustered = total < FEW_SESSIONS or (rows > 0 and largest / rows > LARGE_SHARE)
    return {
        "count": total,
        "with_ask": asked,
        "with_deny": denied,
        "largest": largest,
        "largest_share": percent(largest, rows),
        "few_or_uneven": clustered,
    }


def _tables(cut: Slice, level: float) -> dict[str, Any]:
    return {
        "by_tool": _by_state(cut, "by_tool", "tool", level),
        "by_rule": _by_state(cut, "by_rule", "rule", level),
        "by_host": _by_state(cut, "by_host", "host", level),
        "allowed_code_by_rule": [
            {"rule": rule, "calls": calls}
            for rule, calls in metrics.breakdown(cut.connection, "allowed_code_by_rule")
        ],
        "outcomes": [
            {"state": state, "outcome": outcome, "calls": calls}
            for state, outcome, calls in metrics.breakdown(cut.connection, "outcomes")
        ],
        "judges": [
            {
                "backend": backend,
                "model": model,
                "pinned": pinned,
                "answered_by": answered,
                "calls": calls,
            }
            for backend, model, pinned, answered, calls in metrics.breakdown(
                cut.connection, "judges"
            )
        ],
        "builds": _named(cut, "builds", "build"),
        "policies": _named(cut, "policies", "policy"),
    }


def _named(cut: Slice, table: str, name: str) -> list[dict[str, Any]]:
    return [
        {name: value, "calls": calls} for value, calls in metrics.breakdown(cut.connection, table)
    ]


def _by_state(cut: Slice, table: str, name: str, level: float) -> list[dict[str, Any]]:
    made = []
    for value, calls, *counts in metrics.breakdown(cut.connection, table):
        row: dict[str, Any] = {
            name: value,
            "calls": calls,
            **dict(zip(_STATES, counts, strict=True)),
        }
        for label, k in (("ask", counts[1]), ("deny", counts[2])):
            row[label] = rate_json(k, calls, level)
        made.append(row)
    return made


def cell_rate(row: dict[str, Any]) -> str:
    """Return a rate for a table's cell: counts, percentage and limits, or counts alone."""
    if row["n"] < FEWEST_FOR_A_PERCENTAGE:
        return f"{row['k']}/{row['n']}"
    bracket = row["text"].partition("[")[2].partition(" CI ")[2].partition(";")[0]
    return f"{row['k']}/{row['n']} = {percent(row['k'], row['n'])} [{bracket}]"
