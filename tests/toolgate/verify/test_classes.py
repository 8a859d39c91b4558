"""What the verifier derives from effects, held against the gate's own reading and a plain one."""

from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolgate.action import SCOPES
from toolgate.canonical import digest
from toolgate.gate.effects.model import Effect as GateEffect
from toolgate.gate.open import default_gate
from toolgate.gate.policy.evaluate import evaluate
from toolgate.gate.policy.model import Policy
from toolgate.verify import entries, policies, shapes
from toolgate.verify.policy import ActionClass, Wanted

BALANCED = orjson.loads(default_gate().policy.data)
TYPES = ("inspect", "fs.read", "net.send")
PROOFS = ("proved", "unresolved(glob)", "unresolved(name)")
effects = st.lists(
    st.builds(
        shapes.Effect,
        count=st.just(1),
        proof=st.sampled_from(PROOFS),
        resource=st.just("h:" + "0" * 32),
        reversible=st.booleans(),
        scope=st.sampled_from(SCOPES),
        type=st.sampled_from(TYPES),
    ),
    max_size=10,
)
tools = st.text("ab", min_size=1, max_size=5)
patterns = st.text("ab*", min_size=1, max_size=5)


def some(values: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    """Return a list of some values, or nothing."""
    return st.none() | st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True)


wanted = st.fixed_dictionaries(
    {},
    optional={
        "type": some(TYPES),
        "scope": some(SCOPES),
        "reversible": some((True, False)),
        "proof": some(("proved", "unresolved", "unresolved(glob)")),
    },
).map(lambda item: {key: value for key, value in item.items() if value is not None})
classes = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["one", "two", "three"])},
        optional={
            "tools": st.lists(patterns, min_size=1, max_size=2),
            "effects": st.lists(wanted, min_size=1, max_size=2),
        },
    ),
    max_size=3,
)


def by_gate(given_classes: list[dict[str, Any]], tool: str, items: list[shapes.Effect]) -> str:
    """Return the class the gate gives."""
    policy = Policy(orjson.dumps({**BALANCED, "classes": given_classes}))
    seen = tuple(
        GateEffect(one.type, one.scope, one.resource, one.reversible, one.proof) for one in items
    )
    return evaluate(policy, tool, seen).action_class


def read(given_classes: list[dict[str, Any]]) -> list[ActionClass]:
    """Return classes as the verifier reads them."""
    return [
        ActionClass(
            item["name"],
            item.get("tools"),
            [Wanted(**one) for one in item["effects"]] if "effects" in item else None,
        )
        for item in given_classes
    ]


@given(classes, tools, effects)
@example([{"name": "one", "tools": ["a*a"]}], "a", [])
@example([{"name": "one", "tools": ["a*b*a"]}], "aba", [])
@example([{"name": "one", "tools": ["*ab*ab*"]}], "abab", [])
@example([{"name": "one", "tools": ["*ab*ab*"]}], "ab", [])
@example([{"name": "one", "tools": ["a*ba*b"]}], "abab", [])
@example([{"name": "one", "tools": ["a*ba"]}], "aba", [])
def test_a_class_is_the_gates_own(given_classes, tool, items):
    assert policies.class_of(read(given_classes), tool, items) == by_gate(
        given_classes, tool, items
    )


@given(classes, st.lists(st.tuples(tools, effects), min_size=2, max_size=12))
def test_what_is_remembered_of_classes_changes_none(given_classes, calls):
    text = orjson.dumps({"classes": given_classes})
    held = policies.Policies(lambda version: text, lambda version: None)
    version = digest(text)
    held.announced[version] = 1
    assert held.fault(version, None) is None
    for tool, items in calls:
        decision = decided(version, tool, items)
        assert held.class_of(decision) == by_gate(given_classes, tool, items)


def decided(version: str, tool: str, items: list[shapes.Effect]) -> shapes.Decision:
    """Return a decision that says what a class rests on, and little else."""
    some_digest = digest(b"")
    event = shapes.DecisionEvent(
        some_digest, some_digest, "agent", some_digest, "allowed", version, "p", 1
    )
    return shapes.Decision(
        axis=None,
        basis=[],
        build="b",
        action_class="c",
        effects=items,
        ev=event,
        facts=[],
        host="h",
        intent=shapes.Intent(tool, "a", "c", "workspace", 1),
        kind="decision",
        mode=None,
        parents=[],
        proof="proved",
        rule="r",
        session="s",
        ts=1,
        turn=1,
        v=1,
    )


@pytest.mark.parametrize("first", range(len(SCOPES)))
@pytest.mark.parametrize("second", range(len(SCOPES)))
def test_the_strictest_scope_counts(first, second):
    both = [
        shapes.Effect(1, "proved", "h:" + "0" * 32, True, SCOPES[at], "inspect")
        for at in (first, second)
    ]
    assert entries._strictest(both) == SCOPES[max(first, second)]
    assert entries._strictest(both[:1]) == SCOPES[first]


def test_no_effect_has_the_mildest_scope():
    assert entries._strictest([]) == SCOPES[0]
