"""Comparing sealed runs: which cases changed, and whether that can be told from chance."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit.challenge.compare import comparison
from evalkit.challenge.past import load_run
from evalkit.challenge.side_by_side import side_by_side
from evalkit.errors import EvidenceError, IncompleteError, RefusedError, StorageError, UsageError
from evalkit.report.render import markdown

from .place import CASES, Place, many
from .sets import WordGate, build_of

WILD = {"deny": "allow"}
"""A gate that allows what it should deny: a third of the cases."""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, many())


def two_runs(place: Place) -> tuple[str, str]:
    first = place.run()
    second = place.run(WordGate(WILD), build_of("two"))
    return first.context["run"]["id"], second.context["run"]["id"]


def compared(place: Place, *names: str) -> dict[str, Any]:
    return comparison([load_run(name, str(place.root / "ledger")) for name in names])


def report_of(place: Place) -> Path:
    """Return the JSON report of a run; the ledger's head lies beside it."""
    reports = sorted((place.root / "reports").glob("*.json"))
    return next(path for path in reports if not path.name.startswith("ledger-"))


def test_lost_cases_are_listed_with_both_answers(place: Place):
    made = compared(place, *two_runs(place))
    other = made["against"][0]
    wild = CASES // 3
    assert [len(other[name]) for name in ("gained", "lost", "moved")] == [0, wild, 0]
    assert other["lost"][0]["case"] == "c2"
    assert {(row["expected"], row["before"], row["after"]) for row in other["lost"]} == {
        ("deny", "deny", "allow")
    }
    assert other["same_decision"] == CASES - wild
    assert [run["look_name"] for run in made["runs"]] == ["held-out", "regression"]


def test_four_changes_cannot_be_told_from_chance(place: Place):
    made = compared(place, *two_runs(place))
    match = made["against"][0]["events"]["match"]
    assert (match["only_before"], match["only_after"], match["p_exact"]) == (4, 0, 0.125)
    assert made["against"][0]["finding"] == "not distinguishable"
    assert made["fewest"] == 6
    page = markdown(made, "compare.md.j2")
    assert "Run 2 against run 1: not distinguishable" in page
    assert "at least 6 cases must change" in page


def test_turned_round_the_lost_are_gained(place: Place):
    first, second = two_runs(place)
    made = compared(place, second, first)
    assert len(made["against"][0]["gained"]) == CASES // 3
    assert made["against"][0]["events"]["match"]["difference"]["value"] == pytest.approx(1 / 3)


def test_eight_lost_of_twelve_are_told(place: Place):
    first = place.run().context["run"]["id"]
    worse = place.run(WordGate({"deny": "allow", "ask": "allow"}), build_of("three"))
    made = compared(place, first, worse.context["run"]["id"])
    assert made["against"][0]["finding"] == "fewer matches than the first"
    holm = [row["p_holm"] for row in made["against"][0]["events"].values()]
    assert all(p >= made["against"][0]["events"]["match"]["p_exact"] for p in holm)


def test_more_than_two_runs_stand_side_by_side(place: Place):
    first, second = two_runs(place)
    third = place.run(WordGate({"allow": "ask"}), build_of("three")).context["run"]["id"]
    made = compared(place, first, second, third)
    assert [row["match"] for row in made["runs"]] == [12, 8, 8]
    assert [other["run"] for other in made["against"]] == [second, third]
    page = markdown(made, "compare.md.j2")
    assert "Run 3 against run 1" in page
    assert "| 1 | 2 | 3 |" in page


def test_a_published_report_can_be_compared_and_says_so(place: Place):
    first, second = two_runs(place)
    report = next((place.root / "reports").glob(f"*{build_of().short}*.json"))
    made = compared(place, str(report), second)
    assert made["runs"][0]["source"] == "report"
    assert "nothing of it was held to a ledger" in markdown(made, "compare.md.j2")
    assert compared(place, first, second)["against"] == made["against"]


def test_an_altered_report_is_no_evidence(place: Place):
    place.run()
    report = report_of(place)
    body = json.loads(report.read_text())
    body["results"][0]["decided"] = "deny"
    report.write_text(json.dumps(body))
    with pytest.raises(EvidenceError, match="its results give sha256"):
        load_run(str(report), str(place.root / "ledger"))


def test_an_altered_journal_is_no_evidence(place: Place):
    run = place.run().context["run"]["id"]
    journal = place.root / "ledger" / "runs" / run / "journal.jsonl"
    text = journal.read_text()
    journal.write_text(text.replace('"sentence":"The word', '"sentence":"A word', 1))
    with pytest.raises(EvidenceError, match="were sealed as sha256"):
        load_run(run, str(place.root / "ledger"))
    journal.write_text(text.replace('"rule":"word-allow"', '"rule":"word-ask"', 1))
    with pytest.raises(StorageError, match="the ledger says allowed by rule word-allow"):
        load_run(run, str(place.root / "ledger"))


def test_what_cannot_be_compared_is_refused(place: Place):
    first, second = two_runs(place)
    ledger = str(place.root / "ledger")
    with pytest.raises(UsageError, match="at least two runs, got 1"):
        compared(place, first)
    with pytest.raises(UsageError, match="different runs"):
        compared(place, first, first)
    with pytest.raises(UsageError, match="neither"):
        load_run("nothing", ledger)
    with pytest.raises(RefusedError, match="a claim in this ledger, got none"):
        load_run("run-20260101t000000z-01234567", ledger)
    own = load_run(second, ledger)
    with pytest.raises(RefusedError, match="expected runs of the same set"):
        comparison([load_run(first, ledger), own._replace(set_digest="sha256:" + "0" * 64)])


def test_a_run_that_is_not_sealed_is_incomplete(place: Place):
    class Breaking(WordGate):
        def decide(self, call: Any, facts: object = ()) -> Any:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        place.run(Breaking())
    with pytest.raises(IncompleteError, match="evalkit resume run-"):
        load_run(place.claimed(), str(place.root / "ledger"))


def test_of_many_runs_a_change_has_to_be_larger_to_say_something(tmp_path: Path):
    """Six of six lost: told of two runs, not of three, where a second one was tried too."""
    place = Place(tmp_path, many(18))
    first = place.run().context["run"]["id"]
    worse = place.run(WordGate({"deny": "ask"}), build_of("two")).context["run"]["id"]
    other = place.run(WordGate({}), build_of("three")).context["run"]["id"]
    alone = compared(place, first, worse)
    assert alone["families"] == {"event": 1, "all": 4}
    assert alone["against"][0]["finding"] == "fewer matches than the first"
    both = compared(place, first, worse, other)
    assert both["families"] == {"event": 2, "all": 8}
    assert [row["finding"] for row in both["against"]] == ["not distinguishable"] * 2
    match = both["against"][0]["events"]["match"]
    assert (match["p_exact"], match["p_across"]) == (0.03125, 0.0625)
    assert match["p_holm"] == min(1.0, 8 * 0.03125)
    page = markdown(both, "compare.md.j2")
    assert "with 2 runs held against the first, more." in page
    assert "| of 2 runs | of 8 tests |" in page


def test_losses_and_dangerous_allows_are_compared(place: Place):
    first, second = two_runs(place)
    made = compared(place, first, second)
    assert [row["loss"] for row in made["runs"]] == [0, 8 * CASES // 3]
    assert made["against"][0]["events"]["dangerous allow"]["only_after"] == CASES // 3
    report = report_of(place)
    assert load_run(str(report), str(place.root / "ledger")).loss in (0, 8 * CASES // 3)


def on_two_sets(tmp_path: Path) -> list[Any]:
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        place = Place(tmp_path / name, {**many(), "name": f"set {name}"})
        for gate, build in ((WordGate(), "a"), (WordGate(WILD), "b")):
            run = place.run(gate, build_of(build)).context["run"]["id"]
            made.append(load_run(run, str(place.root / "ledger")))
    return made


def test_gates_stand_side_by_side_on_several_sets(tmp_path: Path):
    runs = on_two_sets(tmp_path)
    made = side_by_side(runs)
    assert len(made["gates"]) == 2
    assert [[cell["match"] for cell in row["cells"]] for row in made["table"]] == [[12, 8], [12, 8]]
    assert made["sets"][0]["families"] == {"event": 2, "all": 8}
    page = markdown(made, "side_by_side.md.j2")
    assert page.startswith("# 2 gates on 2 sets\n")
    assert page.count("| one | 12 |") == 2  # both files are one.json
    widths = {line.count("|") for line in page.splitlines() if line.startswith("|")}
    assert widths == {5}


def test_a_set_with_one_run_or_a_gate_with_two_is_refused(tmp_path: Path):
    runs = on_two_sets(tmp_path)
    with pytest.raises(RefusedError, match="expected at least two runs of each set"):
        side_by_side(runs[:3])
    twice = runs[0]._replace(run="run-again")
    with pytest.raises(UsageError, match="expected one run of a gate on a set"):
        side_by_side([*runs, twice])
