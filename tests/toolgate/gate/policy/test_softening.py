"""What the user asks for lowers an ask only where every rule that asks may be lowered."""

import pytest

from toolgate.gate.catalog.load import shipped
from toolgate.gate.engine import Gate
from toolgate.gate.facts.session import NOTHING
from toolgate.gate.open import default_gate
from toolgate.gate.policy.model import Policy
from toolgate.gate.policy.project import tightened
from toolgate.gate.shell.opinion import Names
from toolgate.gate.task.task import Prompt, Task

BALANCED = "extends: {policy: balanced}\n"
DELETE = "effects: [{type: [fs.delete]}]"
TASK = Task((Prompt("delete the src folder", "sha256:" + "0" * 64),))


def decided(gate, make_call):
    return gate.decide(make_call("rm -rf src"), NOTHING, TASK)


def test_an_ask_is_lowered_by_a_request_for_just_this(gate_of, make_call):
    assert decided(gate_of(BALANCED), make_call).state == "allow"


@pytest.mark.parametrize(
    ("rule", "state"),
    [
        # Named so that delete-tree, which a request lowers, is the one that is told.
        (f"axis: destructive, {DELETE}", "allow"),
        (f"axis: destructive, floor: true, {DELETE}", "ask"),
        (f"axis: secret_exposure, {DELETE}", "ask"),
        (DELETE, "ask"),
        ("tools: [Bash]", "ask"),
        ("when: {text: ['rm .*src']}", "ask"),
        ("axis: destructive, floor: true, effects: [{type: [net.send]}]", "allow"),
        ("tools: [Edit]", "allow"),
        (f"facts: [executes_artifact], {DELETE}", "allow"),
    ],
)
def test_a_rule_beside_it_that_is_not_lowered_keeps_the_ask(gate_of, make_call, rule, state):
    text = BALANCED + f"rules:\n  - {{rule: zz, decide: ask, because: x, {rule}}}\n"
    assert decided(gate_of(text), make_call).state == state


def test_a_rule_of_the_project_keeps_the_ask(make_call):
    text = f"version: 1\nname: x\nrules: [{{rule: keep, decide: ask, because: x, {DELETE}}}]\n"
    policy = Policy(tightened(default_gate().policy_bytes, text.encode(), "p.yaml"))
    assert decided(Gate(policy, shipped()), make_call).state == "ask"


def test_an_override_may_allow_what_its_rule_asks_without_a_request(gate_of, make_call):
    text = BALANCED + (
        "overrides:\n  - {override: o, of: delete-tree, decide: allow, because: x, owner: ann, "
        f"expires: 2027-01-31, {DELETE}}}\n"
    )
    assert gate_of(text).decide(make_call("rm -rf src", ts=1)).rule == "o"


@pytest.mark.parametrize(
    "answer", ["second-reader-missing", Names(frozenset(("mv",)), frozenset(), False)]
)
def test_what_a_request_would_let_pass_is_read_a_second_time(make_call, answer):
    gate = Gate(default_gate().policy, shipped(), lambda text: answer)
    call = make_call("rm -rf src; echo `date`")
    assert default_gate().decide(call, NOTHING, TASK).state == "allow"
    assert gate.decide(call, NOTHING, TASK).state == "ask"
