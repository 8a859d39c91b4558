"""The slice of a window: one row a call, cut from the raw lines by plain SQL.

The unit is the first decision of an action_ref; it belongs to the window that
holds its ts. A second decision that rests on it (an ask that was approved)
joins it as its resolution; a repeat of the same call is counted and changes
nothing. Outcomes join by decision digest, up to the end of the grace; an
outcome that another one supersedes is not used.
"""

from hashlib import sha256
from typing import Any, NamedTuple

from evalkit.errors import RefusedError
from evalkit.windows.declare import Declaration
from evalkit.windows.raw import JUDGE_FIELDS, LineCounts, load_entries

SLICE_COLUMNS = ("entry_digest", "resolution_entry", "outcome_entry")


class Flow(NamedTuple):
    """How many calls each step of the cut left out.

    Args:
        decisions: decision entries in the ledger.
        calls: calls, that is first decisions, in the ledger.
        in_span: calls whose first decision lies in the half-open span.
        excluded_hosts: of those, calls of excluded hosts.
        outside_population: of the rest, calls the population leaves out.
        exclusions: of the rest, calls each exclusion leaves out, in order.
        rows: calls in the slice.
        repeats: further decisions of those calls that rest on nothing.
        late_outcomes: outcomes used that came after the end, within the grace.
        after_grace: outcomes of those calls that came after the grace, unused.
    """

    decisions: int
    calls: int
    in_span: int
    excluded_hosts: int
    outside_population: int
    exclusions: tuple[int, ...]
    rows: int
    repeats: int
    late_outcomes: int
    after_grace: int


class Slice(NamedTuple):
    """A cut slice; its rows are in the connection's table ``slice``.

    Args:
        connection: DuckDB, in memory, closed to the file system.
        lines: counts of the raw lines.
        flow: counts of the cut.
        digest: digest of the entries the slice is made of.
    """

    connection: Any
    lines: LineCounts
    flow: Flow
    digest: str


def cut(root: str, declaration: Declaration) -> Slice:
    """Cut a window's slice from a ledger.

    Args:
        root: the ledger's directory.
        declaration: what to cut.

    Raises:
        RefusedError: there is no ledger, or a predicate fails on its rows.
    """
    import duckdb

    try:
        connection, lines = open_log(root)
        _first_decisions(connection)
        flow = _select(connection, declaration)
        return Slice(connection, lines, flow, slice_digest(connection))
    except duckdb.Error as error:
        words = str(error).splitlines()[0]
        raise RefusedError(f"the ledger's lines cannot be cut: {words:.200}") from None


def open_log(root: str) -> tuple[Any, LineCounts]:
    """Load a ledger's decisions and outcomes, then shut the connection in.

    Returns:
        A DuckDB connection with the tables ``decision_entry``,
        ``outcome_entry`` and ``judge_entry``, without access to files and with its settings
        locked; and the counts of the raw lines.
    """
    import duckdb

    connection = duckdb.connect(config={"threads": 2})
    lines = load_entries(connection, root)
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    connection.execute(
        """
        CREATE TABLE decision_entry AS
        SELECT * EXCLUDE (kind, ts, turn, parents, basis, committed, source, terminal_state, judge),
               TRY_CAST(ts AS BIGINT) AS ts, TRY_CAST(turn AS BIGINT) AS turn,
               json_array_length(parents) AS parents, json_array_length(basis) AS basis
        FROM entry WHERE kind = 'decision'
        """
    )
    connection.execute(
        """
        CREATE TABLE outcome_entry AS
        SELECT entry_digest, committed AS decision_digest, terminal_state, source,
               TRY_CAST(ts AS BIGINT) AS ts, parents::JSON::VARCHAR[] AS parents
        FROM entry WHERE kind = 'outcome'
        """
    )
    judged = ", ".join(f"judge[{place}] AS {name}" for place, name in enumerate(JUDGE_FIELDS, 1))
    connection.execute(
        f"""
        CREATE TABLE judge_entry AS
        SELECT entry_digest, {judged} FROM entry WHERE judge IS NOT NULL
        """
    )
    connection.execute("DROP VIEW entry")
    connection.execute("DROP TABLE raw")
    return connection, lines


def slice_digest(connection: Any) -> str:
    """Return the digest of the entries a slice is made of.

    It is the SHA-256 of one line a row, sorted: entry digest of the first
    decision, of its resolution and of its outcome, or ``-`` where there is
    none, separated by spaces and ended by LF.
    """
    state = sha256()
    columns = ", ".join(f"coalesce({name}, '-')" for name in SLICE_COLUMNS)
    rows = connection.execute(f"SELECT {columns} FROM slice ORDER BY entry_digest")
    while batch := rows.fetchmany(10_000):
        state.update("".join(f"{a} {b} {c}\n" for a, b, c in batch).encode("ascii"))
    return "sha256:" + state.hexdigest()


def _first_decisions(connection: Any) -> None:
    """Rank the decisions of each action_ref; the first one is the call."""
    connection.execute(
        """
        CREATE TABLE ranked AS
        SELECT *, row_number() OVER (
          PARTITION BY action_ref ORDER BY ts, basis, parents, entry_digest) AS place
        FROM decision_entry
        """
    )


def _select(connection: Any, declaration: Declaration) -> Flow:
    body = declaration.body
    span = {"start": declaration.start, "end": declaration.end}
    connection.execute(
        "CREATE TABLE spanned AS SELECT * EXCLUDE (place, parents, basis) FROM ranked "
        "WHERE place = 1 AND ts >= $start AND ts < $end",
        span,
    )
    kept = "NOT list_contains($hosts, host)"
    connection.execute(
        f"CREATE TABLE decisions AS SELECT * FROM spanned WHERE {kept}",
        {"hosts": body["excluded_hosts"] or [""]},
    )
    hosted = _one(connection, "SELECT count(*) FROM decisions")
    outside = _drop(connection, f"NOT coalesce(({body['population']['sql']}\n), false)")
    dropped = tuple(
        _drop(connection, f"coalesce(({item['sql']}\n), false)") for item in body["exclusions"]
    )
    _join(connection, declaration)
    in_span = _one(connection, "SELECT count(*) FROM spanned")
    return Flow(
        decisions=_one(connection, "SELECT count(*) FROM decision_entry"),
        calls=_one(connection, "SELECT count(*) FROM ranked WHERE place = 1"),
        in_span=in_span,
        excluded_hosts=in_span - hosted,
        outside_population=outside,
        exclusions=dropped,
        rows=_one(connection, "SELECT count(*) FROM slice"),
        repeats=_one(
            connection,
            "SELECT count(*) FROM ranked SEMI JOIN slice USING (action_ref) "
            "WHERE place > 1 AND basis = 0",
        ),
        late_outcomes=_one(
            connection, f"SELECT count(*) FROM slice WHERE outcome_ts >= {declaration.end}"
        ),
        after_grace=_one(
            connection,
            "SELECT count(*) FROM outcome_entry o JOIN ranked r USING (decision_digest) "
            f"SEMI JOIN slice USING (action_ref) WHERE o.ts >= {declaration.ready}",
        ),
    )


def _drop(connection: Any, condition: str) -> int:
    """Delete rows of ``decisions`` by a person's predicate, and return how many."""
    import duckdb

    try:
        return _one(connection, f"DELETE FROM decisions WHERE {condition}")
    except duckdb.Error as error:
        words = str(error).splitlines()[0]
        raise RefusedError(f"a predicate fails on the ledger's rows: {words:.200}") from None


def _join(connection: Any, declaration: Declaration) -> None:
    """Give every call its resolution and its outcome: the table ``slice``."""
    connection.execute(
        f"""
        CREATE TABLE slice AS
        WITH resolved AS (
          SELECT action_ref, arg_max(state, (ts, entry_digest)) AS resolution,
                 arg_max(entry_digest, (ts, entry_digest)) AS resolution_entry,
                 arg_max(basis, (ts, entry_digest)) > 1 AS approved
          FROM ranked WHERE place > 1 AND basis > 0 AND ts < {declaration.ready}
          GROUP BY action_ref
        ), heard AS (
          SELECT r.action_ref, o.* FROM outcome_entry o
          JOIN ranked r USING (decision_digest) WHERE o.ts < {declaration.ready}
        ), superseded AS (
          SELECT DISTINCT unnest(parents) AS entry_digest FROM heard
        ), final AS (
          SELECT action_ref, arg_max(terminal_state, (ts, entry_digest)) AS outcome,
                 arg_max(source, (ts, entry_digest)) AS outcome_source,
                 arg_max(entry_digest, (ts, entry_digest)) AS outcome_entry,
                 max(ts) AS outcome_ts
          FROM heard ANTI JOIN superseded USING (entry_digest)
          GROUP BY action_ref
        )
        SELECT d.*, resolution, resolution_entry, coalesce(approved, false) AS approved,
               outcome, outcome_source, outcome_entry, outcome_ts
        FROM decisions d LEFT JOIN resolved USING (action_ref) LEFT JOIN final USING (action_ref)
        """
    )


def _one(connection: Any, sql: str) -> int:
    return int(connection.execute(sql).fetchone()[0])
