"""Every grade and every reason, from records alone."""

import copy
from typing import Any

import pytest

from evalkit.windows.grade import GRADES, grade

B1, B2 = "sha256:" + "1" * 64, "sha256:" + "2" * 64
RECORD: dict[str, Any] = {
    "declaration": {
        "body": {
            "retrospective": False,
            "expected": {"build": None, "policy": None},
            "volume": {"min": None, "max": None},
        },
        "declared_us": 5,
        "start_us": 6,
    },
    "ledger": {"verdict": "CONDITIONAL", "findings": {}},
    "lines": {"bad": 0, "duplicates": 0},
    "flow": {"late_outcomes": 0, "after_grace": 0},
    "slice": {"rows": 10},
    "tables": {"builds": [{"build": B1, "calls": 10}], "policies": [{"policy": B1, "calls": 10}]},
}


def changed(path: str, value: Any) -> dict[str, Any]:
    """Return the record with one value replaced."""
    record: dict[str, Any] = copy.deepcopy(RECORD)
    *steps, last = path.split(".")
    place = record
    for step in steps:
        place = place[step]
    place[last] = value
    return record


def test_nothing_to_say_is_valid() -> None:
    assert grade(RECORD) == ("VALID", [])
    assert grade(changed("ledger.verdict", "PASS")) == ("VALID", [])


TWO = [{"build": B1, "calls": 7}, {"build": B2, "calls": 3}]


@pytest.mark.parametrize(
    ("path", "value", "expected", "said"),
    [
        ("ledger.verdict", "FAIL", "VOID", "does not verify"),
        ("ledger.verdict", "INCOMPLETE", "VALID WITH DEVIATIONS", "incomplete at closing"),
        ("lines.bad", 1, "VALID WITH DEVIATIONS", "1 line of"),
        ("lines.duplicates", 2, "VALID WITH DEVIATIONS", "2 duplicate lines dropped"),
        ("flow.late_outcomes", 1, "VALID WITH DEVIATIONS", "within the grace"),
        ("flow.after_grace", 3, "VALID WITH DEVIATIONS", "3 outcomes arrived after the grace"),
        ("declaration.body.retrospective", True, "EXPLORATORY", "retrospective"),
        ("declaration.declared_us", 6, "EXPLORATORY", "only after the start"),
        ("declaration.body.expected.build", B2, "EXPLORATORY", "10 of 10 calls"),
        ("declaration.body.expected.policy", B2, "EXPLORATORY", "another policy"),
        ("tables.builds", TWO, "VALID WITH DEVIATIONS", "2 different builds"),
        ("declaration.body.volume.min", 11, "VALID WITH DEVIATIONS", "at least 11"),
        ("declaration.body.volume.max", 9, "VALID WITH DEVIATIONS", "at most 9"),
        ("slice.rows", 0, "VALID WITH DEVIATIONS", "no calls"),
    ],
)
def test_reason(path: str, value: Any, expected: str, said: str) -> None:
    found, reasons = grade(changed(path, value))
    assert found == expected
    assert len(reasons) == 1
    assert said in reasons[0].sentence


def test_the_gravest_reason_decides_and_comes_first() -> None:
    record = changed("ledger.verdict", "FAIL")
    record["lines"]["bad"] = 1
    record["declaration"]["body"]["retrospective"] = True
    found, reasons = grade(record)
    assert found == "VOID"
    order = [GRADES.index(reason.grade) for reason in reasons]
    assert order == sorted(order, reverse=True)
    assert len(reasons) == 3


def test_the_codes_of_the_findings_are_named() -> None:
    record = changed("ledger", {"verdict": "FAIL", "findings": {"log.root": 2, "log.count": 1}})
    assert grade(record)[1][0].sentence == "the ledger does not verify: log.count 1, log.root 2"


def test_records_that_are_missing_are_no_contradiction() -> None:
    missing = {"log.orphan_allow": 3, "execution.unmatched": 1}
    assert grade(changed("ledger", {"verdict": "FAIL", "findings": missing}))[0] == "EXPLORATORY"
    missing |= {"log.session_open": 1, "log.turn_open": 1}  # unfinished, and no fault
    assert grade(changed("ledger", {"verdict": "FAIL", "findings": missing}))[0] == "EXPLORATORY"
    edited = {**missing, "log.root": 1}
    assert grade(changed("ledger", {"verdict": "FAIL", "findings": edited}))[0] == "VOID"


def test_drift_that_was_declared_is_none() -> None:
    record = changed("declaration.body.expected.build", B1)
    assert grade(record)[0] == "VALID"
    record["tables"]["builds"] = TWO
    assert grade(record)[1][0].sentence.startswith("3 of 10 calls")
