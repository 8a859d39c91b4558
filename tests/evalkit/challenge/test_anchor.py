"""A ledger that was cut short, put back, replaced or deleted is seen by its kept head."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from evalkit.challenge.anchor import read_anchors
from evalkit.challenge.check import check
from evalkit.challenge.claims import read_claims
from evalkit.errors import RefusedError, StorageError
from toolgate.ledger.append import Ledger

from .place import Place, many
from .sets import WordGate, build_of
from .test_interrupted_runs import Dying, KilledError


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A place with two looks at its set."""
    made = Place(tmp_path, many(3))
    made.run()
    shutil.copytree(made.root / "ledger", made.root / "older")
    made.run(build=build_of("two"))
    return made


def checked(place: Place, **more: str) -> dict[str, Any]:
    return check(more.get("ledger", str(place.root / "ledger")), str(place.root / "reports"))


def heads(place: Place) -> list[Path]:
    return sorted((place.root / "reports").glob("ledger-*.head.json"))


def refused(place: Place, words: str) -> None:
    """A further look is refused, says why, and leaves everything as it is."""
    gate, (kept,) = WordGate(), heads(place)
    before = kept.read_bytes()
    with pytest.raises(StorageError, match=words) as caught:
        place.run(gate, build_of("three"))
    assert caught.value.exit_code == 5
    assert "Nothing was done" in str(caught.value)
    assert gate.seen == []
    assert kept.read_bytes() == before
    found = checked(place)
    assert found["verdict"] == "FAIL"
    assert words in " ".join(found["ledger"]["faults"])


def test_a_whole_ledger_holds_its_head(place: Place):
    found = checked(place)
    assert found["verdict"] == "PASS"
    assert [row["verdict"] for row in found["runs"]] == ["PASS", "PASS"]
    assert found["anchors"] == [heads(place)[0].name]
    seq, head = Ledger(str(place.root / "ledger")).head()
    body = json.loads(heads(place)[0].read_bytes())
    assert (body["head"], body["looks"]) == (f"{seq}:{head}", 2)
    assert str(place.root) not in heads(place)[0].read_text()


def test_a_ledger_cut_short_by_a_run_is_seen(place: Place):
    spine = place.root / "ledger" / "spine-000000000001.jsonl"
    lines = spine.read_bytes().splitlines(keepends=True)
    spine.write_bytes(b"".join(lines[: len(lines) // 2]))
    assert len(read_claims(str(place.root / "ledger"))) == 1
    refused(place, "the ledger was cut short")
    assert "with 2 looks" in checked(place)["ledger"]["faults"][0]
    assert "it showed cases, but no claim of it is left" in checked(place)["runs"][-1]["faults"]


def test_an_older_copy_put_back_is_seen_also_when_it_went_on(place: Place):
    shutil.rmtree(place.root / "ledger")
    shutil.copytree(place.root / "older", place.root / "ledger")
    refused(place, "the ledger was cut short")
    other = Ledger(str(place.root / "ledger"), host="evalkit")
    for number in range(9):
        other.audit(action="a.b", actor="x", target=None, details={}, ts=number + 1)
    refused(place, "the ledger was rewritten")


def test_a_deleted_ledger_is_seen_and_so_is_one_begun_in_its_place(place: Place):
    shutil.rmtree(place.root / "ledger")
    refused(place, "the ledger is gone")
    Ledger(str(place.root / "ledger")).audit(action="a.b", actor="x", target=None, details={}, ts=1)
    refused(place, "the ledger was replaced")
    heads(place)[0].unlink()  # begun anew, in a commit that shows it
    assert place.run().context["run"]["look"] == 1


def test_a_look_that_was_killed_is_in_the_head(place: Place):
    with pytest.raises(KilledError):
        place.run(Dying(0), build_of("three"))
    assert json.loads(heads(place)[0].read_bytes())["looks"] == 3
    assert checked(place)["verdict"] == "INCOMPLETE"
    run = place.claimed()
    kept = (place.root / "ledger").rename(place.root / "kept")
    shutil.copytree(place.root / "older", place.root / "ledger")
    with pytest.raises(RefusedError, match="expected a claim in this ledger"):
        place.resume(run)
    refused(place, "the ledger was cut short")
    shutil.rmtree(place.root / "ledger")
    kept.rename(place.root / "ledger")
    place.resume(run, build=build_of("three"))
    assert checked(place)["verdict"] == "PASS"


def test_resume_holds_the_ledger_to_its_head_too(place: Place):
    with pytest.raises(KilledError):
        place.run(Dying(0), build_of("three"))
    run = place.claimed()
    spine = place.root / "ledger" / "spine-000000000001.jsonl"
    spine.write_bytes(spine.read_bytes().replace(b'"ts":1', b'"ts":2'))
    with pytest.raises(StorageError, match="the ledger was re"):
        place.resume(run, build=build_of("three"))


def test_a_ledger_elsewhere_is_another_one(place: Place):
    done = place.run(ledger=str(place.root / "other"))
    assert done.context["run"]["look"] == 1
    assert len(heads(place)) == 2
    found = checked(place)
    assert found["verdict"] == "PASS"
    assert len(found["anchors"]) == len(found["elsewhere"]) == 1


def test_a_ledger_that_was_moved_is_the_same(place: Place):
    (place.root / "ledger").rename(place.root / "moved")
    assert checked(place, ledger=str(place.root / "moved"))["verdict"] == "PASS"
    assert "is gone" in checked(place)["ledger"]["faults"][0]


@pytest.mark.parametrize("part", ["journal.jsonl", "sessions"])
def test_a_run_that_lost_a_part_fails(place: Place, part: str):
    gone = place.root / "ledger" / "runs" / place.claimed() / part
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    found = checked(place)
    assert [row["verdict"] for row in found["runs"]] == ["PASS", "FAIL"]
    assert found["verdict"] == "FAIL"


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"schema":"evalkit/ledger-head/1"}', '{"head":"1:x"}']
)
def test_a_damaged_head_is_no_head(place: Place, text: str):
    heads(place)[0].write_text(text)
    with pytest.raises(StorageError, match=r"ledger-\w+\.head\.json: expected a ledger's head"):
        read_anchors(str(place.root / "reports"))
    with pytest.raises(StorageError):
        place.run(build=build_of("three"))
    assert len(read_claims(str(place.root / "ledger"))) == 2


def test_nothing_is_nothing_to_verify(tmp_path: Path):
    with pytest.raises(RefusedError, match="expected a ledger with entries"):
        check(str(tmp_path / "ledger"), str(tmp_path / "reports"))


def test_a_head_that_cannot_be_written_leaves_a_claim_that_can_be_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    place = Place(tmp_path, many(3))

    rename = os.rename

    def full(before: str, after: str) -> None:
        if after.endswith(".head.json"):
            raise OSError(28, "No space left on device")
        rename(before, after)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", full)
        with pytest.raises(RefusedError, match="No space left on device; what is claimed stays"):
            place.run()
    assert place.resume(place.claimed()).context["scores"]["match"] == 3
