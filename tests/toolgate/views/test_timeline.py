"""``toolgate ledger timeline``: lanes, turns and sessions of every kind, as text and JSON."""

import json

import ledgers
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from toolgate.cli.ledger import ledger
from toolgate.views.moments import clock, lasted, moment, stamp
from toolgate.views.phrases import FATES, SHORT_FATES
from toolgate.views.timeline import UNENDED, Timeline, span
from toolgate.views.timeline_text import MARKS, timeline_rows

from . import cases
from .golden_views import NARROW, line


def run(*arguments):
    return CliRunner().invoke(ledger, ["timeline", *[str(one) for one in arguments]])


def lanes_of(made: Timeline) -> list[list[int]]:
    return [[call.lane for call in turn.calls] for turn in made.turns]


def overlapping(made: Timeline) -> list[tuple[str, str]]:
    """Return the calls of a turn that share a lane and a time."""
    found = []
    for turn in made.turns:
        spans = [(call, *span(call, turn.until)) for call in turn.calls]
        found += [
            (one.call, two.call)
            for at, (one, begin, end) in enumerate(spans)
            for two, other, until in spans[at + 1 :]
            if one.lane == two.lane and max(begin, other) < min(end, until)
        ]
    return found


@pytest.mark.parametrize("session", ["alpha", "Beta_2", "gamma", "run-1"])
def test_calls_that_share_a_lane_never_overlap(base, session):
    assert overlapping(line(base, session)) == []


def test_parallel_calls_stand_side_by_side(base):
    assert lanes_of(line(base, "Beta_2")) == [[0, 1, 2]]
    assert lanes_of(line(base, "gamma")) == [[0, 1]]


def test_a_linear_session_is_read_from_the_spine(base):
    made = line(base, "gamma")
    assert made.shape == "linear"
    assert [call.call for call in made.calls] == ["c0", "c1"]


def test_a_run_executes_nothing(base):
    made = line(base, "run-1")
    assert not made.executes
    assert [call.fate for call in made.calls] == ["decided", "denied"]


def test_a_session_of_several_parts(base):
    made = line(base, "alpha")
    assert [(part.number, part.closed_by) for part in made.parts] == [
        (1, "session_end"),
        (2, "session_end"),
    ]
    assert [turn.part for turn in made.turns] == [1, 1, 1, 2]


def test_an_open_session(told):
    made = line(told, cases.CHILD)
    assert made.is_open
    assert made.turns[0].end is None
    assert [call.fate for call in made.calls] == ["ok", "pending"]
    assert "still open" in run(cases.CHILD, "--ledger", told).output


def test_waiting_is_told_from_running_where_an_answer_is_recorded(told):
    waits = {call.call: call.asked_until for call in line(told, cases.SESSION).calls}
    assert waits["signed-1"] == cases.START + 9_600_000 + 1
    assert waits["told-1"] is not None
    assert waits["inferred-1"] is None
    assert waits["edit-1"] is None


def test_approvals_given_before_a_call_open_no_lane(told):
    said = [row.text for row in timeline_rows(line(told, cases.SESSION), width=100, path="L")]
    release = [row for row in said if "release-2" in row]
    assert len(release) == 2
    assert "┬" in release[0]
    assert "signed approval by ann and bo" in release[0]


def test_a_full_turn(tmp_path):
    writer = ledgers.Writer(tmp_path / "ledger", "s")
    writer.prompt("p")
    calls = [f"c{at}" for at in range(256)]
    for call in calls:
        writer.decide(call)
    for call in calls[:244]:
        writer.outcome(call)
    made = line(tmp_path / "ledger", "s")
    assert len(made.turns) == 1
    assert made.turns[0].lanes == 256
    assert overlapping(made) == []
    done = run("s", "--ledger", tmp_path / "ledger")
    assert done.exit_code == 0
    assert "+246 " in done.output
    assert sum("Bash c" in row for row in done.output.splitlines()) == 500
    narrow = timeline_rows(made, width=NARROW, path="L")
    assert max(len(row.text) for row in narrow) <= NARROW
    writer.outcome("c250")
    for call in calls[244:]:
        writer.decide(call + "x")
    assert [turn.key_part for turn in line(tmp_path / "ledger", "s").turns] == [1, 2]


def test_torn_lines_are_counted_until_a_recovery_seals_them(tmp_path):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s")
    writer.decide("a")
    with (root / "sessions" / "s.jsonl").open("ab") as file:
        file.write(b'{"torn":')
    assert line(root, "s").torn == 1
    assert "1 line of its file can not be read as entries" in run("s", "--ledger", root).output
    ledgers.Writer(root, "s").decide("b")
    made = line(root, "s")
    assert made.torn == 0
    assert [seal.length for seal in made.turns[0].seals] == [8]
    assert "a torn end of 8 bytes was sealed by a recovery" in run("s", "--ledger", root).output


def test_a_spine_that_is_torn_or_gone_in_part(tmp_path):
    root = tmp_path / "ledger"
    ledgers.build(root)
    kit = ledgers.Kit(root)
    kit.drop(*[row for row in kit.spine if row.body["session"] == "alpha"])
    kit.write()
    with (root / ledgers.SPINE).open("ab") as file:
        file.write(b"\xff\xfe")
    done = run("alpha", "--ledger", root)
    assert done.exit_code == 0
    assert "the ledger does not hold the session's opening" in done.output
    assert "Turn 1, whose opening the ledger does not hold" in done.output


@pytest.mark.parametrize("session", ["zzz", "", "\x1b[2J"])
def test_a_session_that_is_not_there(base, session):
    done = run(session, "--ledger", base)
    assert done.exit_code == 3
    assert done.stdout == ""
    assert f"holds no session {session!r}" in done.stderr


def test_an_empty_ledger_and_none(tmp_path):
    assert run("s", "--ledger", tmp_path / "none").exit_code == 3
    (tmp_path / ledgers.SPINE).write_bytes(b"")
    assert run("s", "--ledger", tmp_path).exit_code == 3


def test_a_session_without_a_call(tmp_path):
    writer = ledgers.Writer(tmp_path / "ledger", "s")
    writer.prompt("p")
    writer.close()
    done = run("s", "--ledger", tmp_path / "ledger")
    assert "0 calls" in done.output
    assert "no call" in done.output


def test_terminal_escapes_are_shown_as_text(tmp_path):
    writer = ledgers.Writer(tmp_path / "ledger", "s\x1b[31m")
    writer.prompt("p\x1b[2J\r")
    writer.decide("c\x1b]0;x\x07\u202e\nTurn 9", tool="T\x9b")
    done = run("s\x1b[31m", "--ledger", tmp_path / "ledger")
    assert done.exit_code == 0
    assert not any(ord(char) < 32 and char != "\n" for char in done.output)
    assert "\u202e" not in done.output
    assert "\nTurn 9" not in done.output


def test_json(told):
    made = json.loads(run(cases.SESSION, "--ledger", told, "--json").output)
    assert made["session"] == cases.SESSION
    assert [turn["number"] for turn in made["turns"]] == [1, 2, 3]
    assert [stray["call"] for stray in made["strays"]] == ["never-decided"]
    assert made["turns"][0]["calls"][0]["moments"][0]["kind"] == "decision"


def test_every_fate_has_words_and_an_end_has_a_mark():
    assert set(FATES) == set(SHORT_FATES)
    assert set(MARKS) == set(FATES) - {"pending", "silent"}
    assert set(UNENDED) < set(FATES)


@pytest.mark.parametrize(
    ("us", "said"),
    [
        (0, "0 µs"),
        (999, "999 µs"),
        (1_000, "1.0 ms"),
        (9_999, "9.9 ms"),
        (10_000, "10 ms"),
        (999_999, "999 ms"),
        (9_990_000, "9.9 s"),
        (59_999_999, "59 s"),
        (61_000_000, "1 min 01 s"),
        (3_660_000_000, "1 h 01 min"),
        (90_000_000_000, "1 d 01 h"),
        (-1_500, "-1.5 ms"),
    ],
)
def test_durations(us, said):
    assert lasted(us) == said


@given(st.integers(-(2**53 - 1), 2**53 - 1))
def test_every_time_of_the_profile_can_be_said(ts):
    assert moment(ts).endswith(f"{clock(ts)} UTC")
    assert stamp(ts).endswith("Z")
    assert lasted(ts)
