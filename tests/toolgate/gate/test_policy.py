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
from toolgate.gate.policy.evaluate import evaluate
from toolgate.gate.policy.model import Policy
from toolgate.gate.policy.rule import DEFAULT

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
    ("[" * 20_000, "nested too deep"),
    ("version: " + "9" * 5000, "a value cannot be read"),
    ("version: 2026-99-99", "a value cannot be read"),
    ("? [a, b]\n: c", "a key is a word"),
    ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", "line 2: alias *a"),
]


@pytest.mark.parametrize(("text", "said"), FAULTS, ids=lambda value: str(value)[:40])
def test_faults_are_named(text, said):
    with pytest.raises(PolicyError, match="policy") as caught:
        compile_policy(text.encode(), CATALOG)
    assert said in str(caught.value)


KEY, OTHER_KEY = "ed25519:" + "a" * 64, "ed25519:" + "b" * 64
PEOPLE = {"principals": {"ann": [KEY], "bob": [OTHER_KEY]}, "classes": [{"name": "c"}]}


def composed(operator="all-of", principals=("ann", "bob"), **more):
    return {"c": {"operator": operator, "principals": list(principals), **more}}


WEAK = "ed25519:01" + "00" * 31
PEOPLE_FAULTS = [
    ({"principals": []}, "principals: expected a mapping from name to a list of keys"),
    ({"principals": {"ann": []}}, "principals ann: expected a list of at least one key"),
    ({"principals": {"ann": ["x"]}}, "principals ann: 'x' is not a key; expected ed25519:"),
    ({"principals": {"ann": [WEAK]}}, f"principals ann: {WEAK} is a point of small order"),
    (
        {"authored_by": {"name": "ann", "key": WEAK, "authorizing_policy": None}},
        f"authored_by: {WEAK} is a point of small order, under which anybody can sign",
    ),
    ({"principals": {"ann": [KEY, KEY]}}, f"principals ann: key {KEY} is given twice"),
    ({"principals": {"ann": [KEY], "bob": [KEY]}}, f"principals bob: key {KEY} is ann's as well"),
    ({"principals": {"": [KEY]}}, "principals: '' is not a name"),
    ({"composition": []}, "composition: expected a mapping from class to operator"),
    ({"composition": {"c": 1}}, "composition c: expected operator, principals and n"),
    ({"composition": {"d": composed()["c"]}}, "composition d: no class has this name"),
    ({"composition": composed(m=1)}, "composition c: unknown key m"),
    ({"composition": composed("one-of")}, "operator is 'one-of'; expected all-of, any-of or"),
    ({"composition": composed(principals=())}, "principals is not a list of at least one name"),
    ({"composition": composed(principals=("ann", "eve"))}, "composition c: unknown principal eve"),
    ({"composition": composed(principals=("ann", "ann"))}, "a principal is named twice"),
    ({"composition": composed(n=2)}, "composition c: n belongs to any-of; all-of needs every"),
    ({"composition": composed("staged", n=2)}, "n belongs to any-of; staged needs every"),
    ({"composition": composed("any-of", n=0)}, "n is 0; expected a number from 1 to 2"),
    ({"composition": composed("any-of", n=3)}, "n is 3; expected a number from 1 to 2"),
    ({"composition": composed("any-of", n=True)}, "n is True; expected a number from 1 to 2"),
    ({"authors": "ann"}, "authors is not a list of names"),
    ({"authors": ["eve"]}, "authors: unknown principal eve"),
    ({"authored_by": {"name": "ann"}}, "authored_by: expected name, key and authorizing_policy"),
    (
        {"authored_by": {"name": "", "key": "k", "authorizing_policy": "p"}},
        "authored_by: name is not text; authored_by: 'k' is not a key; expected ed25519: and 64 "
        "lower-case hex digits; authored_by: authorizing_policy is 'p'; expected a policy digest",
    ),
    (
        {"rules": [{"rule": "composition", "decide": "deny", "because": "x", "tools": ["X"]}]},
        "rule composition: this name is kept for what approvals decide",
    ),
]


@pytest.mark.parametrize(("more", "said"), PEOPLE_FAULTS, ids=lambda value: str(value)[:50])
def test_faults_of_people_are_named(more, said):
    body = {"version": 1, "name": "x", **PEOPLE, **more}
    with pytest.raises(PolicyError) as caught:
        compile_policy(json.dumps(body).encode(), CATALOG)
    assert said in str(caught.value)
    for fault in caught.value.faults:
        assert "Traceback" not in fault


def test_composition_is_compiled_with_what_it_needs():
    policy = compiled([], **PEOPLE, composition=composed(), authors=["bob", "ann", "bob"])
    body = json.loads(policy.data)
    assert body["composition"] == {"c": {"operator": "all-of", "principals": ["ann", "bob"]}}
    assert body["authors"] == ["ann", "bob"]
    assert body["principals"] == PEOPLE["principals"]
    policy = compiled([], **PEOPLE, composition=composed("any-of"))
    assert json.loads(policy.data)["composition"]["c"]["n"] == 1


@pytest.mark.parametrize(
    "change",
    [
        *[lambda body, name=name: body.pop(name) for name in ("name", "rules", "unattended")],
        lambda body: body.update(names=[]),
        lambda body: body.update(rules=[1]),
        lambda body: body.update(rules=[{**body["rules"][0], "effects": ["x"]}]),
        lambda body: body.update(format="x" * 1000),
    ],
)
def test_what_is_no_compiled_policy_is_refused(change):
    body = json.loads(
        compile_policy(
            b"version: 1\nname: x\nrules: [{rule: a, decide: deny, because: b, tools: [c]}]",
            CATALOG,
        )
    )
    change(body)
    with pytest.raises(PolicyError, match="mine: ") as caught:
        Policy(json.dumps(body).encode(), "mine")
    assert len(str(caught.value)) < 200
    with pytest.raises(PolicyError):
        Policy(b'{"a":' * 50_000)


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


# -- what a compiled policy may leave out, and in which ways it may not be written


def compiled_as(change) -> bytes:
    body = {
        "version": 1,
        "name": "test",
        "rules": [rule("a", "deny", type=["vcs.publish"]), rule("b", "allow", scope=["temp"])],
        "classes": [{"name": "c", "tools": ["Bash"], "effects": [{"type": ["vcs.publish"]}]}],
    }
    made = json.loads(compile_policy(json.dumps(body).encode(), CATALOG))
    change(made)
    return json.dumps(made).encode()


def effect_of(made):
    return made["rules"][0]["effects"][0]


LEFT_OUT = {
    "a rule's tools": lambda made: made["rules"][0].update(tools=None),
    "a class's tools": lambda made: made["classes"][0].update(tools=None),
    "a class's effects": lambda made: made["classes"][0].update(effects=None),
    "an effect's scope": lambda made: effect_of(made).update(scope=None),
    "an effect's every other key": lambda made: effect_of(made).update(
        scope=None, how=None, all=None, without=None, proof=None, reversible=None,
        program=None, resource=None,
    ),
}  # fmt: skip


def drop_nulls(items):
    for item in items:
        for part in (item, *(item.get("effects") or ())):
            for key in [key for key, value in part.items() if value is None]:
                del part[key]


@pytest.mark.parametrize("name", LEFT_OUT)
def test_null_is_the_same_as_absent(name):
    def left_out(made):
        LEFT_OUT[name](made)
        drop_nulls(made["classes"] + made["rules"])

    policy, absent = Policy(compiled_as(LEFT_OUT[name])), Policy(compiled_as(left_out))
    sound = Policy(compiled_as(lambda made: None))
    for kind in sorted(TYPES):
        effect = Effect(kind, "workspace", "x", True, PROVED)
        verdict = evaluate(policy, "Bash", (effect,))
        assert verdict == evaluate(absent, "Bash", (effect,))
        # A class without effects holds more calls, but no class changes an answer.
        assert verdict[:2] == evaluate(sound, "Bash", (effect,))[:2]


def test_an_effect_that_says_nothing_speaks_of_every_effect():
    policy = Policy(compiled_as(lambda made: effect_of(made).update(type=None)))
    for kind in sorted(TYPES):
        effect = Effect(kind, "workspace", "x", True, PROVED)
        assert evaluate(policy, "Bash", (effect,)).rule.decide == "deny"


@pytest.mark.parametrize("empty", ["tools:", "tools: null", "tools: ~", "tools: []"])
def test_a_source_that_leaves_tools_empty_compiles_to_a_policy(empty):
    text = (
        f"version: 1\nname: x\nclasses: [{{name: c, {empty}}}]\nrules:\n  - rule: a\n"
        f"    decide: ask\n    because: b\n    {empty}\n"
        "    effects: [{type: [vcs.publish]}]\n"
    )
    policy = Policy(compile_policy(text.encode(), CATALOG))
    assert policy.classes[0].tools == ()
    assert policy.rules_for("vcs.publish")[0].tools == ()


@pytest.mark.parametrize("key", ["type", "scope", "how", "proof", "program", "resource"])
def test_a_source_whose_effect_has_an_empty_key_is_refused(key):
    body = {"version": 1, "name": "x", "rules": [rule("a", "ask", **{key: None})]}
    with pytest.raises(PolicyError, match=f"rule a: {key} is empty; an effect without it"):
        compile_policy(json.dumps(body).encode(), CATALOG)


WRONG = {
    "tools is text": (
        lambda made: made["rules"][0].update(tools="Bash"),
        "p: rule a: tools is str; expected a list of texts",
    ),
    "tools is a mapping": (
        lambda made: made["classes"][0].update(tools={"Bash": 1}),
        "p: class c: tools is dict; expected a list of texts",
    ),
    "a tool is null": (
        lambda made: made["rules"][0].update(tools=[None]),
        "p: rule a: tools holds NoneType; expected texts",
    ),
    "effects is a mapping": (
        lambda made: made["rules"][0].update(effects={"type": ["vcs.publish"]}),
        "p: rule a: effects is dict; expected a list of mappings",
    ),
    "an effect is text": (
        lambda made: made["rules"][0].update(effects=["vcs.publish"]),
        "p: rule a: effects holds str; expected mappings",
    ),
    "a type is text": (
        lambda made: effect_of(made).update(type="vcs.publish"),
        "p: rule a: type of an effect is str; expected a list of texts",
    ),
    "reversible is text": (
        lambda made: effect_of(made).update(reversible=["no"]),
        "p: rule a: reversible of an effect holds str; expected true or false",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_another_form_is_one_clear_error(name):
    change, said = WRONG[name]
    with pytest.raises(PolicyError) as caught:
        Policy(compiled_as(change), "p")
    assert str(caught.value) == said


def test_every_fault_is_told_also_beside_a_key_given_twice():
    source = """
version: 1
name: 5
bogus: 1
rules:
  - {rule: a, decide: ask, decide: deny, because: 7, effects: [{type: [fs.wrte]}]}
  - {rule: 9, because: x, tools: [Bash]}
  - {rule: b, decide: ask, tools: [Bash]}
bogus: 2
"""
    with pytest.raises(PolicyError) as raised:
        compile_policy(source.encode(), "sha256:" + "0" * 64)
    assert raised.value.faults == [
        "line 6: key 'decide' is given twice",
        "line 9: key 'bogus' is given twice",
        "unknown key bogus",
        "name is 5; expected a text",
        "rule a: because is 7; expected a text",
        "rule a: unknown type fs.wrte",
        "rule 2: rule is 9; expected a text",
        "rule 2: decide is None; expected allow, ask or deny",
        "rule b: because is missing",
    ]
