"""The frozen cases: what is written is what the catalogue makes, and each is verified exactly."""

import freeze
import pytest
import vectors

from toolgate.verify.faults import BY_CODE, FAULTS

CASES = vectors.cases()
ALONE = [case for case in CASES if "system" not in case["args"]]
PARAMS = [pytest.param(case, id=case["id"]) for case in ALONE]
SYSTEMS = [pytest.param(case, id=case["id"]) for case in CASES if "system" in case["args"]]
_MOST_BYTES = 4_000_000


@pytest.fixture(scope="session")
def anew(tmp_path_factory):
    folder = tmp_path_factory.mktemp("frozen")
    freeze.freeze(folder)
    return folder


def test_freezing_again_gives_the_same_bytes(anew):
    made = {path.relative_to(anew): path.read_bytes() for path in anew.rglob("*.json")}
    kept = {
        path.relative_to(vectors.FOLDER): path.read_bytes()
        for path in vectors.FOLDER.rglob("*")
        if path.is_file()
    }
    assert sorted(made) == sorted(kept)
    assert [str(path) for path in made if made[path] != kept[path]] == []


@pytest.mark.parametrize("case", PARAMS)
def test_case_has_exactly_its_findings(case, tmp_path):
    vectors.write_ledgers(case, tmp_path)
    report, places = vectors.watch_case(case, tmp_path)
    assert vectors.expected_of(report) == case["expected"]
    assert places == case.get("places", [])
    if case["beside"] is not None:
        assert vectors.report_of(report, tmp_path) == case["report"]


@pytest.mark.parametrize("case", SYSTEMS)
def test_case_of_several_ledgers_has_exactly_its_findings(case, tmp_path):
    folder = tmp_path.resolve()
    vectors.write_ledgers(case, folder)
    report = vectors.verify_system_case(case, folder)
    assert vectors.said_of_system(report, folder) == case["expected"]


@pytest.mark.parametrize("case", [one for one in PARAMS if one.values[0]["pin_needed"]])
def test_without_its_pin_a_case_has_no_finding(case, tmp_path):
    vectors.write_ledgers(case, tmp_path)
    report = vectors.verify_case(case, tmp_path, pinned=False)
    assert vectors.expected_of(report) == {"verdict": "CONDITIONAL", "findings": []}


def test_cases_reach_every_code_and_no_other():
    found = {item["code"] for case in CASES for item in case["expected"]["findings"]}
    assert found == {fault.code for fault in FAULTS}


def test_verdicts_follow_from_the_findings():
    for case in ALONE:
        expected = case["expected"]
        verdicts = {BY_CODE[item["code"]].verdict for item in expected["findings"]}
        worst = "FAIL" if "FAIL" in verdicts else "INCOMPLETE" if verdicts else None
        assert expected["verdict"] == worst or (
            worst is None and expected["verdict"] in ("PASS", "CONDITIONAL")
        )


def test_cases_say_what_they_are():
    faults = [case for case in CASES if case["beside"] is None]
    assert len(faults) >= 86
    assert {case["attacker"] for case in CASES} == {"N", "R", "B", "H"}
    for case in CASES:
        assert case["undetectable"] is (case["why"] is not None)
        assert not (case["pin_needed"] and case["undetectable"])


def test_cases_stay_reviewable():
    size = sum(path.stat().st_size for path in vectors.FOLDER.rglob("*.json"))
    assert size < _MOST_BYTES
