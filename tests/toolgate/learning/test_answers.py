"""What became of held-back calls, read from ledgers the real writer made."""

import pytest
from lifted import OPEN, SHIPPED, Counter

from toolgate.canonical import digest
from toolgate.learning.answers import answers_of
from toolgate.verify.place import open_ledger
from toolgate.views.gather import all_lines


@pytest.fixture
def desk(tmp_path):
    made = Counter(tmp_path / "ledger", "s", SHIPPED)
    made.prompt("p1")
    return made


def answers(desk):
    said = answers_of(all_lines(open_ledger(str(desk.root))))
    assert said.policy == digest(desk.text)
    return {one.call: one.answer for one in said.held_back}


def test_each_way_of_saying_yes_and_no(desk):
    desk.say("plain", "allowed")
    desk.done("plain")
    signed = desk.say("signed", "asked", rule="may-ask")
    desk.answer("alice", "signed", signed)
    reported = desk.say("reported", "asked", rule="may-ask")
    desk.report("reported", reported, "7" * 32)
    no = desk.say("host-no", "asked", rule="may-ask")
    desk.report("host-no", no, "8" * 32, yes=False)
    refused = desk.say("signed-no", "asked", rule="may-ask")
    desk.answer("bob", "signed-no", refused, verdict="refuse")
    desk.say("ran", "asked", rule="may-ask")
    desk.say("open", "asked", rule="may-ask")
    desk.say("denied", "denied", rule="may-ask")
    desk.say("rejected", "asked", rule="may-ask")
    for call in ("signed", "reported", "ran"):
        desk.done(call)
    desk.outcome("rejected", "refused")
    assert answers(desk) == {
        "signed": "signed",
        "reported": "reported",
        "host-no": "refused",
        "signed-no": "refused",
        "ran": "inferred",
        "open": "open",
        "denied": "denied",
        "rejected": "refused",
    }


def test_a_call_that_was_let_through_is_signed_for(desk):
    desk.retry("c0")
    desk.let("bob")
    desk.retry("c1")
    desk.done("c1")
    desk.let("bob", args_digest=None)
    desk.retry("c2", args="y")
    assert answers(desk) == {"c0": "open", "c1": "signed", "c2": "signed"}


def test_a_refusal_of_arguments_counts_for_each_such_call(desk):
    desk.retry("c0")
    desk.let("bob", verdict="refuse")
    desk.retry("c1", args="y")
    assert answers(desk) == {"c0": "refused", "c1": "open"}


def test_what_is_left_of_a_class_may_be_taken_back_without_refusing_a_call(desk):
    desk.retry("c0")
    desk.let("bob", args_digest=None, verdict="refuse")
    assert answers(desk) == {"c0": "open"}


def test_the_policy_is_the_one_announced_last(desk):
    desk.retry("c0")
    desk.text = OPEN
    desk.retry("c1", "may-deny", state="denied")
    assert answers(desk) == {"c0": "open", "c1": "denied"}


def test_linear_sessions_are_read_alike(tmp_path):
    desk = Counter(tmp_path / "ledger", "s", SHIPPED, shape="linear")
    desk.prompt("p1")
    asked = desk.say("signed", "asked", rule="may-ask")
    desk.answer("alice", "signed", asked)
    assert answers(desk) == {"signed": "signed"}
