"""Every fault of the catalogue is named exactly; an undamaged ledger has no finding."""

import shutil

import catalogue
import ledgers
import pytest
import systems

from toolgate.verify import verify
from toolgate.verify.anchors import NOTHING
from toolgate.verify.faults import BY_CODE, FAULTS
from toolgate.verify.traces.load import load_trace

ROWS = catalogue.load()
CASES = [pytest.param(case, id=case.id) for case in ROWS]


@pytest.fixture(scope="session")
def bases(tmp_path_factory):
    made = {}
    for name, build in catalogue.BASES.items():
        made[name] = tmp_path_factory.mktemp(name) / "ledger"
        build(made[name])
    return made


@pytest.fixture
def sound(bases):
    return bases["sound"]


@pytest.fixture
def kit(bases, tmp_path, request):
    case = request.node.callspec.params.get("case") if hasattr(request.node, "callspec") else None
    shutil.copytree(bases[case.base if case else "sound"], tmp_path / "ledger")
    return ledgers.Kit(tmp_path / "ledger")


def look(kit, pin=None, anchors=NOTHING):
    """Verify a kit's ledger with its trace, or with its trace files."""
    paths = [kit.root.parent / name for name in kit.traces]
    for path in paths:
        path.write_bytes(kit.traces[path.name])
    spans = load_trace([str(path) for path in paths]) if paths else kit.spans
    return verify(str(kit.root), spans=spans, expect_head=pin, anchors=anchors, **kit.args)


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
    kept = kit.anchors is not ledgers.NOTHING
    pin = kit.pin or (kit.head if case.pin and not kept else None)
    report = look(kit, pin, kit.anchors)
    assert {item.code for item in report.primary} == case.expect, report.findings
    assert report.verdict == case.verdict
    for item in report.findings:
        assert item.layer == BY_CODE[item.code].layer
        assert "\n" not in item.message


@pytest.mark.parametrize("case", CASES)
def test_two_processes_find_the_same(case, kit):
    case.damage(kit)
    options = {"expect_head": kit.pin or kit.head, "anchors": kit.anchors, **kit.args}
    assert verify(str(kit.root), processes=2, **options) == verify(str(kit.root), **options)


@pytest.mark.parametrize("case", [row for row in CASES if row.values[0].pin])
def test_without_the_pin_it_is_not_seen(case, kit):
    case.damage(kit)
    report = look(kit)
    assert report.findings == []
    assert report.verdict == "CONDITIONAL"


@pytest.mark.parametrize(
    "case", [row for row in CASES if row.values[0].expect == {"execution.args_differ"}]
)
def test_other_arguments_are_reported_once(case, kit):
    case.damage(kit)
    report = look(kit)
    assert [item.code for item in report.findings] == ["execution.args_differ"]
    assert report.args_differ == 1


def test_a_trace_that_shows_yet_other_arguments_is_a_second_finding(kit):
    case = next(row for row in ROWS if row.id == "ran-with-other-arguments")
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
    cases = [*ROWS, *systems.SYSTEM]
    assert {code for case in cases for code in case.expect} == {fault.code for fault in FAULTS}


def test_order_of_independent_entries_is_no_claim(kit):
    rows = kit.alpha
    rows[0], rows[1] = rows[1], rows[0]
    kit.write()
    assert verify(str(kit.root), expect_head=kit.head).findings == []


def test_every_legal_form_stands_beside_a_fault():
    faults = {case.id for case in ROWS if case.layer}
    legal = [case for case in ROWS if case.beside is not None]
    assert {case.beside for case in legal} <= faults
    assert all(case.expect == frozenset() for case in legal)


def test_reasons_are_given_for_what_nobody_can_see():
    unseen = [case for case in ROWS if case.undetectable]
    assert unseen
    assert all(len(case.why) > 20 and not case.pin for case in unseen)
