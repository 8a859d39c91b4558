"""Remarks on policies: idle and impossible rules, ended exceptions, rules without an example."""

import json
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.gate.bases import shipped_source
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.policy.compile import compile_policy, whole_source
from toolgate.gate.policy.covering import covers, never_fits
from toolgate.gate.policy.evaluate import evaluate
from toolgate.gate.policy.extends import SHIPPED
from toolgate.gate.policy.lint import lint, names_of
from toolgate.gate.policy.match import applies_to_tool, fits
from toolgate.gate.policy.model import Policy
from toolgate.gate.policy.overrides_source import expiry_of
from toolgate.gate.policy.yaml_source import read_yaml

CATALOG = "sha256:" + "0" * 64


def rule(name, decide, *effects, **more):
    made = {"rule": name, "decide": decide, "because": "x", **more}
    return {**made, "effects": list(effects)} if effects else made


def remarks(*rules, **more):
    return lint({"rules": list(rules), **more}, 1)


PUSH, FORCED = {"type": ["vcs.publish"]}, {"type": ["vcs.publish"], "how": ["force"]}


def test_a_rule_that_a_stricter_one_covers_is_told():
    assert remarks(rule("a", "ask", FORCED), rule("b", "deny", PUSH)) == [
        "rule a: changes no answer, because rule b, which is stricter, speaks wherever it does"
    ]


def test_of_two_that_say_the_same_one_is_told():
    assert remarks(rule("a", "ask", PUSH), rule("b", "ask", PUSH)) == [
        "rule b: changes no answer, because rule a, which is as strict, speaks wherever it does"
    ]


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        (rule("a", "deny", FORCED), rule("b", "ask", PUSH)),
        (rule("a", "ask", PUSH), rule("b", "deny", FORCED)),
        (rule("a", "ask", PUSH), rule("b", "deny", PUSH, tools=["Bash"])),
        (rule("a", "ask", PUSH), rule("b", "deny", PUSH, facts=["read_secret"])),
        (rule("a", "ask", PUSH), rule("b", "deny", PUSH, when={"mode": ["plan"]})),
        (rule("a", "ask", PUSH, facts=["read_secret"]), rule("b", "ask", PUSH)),
        (rule("a", "ask", PUSH), rule("b", "deny", {**PUSH, "without": ["force"]})),
        (rule("a", "ask", PUSH), rule("b", "deny", {**PUSH, "resource": ["origin*"]})),
        (rule("a", "allow", PUSH), rule("b", "allow", tools=["Bash"])),
    ],
)
def test_a_rule_that_may_change_an_answer_is_not_told(narrow, wide):
    assert remarks(narrow, wide) == []


def test_what_nothing_fits_is_told():
    told = remarks(
        rule("a", "ask", {**PUSH, "all": ["force"], "without": ["force"]}, PUSH),
        rule("b", "ask", {**FORCED, "without": ["force", "url"]}),
        rule("c", "ask", {"type": []}),
    )
    assert told[:3] == [
        "rule a: effect 1 fits nothing: force is asked for by all and ruled out by without",
        "rule b: effect 1 fits nothing: force is asked for by how and ruled out by without",
        "rule c: effect 1 fits nothing: type lists nothing",
    ]


def test_a_class_that_another_comes_before_is_told():
    classes = [
        {"name": "a", "effects": [PUSH]},
        {"name": "b", "effects": [PUSH], "tools": ["Bash"]},
    ]
    assert lint({"classes": classes}, 1) == [
        "class b: no call is of it, because class a comes first"
    ]


def test_an_override_is_told_from_the_end_of_its_day_on():
    body = {"overrides": [{"override": "o", "owner": "ann", "expires": "2027-01-31"}]}
    end = expiry_of("2027-01-31")
    assert lint(body, end - 1) == []
    assert lint(body, end) == [
        "override o: no longer applies since 2027-01-31 is over; its owner is ann"
    ]


def test_rules_without_an_example_are_told():
    assert lint({"rules": [rule("a", "ask", PUSH), rule("b", "deny", FORCED)]}, 1, None, {"b"}) == [
        "rule b: no example of the policy is a call that it speaks about"
    ]


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_policies_have_no_remarks(name):
    source = shipped_source(name)
    whole = whole_source(source, bases=lambda said: shipped_source(said["policy"]))
    assert lint(whole, 1, names_of(read_yaml(source, name))) == []


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["rule", "decide", "effects", "type", "tools", "when", "facts", "rules"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(ANY, ANY)
def test_a_policy_with_faults_is_remarked_on_as_far_as_it_can_be(rules, overrides):
    for body in (rules, {"rules": rules, "classes": rules, "overrides": overrides}):
        assert isinstance(lint(body, 1), list)


# What is called covered must never change an answer: tried on every effect of a small world.
KINDS, SCOPES, MARKS = ["fs.read", "fs.write"], ["workspace", "home"], ["a", "b"]
WORLD = [
    Effect(kind, scope, resource, reversible, proof, program, how)
    for kind, scope, resource, reversible, proof, program, how in product(
        KINDS,
        SCOPES,
        ["x", "xy"],
        [True, False],
        [PROVED, "unresolved(z)"],
        ["p"],
        ["", "a", "a b"],
    )
]
SOME = st.lists(st.sampled_from(MARKS), min_size=1, max_size=2, unique=True)
ITEM = st.fixed_dictionaries(
    {},
    optional={
        "type": st.lists(st.sampled_from(KINDS), min_size=1, max_size=2, unique=True),
        "scope": st.lists(st.sampled_from(SCOPES), min_size=1, max_size=2, unique=True),
        "reversible": st.lists(st.booleans(), min_size=1, max_size=2, unique=True),
        "proof": st.lists(
            st.sampled_from([PROVED, "unresolved", "unresolved(z)"]), min_size=1, max_size=2
        ),
        "resource": st.lists(st.sampled_from(["x", "x*", "*y", "*"]), min_size=1, max_size=2),
        "how": SOME,
        "all": SOME,
        "without": SOME,
    },
).filter(bool)
TOOLS = st.lists(st.sampled_from(["Bash", "B*", "Edit"]), max_size=2)
ITEMS = st.lists(ITEM, min_size=1, max_size=2)


@settings(max_examples=150, deadline=None)
@given(ITEMS, TOOLS, ITEMS, TOOLS)
def test_what_is_covered_never_speaks_alone(wide, wide_tools, narrow, narrow_tools):
    one = {"effects": wide, "tools": wide_tools}
    other = {"effects": narrow, "tools": narrow_tools}
    if not covers(one, other):
        return
    for tool, effect in product(["Bash", "Bat", "Edit"], WORLD):
        if applies_to_tool(tuple(narrow_tools), tool) and any(fits(x, effect) for x in narrow):
            assert applies_to_tool(tuple(wide_tools), tool)
            assert any(fits(x, effect) for x in wide)


@settings(max_examples=200, deadline=None)
@given(ITEM)
def test_what_is_said_to_fit_nothing_fits_nothing(item):
    if never_fits(item):
        assert not any(fits(item, effect) for effect in WORLD)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["allow", "ask", "deny"]), ITEMS, TOOLS), max_size=5))
def test_leaving_out_an_idle_rule_changes_no_answer(rules):
    named = [
        rule(f"r{number}", decide, *items, tools=tools)
        for number, (decide, items, tools) in enumerate(rules)
    ]
    idle = [
        line.split(":")[0].removeprefix("rule ") for line in remarks(*named) if "changes" in line
    ]

    def policy(some):
        body = {"version": 1, "name": "x", "rules": some}
        return Policy(compile_policy(json.dumps(body).encode(), CATALOG))

    for name in idle:
        whole, less = policy(named), policy([one for one in named if one["rule"] != name])
        for tool, effect in product(["Bash", "Edit"], WORLD):
            answers = [evaluate(one, tool, (effect,)).rule.decide for one in (whole, less)]
            assert answers[0] == answers[1], (name, effect)
