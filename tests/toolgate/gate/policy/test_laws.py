"""The four laws of evaluation over the whole language, against a reading that tries every rule.

deny beats ask beats allow; an allow needs a rule or a proof of harmlessness; what no rule
speaks for gets the default; neither order nor repetition of rules and effects matters.
"""

import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.gate.call import Place, ToolCall
from toolgate.gate.decision import ALLOW, STRICTNESS
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.policy.compile import compile_policy
from toolgate.gate.policy.evaluate import evaluate, unattended
from toolgate.gate.policy.match import applies_to_tool, fits
from toolgate.gate.policy.model import Policy
from toolgate.gate.policy.overrides_source import expiry_of

CATALOG = "sha256:" + "0" * 64
KINDS, SCOPES = ["inspect", "fs.write", "net.send"], ["workspace", "outside"]
FACTS = ["read_secret", "read_untrusted"]
DAY = "2027-01-31"
TIMES = [0, 1, expiry_of(DAY) - 1, expiry_of(DAY)]
NAMES = st.text("ab*", min_size=1, max_size=3)

EFFECTS = st.builds(
    Effect,
    st.sampled_from(KINDS),
    st.sampled_from(SCOPES),
    st.text("ab", max_size=3),
    st.booleans(),
    st.sampled_from([PROVED, "unresolved(x)"]),
    st.sampled_from(["a", "ab"]),
    st.sampled_from(["", "force", "force all"]),
)
WANTED = st.fixed_dictionaries(
    {},
    optional={
        "type": st.lists(st.sampled_from(KINDS), min_size=1, max_size=2),
        "scope": st.lists(st.sampled_from(SCOPES), min_size=1, max_size=1),
        "how": st.just(["all"]),
        "without": st.just(["force"]),
        "proof": st.just(["unresolved"]),
        "program": st.lists(NAMES, min_size=1, max_size=2),
        "resource": st.lists(NAMES, min_size=1, max_size=2),
    },
).filter(bool)
WHEN = st.fixed_dictionaries(
    {},
    optional={
        "mode": st.sampled_from([["plan"], ["p*", "default"], ["unknown"]]),
        "agent": st.sampled_from([["*/sub"], ["main*"]]),
        "principal": st.just(["user:a"]),
        "host": st.just(["h*"]),
        "text": st.sampled_from([["a+b"], ["(?m)^ls$", "zzz"]]),
    },
).filter(bool)


@st.composite
def rules_of(draw):
    made = []
    for number in range(draw(st.integers(0, 7))):
        rule = {
            "rule": f"r{number}",
            "because": "x",
            "decide": draw(st.sampled_from([*STRICTNESS])),
        }
        parts = draw(
            st.lists(st.sampled_from(["tools", "effects", "when"]), min_size=1, unique=True)
        )
        if "tools" in parts:
            rule["tools"] = draw(st.sampled_from([["Bash"], ["B*", "Edit"]]))
        if "effects" in parts:
            rule["effects"] = draw(st.lists(WANTED, min_size=1, max_size=2))
        if "when" in parts:
            rule["when"] = draw(WHEN)
            if rule["decide"] == ALLOW:
                rule["when"].pop("text", None)
                rule["when"].setdefault("mode", ["plan"])
        if draw(st.booleans()):
            rule["facts"] = draw(st.lists(st.sampled_from(FACTS), max_size=2, unique=True))
        made.append(rule)
    return made


@st.composite
def policies(draw):
    rules = draw(rules_of())
    overrides = []
    lowered = [rule for rule in rules if rule["decide"] != ALLOW and rule.get("effects")]
    for number, rule in enumerate(lowered):
        if draw(st.booleans()):
            less = [one for one in STRICTNESS if STRICTNESS[one] < STRICTNESS[rule["decide"]]]
            overrides.append(
                {
                    "override": f"o{number}",
                    "of": rule["rule"],
                    "decide": draw(st.sampled_from(less)),
                    "because": "x",
                    "owner": "ann",
                    "expires": DAY,
                    "effects": draw(st.lists(WANTED, min_size=1, max_size=2)),
                }
            )
    return {
        "version": 1,
        "name": "any",
        "default": draw(st.sampled_from(["ask", "deny"])),
        "unattended": {"modes": ["plan"], "ask": "deny"},
        "facts": {"read_secret": {"turns": 3}, "read_untrusted": {"turns": 3}},
        "rules": rules,
        "overrides": overrides,
    }


CALLS = st.builds(
    lambda mode, agent, principal, text, ts: ToolCall(
        host="host",
        session="s",
        key=None,
        call=None,
        agent=agent,
        principal=principal,
        auth_mode="unknown",
        tool="Bash",
        input={"command": text},
        place=Place("/w", ("/w",), "/home/x"),
        mode=mode,
        task=None,
        ts=ts,
    ),
    st.sampled_from([None, "plan", "default", "auto"]),
    st.sampled_from([("main",), ("main", "sub")]),
    st.sampled_from(["user:a", "user:b"]),
    st.sampled_from(["ls", "xAABx", "a'b"]),
    st.sampled_from(TIMES),
)
KNOWN = st.sets(st.sampled_from(FACTS))
SOME_EFFECTS = st.lists(EFFECTS, min_size=1, max_size=4)


def compiled(body) -> Policy:
    return Policy(compile_policy(json.dumps(body).encode(), CATALOG))


# -- the same, read without an index, from the source ------------------------------


def _stands(rule, call, known) -> bool:
    when = rule.get("when", {})
    said = {
        "host": call.host,
        "principal": call.principal,
        "agent": "/".join(call.agent),
        "mode": call.mode or "unknown",
    }
    text = call.input["command"].lower().replace("'", "")
    found = {"a+b": "ab" in text, "(?m)^ls$": text == "ls", "zzz": "zzz" in text}
    return (
        applies_to_tool(tuple(rule.get("tools", ())), call.tool)
        and set(rule.get("facts", ())) <= known
        and all(
            applies_to_tool(tuple(values), said[key])
            for key, values in when.items()
            if key != "text"
        )
        and ("text" not in when or any(found[one] for one in when["text"]))
    )


def _on(body, rule, effect, call) -> list[str]:
    """Return what a rule, or an override in its place, answers on an effect."""
    if not any(fits(item, effect) for item in rule["effects"]):
        return []
    instead = [
        one["decide"]
        for one in body["overrides"]
        if one["of"] == rule["rule"]
        and 0 < call.ts < expiry_of(DAY)
        and any(fits(item, effect) for item in one["effects"])
    ]
    return instead or [rule["decide"]]


def plainly(body, effects, call, known) -> str:
    rules = [rule for rule in body["rules"] if _stands(rule, call, known)]
    whole = [rule["decide"] for rule in rules if not rule.get("effects")]
    answers = [one for one in whole if one != ALLOW]
    for effect in effects:
        said = [
            answer
            for rule in rules
            if rule.get("effects")
            for answer in _on(body, rule, effect, call)
        ]
        said += [one for one in whole if one == ALLOW]
        if effect.type == "inspect" and effect.proof == PROVED:
            said.append(ALLOW)
        answers.append(max(said or [body["default"]], key=STRICTNESS.__getitem__))
    return max(answers, key=STRICTNESS.__getitem__)


@settings(max_examples=150, deadline=None)
@given(policies(), SOME_EFFECTS, CALLS, KNOWN)
def test_the_answer_is_the_strictest_of_what_every_rule_says(body, effects, call, known):
    verdict = evaluate(compiled(body), "Bash", tuple(effects), known.__contains__, call)
    assert verdict.rule.decide == plainly(body, effects, call, known)


@settings(max_examples=60, deadline=None)
@given(policies(), SOME_EFFECTS, CALLS, KNOWN)
def test_deny_beats_ask_beats_allow(body, effects, call, known):
    policy = compiled(body)
    parts = [
        evaluate(policy, "Bash", (effect,), known.__contains__, call).rule.decide
        for effect in effects
    ]
    whole = evaluate(policy, "Bash", tuple(effects), known.__contains__, call).rule.decide
    assert whole == max(parts, key=STRICTNESS.__getitem__)


@settings(max_examples=60, deadline=None)
@given(policies(), SOME_EFFECTS, CALLS, KNOWN)
def test_an_allow_needs_a_rule_or_a_proof_of_harmlessness(body, effects, call, known):
    body["rules"] = [rule for rule in body["rules"] if rule["decide"] != ALLOW]
    body["overrides"] = [
        one
        for one in body["overrides"]
        if one["decide"] != ALLOW and one["of"] in {rule["rule"] for rule in body["rules"]}
    ]
    verdict = evaluate(compiled(body), "Bash", tuple(effects), known.__contains__, call)
    harmless = all(one.type == "inspect" and one.proof == PROVED for one in effects)
    assert verdict.rule.decide != ALLOW or harmless


@settings(max_examples=60, deadline=None)
@given(policies(), SOME_EFFECTS, CALLS, KNOWN)
def test_the_default_holds_where_no_rule_speaks(body, effects, call, known):
    body["rules"], body["overrides"] = [], []
    verdict = evaluate(compiled(body), "Bash", tuple(effects), known.__contains__, call)
    harmless = all(one.type == "inspect" and one.proof == PROVED for one in effects)
    assert verdict.rule.decide == (ALLOW if harmless else body["default"])
    assert harmless or verdict.rule.name == "default"


@settings(max_examples=60, deadline=None)
@given(policies(), SOME_EFFECTS, CALLS, KNOWN, st.randoms())
def test_order_and_repetition_do_not_matter(body, effects, call, known, chance: random.Random):
    other = {**body}
    for key in ("rules", "overrides"):
        other[key] = [*body[key], *body[key][:2]]
        chance.shuffle(other[key])
    mixed = [*effects, effects[-1]]
    chance.shuffle(mixed)
    one, two = compiled(body), compiled(other)
    assert one.digest == two.digest
    first = evaluate(one, "Bash", tuple(effects), known.__contains__, call)
    second = evaluate(two, "Bash", tuple(mixed), known.__contains__, call)
    assert first.rule == second.rule


@settings(max_examples=40, deadline=None)
@given(policies(), SOME_EFFECTS, CALLS, KNOWN)
def test_every_ask_is_converted_where_nobody_can_be_asked(body, effects, call, known):
    policy = compiled(body)
    state = evaluate(policy, "Bash", tuple(effects), known.__contains__, call).rule.decide
    answer = unattended(policy, state, call.mode)
    assert answer == ("deny" if state == "ask" and call.mode == "plan" else state)
