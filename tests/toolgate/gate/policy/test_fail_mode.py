"""Asks where nobody can be asked, whatever they come from; and the answer to a fault of ours.

The public gate converted asks on one path only: those of static rules, of its fail mode and
of internal errors stayed asks in a mode in which nobody was there.
"""

import pytest

from toolgate.gate.engine import GATE_FAULT, Gate

ASKING = "extends: {policy: balanced}\nfail_mode: ask\n"
DENYING = "extends: {policy: balanced}\n"
MODES = ["bypassPermissions", "dontAsk"]


@pytest.fixture
def broken(monkeypatch):
    def fail(*_arguments):
        raise IndexError("a fault of ours")

    monkeypatch.setattr(Gate, "_effects", fail)


@pytest.mark.usefixtures("broken")
def test_a_fault_of_the_gate_is_answered_as_the_policy_says(gate_of, make_call):
    for text, state, word in ((ASKING, "ask", "Asking first"), (DENYING, "deny", "Denied")):
        decision = gate_of(text).decide(make_call("ls"))
        assert (decision.state, decision.rule) == (state, GATE_FAULT)
        assert decision.sentence.startswith(word + ": the gate failed to read the call")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.usefixtures("broken")
def test_an_ask_for_an_internal_error_is_converted(gate_of, make_call, mode):
    decision = gate_of(ASKING).decide(make_call("ls", mode=mode))
    assert decision.state == "deny"
    assert decision.sentence.endswith(f"In permission mode {mode} nobody can be asked.")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("command", ["git reset --hard", "sudo ls", "$UNKNOWN_PROGRAM"])
def test_an_ask_of_a_rule_and_of_the_default_is_converted(gate_of, make_call, mode, command):
    gate = gate_of(DENYING)
    assert gate.decide(make_call(command)).state == "ask"
    assert gate.decide(make_call(command, mode=mode)).state == "deny"


@pytest.mark.parametrize("mode", ["auto", "default", "acceptEdits", "plan", None])
def test_in_every_other_mode_somebody_is_there(gate_of, make_call, mode):
    # Asks in auto mode reach a person: the public gate took it as unattended, and took it back.
    assert gate_of(DENYING).decide(make_call("git reset --hard", mode=mode)).state == "ask"


def test_a_policy_may_keep_asks_where_nobody_answers(gate_of, make_call):
    text = DENYING + "unattended: {modes: [dontAsk], ask: ask}\n"
    assert gate_of(text).decide(make_call("sudo ls", mode="dontAsk")).state == "ask"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fail_mode: passthrough\n", "fail_mode is 'passthrough'; expected ask or deny"),
        ("fail_mode: allow\n", "fail_mode is 'allow'; expected ask or deny"),
        ("unattended: {modes: [x], ask: allow}\n", "unattended: ask is 'allow'"),
    ],
)
def test_nothing_is_allowed_because_something_broke(faults_of, text, said):
    assert any(said in fault for fault in faults_of(text))
