"""Every fault of the catalogue is named exactly; an undamaged ledger has no finding."""

import shutil

import catalogue
import ledgers
import pytest
import traces

from toolgate.verify import verify
from toolgate.verify.findings import BY_CODE, FAULTS

CASES = [pytest.param(case, id=case.id) for case in catalogue.CATALOGUE]


@pytest.fixture(scope="session")
def sound(tmp_path_factory):
    root = tmp_path_factory.mktemp("sound") / "ledger"
    ledgers.build(root)
    return root


@pytest.fixture
def kit(sound, tmp_path):
    shutil.copytree(sound, tmp_path / "ledger")
    return ledgers.Kit(tmp_path / "ledger")


def test_sound_ledger_has_no_finding(sound):
    report = verify(str(sound))
    assert report.findings == []
    assert report.verdict == "CONDITIONAL"
    assert report.inferred == 1
    assert [ask.call for ask in report.asks] == ["a4"]


def test_sound_ledger_agrees_with_its_trace_and_pin(kit):
    report = verify(str(kit.root), spans=kit.trace(), expect_head=kit.head)
    assert report.findings == []
    assert report.verdict == "CONDITIONAL"  # for the ask that only its execution answered


def test_rewriting_nothing_changes_nothing(kit):
    before = {path: path.read_bytes() for path in kit.root.rglob("*.jsonl")}
    kit.rehash()
    assert {path: path.read_bytes() for path in kit.root.rglob("*.jsonl")} == before


@pytest.mark.parametrize("case", CASES)
def test_fault_is_named(case, kit):
    case.damage(kit)
    pin = kit.pin or (kit.head if case.pin else None)
    report = verify(str(kit.root), spans=kit.spans, expect_head=pin)
    assert {item.code for item in report.primary} == case.expect, report.findings
    assert report.verdict == case.verdict
    for item in report.findings:
        assert item.layer == BY_CODE[item.code].layer
        assert "\n" not in item.message


@pytest.mark.parametrize("form", [pytest.param(form, id=form.id) for form in traces.CLEAN])
def test_legal_form_of_a_trace_has_no_finding(form, kit):
    form.make(kit)
    report = verify(str(kit.root), spans=kit.spans)
    assert report.findings == []
    assert report.verdict == "CONDITIONAL"  # no pin


@pytest.mark.parametrize("case", [row for row in CASES if row.values[0].pin])
def test_without_the_pin_it_is_not_seen(case, kit):
    case.damage(kit)
    report = verify(str(kit.root), spans=kit.spans)
    assert report.findings == []
    assert report.verdict == "CONDITIONAL"


@pytest.mark.parametrize("case", [row for row in CASES if "other-arguments" in row.id])
def test_other_arguments_are_reported_once(case, kit):
    case.damage(kit)
    report = verify(str(kit.root), spans=kit.spans)
    assert [item.code for item in report.findings] == ["execution.args_differ"]
    assert report.args_differ == 1


def test_a_trace_that_shows_yet_other_arguments_is_a_second_finding(kit):
    case = next(row for row in catalogue.CATALOGUE if row.id == "ran-with-other-arguments")
    case.damage(kit)
    kit.change_span("a0", args_digest=ledgers.digest(b"y"))
    report = verify(str(kit.root), spans=kit.spans)
    assert [item.code for item in report.findings] == ["execution.args_differ"] * 2
    assert report.args_differ == 1


@pytest.mark.parametrize(
    ("behind", "said"),
    [
        (0, "log: the ledger ends at the pinned entry {seq}"),
        (1, "log: the ledger holds the pinned entry {seq}; entry {last} came after the pin and is"),
        (4, "log: the ledger holds the pinned entry {seq}; entries {next} to {last} came after"),
    ],
)
def test_a_pin_covers_what_is_before_it(kit, behind, said):
    pinned = kit.spine[-1 - behind]
    seq, last = pinned.body["seq"], kit.head[0]
    report = verify(str(kit.root), expect_head=(seq, pinned.old))
    assert report.findings == []
    expected = said.format(seq=seq, next=seq + 1, last=last)
    assert [line for line in report.checked if line.startswith(expected)]
    # The ask that only its execution answered is a condition of its own.
    assert len(report.conditions) == (2 if behind else 1)
    assert report.verdict == "CONDITIONAL"


@pytest.mark.parametrize("pin", [(0, "sha256:" + "0" * 64), (999, "sha256:" + "a" * 64)])
def test_a_pin_that_is_not_held(kit, pin):
    report = verify(str(kit.root), expect_head=pin)
    assert [item.code for item in report.findings] == ["log.head"]
    assert f"log: the pin, entry {pin[0]}; the ledger does not hold it" in report.checked


def test_catalogue_reaches_every_code():
    assert {code for case in catalogue.CATALOGUE for code in case.expect} == {
        fault.code for fault in FAULTS
    }


def test_order_of_independent_entries_is_no_claim(kit):
    rows = kit.alpha
    rows[0], rows[1] = rows[1], rows[0]
    kit.write()
    assert verify(str(kit.root), expect_head=kit.head).findings == []
