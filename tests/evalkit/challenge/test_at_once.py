"""Our own gate asked in several processes: the same record as from one, and nothing lost."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalkit.challenge import execute
from evalkit.challenge.case import Case
from evalkit.challenge.hold import is_running
from evalkit.challenge.ordered import BATCH, by_processes, by_threads
from evalkit.challenge.read import parse_set
from evalkit.challenge.sealing import Watch
from evalkit.errors import IncompleteError
from evalkit.gates.choice import Choice

from .place import Place, many
from .sets import WordGate, body, encoded, sequence
from .test_interrupted_runs import held_together

CASES = 3 * BATCH + 7
SEVERAL = {"choice": Choice(jobs=3)}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, many(CASES))


def cases_of(number: int) -> list[Case]:
    return list(parse_set(encoded(many(number)), "x").cases)


def no_children_left() -> bool:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


def test_the_record_is_the_same_from_one_process_and_from_several(place: Place):
    gate = WordGate()
    several = place.run(gate, **SEVERAL)
    assert gate.seen == []  # another process saw them
    held_together(place, several, CASES)
    found = place.decisions(several.context["run"]["id"])
    assert [row["intent"]["call"] for row in found] == [f"c{n}" for n in range(CASES)]
    alone = place.run(ledger=str(place.root / "other"), choice=Choice(jobs=1))
    assert alone.context["ledger"]["results_digest"] == several.context["ledger"]["results_digest"]


def test_only_a_large_set_is_worth_it_and_a_sequence_is_shown_one_after_another(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(execute, "cpus", lambda: 2)
    gate = WordGate()
    place.run(gate)
    assert len(gate.seen) == CASES
    monkeypatch.setattr(execute, "WORTH_FORKING", CASES)
    gate = WordGate()
    place.run(gate, ledger=str(tmp_path / "forked"))
    assert gate.seen == []
    (tmp_path / "sequence").mkdir()
    steps = Place(tmp_path / "sequence", body(sequence(1), sequence(2, "allow")))
    gate = WordGate()
    steps.run(gate, **SEVERAL)
    assert len(gate.seen) == 4


class Dying(WordGate):
    """Ends the process that asks it about one case, without a word."""

    def __init__(self, at: str) -> None:
        super().__init__()
        self.at = at

    def decide(self, call: Any, facts: object = ()) -> Any:
        if call.call == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().decide(call)


@pytest.mark.parametrize("at", [0, BATCH, 2 * BATCH + 3, CASES - 1])
def test_a_process_that_dies_leaves_a_run_that_can_be_continued(place: Place, at: int):
    with pytest.raises(IncompleteError, match="ended early; the run is claimed") as caught:
        place.run(Dying(f"c{at}"), **SEVERAL)
    assert caught.value.exit_code == 4
    assert no_children_left()
    done = place.resume(place.claimed())
    held_together(place, done, CASES)
    assert f"c{at}" in done.context["run"]["repeated"]


def test_a_person_can_stop_it_and_what_was_begun_is_kept(tmp_path: Path):
    cases = 12 * BATCH
    place = Place(tmp_path, many(cases))
    told: list[int] = []
    watch = Watch(lambda: bool(told), lambda done, _total: told.append(done))
    with pytest.raises(IncompleteError, match="stopped after"):
        place.run(watch=watch, choice=Choice(jobs=2))
    assert no_children_left()
    assert 0 < told[-1] < cases
    done = place.resume(place.claimed())
    held_together(place, done, cases)
    assert done.context["run"]["repeated"] == []


def test_a_gate_that_breaks_is_an_unscored_case_there_too(place: Place):
    class Breaking(WordGate):
        def decide(self, call: Any, facts: object = ()) -> Any:
            if call.call == "c3":
                raise ValueError("x")
            return super().decide(call)

    scores = place.run(Breaking(), **SEVERAL).context["scores"]
    assert (scores["cases"], scores["match"], scores["unscored"]) == (CASES, CASES - 1, 1)


def test_a_run_killed_while_its_processes_work_is_free_at_once(place: Place):
    """No process of the dead one holds the run's lock, even while it is still at a case."""

    class Slow(WordGate):
        def decide(self, call: Any, facts: object = ()) -> Any:
            if call.call == "c1":
                (place.root / "begun").touch()
                time.sleep(5)
            return super().decide(call)

    child = os.fork()
    if not child:
        place.run(Slow(), **SEVERAL)
        os._exit(0)
    while not (place.root / "begun").exists():
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    run = place.claimed()
    assert not is_running(str(place.root / "ledger" / "runs" / run))
    held_together(place, place.resume(run), CASES)


@pytest.mark.parametrize("several", [by_threads, by_processes])
def test_an_end_in_the_middle_ends_what_is_under_way(several: Any):
    cases = cases_of(CASES)
    shown = several(cases, lambda _case: True, lambda case: case.id, 2)
    assert isinstance(shown, Iterator)
    assert [next(shown)[1] for _ in range(3)] == ["c0", "c1", "c2"]
    shown.close()
    assert no_children_left()


def test_what_is_larger_than_a_pipe_comes_through():
    cases = cases_of(2 * BATCH)
    made = list(by_processes(cases, lambda _case: True, lambda case: case.id * 100_000, 2))
    assert [text for _, text in made] == [case.id * 100_000 for case in cases]


def test_nothing_is_shown_that_was_not_said_to_be_begun():
    cases = cases_of(2 * BATCH)
    begun: list[str] = []

    def begin(case: Case) -> bool:
        if len(begun) == BATCH + 3:
            return False
        begun.append(case.id)
        return True

    for several in (by_threads, by_processes):
        begun.clear()
        made = [case.id for case, _ in several(cases, begin, lambda case: case.id, 2)]
        assert made == begun == [f"c{n}" for n in range(BATCH + 3)]
