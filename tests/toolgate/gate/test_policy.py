"""The policy: strict compilation, every fault at once, and four laws of evaluation."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.errors import PolicyError
from toolgate.gate.decision import STRICTNESS
from toolgate.gate.effects.model import PROVED, TYPES, Effect
from toolgate.gate.policy.compile import compile_policy
from toolgate.gate.policy.evaluate import DEFAULT, evaluate
from toolgate.gate.policy.model import Policy

CATALOG = "sha256:" + "0" * 64


def compiled(rules, **more) -> Policy:
    body = {"version": 1, "name": "test", "rules": rules, **more}
    return Policy(compile_policy(json.dumps(body).encode(), CATALOG))


def rule(name, decide, **effect):
    return {
        "rule": name,
        "decide": decide,
        "because": "x",
        "effects": [effect or {"type": ["inspect"]}],
    }


FAULTS = [
    ("[]", "expected a mapping"),
    ("version: 1", "name is missing"),
    ("version: 1\nname: x\nname: y", "given twice"),
    ("version: 1\nname: x\nextra: 1", "unknown key extra"),
    ("version: 1\nname: x\ndefault: allow", "default"),
    ("version: 1\nname: x\nrules: [{rule: a, decide: maybe, because: b, tools: [X]}]", "decide"),
    ("version: 1\nname: x\nrules: [{rule: a, decide: deny, because: b}]", "neither tools nor"),
    ("version: 1\nname: x\nrules: [{rule: a, decide: deny, tools: [X]}]", "because is missing"),
    (
        "version: 1\nname: x\nrules: [{rule: a, decide: deny, because: b, effects: [{kind: [x]}]}]",
        "unknown key kind",
    ),
    (
        "version: 1\nname: x\n"
        "rules: [{rule: a, decide: deny, because: b, effects: [{type: [fs.x]}]}]",
        "unknown type fs.x",
    ),
    ("version: 1\nname: x\nnames: {trusted_hosts: [https://a.b]}", "bare host name"),
    ("version: 1\nname: x\nnames: {trusted_hosts: ['*.com']}", "bare host name"),
    ("version: 1\nname: x\nmcp: {'mcp__*': [inspect]}", "does not name one server"),
    ("version: 1\nname: x\ncomposition: {c: {operator: all-of}}", "no class has this name"),
    ("a: [", "line 1"),
]


@pytest.mark.parametrize(("text", "said"), FAULTS, ids=lambda value: str(value)[:40])
def test_faults_are_named(text, said):
    with pytest.raises(PolicyError, match="policy") as caught:
        compile_policy(text.encode(), CATALOG)
    assert said in str(caught.value)


def test_every_fault_is_reported_at_once():
    text = "version: 3\nextra: 1\ndefault: no\nrules: [{rule: a}, {decide: deny}]"
    with pytest.raises(PolicyError) as caught:
        compile_policy(text.encode(), CATALOG)
    assert len(caught.value.faults) >= 7


def test_the_digest_binds_the_catalogue():
    text = b"version: 1\nname: x\n"
    assert compile_policy(text, CATALOG) != compile_policy(text, "sha256:" + "1" * 64)


EFFECTS = st.builds(
    Effect,
    st.sampled_from(TYPES),
    st.sampled_from(["workspace", "home", "system", "secret", "unknown"]),
    st.just("r"),
    st.booleans(),
    st.sampled_from([PROVED, "unresolved(x)"]),
    st.sampled_from(["p", "q"]),
    st.sampled_from(["", "recursive", "force all"]),
)
RULES = st.lists(
    st.builds(
        lambda number, decide, kind, scope: rule(f"r{number}", decide, type=[kind], scope=[scope]),
        st.integers(0, 10_000),
        st.sampled_from(list(STRICTNESS)),
        st.sampled_from(TYPES),
        st.sampled_from(["workspace", "home", "system", "secret", "unknown"]),
    ),
    max_size=12,
    unique_by=lambda item: item["rule"],
)


@settings(max_examples=150, deadline=None)
@given(RULES, st.lists(EFFECTS, min_size=1, max_size=6))
def test_deny_beats_ask_beats_allow(rules, effects):
    policy = compiled(rules)
    parts = [evaluate(policy, "Bash", (effect,)).rule.decide for effect in effects]
    whole = evaluate(policy, "Bash", tuple(effects)).rule.decide
    assert STRICTNESS[whole] == max(STRICTNESS[part] for part in parts)
    for item in rules:
        matched = any(
            effect.type in item["effects"][0]["type"]
            and effect.scope in item["effects"][0]["scope"]
            for effect in effects
        )
        if matched:
            assert STRICTNESS[whole] >= STRICTNESS[item["decide"]]


@settings(max_examples=150, deadline=None)
@given(RULES, st.lists(EFFECTS, min_size=1, max_size=6))
def test_allow_needs_a_rule_or_a_proof_of_harmlessness(rules, effects):
    verdict = evaluate(compiled(rules), "Bash", tuple(effects))
    if verdict.rule.decide == "allow":
        allowing = [item["effects"][0] for item in rules if item["decide"] == "allow"]
        for effect in effects:
            harmless = effect.type == "inspect" and effect.proof == PROVED
            assert harmless or any(
                effect.type in want["type"] and effect.scope in want["scope"] for want in allowing
            )


@settings(max_examples=100, deadline=None)
@given(st.lists(EFFECTS, min_size=1, max_size=4))
def test_an_empty_policy_asks_for_whatever_is_not_harmless(effects):
    verdict = evaluate(compiled([]), "Bash", tuple(effects))
    harmless = all(e.type == "inspect" and e.proof == PROVED for e in effects)
    assert verdict.rule.decide == ("allow" if harmless else "ask")
    assert harmless or verdict.rule.name == DEFAULT


@settings(max_examples=100, deadline=None)
@given(RULES, st.lists(EFFECTS, min_size=1, max_size=4), st.randoms())
def test_order_and_duplicates_do_not_matter(rules, effects, chance: random.Random):
    shuffled = [*rules, *rules[:2]]
    chance.shuffle(shuffled)
    one, other = compiled(rules), compiled(shuffled)
    assert one.digest == other.digest
    mixed = [*effects, effects[0]]
    chance.shuffle(mixed)
    first = evaluate(one, "Bash", tuple(effects)).rule
    assert evaluate(other, "Bash", tuple(mixed)).rule == first
