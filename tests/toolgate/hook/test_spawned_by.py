"""An agent that another agent's call started: the hook writes down which call it was."""

import pytest

STARTED = "sha256:" + "5" * 64


def opened(entries):
    return [one["ev"]["spawned_by"] for one in entries() if one["kind"] == "session_open"]


def start(**more):
    return {"hook_event_name": "SessionStart", "session_id": "s1", "source": "startup", **more}


def test_a_session_names_the_decision_that_started_it(send, entries):
    answer = send(start(), TOOLGATE_SPAWNED_BY=STARTED)
    assert (answer.code, answer.message) == (0, "")
    assert opened(entries) == [STARTED]


def test_a_session_opened_by_its_first_call_names_it_too(send, event, entries):
    assert send(event(), TOOLGATE_SPAWNED_BY=STARTED).decision == "allow"
    send(event(call="toolu_2"), TOOLGATE_SPAWNED_BY=STARTED)
    assert opened(entries) == [STARTED]


@pytest.mark.parametrize("value", ["", None])
def test_nobody_started_it(send, entries, value):
    answer = send(start(), **({} if value is None else {"TOOLGATE_SPAWNED_BY": value}))
    assert (answer.code, answer.message) == (0, "")
    assert opened(entries) == [None]


@pytest.mark.parametrize("value", ["x", "sha256:" + "A" * 64, STARTED + "\n", "5" * 64])
def test_what_is_no_digest_is_said_aloud_and_stops_no_work(send, event, entries, value):
    answer = send(event(), TOOLGATE_SPAWNED_BY=value)
    assert (answer.code, answer.decision) == (0, "allow")
    assert "TOOLGATE_SPAWNED_BY is" in answer.message
    assert answer.message.count("\n") == 1
    assert opened(entries) == [None]
    # An event without an answer is where a host shows people that a hook has failed.
    answer = send(start(), TOOLGATE_SPAWNED_BY=value)
    assert answer.code == 1
    assert "TOOLGATE_SPAWNED_BY is" in answer.message


def test_a_deny_says_its_own_reason_first(send, event, entries):
    answer = send(b"", TOOLGATE_SPAWNED_BY="x")
    assert answer.decision == "deny"
    assert "hook input is empty" in answer.message
