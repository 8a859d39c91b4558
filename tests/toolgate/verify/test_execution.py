"""Layer 3 where a ledger is damaged in ways that hardly leave it anything to judge by."""

from collections import Counter

import ledgers
import pytest
from damage import audit

from toolgate.canonical import digest
from toolgate.verify import verify
from toolgate.verify.policies import Policies
from toolgate.verify.report import Report


@pytest.fixture
def kit(tmp_path):
    ledgers.build(tmp_path / "ledger")
    return ledgers.Kit(tmp_path / "ledger")


def report(kit):
    kit.rehash()
    return verify(str(kit.root))


def codes(kit):
    return Counter(item.code for item in report(kit).findings)


def test_a_session_that_was_never_opened_may_have_run(kit):
    """Nothing says that it executes nothing, so a denied call that ran is that and no more."""
    kit.drop(*[row for _, row in kit.rows() if row.body["kind"] == "session_open"])
    kit.outcome("a5").body["ev"]["terminal_state"] = "ok"
    kit.decision("a0").body["ev"]["decision_state"] = "denied"
    found = codes(kit)
    assert found["log.not_open"]
    assert found["execution.after_deny"] == 1
    assert not found["execution.in_run"]


def test_a_linear_session_that_was_never_opened_is_counted(kit):
    whole = report(kit)
    kit.drop(kit.find("session_open", "gamma"))
    damaged = report(kit)
    assert "log.session_unknown" in {item.code for item in damaged.findings}
    assert damaged.calls == whole.calls
    assert damaged.decisions == whole.decisions


def test_a_decision_that_stands_again_behind_its_outcome_has_ended(kit):
    rows = next(rows for rows in kit.files.values() if kit.decision("b0") in rows)
    before = report(kit).calls
    rows.append(kit.copy(kit.decision("b0")))
    found = report(kit)
    assert "log.duplicate_entry" in {item.code for item in found.findings}
    assert found.calls == before


@pytest.mark.parametrize("known", [[1], {"a": 1}, 5, None])
def test_a_call_without_decision_whose_arguments_are_no_digest(kit, known):
    audit(kit, "execution.unmatched", {"call": None, "tool": "Bash", "args_digest": known})
    kit.spans = None
    assert codes(kit) == {"execution.unmatched": 1}


def test_each_call_that_ran_with_other_arguments_counts(kit):
    for call in ("a0", "a1"):
        ran = {"call": call, "tool": "Bash", "args_digest": digest(b"x"), "decided": digest(b"y")}
        audit(kit, "execution.args_differ", ran, "alpha")
    found = report(kit)
    assert (found.args_differ, len(found.findings)) == (2, 2)


def test_a_report_as_json_has_each_of_its_fields_once(kit):
    kit.decision("a0").body["ev"]["decision_state"] = "denied"
    found = report(kit)
    said = found.as_json()
    assert said.keys() == set(Report._fields)
    assert [item["code"] for item in said["findings"]] == [item.code for item in found.findings]
    unmatched = found._replace(unmatched=[found.asks[0]]).as_json()["unmatched"]
    assert [item["call"] for item in unmatched] == [found.asks[0].call]


def test_every_policy_that_is_read_says_what_it_composes():
    texts = [
        b'{"composition":{"%s":{"operator":"all-of","principals":["ann"]}}}' % name
        for name in (b"release", b"deploy")
    ]
    held = Policies({digest(text): text for text in texts}.get, lambda version: None)
    for text in texts:
        assert held.held(digest(text)) is not None
    assert held.composed == {"release", "deploy"}
