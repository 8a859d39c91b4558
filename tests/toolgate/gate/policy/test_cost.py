"""What rules cost a decision: next to nothing, however many; and nothing where there are none."""

import json
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate.gate.policy.regular import Expression, either, pattern_fault

BALANCED = "extends: {policy: balanced}\n"
COMMANDS = ["ls -la", "git status && git diff", "rm -rf build", "cat a | grep b", "npm test"]


def plain(number):
    return {
        "rule": f"w{number}",
        "decide": "deny",
        "because": "x",
        "effects": [{"type": ["fs.delete"], "resource": [f"*/d{number}/*"]}],
    }


def by_caller(number):
    return {**plain(number), "when": {"agent": [f"*/a{number}"]}}


def policy(make, count, *, overrides=False):
    rules = [make(number) for number in range(count)]
    lowered = [
        {
            "override": f"o{number}",
            "of": f"w{number}",
            "decide": "ask",
            "because": "x",
            "owner": "ann",
            "expires": f"20{27 + number % 50}-01-31",
            "effects": [{"type": ["fs.delete"]}],
        }
        for number in range(count if overrides else 0)
    ]
    return BALANCED + f"rules: {json.dumps(rules)}\noverrides: {json.dumps(lowered)}\n"


def seconds(gate, calls) -> float:
    best = float("inf")
    for _ in range(6):
        begun = time.process_time()
        for _ in range(40):
            for call in calls:
                gate.decide(call)
        best = min(best, time.process_time() - begun)
    return best


@pytest.mark.parametrize(
    ("make", "overrides"),
    [(plain, False), (by_caller, False), (plain, True)],
    ids=["plain", "by caller", "with an override each"],
)
def test_ten_times_the_rules_cost_at_most_half_as_much_again(gate_of, make_call, make, overrides):
    calls = [make_call(command, ts=1) for command in COMMANDS]
    few, many = (gate_of(policy(make, count, overrides=overrides)) for count in (200, 2_000))
    for _ in range(3):  # a ratio of two measures; the machine has other work
        ratio = seconds(many, calls) / seconds(few, calls)
        if ratio <= 1.5:
            break
    assert ratio <= 1.5


PATTERNS = st.lists(
    st.text("ab|()[]^$*+?\\Qd.", min_size=1, max_size=6).filter(lambda one: not pattern_fault(one)),
    min_size=1,
    max_size=4,
)


@given(PATTERNS, st.text("ab|()[]^$*+?\\Qd.\n1", max_size=8))
def test_one_expression_for_all_is_found_where_any_is(patterns, text):
    one = either(patterns)
    if one is not None:
        data = text.encode()
        assert one.found(data) is any(Expression(pattern).found(data) for pattern in patterns)


def test_patterns_that_cannot_be_joined_are_tried_each():
    assert either(["\\Qa", "b"]) is None
    large = [f"(?:[a-z]x|[^b-y]){{400}}{number}" for number in range(250)]
    assert not any(map(pattern_fault, large[:3]))
    assert either(large) is None


def test_a_pattern_that_takes_long_to_compile_is_refused():
    assert "pattern too large" in str(pattern_fault("\\pL{300}"))
    assert "has 1001 characters; expected at most 1000" in str(pattern_fault("a" * 1_001))


PROBE = """
import sys
from toolgate.gate.open import default_gate
from toolgate.gate.call import Place, ToolCall
call = ToolCall("h", "s", None, None, ("main",), "u", "user", "Bash", {"command": "git status"},
                Place("/w", ("/w",), "/home/x"), None, None, 1)
assert default_gate().decide(call).state == "allow"
print(*sys.modules)
"""


def test_a_policy_without_them_loads_none_of_it():
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    policy_modules = {name.rpartition(".")[2] for name in loaded if "toolgate.gate.policy." in name}
    assert policy_modules <= {"evaluate", "index", "match", "model", "rule", "lattice", "axes"}
    assert not {"re2", "yaml", "toolgate.gate.bases", "toolgate.gate.project"} & loaded
