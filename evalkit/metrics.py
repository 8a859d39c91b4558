"""Metrics by name and version: definitions that return exact integers.

A metric is two predicates over the table ``slice`` (one row a call, see
``windows/slice.py``): which calls count as events, and among which calls. The
engine returns two counts; rates and intervals are computed once, in Python,
from those. A breakdown is one grouped query of counts in a stated order. A
change of any definition is a new version beside the old one.
"""

from typing import Any, NamedTuple

Row = tuple[Any, ...]


class Metric(NamedTuple):
    """A rate's definition.

    Args:
        name: what a declaration asks for.
        version: raised whenever a predicate changes.
        sentence: what is counted among what, for people.
        events: SQL predicate over ``slice``.
        among: SQL predicate over ``slice``.
    """

    name: str
    version: int
    sentence: str
    events: str
    among: str

    def sql(self) -> str:
        """Return the query of the two counts."""
        return (
            f"SELECT count(*) FILTER (WHERE ({self.events}) AND ({self.among})), "
            f"count(*) FILTER (WHERE {self.among}) FROM slice"
        )


PROJECT_CODE_RULE = "runs-project-code"
"""The default policy's rule for a project's own code, which is never proved harmless."""

_METRICS = (
    Metric("ask_rate", 1, "calls first answered ask, among all calls", "state = 'asked'", "true"),
    Metric(
        "deny_rate", 1, "calls first answered deny, among all calls", "state = 'denied'", "true"
    ),
    Metric(
        "allow_rate", 1, "calls first answered allow, among all calls", "state = 'allowed'", "true"
    ),
)

REGISTRY = {(metric.name, metric.version): metric for metric in _METRICS}
"""Every metric that a declaration may name."""

PROJECT_CODE = Metric(
    "project_code_share",
    1,
    f"calls allowed by the rule {PROJECT_CODE_RULE}, among allowed calls",
    f"rule = '{PROJECT_CODE_RULE}'",
    "state = 'allowed'",
)
ANSWERED_BY_EXECUTION = Metric(
    "asks_answered_by_execution",
    1,
    "asks whose approval is known only from the execution itself, among asks",
    "resolution = 'allowed' AND NOT approved",
    "state = 'asked'",
)
ANSWERED_BY_APPROVAL = Metric(
    "asks_answered_by_approval",
    1,
    "asks followed by an allow that names an approval, among asks",
    "resolution = 'allowed' AND approved",
    "state = 'asked'",
)

_STATES = (
    "count(*), count(*) FILTER (WHERE state = 'allowed'), "
    "count(*) FILTER (WHERE state = 'asked'), count(*) FILTER (WHERE state = 'denied')"
)

BREAKDOWNS = {
    "by_tool": f"SELECT tool, {_STATES} FROM slice GROUP BY tool ORDER BY count(*) DESC, tool",
    "by_rule": f"SELECT rule, {_STATES} FROM slice GROUP BY rule ORDER BY count(*) DESC, rule",
    "by_host": f"SELECT host, {_STATES} FROM slice GROUP BY host ORDER BY count(*) DESC, host",
    "allowed_code_by_rule": (
        "SELECT rule, count(*) FROM slice WHERE state = 'allowed' AND runs_code "
        "GROUP BY rule ORDER BY count(*) DESC, rule"
    ),
    "outcomes": (
        "SELECT state, coalesce(outcome, 'none'), count(*) FROM slice "
        "GROUP BY ALL ORDER BY state, coalesce(outcome, 'none')"
    ),
    "builds": "SELECT build, count(*) FROM slice GROUP BY build ORDER BY count(*) DESC, build",
    "judges": (
        "SELECT coalesce(backend, 'not in the ledger'), coalesce(model, 'not in the ledger'), "
        "coalesce(pinned, 'false') = 'true', coalesce(answered, 'no answer'), count(*) "
        "FROM slice s LEFT JOIN judge_entry j ON s.judge_entry = j.entry_digest "
        "WHERE s.judge_entry IS NOT NULL GROUP BY ALL "
        "ORDER BY count(*) DESC, 1, 2, 3, 4"
    ),
    "policies": "SELECT policy, count(*) FROM slice GROUP BY policy ORDER BY count(*) DESC, policy",
}
"""Grouped counts of every close, by name; each has a total order."""

SESSIONS = (
    "SELECT count(*), coalesce(max(n), 0)::BIGINT, "
    "count(*) FILTER (WHERE asked > 0), count(*) FILTER (WHERE denied > 0) FROM ("
    "SELECT count(*) AS n, count(*) FILTER (WHERE state = 'asked') AS asked, "
    "count(*) FILTER (WHERE state = 'denied') AS denied FROM slice GROUP BY session)"
)
"""Sessions, the largest one's calls, sessions with an ask, sessions with a deny."""


def count(connection: Any, metric: Metric) -> tuple[int, int]:
    """Return a metric's events and the calls they are among."""
    events, among = connection.execute(metric.sql()).fetchone()
    return int(events), int(among)


def breakdown(connection: Any, name: str) -> list[Row]:
    """Return the rows of one of ``BREAKDOWNS``."""
    rows: list[Row] = connection.execute(BREAKDOWNS[name]).fetchall()
    return rows


def sessions(connection: Any) -> tuple[int, int, int, int]:
    """Return the four counts of ``SESSIONS``."""
    total, largest, asked, denied = connection.execute(SESSIONS).fetchone()
    return int(total), int(largest), int(asked), int(denied)
