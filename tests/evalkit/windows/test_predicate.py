"""A predicate compares columns and constants; everything else is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.windows.moment import format_moment, parse_moment
from evalkit.windows.predicate import predicate_fault


@pytest.mark.parametrize(
    "sql",
    [
        "true",
        "tool = 'Bash' AND lower(rule) LIKE 'x%' AND ts > 3",
        "tool IN ('a', 'b') OR class IS NULL  -- a comment",
        "NOT (tool BETWEEN 'a' AND 'b')",
        "CASE WHEN runs_code THEN true ELSE false END",
        "regexp_matches(tool, '^(Ba)+sh$')",
        "tool ~ 'a.*'",
        "axis IS NOT NULL AND turn % 2 = 0",
        "CAST(ts AS VARCHAR) LIKE '1%'",
        "tool || '/' || rule = 'Bash/x' AND length(session) > 3",
    ],
)
def test_good(sql: str) -> None:
    assert predicate_fault(sql) is None


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "   ",
        "tool",
        "1",
        "nope = 1",
        "decisions.tool = 'x'",
        "ts = 'x'",
        "true) UNION SELECT 1 FROM (SELECT 1",
        "true) ORDER BY (tool",
        "true) GROUP BY (tool",
        "true) LIMIT (1",
        "1) ; DROP TABLE decisions; SELECT (1",
        "true /*",
        "EXISTS (SELECT 1 FROM read_text('/etc/passwd'))",
        "(SELECT true)",
        "tool IN (SELECT tool FROM decisions)",
        "random() < 0.5",
        "now() > '2020-01-01'::TIMESTAMP",
        "current_timestamp IS NOT NULL",
        "getenv('HOME') = tool",
        "row_number() OVER () < 3",
        "count(*) > 1",
        "list_sum(range(1000000000)) > 3",
        "sleep_ms(100000) IS NULL",
        "tool = $1",
        "list_filter([1], x -> x > 0) IS NULL",
        "x" * 5000,
        "tool = 'a' COLLATE nocase",
        "\x00",
    ],
)
def test_refused(sql: str) -> None:
    assert predicate_fault(sql)


@given(st.integers(0, 4_000_000_000_000_000))
def test_a_moment_reads_back(ts: int) -> None:
    assert parse_moment(format_moment(ts)) == ts


@pytest.mark.parametrize(
    "text",
    ["2026-11-01", "2026-11-01T00:00:00", "2026-11-01T24:00:00Z", "2026-11-01t00:00:00z", ""],
)
def test_a_moment_has_one_form(text: str) -> None:
    with pytest.raises(ValueError, match=r"moment|hour"):
        parse_moment(text)
