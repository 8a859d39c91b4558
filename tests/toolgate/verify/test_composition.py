"""Whether approvals compose, part by part: what repeats, what stands in order, who counts."""

from toolgate.verify.composition import needs, repeated, satisfies, sequences
from toolgate.verify.given import Approval
from toolgate.verify.policy import Rule


def approval(entry, principal, *parents, key="", seq=0):
    said = {"principal": principal, "key": key or f"key of {principal}", "evidence": "signature"}
    return Approval(entry, seq, parents, said, True)


def unsigned(entry, principal):
    return Approval(entry, 0, (), {"principal": principal, "key": None}, True)


def test_a_name_or_a_key_that_comes_again_repeats():
    ann, bo, cy = (approval(name, name) for name in ("ann", "bo", "cy"))
    assert repeated([ann, bo, cy]) is None
    again = approval("again", "ann", key="another")
    assert repeated([ann, bo, again]) is again
    lent = approval("lent", "dan", key="key of ann")
    assert repeated([ann, bo, cy, lent]) is lent


def test_who_signed_nothing_repeats_by_name():
    ann, bo = unsigned("1", "ann"), unsigned("2", "bo")
    assert repeated([ann, bo]) is None
    assert repeated([approval("3", "bo"), bo]) is bo


def test_all_and_any():
    ann, bo, eve = (approval(name, name) for name in ("ann", "bo", "eve"))
    both = Rule("all-of", ["ann", "bo"])
    assert satisfies(both, [bo, eve, ann])
    assert not satisfies(both, [ann, eve])
    assert not satisfies(both, [ann, approval("x", "bo", key="key of ann")])
    assert not satisfies(both, [ann, approval("x", "ann", key="another")])
    assert satisfies(Rule("all-of", ["ann", "ann"]), [ann])
    two = Rule("any-of", ["ann", "bo", "cy"], 2)
    assert satisfies(two, [ann, bo])
    assert not satisfies(two, [ann, eve])


def test_stages():
    rule = Rule("staged", ["ann", "bo", "ann"])
    one = approval("1", "ann")
    two, three = approval("2", "bo", "1"), approval("3", "ann", "2")
    assert satisfies(rule, [one, two, three])
    assert satisfies(rule, [one, approval("x", "eve"), two, three])
    assert not satisfies(rule, [one, two])
    assert not satisfies(rule, [two, one, three])
    assert not satisfies(rule, [one, two, three, approval("4", "bo", "3")])
    assert not satisfies(rule, [one, two, approval("3", "ann", "1")])
    assert not satisfies(rule, [approval("1", "ann", "0"), two, three])
    assert not satisfies(rule, [one, approval("2", "bo"), three])
    assert not satisfies(rule, [one, approval("2", "bo", "1", "0"), three])


def test_sequences_follow_the_spine_and_not_the_names():
    one = approval("b", "ann", seq=1)
    two = approval("a", "bo", "b", seq=2)
    early = approval("c", "cy", "a", seq=1)
    late = approval("d", "cy", "nowhere", seq=4)
    assert sequences([two, one]) == [[one], [one, two]]
    assert sequences([two, early, one]) == [[one], [one, two]]
    assert sequences([late, two, one]) == [[one], [one, two]]


def test_what_people_are_told():
    assert needs(Rule("any-of", ["ann", "bo"], 2)) == "2 of ann, bo"
    assert needs(Rule("all-of", ["ann", "bo"])) == "all-of ann, bo"
    assert needs(Rule("staged", ["ann", "bo"])) == "staged ann, bo"
