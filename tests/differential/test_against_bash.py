"""What bash runs for a text, the gate has read in it, or says that it could not read it.

The short form compares with what bash was recorded to run (``bash_ran.jsonl``:
its rows come from public repositories, each with its source and licence); the
long form, marked slow, runs the recorder on thousands of lines.
"""

import random
from itertools import islice

import pytest
from compare import Reading
from corpus import CORPORA, lines, recorded
from recorder import recorder
from scripts import script

from toolgate.gate.shell.unclosed import missing_mark

ROWS = recorded()
MOST_LINES = 4_000
INVALID_BUT_READ = 0.08
"""Share of generated texts that bash refuses and we read: ``c | ! d`` and the like run nothing."""


def _compared(gate, text: str, ran: list[list[str]]) -> list[list[str]]:
    reading = Reading(gate, text)
    return [] if reading.unresolved else reading.missing(ran)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["command"][:60])
def test_what_bash_was_recorded_to_run_is_read(gate, row):
    assert _compared(gate, row["command"], row["ran"]) == []
    if not row["valid"]:
        # A quotation that never closes is read as closed: more than bash runs, never less.
        assert Reading(gate, row["command"]).faults or missing_mark(row["command"])


def test_the_records_are_of_use():
    assert len(ROWS) >= 300
    assert all(row["source"] and row["license"] for row in ROWS)
    assert sum(len(row["ran"]) for row in ROWS) >= 500


def test_a_reading_that_drops_a_command_is_noticed(gate):
    reading = Reading(gate, "a | b $(c) *.x")
    assert reading.missing([["a"], ["b", "1", "2", "q.x"], ["c"]]) == []
    assert reading.missing([["a", "-x"]]) == [["a", "-x"]]
    assert reading.missing([["d"]]) == [["d"]]


@pytest.fixture(scope="module")
def bash():
    try:
        with recorder() as made:
            yield made
    except OSError as error:
        pytest.skip(f"the recorder cannot run here: {error}")


def test_the_records_still_hold(bash):
    for row in ROWS[::30]:
        text = row["command"]
        if not any(mark in text for mark in ("& ", "<(", ">(", "coproc")):  # these race the end
            ran = sorted(bash.ran(text))
            assert (bash.valid(text), ran) == (row["valid"], sorted(row["ran"]))


def test_a_text_cannot_leave_the_recorder(bash):
    assert bash.ran("/bin/ls /; /usr/bin/env; ls > out") == [["ls"]]
    assert bash.ran("while :; do x; done") == [["x"]]
    assert bash.ran("b() { b | b & }; b; y") == [["y"]]


@pytest.mark.slow
@pytest.mark.skipif(not CORPORA.is_dir(), reason="the corpora are not available here")
def test_what_bash_runs_of_the_corpora_is_read(gate, bash):
    rows = list(lines())
    random.Random(1).shuffle(rows)
    wrong = {}
    needless = []
    count = 0
    for row in islice(rows, MOST_LINES):
        text = row["command"]
        if "mktemp" in text:
            continue  # what it prints is stood in for
        count += 1
        if missing := _compared(gate, text, bash.ran(text)):
            wrong[text] = missing
        faults, valid = Reading(gate, text).faults, bash.valid(text)
        # A quotation that never closes is read as closed: more than bash runs, never less.
        assert valid or faults or missing_mark(text), text
        if valid and faults:
            needless.append(text)
    assert count >= 3_000
    assert wrong == {}
    assert len(needless) <= count * 0.005, needless


@pytest.mark.slow
def test_what_bash_runs_of_generated_texts_is_read(gate, bash):
    invalid = 0
    for seed in range(1_500):
        text = script(seed)
        assert _compared(gate, text, bash.ran(text)) == [], (seed, text)
        invalid += not bash.valid(text) and not Reading(gate, text).faults
    assert invalid <= 1_500 * INVALID_BUT_READ
