"""SQL predicates that people write: checked against a list of what is harmless.

A predicate speaks about one row of the view ``decisions``. It may compare
columns and constants and call a few functions that are deterministic, see
nothing but their arguments and end. Everything else is refused: other tables,
sub-queries, windows, aggregates, clocks, randomness and the file system.
"""

import json
from typing import Any

COLUMNS = (
    "action_ref",
    "agent",
    "args_digest",
    "auth_mode",
    "axis",
    "build",
    "class",
    "decision_digest",
    "entry_digest",
    "host",
    "mode",
    "policy",
    "principal",
    "proof",
    "rule",
    "runs_code",
    "scope",
    "session",
    "state",
    "tool",
    "ts",
    "turn",
)
"""What a predicate, and a list of strata, may name."""

MAX_PREDICATE = 4000

_CLASSES = frozenset(
    (
        *("BETWEEN", "CASE", "CAST", "COLUMN_REF", "COMPARISON"),
        *("CONJUNCTION", "CONSTANT", "FUNCTION", "OPERATOR", "TYPE"),
    )
)
_FUNCTIONS = frozenset(
    (
        *("~~", "!~~", "~~*", "!~~*", "~~~", "like_escape", "not_like_escape", "ilike_escape"),
        *("+", "-", "*", "/", "//", "%", "||", "abs", "concat", "length", "lower", "upper"),
        *("contains", "starts_with", "prefix", "ends_with", "suffix", "strpos", "position"),
        *("instr", "substr", "substring", "split_part", "trim", "ltrim", "rtrim"),
        *("regexp_matches", "regexp_full_match", "list_contains"),
    )
)


def predicate_fault(sql: str) -> str | None:
    """Say why a predicate is refused; None where it is good.

    Args:
        sql: the text that would stand between WHERE's parentheses.
    """
    import duckdb

    if not sql.strip() or len(sql) > MAX_PREDICATE:
        return f"expected SQL of 1 to {MAX_PREDICATE} characters, got {len(sql)}"
    with duckdb.connect() as connection:
        answer = json.loads(
            connection.execute(
                "SELECT json_serialize_sql(?)", [f"SELECT 1 FROM decisions WHERE ({sql}\n)"]
            ).fetchall()[0][0]
        )
        fault = _parse_fault(answer) or _tree_fault(answer["statements"][0]["node"])
        return fault or _type_fault(connection, sql)


def _parse_fault(answer: dict[str, Any]) -> str | None:
    if answer.get("error"):
        return f"not one predicate: {answer.get('error_message', 'cannot be parsed')!s:.120}"
    statements = answer.get("statements", [])
    if len(statements) != 1 or statements[0]["node"]["type"] != "SELECT_NODE":
        return "not one predicate: expected a condition over the view decisions"
    return None


def _tree_fault(node: dict[str, Any]) -> str | None:
    condition = node.get("where_clause")
    others = ("group_expressions", "having", "qualify", "sample")
    if not condition or node.get("modifiers") or any(node.get(name) for name in others):
        return "not one predicate: expected a condition over the view decisions"
    stack: list[Any] = [condition]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, dict):
            fault = _node_fault(item)
            if fault:
                return fault
            stack.extend(item.values())
    return None


def _node_fault(item: dict[str, Any]) -> str | None:
    kind = item.get("class")
    if kind is None:
        return None
    if kind not in _CLASSES:
        return f"{str(kind).lower()} expressions are not allowed in a predicate"
    if kind == "COLUMN_REF":
        names = item.get("column_names", [])
        if len(names) != 1 or names[0].lower() not in COLUMNS:
            return f"unknown column {'.'.join(map(str, names))}; known are {', '.join(COLUMNS)}"
    if kind == "FUNCTION" and item.get("function_name", "").lower() not in _FUNCTIONS:
        return f"function {item.get('function_name')} is not allowed in a predicate"
    return None


def _type_fault(connection: Any, sql: str) -> str | None:
    """Run the predicate over one made-up row, so that type faults show at declaration."""
    import duckdb

    typed = {"ts": "0::BIGINT", "turn": "0::BIGINT", "runs_code": "false"}
    columns = ", ".join(f'{typed.get(name, repr(name))} AS "{name}"' for name in COLUMNS)
    connection.execute(f"CREATE TABLE decisions AS SELECT {columns}")
    try:
        made = connection.execute(f"SELECT ({sql}\n) AS p FROM decisions")
        kind = str(made.description[0][1])
        made.fetchall()
    except duckdb.Error as error:
        return str(error).splitlines()[0][:160]
    return None if kind == "BOOLEAN" else f"expected a condition, got a value of type {kind}"
