"""Rules found through the index, against trying every rule on every effect."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.gate.decision import STRICTNESS
from toolgate.gate.effects.model import OPENING, PROVED, Effect, is_stored
from toolgate.gate.effects.patterns import matches
from toolgate.gate.policy.compile import compile_policy
from toolgate.gate.policy.evaluate import evaluate
from toolgate.gate.policy.index import MAX_KEPT, PatternIndex
from toolgate.gate.policy.match import applies, applies_to_tool, fits
from toolgate.gate.policy.model import Policy
from toolgate.gate.policy.rule import HARMLESS, Rule, rank

CATALOG = "sha256:" + "0" * 64
KINDS, SCOPES = ["inspect", "fs.read", "fs.write", "net.send"], ["workspace", "home", "secret"]
FACTS = ["read_secret", "read_untrusted"]
NAMES = st.text("ab/*", max_size=5).filter(bool)

EFFECTS = st.builds(
    Effect,
    st.sampled_from([*KINDS, f"{OPENING}net.send)"]),
    st.sampled_from(SCOPES),
    st.text("ab/", max_size=5),
    st.booleans(),
    st.sampled_from([PROVED, "unresolved(x)"]),
    st.sampled_from(["a", "b", "ab"]),
    st.sampled_from(["", "force", "force all"]),
)
WANTED = st.fixed_dictionaries(
    {},
    optional={
        "type": st.lists(st.sampled_from(KINDS), min_size=1, max_size=2),
        "scope": st.lists(st.sampled_from(SCOPES), min_size=1, max_size=2),
        "how": st.just(["all"]),
        "without": st.just(["force"]),
        "proof": st.just(["unresolved"]),
        "reversible": st.just([True]),
        "program": st.lists(NAMES, min_size=1, max_size=2),
        "resource": st.lists(NAMES, min_size=1, max_size=2),
    },
).filter(bool)
PART = {
    "tools": st.lists(st.sampled_from(["Bash", "B*", "Edit"]), min_size=1, max_size=2),
    "effects": st.lists(WANTED, min_size=1, max_size=2),
}
RULES = st.lists(
    st.tuples(
        st.sampled_from([*"abcdefgh", "default", "harmless"]),
        st.sampled_from(list(STRICTNESS)),
        st.one_of(
            st.fixed_dictionaries({"tools": PART["tools"]}),
            st.fixed_dictionaries({"effects": PART["effects"]}),
            st.fixed_dictionaries(PART),
        ),
        st.lists(st.sampled_from(FACTS), max_size=2, unique=True),
    ),
    max_size=8,
    unique_by=lambda item: item[0],
)
CLASS = st.fixed_dictionaries(
    {},
    optional={
        "tools": PART["tools"],
        "effects": st.lists(
            st.fixed_dictionaries({"type": st.lists(st.sampled_from(KINDS), min_size=1)}),
            min_size=1,
        ),
    },
)


def every_rule_tried(
    policy: Policy, tool: str, effects: list[Effect], known: list[str]
) -> tuple[Rule, str, set[str]]:
    """Return the deciding rule, the class and the facts asked for, by the policy's words alone."""
    effects = [effect for effect in effects if not is_stored(effect.type)]
    said = [rule for rule in policy.rules if not rule.effects and applies_to_tool(rule.tools, tool)]
    asked = {code for rule in said for code in rule.facts}
    on_call = [rule for rule in said if set(rule.facts) <= set(known)]
    verdicts = []
    for effect in effects:
        spoken = [rule for rule in policy.rules if applies(rule, tool, effect)]
        asked.update(code for rule in spoken for code in rule.facts)
        found = [rule for rule in spoken if set(rule.facts) <= set(known)]
        found += [rule for rule in on_call if rule.decide == "allow"]
        if effect.type == "inspect" and effect.proof == PROVED:
            found.append(HARMLESS)
        answers = [(rule, effect) for rule in found or [policy.unspoken]]
        verdicts.append(min(answers, key=lambda v: rank(*v)))
    verdicts += [(rule, None) for rule in on_call if rule.decide != "allow" or not effects]
    rule, _ = min(verdicts or [(policy.unspoken, None)], key=lambda v: rank(*v))
    named = (
        item.name
        for item in policy.classes
        if applies_to_tool(item.tools, tool)
        and (not item.effects or any(fits(w, e) for w in item.effects for e in effects))
    )
    return rule, next(named, "other"), asked


@settings(max_examples=150, deadline=None)
@given(
    RULES,
    st.lists(CLASS, max_size=3),
    st.lists(EFFECTS, max_size=4),
    st.lists(st.sampled_from(FACTS)),
)
def test_the_index_answers_as_trying_every_rule_does(rules, classes, effects, known):
    body = {
        "version": 1,
        "name": "test",
        "classes": [{"name": f"c{n}", **item} for n, item in enumerate(classes)],
        "facts": {code: {"turns": 3} for code in FACTS},
        "rules": [
            {"rule": name, "decide": d, "because": "x", **more, **({"facts": f} if f else {})}
            for name, d, more, f in rules
        ],
    }
    policy = Policy(compile_policy(json.dumps(body).encode(), CATALOG))
    for tool in ("Bash", "Edit", "Bash"):  # the third time from what is kept
        asked = set()

        def is_known(code, asked=asked):
            asked.add(code)
            return code in known

        verdict = evaluate(policy, tool, tuple(effects), is_known)
        wanted = every_rule_tried(policy, tool, effects, known)
        assert (verdict.rule, verdict.action_class, asked) == wanted


@given(st.lists(st.lists(NAMES, min_size=1, max_size=3), max_size=6), st.text("ab/", max_size=6))
def test_a_pattern_index_finds_what_matches(patterns, text):
    index = PatternIndex((item, number) for number, item in enumerate(patterns))
    wanted = {n for n, item in enumerate(patterns) if any(matches(text, p) for p in item)}
    assert set(index.find(text)) == wanted


def test_what_is_kept_is_bounded():
    body = {"version": 1, "name": "test", "rules": []}
    policy = Policy(compile_policy(json.dumps(body).encode(), CATALOG))
    for number in range(MAX_KEPT + 10):
        effect = Effect("inspect", "workspace", "r", True, PROVED, "p", f"mark{number}")
        assert evaluate(policy, f"tool{number}", (effect,)).rule == HARMLESS
    assert len(policy.index._answers) <= MAX_KEPT
    assert len(policy.index._on_call) <= MAX_KEPT
