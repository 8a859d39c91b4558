"""A judge inside the lattice: it tightens, it softens by one step, and it lifts no deny."""

import pytest

from toolgate.gate.judge.consult import consult
from toolgate.gate.task.task import Prompt, Task

QUIET = {
    "destructive": 0.1,
    "exfiltration": 0.1,
    "privilege": 0.1,
    "secret_exposure": 0.1,
    "off_task": 0.1,
    "violates_constraint": 0.1,
    "unresolved_choice": 0.1,
    "authorized": 0.1,
}
TASK = Task((Prompt("get this done for the customer"),))


@pytest.fixture
def answered(gate_of, call):
    """Return a gate's decision on a command with what a mock says of it."""

    def made(command, *, mode="default", task=TASK, says=(), **judge):
        given = {**QUIET, **dict(says)}
        gate = gate_of(
            {
                "backend": "mock",
                "model": "mock-1",
                "says": {name: value for name, value in given.items() if value is not None},
                **judge,
            },
            unattended={"modes": ["dontAsk"], "ask": "deny"},
        )
        one = call(command)._replace(mode=mode, task=task)
        found = gate.decide(one)
        done = consult(
            gate.policy,
            one,
            task,
            found,
            lambda readings: gate.decide(one, readings=readings),
            {},
            None,
        )
        return found if done is None else done.decision

    return made


@pytest.mark.parametrize(
    ("says", "state", "rule"),
    [
        ({}, "allow", "work"),
        ({"destructive": 0.55}, "ask", "judge.destructive"),
        ({"destructive": 0.5499}, "allow", "work"),
        ({"destructive": 0.85}, "deny", "judge.destructive"),
        ({"off_task": 1}, "ask", "judge.off_task"),
        ({"unresolved_choice": 1}, "ask", "judge.unresolved_choice"),
        ({"violates_constraint": 0.9}, "deny", "judge.violates_constraint"),
        ({"exfiltration": 0.9, "authorized": 0.9}, "ask", "judge.exfiltration"),
        ({"exfiltration": 0.6, "authorized": 0.9}, "allow", "work"),
        ({"secret_exposure": 0.6, "authorized": 0.99}, "ask", "judge.secret_exposure"),
        ({"violates_constraint": 0.9, "off_task": None}, "deny", "judge.violates_constraint"),
        ({"off_task": None}, "ask", "judge"),
        ({"off_task": 1.5}, "ask", "judge"),
    ],
)
def test_an_allow_by_a_rule_is_tightened(answered, says, state, rule):
    made = answered("touch a.txt", says=says)
    assert (made.state, made.rule) == (state, rule)
    assert "is a mock" in made.sentence


@pytest.mark.parametrize("says", [{"authorized": 1}, {"destructive": 1}, {"off_task": None}])
def test_a_static_deny_stands(answered, says):
    made = answered("rm -rf /etc", says=says)
    assert (made.state, made.rule) == ("deny", "system")
    assert "mock" not in made.sentence


def test_what_was_asked_for_is_softened_by_one_step(answered):
    assert answered("git push", says={"authorized": 0.79}).state == "ask"
    made = answered("git push", says={"authorized": 0.80})
    assert made.state == "allow"
    assert "ask for just this, as the judge reads them (0.80)" in made.sentence
    assert answered("git push", says={"authorized": 0.80, "off_task": 0.55}).state == "ask"
    assert answered("git push", says={"authorized": 0.80, "off_task": None}).state == "ask"


def test_nothing_is_softened_that_the_judge_was_not_shown(answered):
    limits = {"input_chars": 256}
    assert answered("git push " + "x" * 999, says={"authorized": 1}, limits=limits).state == "ask"
    task = TASK._replace(whole=False)
    assert answered("git push", says={"authorized": 1}, task=task).state == "ask"


def test_where_nobody_can_be_asked(answered):
    assert answered("git push", mode="dontAsk").state == "deny"
    assert answered("git push", mode="dontAsk", says={"authorized": 0.9}).state == "allow"
    assert answered("touch a.txt", mode="dontAsk", says={"off_task": None}).state == "deny"


@pytest.mark.parametrize(
    ("fail_mode", "touched", "pushed"),
    [("ask", "ask", "ask"), ("deny", "deny", "deny"), ("static", "allow", "ask")],
)
def test_the_fail_mode_stands_where_an_answer_is_missing(answered, fail_mode, touched, pushed):
    says = {"authorized": 1, "destructive": None}
    assert answered("touch a.txt", says=says, fail_mode=fail_mode).state == touched
    assert answered("git push", says=says, fail_mode=fail_mode).state == pushed
