"""How approvals make one: who is chosen, who is missing, and what the sentence says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate.approval import Approval
from toolgate.errors import InputError
from toolgate.gate.policy.compose import ALL_OF, ANY_OF, STAGED, Rule

NAMES = ("ann", "bob", "eve")


def approval(seq, name, after=None, key=None):
    ev = {"principal": name, "key": key or f"key of {name}", "verdict": "approve", "expiry": 9}
    return Approval(f"e{seq}", seq, seq, after, ev)


def given_by(*names):
    return [approval(seq, name) for seq, name in enumerate(names)]


def line(*names):
    return [approval(seq, name, f"e{seq - 1}" if seq else None) for seq, name in enumerate(names)]


CASES = [
    (Rule(ALL_OF, 1, NAMES), given_by("ann", "bob"), (), "eve must still approve"),
    (Rule(ALL_OF, 1, NAMES), given_by("eve", "ann", "bob"), ("e0", "e1", "e2"), None),
    (Rule(ALL_OF, 1, NAMES), [], (), "ann, bob and eve must approve"),
    (Rule(ALL_OF, 1, ("ann",)), [], (), "ann must approve"),
    (Rule(ANY_OF, 1, NAMES), [], (), "ann, bob or eve must approve"),
    (Rule(ANY_OF, 1, NAMES), given_by("mallory"), (), "ann, bob or eve must approve"),
    (Rule(ANY_OF, 2, NAMES), [], (), "2 of ann, bob or eve must approve"),
    (Rule(ANY_OF, 2, NAMES), given_by("bob", "bob"), (), "ann or eve must still approve"),
    (Rule(ANY_OF, 2, NAMES), given_by("bob", "bob", "eve", "ann"), ("e0", "e2"), None),
    (Rule(ANY_OF, 2, ("ann", "bob")), [], (), "ann and bob must approve"),
    (Rule(STAGED, 1, NAMES), line("ann", "bob", "eve"), ("e0", "e1", "e2"), None),
    (Rule(STAGED, 1, NAMES), line("ann"), (), "bob, then eve must still approve"),
    (Rule(STAGED, 1, NAMES), given_by("ann", "bob", "eve"), (), "bob, then eve must still approve"),
    (Rule(STAGED, 1, NAMES), line("bob", "ann", "eve"), (), "ann, then bob, then eve must approve"),
]


@pytest.mark.parametrize(("rule", "standing", "chosen", "phrase"), CASES)
def test_choice_and_sentence(rule, standing, chosen, phrase):
    assert tuple(item.entry for item in rule.choose(standing)) == chosen
    if phrase is not None:
        assert rule.phrase(standing) == phrase
    else:
        assert rule.missing(standing) == ()


def test_one_key_counts_for_one_principal_only():
    standing = [approval(0, "ann", key="k"), approval(1, "bob", key="k")]
    assert Rule(ALL_OF, 1, ("ann", "bob")).choose(standing) == ()
    staged = [approval(0, "ann", key="k"), approval(1, "bob", "e0", key="k")]
    assert Rule(STAGED, 1, ("ann", "bob")).choose(staged) == ()


def test_in_a_sequence_everybody_names_the_one_before():
    rule = Rule(STAGED, 1, NAMES)
    standing = line("ann", "bob")
    assert rule.previous("ann", standing) is None
    assert rule.previous("bob", standing).entry == "e0"
    assert rule.previous("eve", standing).entry == "e1"
    assert Rule(ALL_OF, 1, NAMES).previous("eve", standing) is None
    with pytest.raises(InputError, match="'eve' approves after 'bob', who has not yet"):
        rule.previous("eve", line("ann"))


RULES = st.one_of(
    st.permutations(NAMES).map(lambda names: Rule(ALL_OF, 1, tuple(names))),
    st.integers(1, 3).map(lambda n: Rule(ANY_OF, n, NAMES)),
    st.permutations(NAMES).map(lambda names: Rule(STAGED, 1, tuple(names))),
)
STANDING = st.lists(
    st.tuples(st.sampled_from((*NAMES, "mallory")), st.integers(-1, 8)), max_size=9
).map(
    lambda items: [
        approval(seq, name, f"e{after}" if 0 <= after < seq else None)
        for seq, (name, after) in enumerate(items)
    ]
)


@given(RULES, STANDING)
def test_what_is_chosen_is_enough_and_nothing_more(rule, standing):
    chosen = rule.choose(standing)
    people = [item.principal for item in chosen]
    assert len(set(people)) == len(people)
    assert set(people) <= set(rule.principals)
    assert [item.seq for item in chosen] == sorted(item.seq for item in chosen)
    assert bool(chosen) is not bool(rule.missing(standing))
    if chosen:
        assert len(chosen) == (rule.n if rule.operator == ANY_OF else len(rule.principals))
        assert all(not rule.choose(chosen[:at] + chosen[at + 1 :]) for at in range(len(chosen)))
        if rule.operator == STAGED:
            assert tuple(people) == rule.principals


@given(RULES, STANDING, STANDING)
def test_more_approvals_never_take_satisfaction_away(rule, standing, more):
    if rule.choose(standing):
        later = [item._replace(entry="l" + item.entry, seq=item.seq + 100) for item in more]
        assert rule.choose([*standing, *later])
