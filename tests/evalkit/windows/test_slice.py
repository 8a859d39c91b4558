"""The cut: half-open to the microsecond, one row a call, outcomes up to the grace."""

from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import RefusedError
from evalkit.windows.declare import read_yaml
from evalkit.windows.slice import Slice, cut
from toolgate.canonical import digest
from toolgate.records import decision_digest


def taken(desk: Any, tools: Any, more: str = "", **replaced: str) -> Slice:
    """Cut by the usual declaration, changed."""
    text = tools.declaration
    for old, new in replaced.items():
        text = "\n".join(
            f"{old}: {new}" if line.startswith(f"{old}:") else line for line in text.split("\n")
        )
    return cut(desk.root, read_yaml((text + more).encode(), "w.yaml"))


def rows(found: Slice, columns: str) -> list[tuple[Any, ...]]:
    """Return some columns of a slice, by time."""
    made: list[tuple[Any, ...]] = found.connection.execute(
        f"SELECT {columns} FROM slice ORDER BY ts"
    ).fetchall()
    return made


def test_the_span_is_half_open_to_the_microsecond(desk: Any, tools: Any) -> None:
    for ts in (tools.start - 1, tools.start, tools.end - 1, tools.end):
        desk.maker.decide("denied", ts)
    assert rows(taken(desk, tools), "ts") == [(tools.start,), (tools.end - 1,)]


def test_a_call_at_the_end_belongs_to_the_next_window_and_to_no_two(desk: Any, tools: Any) -> None:
    for ts in range(tools.end - 2, tools.end + 2):
        desk.maker.decide("denied", ts)
    one = taken(desk, tools)
    two = taken(desk, tools, start="2026-11-02T00:00:00Z", end="2026-11-03T00:00:00Z")
    assert one.flow.rows == two.flow.rows == 2


def test_a_call_asked_before_the_start_is_not_in_the_window_it_was_approved_in(
    desk: Any, tools: Any
) -> None:
    call = desk.maker.decide("asked", tools.start - 5)
    assert desk.maker.outcome(call, tools.start + 5) == "inferred"
    found = taken(desk, tools)
    assert (found.flow.decisions, found.flow.calls, found.flow.rows) == (2, 1, 0)


def test_an_ask_resolved_in_the_window_is_one_row_and_an_ask(desk: Any, tools: Any) -> None:
    call = desk.maker.decide("asked", tools.start)
    desk.maker.outcome(call, tools.start + 5)
    found = taken(desk, tools)
    assert rows(found, "state, resolution, approved, outcome") == [
        ("asked", "allowed", False, "ok")
    ]


def test_a_repeated_decision_of_one_call_is_counted_once(desk: Any, tools: Any) -> None:
    call = desk.maker.decide("asked", tools.start)
    later = call.fields._replace(ts=tools.start + 7, rule="later")
    desk.maker.write(call.session, later)
    found = taken(desk, tools)
    assert rows(found, "rule, state") == [("rule-1", "asked")]
    assert found.flow.repeats == 1


def test_evalkit_is_excluded_unless_asked_for(desk: Any, tools: Any) -> None:
    desk.maker.decide("denied", tools.start, host="evalkit", session="run")
    desk.maker.decide("denied", tools.start + 1)
    found = taken(desk, tools)
    assert (found.flow.in_span, found.flow.excluded_hosts, found.flow.rows) == (2, 1, 1)
    assert taken(desk, tools, "excluded_hosts: []\n").flow.rows == 2


def test_population_and_exclusions_cut_in_order_and_are_counted(desk: Any, tools: Any) -> None:
    for place, (tool, session) in enumerate(
        [("Bash", "a"), ("Bash", "smoke-1"), ("Read", "a"), ("Bash", "b"), ("Read", "smoke-1")]
    ):
        desk.maker.decide("denied", tools.start + place, tool=tool, session=session)
    more = (
        "exclusions:\n  - {sql: \"session LIKE 'smoke-%'\", reason: smoke tests}\n"
        "  - {sql: \"session = 'b'\", reason: b}\n"
    )
    found = taken(desk, tools, more, population="{sql: \"tool = 'Bash'\"}")
    assert found.flow.outside_population == 2
    assert found.flow.exclusions == (1, 1)
    assert found.flow.rows == 1


def test_a_predicate_that_is_null_takes_nothing(desk: Any, tools: Any) -> None:
    desk.maker.decide("denied", tools.start)
    found = taken(desk, tools, population="{sql: \"axis = 'destructive'\"}")
    assert (found.flow.outside_population, found.flow.rows) == (1, 0)
    kept = taken(desk, tools, "exclusions: [{sql: \"axis = 'x'\", reason: r}]\n")
    assert kept.flow.rows == 1


def test_a_predicate_that_fails_on_real_rows_is_refused(desk: Any, tools: Any) -> None:
    desk.maker.decide("denied", tools.start)
    sql = "CASE WHEN tool = 'tool' THEN true ELSE CAST(tool AS BIGINT) > 0 END"
    with pytest.raises(RefusedError, match="predicate fails"):
        taken(desk, tools, population=f'{{sql: "{sql}"}}')


def test_outcomes_count_up_to_the_grace(desk: Any, tools: Any) -> None:
    grace = tools.end + 2 * tools.hour
    for place, ts in enumerate((tools.end - 1, tools.end, grace - 1, grace)):
        call = desk.maker.decide("allowed", tools.start + place)
        desk.maker.outcome(call, ts)
    found = taken(desk, tools)
    assert [row[0] for row in rows(found, "outcome")] == ["ok", "ok", "ok", None]
    assert (found.flow.late_outcomes, found.flow.after_grace) == (2, 1)


def test_a_late_outcome_replaces_the_unresolved_one(desk: Any, tools: Any) -> None:
    call = desk.maker.decide("allowed", tools.start)
    desk.maker.close(call.session, tools.start + 10)
    assert rows(taken(desk, tools), "outcome") == [("unresolved",)]
    assert desk.maker.outcome(call, tools.start + 20, "error") == "superseded"
    assert rows(taken(desk, tools), "outcome") == [("error",)]


def test_a_late_outcome_after_the_grace_changes_nothing(desk: Any, tools: Any) -> None:
    call = desk.maker.decide("allowed", tools.start)
    desk.maker.close(call.session, tools.start + 10)
    before = taken(desk, tools).digest
    desk.maker.outcome(call, tools.end + 3 * tools.hour, "error")
    assert rows(taken(desk, tools), "outcome") == [("unresolved",)]
    assert taken(desk, tools).digest == before


def test_decision_digests_are_those_of_the_records(desk: Any, tools: Any) -> None:
    """DuckDB digests the event's own bytes; the reference re-encodes the event."""
    for place, principal in enumerate(("user", 'q"uo\\te', "\x01\x1f/", "é\U0001f600", '"ev":{')):
        call = desk.maker.decide("denied", tools.start + place)
        fields = call.fields._replace(
            principal=principal,
            intent=call.fields.intent._replace(call=f'x{place},"facts":', ts=tools.start),
            rule='r","ev":{"x',
            ts=tools.start + 10 + place,
        )
        desk.maker.write(call.session, fields)
    expected = {
        body["_entry"]: decision_digest(body["ev"])
        for body in tools.lines_of(desk.root)
        if body["kind"] == "decision"
    }
    found = taken(desk, tools)
    got = dict(
        found.connection.execute(
            "SELECT entry_digest, decision_digest FROM decision_entry"
        ).fetchall()
    )
    assert len(expected) == 10
    assert got == expected


BAD_LINES = {
    "not JSON": b"nonsense",
    "cut off": b'{"kind":"decision","ev":',
    "not UTF-8": b'{"a":"\xff\xfe"}',
    "a control character": b'{"a":"\x01"}',
    "a list": b"[1,2]",
    "empty": b"",
    "too long": b'{"a":"' + b"x" * 70_000 + b'"}',
    "a carriage return": b'{"a":1}\r',
    "a NUL": b'{"a":"\x00"}',
}


@pytest.mark.parametrize("line", BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_bad_line_is_counted_and_hides_no_good_one(desk: Any, tools: Any, line: bytes) -> None:
    for place in range(3):
        desk.maker.decide("denied", tools.start + place)
    before = taken(desk, tools)
    path = next(Path(desk.root).glob("spine-*.jsonl"))
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:2], line, *lines[2:]]))
    after = taken(desk, tools)
    assert before.lines.bad == 0
    assert after.lines.bad == 1
    assert after.lines.lines == before.lines.lines + 1
    assert after.digest == before.digest


def test_a_line_that_stands_twice_is_dropped_and_counted(desk: Any, tools: Any) -> None:
    for place in range(3):
        desk.maker.decide("denied", tools.start + place)
    before = taken(desk, tools)
    path = next(iter(Path(desk.root).glob("sessions/*.jsonl")), None) or next(
        Path(desk.root).glob("spine-*.jsonl")
    )
    data = path.read_bytes()
    path.write_bytes(data + data)
    after = taken(desk, tools)
    assert after.lines.duplicates == data.count(b"\n")
    assert after.digest == before.digest


def test_a_last_line_without_its_line_feed_is_read(desk: Any, tools: Any) -> None:
    desk.maker.decide("denied", tools.start)
    before = taken(desk, tools)
    for path in [*Path(desk.root).glob("spine-*"), *Path(desk.root).glob("sessions/*.jsonl")]:
        if path.suffix == ".jsonl":
            path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    assert taken(desk, tools).digest == before.digest


def test_no_ledger_is_refused(desk: Any, tools: Any, tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="no ledger"):
        taken(desk, tools)
    (tmp_path / "ledger").mkdir()
    with pytest.raises(RefusedError, match="no ledger"):
        taken(desk, tools)


def test_the_slice_digest_is_what_the_specification_says(desk: Any, tools: Any) -> None:
    asked = desk.maker.decide("asked", tools.start)
    desk.maker.outcome(asked, tools.start + 5)
    desk.maker.decide("denied", tools.start + 10)
    entries: dict[str, dict[str, Any]] = {
        body["_entry"]: body for body in tools.lines_of(desk.root)
    }
    by_ref: dict[str, list[dict[str, Any]]] = {}
    for body in entries.values():
        if body["kind"] in ("decision", "outcome"):
            by_ref.setdefault(body["ev"]["action_ref"], []).append(body)
    text = []
    for bodies in by_ref.values():
        decisions = sorted(
            (body for body in bodies if body["kind"] == "decision"), key=lambda body: body["ts"]
        )
        outcome = next((body["_entry"] for body in bodies if body["kind"] == "outcome"), "-")
        second = decisions[1]["_entry"] if len(decisions) > 1 else "-"
        text.append(f"{decisions[0]['_entry']} {second} {outcome}\n")
    assert taken(desk, tools).digest == digest("".join(sorted(text)).encode())


def test_the_connection_is_shut_in(desk: Any, tools: Any) -> None:
    import duckdb

    desk.maker.decide("denied", tools.start)
    connection = taken(desk, tools).connection
    for sql in (
        "SELECT * FROM read_text('/etc/hostname')",
        "COPY slice TO 'out.csv'",
        "SET enable_external_access = true",
    ):
        with pytest.raises(duckdb.Error):
            connection.execute(sql)
