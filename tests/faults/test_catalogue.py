"""Every fault of the catalogue is named exactly; an undamaged ledger has no finding."""

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from toolgate.verify import verify
from toolgate.verify.findings import BY_CODE, FAULTS


def _load(name: str) -> ModuleType:
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"toolgate_faults_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


ledgers = _load("ledgers")
catalogue = _load("catalogue")
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


@pytest.mark.parametrize("case", [row for row in CASES if row.values[0].pin])
def test_without_the_pin_it_is_not_seen(case, kit):
    case.damage(kit)
    report = verify(str(kit.root), spans=kit.spans)
    assert report.findings == []
    assert report.verdict == "CONDITIONAL"


def test_catalogue_reaches_every_code():
    assert {code for case in catalogue.CATALOGUE for code in case.expect} == {
        fault.code for fault in FAULTS
    }


def test_order_of_independent_entries_is_no_claim(kit):
    rows = kit.alpha
    rows[0], rows[1] = rows[1], rows[0]
    kit.write()
    assert verify(str(kit.root), expect_head=kit.head).findings == []
