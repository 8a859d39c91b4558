"""Revealed cases, quarantines and the lineage of sets."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.challenge.changes import changes, refuse_other_lineage
from evalkit.challenge.freeze import Frozen, load_frozen
from evalkit.challenge.manifest import build
from evalkit.challenge.quarantine import SEEN, Quarantine, checked, read_quarantines
from evalkit.challenge.read import parse_set
from evalkit.challenge.reveal import check_reveal, reveal
from evalkit.errors import EvidenceError, RefusedError, UsageError
from evalkit.report.render import markdown

from .place import Place, many
from .sets import WordGate, body, case, encoded


def frozen_set(cases: int) -> tuple[Any, dict[str, Any]]:
    raw = encoded(body(*[case(number) for number in range(cases)]))
    made = parse_set(raw, "s.json")
    return made, build(made, raw, salt="ab" * 32, canary="c", frozen_at="2026-01-02")


@settings(max_examples=60, deadline=None)
@given(cases=st.integers(1, 40), data=st.data())
def test_every_case_can_be_shown_alone(cases: int, data: st.DataObject):
    made, manifest = frozen_set(cases)
    index = data.draw(st.integers(0, cases - 1))
    shown = json.loads(json.dumps(reveal(made, manifest, f"c{index}")))
    assert check_reveal(shown, manifest["merkle_root"]) == made.cases[index].source
    others = [one.source["command"] for one in made.cases if one.id != f"c{index}"]
    assert not any(f'"{command}"' in json.dumps(shown) for command in others)


def altered(shown: dict[str, Any]) -> list[dict[str, Any]]:
    made = [copy.deepcopy(shown) for _ in range(6)]
    made[0]["case"]["expected"] = "deny"
    made[1]["salt"] = "00" * 32
    made[2]["index"] = (shown["index"] + 1) % shown["size"]
    made[3]["size"] = shown["size"] + 8
    made[4]["path"] = shown["path"][:-1]
    made[5]["path"][0] = "sha256:" + "0" * 64
    return made


@pytest.mark.parametrize("number", range(6))
def test_nothing_of_a_revealed_case_can_be_changed(number: int):
    made, manifest = frozen_set(7)
    shown = altered(reveal(made, manifest, "c2"))[number]
    with pytest.raises(EvidenceError, match="it is not in the set with root"):
        check_reveal(shown, manifest["merkle_root"])


@pytest.mark.parametrize(
    "value",
    [None, [], {}, {"schema": "evalkit/revealed-case/1"}, 3, "x"],
)
def test_what_is_no_revealed_case_is_refused(value: Any):
    with pytest.raises(UsageError, match="expected a revealed case"):
        check_reveal(value, "sha256:" + "0" * 64)
    with pytest.raises(UsageError, match="root: expected sha256"):
        check_reveal(value, "abc")


def test_values_of_other_types_are_refused():
    made, manifest = frozen_set(3)
    for name, value in (("index", True), ("size", "3"), ("path", [1]), ("case", []), ("path", {})):
        with pytest.raises(UsageError, match="of a revealed case"):
            check_reveal({**reveal(made, manifest, "c1"), name: value}, manifest["merkle_root"])


def test_a_set_without_the_case_says_so():
    made, manifest = frozen_set(3)
    with pytest.raises(UsageError, match="case c9: expected one of test set"):
        reveal(made, manifest, "c9")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, many())


def held(place: Place, name: str = "c2", **more: str) -> Quarantine:
    found = frozen(place)
    words = {"by": "ann", "second": "bob", "seen": SEEN[3], "reason": "the label is wrong"}
    return Quarantine(name, found.digest, **{**words, **more})


def frozen(place: Place) -> Frozen:
    return load_frozen(str(place.path))


def record(place: Place, asked: Quarantine) -> None:
    from toolgate.ledger.append import Ledger

    details = {name: value for name, value in asked._asdict().items() if name != "ts"}
    ledger = Ledger(str(place.root / "ledger"), host="evalkit")
    ledger.audit(action="case.quarantined", actor="evalkit", target="x", details=details, ts=7)


def test_a_report_counts_as_frozen_first_and_names_what_a_quarantine_flatters(place: Place):
    record(place, held(place, "c2"))
    record(place, held(place, "c0"))
    context = place.run(WordGate({"deny": "allow"})).context
    assert (context["scores"]["match"], context["scores"]["cases"]) == (8, 12)
    assert context["quarantine"]["flattering"] == ["c2"]
    assert (context["quarantine"]["match"]["k"], context["quarantine"]["match"]["n"]) == (7, 10)
    page = markdown(context)
    assert page.index("**Match 8/12") < page.index("Without them: match 7/10")
    assert "Misses that leaving them out removes: c2." in page


def test_without_quarantines_a_report_says_nothing_of_them(place: Place):
    assert "Quarantined" not in markdown(place.run().context)


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("c99", {}, "no such case"),
        ("c2", {"second": "Ann "}, "another person"),
        ("c2", {"by": " "}, "--by: expected 1 to"),
        ("c2", {"reason": "x" * 2001}, "--reason: expected 1 to"),
        ("c2", {"seen": "everything"}, "--seen: expected one of"),
    ],
)
def test_a_quarantine_needs_a_case_a_reason_and_two_people(
    place: Place, name: str, more: dict[str, str], message: str
):
    with pytest.raises(UsageError, match=message):
        checked(held(place, name, **more), frozen(place).set, [])


def test_a_case_is_quarantined_once(place: Place):
    record(place, held(place))
    known = read_quarantines(str(place.root / "ledger"), frozen(place).digest)
    assert [one.case for one in known] == ["c2"]
    assert read_quarantines(str(place.root / "ledger"), "sha256:other") == []
    with pytest.raises(RefusedError, match="quarantined already"):
        checked(held(place), frozen(place).set, known)


def test_sets_are_compared_case_by_case():
    before = parse_set(encoded(body(case(1), case(2, "deny"), case(3))), "a.json")
    after = parse_set(
        encoded(
            body(case(1), case(2, "ask", command="deny 2"), case(4), supersedes="a", author="b")
        ),
        "b.json",
    )
    found = changes(before, after)
    assert (found["added"], found["removed"], found["same"]) == (["c4"], ["c3"], 1)
    assert found["changed"] == [{"case": "c2", "fields": ["expected"], "expected": ["deny", "ask"]}]
    assert found["set"] == ["author", "supersedes"]
    refuse_other_lineage(before, after, "a")
    with pytest.raises(RefusedError, match="expected supersedes to be one of 'test set', 'c'"):
        refuse_other_lineage(before, after, "c")


def test_a_quarantine_takes_its_pair_with_it_and_the_table_names_the_miss(tmp_path: Path):
    pairs = [case(n, ("allow", "deny")[n % 2], pair=f"p{n // 2}") for n in range(4)]
    place = Place(tmp_path, body(*pairs))
    record(place, held(place, "c3"))
    context = place.run(WordGate({"deny": "ask"})).context
    rows = {
        row["name"]: (row["as_frozen"], row["without"]) for row in context["quarantine"]["figures"]
    }
    assert rows["complete pairs"][0].startswith("0/2 ")
    assert rows["complete pairs"][1].startswith("0/1 ")
    assert rows["loss"] == ("8 of at most 20", "4 of at most 12")
    page = markdown(context)
    table = page[page.index("### Quarantines that remove a miss") :]
    assert "| c3 | deny | ask | permissive | results seen | the label is wrong |" in table
