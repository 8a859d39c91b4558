"""What a policy says under ``lift``: compiled strictly, shipped values, who lifts what."""

import json

import pytest

from toolgate.approval import Approval
from toolgate.errors import InputError, PolicyError
from toolgate.gate.policy.compile import compile_policy
from toolgate.gate.policy.lift import Lift, Lifting, answer_by, is_sealed, lift_of
from toolgate.gate.policy.rule import Rule

CATALOG = "sha256:" + "0" * 64
MINUTE = 60_000_000


def compiled(lift):
    body = {
        "version": 1,
        "name": "p",
        "rules": [{"rule": "r", "decide": "ask", "because": "x", "tools": ["*"]}],
        "lift": lift,
    }
    return json.loads(compile_policy(json.dumps(body).encode(), CATALOG))


def test_a_policy_that_says_nothing_is_as_shipped():
    assert "lift" not in compiled(None)
    assert lift_of(None) == Lift("person", "never", (), 60, 20)


def test_what_is_said_is_compiled_in_full():
    assert compiled({"deny": "person", "never": ["r", "default", "r"]})["lift"] == {
        "ask": "person",
        "deny": "person",
        "never": ["default", "r"],
        "minutes": 60,
        "calls": 20,
    }


@pytest.mark.parametrize(
    ("lift", "said"),
    [
        (["ask"], "lift is list; expected a mapping of ask, deny, never, minutes, calls"),
        ({"asks": "person"}, "lift: unknown key asks"),
        ({"deny": "anybody"}, "lift: deny is 'anybody'; expected person or never"),
        ({"ask": True}, "lift: ask is True; expected person or never"),
        ({"minutes": 0}, "lift: minutes is 0; expected a number from 1 to 1440"),
        ({"minutes": True}, "lift: minutes is True; expected a number from 1 to 1440"),
        ({"calls": 101}, "lift: calls is 101; expected a number from 1 to 100"),
        ({"never": "r"}, "lift: never is not a list of rule names"),
        ({"never": ["q"]}, "lift: never: no rule is called q"),
    ],
)
def test_faults_are_named(lift, said):
    with pytest.raises(PolicyError) as caught:
        compiled(lift)
    assert caught.value.faults == [said]


@pytest.mark.parametrize(
    "lift",
    [[], {}, {"ask": "person"}, {**Lift()._asdict(), "minutes": "60"},
     {**Lift()._asdict(), "never": [1]}, {**Lift()._asdict(), "more": 1}],
)  # fmt: skip
def test_a_compiled_form_that_is_none_is_refused(lift):
    with pytest.raises(PolicyError, match="another form than a compiled one"):
        lift_of(lift)


@pytest.mark.parametrize(
    ("rule", "answer", "effects", "said"),
    [
        ("r", "ask", ["fs.write"], ""),
        ("r", "deny", ["fs.write"], "the policy lets nobody lift what it denies"),
        ("s", "ask", ["fs.write"], "the policy lets nobody lift rule s"),
        ("r", "allow", [], "r is no rule of the policy that asks or denies"),
        ("input", None, [], "input is no rule of the policy that asks or denies"),
        ("r", "ask", ["gate.tamper"], "it changes this gate, which no signature lets through"),
    ],
)
def test_who_may_lift_what(rule, answer, effects, said):
    assert Lift(never=("s",)).refusal(rule, answer, effects) == said


def test_answers_by_name():
    policy = {
        "default": "ask",
        "rules": [{"rule": "a", "decide": "allow"}, {"rule": "b", "decide": "deny"}],
        "overrides": [{"override": "o", "of": "b", "decide": "ask"}],
    }
    assert answer_by(policy, "b") == "deny"
    assert answer_by(policy, "o") == "ask"
    assert answer_by(policy, "default") == "ask"
    assert answer_by(policy, "harmless") is None


def test_rules_over_whole_calls_are_sealed_by_their_tools():
    rules = [Rule("w", "ask", None, "x", ("Write",), ()), Rule("b", "ask", None, "x", ("*",), ())]
    assert is_sealed(rules, ("w",), "Write", ())
    assert not is_sealed(rules, ("w",), "Bash", ())
    assert not is_sealed(rules, (), "Write", ())


def approval(entry, **more):
    ev = {"principal": "ann", "class": "c", "args_digest": "d", "ts": 0, "expiry": MINUTE, **more}
    return Approval(entry, 1, 0, None, ev)


def test_which_approval_lets_a_call_through():
    wide, mine = approval("wide", args_digest=None), approval("mine")
    asks, denies = Lifting(("ann",), "ask", 1), Lifting(("ann",), "deny", 1)
    assert asks.choose([wide, mine]) == (mine,)
    assert asks.choose([wide]) == (wide,)
    assert denies.choose([wide]) == ()
    assert denies.choose([mine]) == (mine,)
    for bad in ({"class": None}, {"principal": "bob"}, {"expiry": MINUTE + 1}):
        assert asks.choose([approval("bad", **bad)]) == ()
        with pytest.raises(InputError):
            asks.check(approval("bad", **bad).ev)
    asks.check(mine.ev)
    assert asks.previous("ann", [mine]) is None
