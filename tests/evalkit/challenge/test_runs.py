"""A run from claim to report: once, counted, refused."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evalkit.challenge.claims import read_claims
from evalkit.challenge.find import find_set
from evalkit.challenge.freeze import freeze, load_frozen
from evalkit.errors import EvalkitError, RefusedError, UsageError

from .place import CASES, Place, many
from .sets import WordGate, body, build_of, encoded, sequence


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, many())


def test_a_run_is_sealed_verified_and_reported(place: Place):
    done = place.run()
    assert done.context["verification"]["verdict"] in ("PASS", "CONDITIONAL")
    assert done.context["verification"]["findings"] == []
    assert done.context["scores"]["match"] == CASES
    assert done.context["run"]["look_name"] == "held-out"
    page = Path(done.report)
    assert page.name == f"one-{build_of().short}.md"
    assert json.loads(page.with_suffix(".json").read_text()) == done.context
    assert str(place.root) not in page.read_text() + page.with_suffix(".json").read_text()


def test_the_runs_ledger_holds_one_decision_a_case(place: Place):
    done = place.run()
    found = place.decisions(done.context["run"]["id"])
    assert [row["intent"]["call"] for row in found] == [f"c{n}" for n in range(CASES)]
    assert {row["host"] for row in found} == {"evalkit"}
    assert {row["build"] for row in found} == {build_of().digest}
    assert [row["ev"]["decision_state"] for row in found[:3]] == ["allowed", "asked", "denied"]


def test_the_claim_is_on_the_disk_before_the_first_case(place: Place):
    class Looking(WordGate):
        def decide(self, call: Any, facts: object = ()) -> Any:
            assert [claim.sealed for claim in read_claims(str(place.root / "ledger"))] == [None]
            return super().decide(call)

    assert place.run(Looking()).context["scores"]["unscored"] == 0


def test_the_same_set_build_and_policy_again_is_refused_with_the_receipt(place: Place):
    first = place.run()
    gate = WordGate()
    with pytest.raises(RefusedError) as caught:
        place.run(gate)
    assert caught.value.exit_code == 3
    run = first.context["run"]["id"]
    for part in (run, "sealed", Path(first.report).name, f"--rerun --of {run}"):
        assert part in str(caught.value)
    assert gate.seen == []
    assert len(read_claims(str(place.root / "ledger"))) == 1


def test_a_new_build_runs_without_a_flag_as_regression(place: Place):
    place.run()
    second = place.run(build=build_of("two"))
    assert second.context["run"]["look"] == 2
    assert second.context["run"]["look_name"] == "regression"
    assert [row["look"] for row in second.context["looks"]] == [1]
    assert "regression check" in Path(second.report).read_text()


def test_a_rerun_names_its_run_and_its_reason(place: Place):
    first = place.run()
    run = first.context["run"]["id"]
    again = place.run(rerun_of=run, reason="the disk was full")
    assert again.context["run"]["look"] == 2
    assert again.report != first.report
    text = Path(again.report).read_text()
    assert f"**Rerun** of {run}" in text
    assert "the disk was full" in text
    assert Path(first.report).exists()
    assert again.context["ledger"]["results_digest"] == first.context["ledger"]["results_digest"]


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"rerun_of": "run-20260101t000000z-00000000", "reason": "x"}, RefusedError),
        ({"rerun_of": "run-20260101t000000z-00000000"}, UsageError),
        ({"reason": "x"}, UsageError),
        ({"rerun_of": "r", "reason": " "}, UsageError),
        ({"rerun_of": "../x", "reason": "x"}, UsageError),
    ],
)
def test_a_rerun_of_nothing_is_refused(
    place: Place, more: dict[str, str], error: type[EvalkitError]
):
    place.run()
    with pytest.raises(error):
        place.run(**more)


def test_held_out_is_only_the_first_look(place: Place):
    place.run()
    with pytest.raises(RefusedError, match="expected a first look, got look 2"):
        place.run(build=build_of("two"), purpose="held-out")
    assert len(read_claims(str(place.root / "ledger"))) == 1


def test_an_unpinned_build_is_refused_unless_for_development(place: Place):
    loose = build_of("one", "an editable install")
    with pytest.raises(RefusedError, match="an editable install"):
        place.run(build=loose)
    assert read_claims(str(place.root / "ledger")) == []
    done = place.run(build=loose, purpose="development")
    assert "Not a pinned build" in Path(done.report).read_text()
    later = place.run(build=build_of("two"))
    assert later.context["run"]["look_name"] == "regression"


def test_an_unfrozen_or_edited_set_is_no_evidence(place: Place):
    other = place.root / "two.json"
    other.write_bytes(place.path.read_bytes())
    with pytest.raises(RefusedError, match="evalkit set freeze"):
        place.run(set_path=str(other))
    place.path.write_bytes(place.path.read_bytes().replace(b"deny 2", b"allow 2"))
    with pytest.raises(RefusedError, match="cases changed: c2"):
        place.run()
    assert read_claims(str(place.root / "ledger")) == []


def test_a_copy_under_another_name_is_the_same_set(place: Place):
    place.run()
    other = place.root / "two.json"
    other.write_bytes(place.path.read_bytes())
    freeze(str(other))
    with pytest.raises(RefusedError, match="already run"):
        place.run(set_path=str(other))


def test_looks_published_elsewhere_are_shown_and_refuse_nobody(place: Place):
    place.run()
    elsewhere = place.run(ledger=str(place.root / "other"))
    assert elsewhere.context["run"]["look"] == 1
    assert len(elsewhere.context["published"]) == 1
    head = Path(elsewhere.report).read_text().splitlines()[:8]
    assert any(
        "1 published look at this set, or at one it replaces, is not known" in line for line in head
    )
    assert any("**held-out**, as far as this ledger knows" in line for line in head)


def test_a_published_look_at_what_a_set_replaces_is_shown(place: Place, tmp_path: Path):
    place.run()
    newer = tmp_path / "two.json"
    newer.write_bytes(encoded({**many(3), "name": "new", "supersedes": "one"}))
    freeze(str(newer))
    done = place.run(set_path=str(newer), ledger=str(place.root / "other"))
    assert [row["set"] for row in done.context["published"]] == ["one"]
    assert "held-out here means only" in done.context["run"]["caution"]


def test_the_claim_binds_the_manifest(place: Place):
    done = place.run()
    found = read_claims(str(place.root / "ledger"))[0].details["manifest_digest"]
    assert found == load_frozen(str(place.path)).manifest_digest
    assert found in Path(done.report).read_text()


def test_sequential_cases_are_turns_of_their_own(tmp_path: Path):
    place = Place(tmp_path, body(sequence(1), sequence(2, "allow")))
    gate = WordGate()
    done = place.run(gate)
    assert done.context["scores"]["match"] == 2
    run = done.context["run"]["id"]
    found = place.decisions(run)
    assert [row["intent"]["call"] for row in found] == ["s1#0", "s1", "s2#0", "s2"]
    assert [row["turn"] for row in found] == [1, 1, 2, 2]
    assert [call.tool for call in gate.seen] == ["Write", "Bash"] * 2
    assert done.context["verification"]["findings"] == []


def test_an_unscored_case_stays_in_the_denominator(place: Place):
    class Breaking(WordGate):
        def decide(self, call: Any, facts: object = ()) -> Any:
            if call.call == "c3":
                raise ValueError("x")
            return super().decide(call)

    done = place.run(Breaking())
    scores = done.context["scores"]
    assert (scores["cases"], scores["match"], scores["unscored"]) == (CASES, CASES - 1, 1)
    assert (scores["worst_case"], scores["best_case"]) == (CASES - 1, CASES)
    assert "the gate raised ValueError" in Path(done.report).read_text()
    assert len(place.decisions(done.context["run"]["id"])) == CASES - 1


def test_sets_are_sought_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "challenge_sets").mkdir()
    (tmp_path / "challenge_sets" / "mine.json").write_text("{}")
    assert find_set("mine.json") == find_set("mine") == os.path.join("challenge_sets", "mine.json")
    (tmp_path / "mine.json").write_text("{}")
    assert find_set("mine.json") == "mine.json"
    with pytest.raises(UsageError, match="sought here"):
        find_set("none.json")
    with pytest.raises(UsageError, match="as given"):
        find_set("./none.json")
    with pytest.raises(UsageError, match=r"sought here and in ./challenge_sets\)"):
        find_set("none", packaged=False)


def test_what_is_no_file_is_named(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    for name, kind in (("", "a directory"), ("pipe", "a FIFO")):
        with pytest.raises(UsageError, match=f"got {kind}"):
            find_set(str(tmp_path / name))
    with pytest.raises(UsageError, match="got a device"):
        find_set("/dev/null")
