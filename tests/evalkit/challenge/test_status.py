"""Which runs a ledger knows and how far they are, without how they do."""

from pathlib import Path
from typing import Any

import pytest

from evalkit.challenge.hold import held
from evalkit.challenge.rundir import run_directory
from evalkit.challenge.status import runs_of, status_of
from evalkit.errors import RefusedError, UsageError

from .place import CASES, Place, many
from .sets import WordGate, build_of


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, many())


class BreaksAt(WordGate):
    """Is interrupted at a case."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self._at = at

    def decide(self, call: Any, facts: object = ()) -> Any:
        if len(self.seen) == self._at:
            raise KeyboardInterrupt
        return super().decide(call)


def test_sealed_runs_say_how_they_did(place: Place):
    ledger = str(place.root / "ledger")
    place.run()
    place.run(WordGate({"deny": "allow"}), build_of("two"))
    rows = runs_of(ledger)
    assert [(row["look"], row["look_name"], row["match"], row["state"]) for row in rows] == [
        (1, "held-out", CASES, "sealed"),
        (2, "regression", CASES - CASES // 3, "sealed"),
    ]
    assert runs_of(ledger, "one") == rows
    assert runs_of(ledger, "another") == []
    assert status_of(ledger, rows[0]["run"])["next"] == ""


def test_an_interrupted_run_says_how_far_it_is_and_nothing_else(place: Place):
    ledger = str(place.root / "ledger")
    with pytest.raises(KeyboardInterrupt):
        place.run(BreaksAt(5))
    row = status_of(ledger, place.claimed())
    assert (row["state"], row["match"], row["report"]) == ("not sealed", None, None)
    assert row["in_doubt"][-1] == "c5"
    assert row["next"] == f"evalkit resume {place.claimed()}"
    assert not {"allow", "ask", "deny", "permissive"} & set(map(str, row.values()))


def test_a_held_run_is_running(place: Place):
    ledger = str(place.root / "ledger")
    with pytest.raises(KeyboardInterrupt):
        place.run(BreaksAt(5))
    run = place.claimed()
    with held(run_directory(ledger, run), run):
        row = status_of(ledger, run)
    assert (row["state"], row["next"]) == ("running", "")


def test_what_is_not_there_is_named(place: Place):
    ledger = str(place.root / "ledger")
    assert runs_of(ledger) == []
    with pytest.raises(UsageError, match="expected an id such as"):
        status_of(ledger, "x")
    with pytest.raises(RefusedError, match="expected a claim in this ledger, got none"):
        status_of(ledger, "run-20260101t000000z-01234567")
