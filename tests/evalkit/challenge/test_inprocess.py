"""What a gate receives, and what becomes of a case whose input did not arrive as it was."""

from typing import Any

import pytest

from evalkit.challenge.read import parse_set
from evalkit.gates.inprocess import GATE_FAILED, INVALID_INPUT, ask, call_of, said_by
from toolgate.canonical import digest_of
from toolgate.gate.call import ToolCall
from toolgate.gate.task.task import Prompt, Task

from .sets import WordGate, body, case, encoded


def shown(gate: Any, **more: Any):
    made = parse_set(encoded(body(case(1, rationale="a secret label", **more))), "s.json")
    one = made.cases[0]
    step = one.scored_step()
    said = said_by(made, one, step)
    call = call_of(made, one, step, session="run-1", call_id="c1", ts=7)
    return call, ask(gate, call, said)


def test_the_gate_receives_the_call_and_nothing_about_the_label():
    call, answer = shown(WordGate())
    assert call.host == "evalkit"
    assert (call.session, call.key, call.call, call.ts) == ("run-1", "c1", "c1", 7)
    assert (call.agent, call.principal, call.auth_mode) == (("evalkit",), "evalkit", "service")
    task = Task((Prompt("Do it."),))
    assert (call.tool, call.input, call.task) == ("Bash", {"command": "allow 1"}, task)
    assert (call.place.cwd, call.place.roots) == ("/home/dev/app", ("/home/dev/app",))
    assert "label" not in str(call)
    assert answer.decision is not None
    assert answer.args_digest == digest_of({"command": "allow 1"})


class Changing(WordGate):
    def decide(self, call: ToolCall, facts: object = ()):
        decision = super().decide(call)
        call.input["command"] = "something else"
        return decision


class Breaking(WordGate):
    def decide(self, call: ToolCall, facts: object = ()):
        raise RecursionError


class Garbage(WordGate):
    def decide(self, call: ToolCall, facts: object = ()):
        return super().decide(call)._replace(state="maybe")


@pytest.mark.parametrize(
    ("gate", "failure"),
    [(Changing(), INVALID_INPUT), (Breaking(), GATE_FAILED), (Garbage(), GATE_FAILED)],
)
def test_a_case_that_cannot_be_scored_says_why(gate: WordGate, failure: str):
    _, answer = shown(gate)
    assert answer.decision is None
    assert answer.failure == failure
    assert answer.reason
