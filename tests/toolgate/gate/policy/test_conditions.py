"""What a rule asks of a call besides its effects: who calls, in which mode, with which text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate.gate.policy.conditions import MOST_PATTERNS, text_of
from toolgate.gate.policy.regular import Expression, pattern_fault

BALANCED = "extends: {policy: balanced}\n"


def rule(when, more="tools: [Bash]", decide="deny"):
    said = f"{{rule: r, decide: {decide}, because: x, when: {when}, {more}}}"
    return BALANCED + f"rules:\n  - {said}\n"


@pytest.mark.parametrize(
    ("when", "fields", "applies"),
    [
        ("{agent: ['*/reviewer']}", {"agent": ("main", "reviewer")}, True),
        ("{agent: ['*/reviewer']}", {"agent": ("main", "writer")}, False),
        ("{principal: ['user:ci*']}", {"principal": "user:ci-7"}, True),
        ("{principal: ['user:ci*']}", {"principal": "user:dev"}, False),
        ("{mode: [plan]}", {"mode": "plan"}, True),
        ("{mode: [plan]}", {"mode": None}, False),
        ("{mode: [unknown]}", {"mode": None}, True),
        ("{host: [codex]}", {"host": "codex"}, True),
        ("{mode: [plan], host: [codex]}", {"mode": "plan", "host": "claude-code"}, False),
        ("{text: ['make\\s+world']}", {"input": {"command": "MAKE  world"}}, True),
        ("{text: ['make\\s+world']}", {"input": {"command": "ma''ke w\\orld"}}, True),
        ("{text: ['make\\s+world']}", {"input": {"command": "make hello"}}, False),
        ("{text: [nothing, description]}", {"input": {"command": "ls", "description": ""}}, True),
        ("{text: ['^ls$'], mode: [plan]}", {"input": {"command": "ls"}, "mode": "default"}, False),
    ],
)
def test_a_rule_applies_when_the_call_is_made_so(gate_of, make_call, when, fields, applies):
    call = make_call("ls")._replace(**fields)
    decision = gate_of(rule(when)).decide(call)
    assert (decision.rule == "r") is applies
    assert decision.state == ("deny" if applies else "allow")


def test_a_condition_may_stand_alone_and_beside_effects_and_facts(gate_of, make_call):
    alone = gate_of(rule("{mode: [plan]}", "axis: off_task"))
    assert alone.decide(make_call("ls", mode="plan")).state == "deny"
    effects = gate_of(rule("{mode: [plan]}", "effects: [{type: [fs.write]}]"))
    assert effects.decide(make_call("echo a > b", mode="plan")).state == "deny"
    assert effects.decide(make_call("echo a > b")).state == "allow"
    assert effects.decide(make_call("ls", mode="plan")).state == "allow"
    facts = gate_of(rule("{mode: [plan]}", "tools: [Bash], facts: [read_secret]"))
    assert facts.decide(make_call("ls", mode="plan")).state == "allow"


def test_an_allow_for_some_callers_is_no_allow_for_others(gate_of, make_call):
    gate = gate_of(rule("{principal: ['user:ops']}", "tools: [Deploy]", "allow"))
    call = make_call(tool="Deploy", tool_input={})
    assert gate.decide(call).rule == "default"
    ours = gate.decide(call._replace(principal="user:ops"))
    assert (ours.state, ours.rule) == ("allow", "r")


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("{}", "when is no mapping of host, principal, agent, mode, text to lists"),
        ("[a]", "when is no mapping of"),
        ("{user: [a]}", "unknown key user in when"),
        ("{mode: plan}", "when: mode is not a list of texts"),
        ("{mode: []}", "when: mode is not a list of texts"),
        ("{text: ['a(?=b)']}", "look-ahead at character 2"),
        ("{text: ['a(?!b)']}", "look-ahead at character 2"),
        ("{text: ['ab(?<=c)']}", "look-behind at character 3"),
        ("{text: ['(?<!c)x']}", "look-behind at character 1"),
        ("{text: ['(a)x\\1']}", "a back-reference at character 5"),
        ("{text: ['(?P<n>a)(?P=n)']}", "a back-reference at character 9"),
        ("{text: ['(?>a)']}", "an atomic group at character 1"),
        ("{text: ['(a)(?(1)b|c)']}", "a conditional group at character 4"),
        ("{text: ['a[b']}", "missing ]: [b at character 2"),
        ("{text: ['ab**']}", "bad repetition operator: ** at character 3"),
    ],
)
def test_faults_of_conditions_are_told_with_their_place(faults_of, when, said):
    assert any(said in fault for fault in faults_of(rule(when)))


@pytest.mark.parametrize(
    "pattern", ["[(?=]", "\\\\1", "\\Q(?=\\E", "[]a(?=]", "[^](?=]", "(?:a|b)"]
)
def test_what_only_looks_like_look_around_is_taken(pattern):
    assert pattern_fault(pattern) is None


def test_text_shows_no_call_to_be_harmless(faults_of):
    assert "shows no call to be harmless" in faults_of(rule("{text: [ls]}", decide="allow"))[0]


def test_there_are_not_more_patterns_than_each_call_can_be_tried_on(faults_of):
    many = ", ".join(f"p{number}" for number in range(MOST_PATTERNS + 1))
    assert "257 patterns of text; expected at most 256" in faults_of(rule(f"{{text: [{many}]}}"))[0]


def test_a_pattern_that_backtracks_elsewhere_takes_linear_time_here():
    hostile = Expression("(a+)+(a|a)*b$")
    begun = time.process_time()
    assert not hostile.found(b"a" * 200_000)
    assert time.process_time() - begun < 2


@given(st.text(max_size=40))
def test_any_text_is_taken_as_a_pattern_or_refused_in_words(pattern):
    fault = pattern_fault(pattern)
    if fault is None:
        assert Expression(pattern).found(b"") in (True, False)
    else:
        assert fault


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=8,
    )
)
def test_every_key_and_value_of_an_input_is_seen(value):
    seen = text_of(value).decode()
    assert not set("'\"\\") & set(seen)

    def words(item):
        if isinstance(item, dict):
            return [word for pair in item.items() for part in pair for word in words(part)]
        if isinstance(item, list):
            return [word for part in item for word in words(part)]
        return [item] if isinstance(item, str) else []

    for word in words(value):
        kept = "".join(char for char in word if char not in "'\"\\")
        assert kept.encode("utf-8", "replace").decode() in seen


def test_half_a_character_in_a_call_is_no_failure(gate_of, make_call):
    gate = gate_of(rule("{text: [world]}"))
    assert gate.decide(make_call(tool_input={"command": "echo \ud800 world"})).state == "deny"
