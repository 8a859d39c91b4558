"""What is proposed from calls people approved, and what never is: on calls made up here."""

import pytest

from toolgate.learning.answers import (
    DENIED,
    INFERRED,
    OPEN,
    REFUSED,
    REPORTED,
    SIGNED,
    HeldBack,
    Shape,
)
from toolgate.learning.page import page
from toolgate.learning.proposals import propose

WRITE = Shape("fs.write", "home", True, "proved")
SEND = Shape("net.send", "outside", False, "proved")
LOOK = Shape("inspect", "workspace", True, "proved")
CODE = Shape("exec.code", "unknown", True, "unresolved(unknown-program)")
RULES = [
    {"rule": "home", "decide": "ask", "effects": [{"type": ["fs.write"], "scope": ["home"]}]},
    {"rule": "force", "decide": "ask", "effects": [{"type": ["net.send"], "how": ["force"]}]},
    {"rule": "floor", "decide": "ask", "floor": True, "effects": [{"type": ["fs.write"]}]},
    {"rule": "whole", "decide": "ask", "tools": ["Bash"]},
    {"rule": "own", "decide": "allow", "effects": [{"type": ["net.send"], "how": ["own"]}]},
    {"rule": "temp", "decide": "allow", "effects": [{"type": ["fs.write"], "scope": ["temp"]}]},
]
POLICY = {"default": "ask", "rules": RULES}


def calls(count, answer=SIGNED, *, rule="home", tool="Bash", shapes=(WRITE,), session="s"):
    return [
        HeldBack(
            entry=f"sha256:{answer}{number:058x}",
            session=session,
            call=f"c{number}",
            tool=tool,
            rule=rule,
            axis=None,
            answer=answer,
            shapes=tuple(sorted(shapes)),
            decision=None,
        )
        for number in range(count)
    ]


def test_an_exception_names_the_effects_the_rule_spoke_about_and_no_other():
    held = calls(5, shapes=(WRITE, LOOK, CODE))
    (one,), left = propose(held, POLICY)
    assert (one.of, one.tool, left) == ("home", None, [])
    assert one.effects == (
        {"type": ["fs.write"], "scope": ["home"], "reversible": [True], "proof": ["proved"]},
    )


def test_how_each_yes_is_known_is_counted():
    held = calls(2) + calls(2, REPORTED, session="t") + calls(1, INFERRED)
    (one,), _ = propose(held, POLICY)
    assert one.counts == {SIGNED: 2, REPORTED: 2, INFERRED: 1}
    assert (one.approved, one.sessions) == (5, 2)


def test_what_else_it_would_have_allowed_is_named():
    held = calls(5) + calls(2, DENIED) + calls(1, OPEN) + calls(1, DENIED, rule="other")
    (one,), _ = propose(held, POLICY)
    assert (len(one.denied), len(one.open)) == (2, 1)
    text = "\n".join(page([one], [], 5, None, ""))
    assert "# It would also have allowed 2 denied calls (denied00, denied00)." in text
    assert "# It would also have allowed 1 unanswered ask (open0000)." in text


def test_a_refusal_counts_against_all_it_may_have_been():
    """Whether a rule let the refused call's sending pass, its entry does not show."""
    unknown = Shape("infra.mutate", "outside", False, "proved")
    held = calls(5, rule="default", shapes=(unknown,))
    assert len(propose(held, POLICY)[0]) == 1
    refused = calls(1, REFUSED, rule="default", shapes=(unknown, SEND))
    made, (left,) = propose(held + refused, POLICY)
    assert made == []
    assert left.why == "one of them was refused (refused0)"


def test_a_refusal_of_something_else_does_not():
    held = calls(5) + calls(3, REFUSED, rule="force", shapes=(SEND,))
    held += calls(3, REFUSED, rule="default", shapes=(WRITE._replace(scope="outside"),))
    assert len(propose(held, POLICY)[0]) == 1


def test_what_another_rule_allows_for_certain_is_not_proposed_again():
    unknown = Shape("infra.mutate", "outside", False, "proved")
    temp = WRITE._replace(scope="temp")
    (one,), _ = propose(calls(5, rule="default", tool="X", shapes=(unknown, temp, LOOK)), POLICY)
    assert [item["type"] for item in one.effects] == [["infra.mutate"]]
    assert one.tool == "X"


def test_the_wider_proposal_holds_the_narrower():
    other = SEND._replace(scope="unknown")
    held = calls(5, rule="force", shapes=(SEND,)) + calls(1, rule="force", shapes=(SEND, other))
    (one,), _ = propose(held, POLICY)
    assert (one.approved, len(one.effects)) == (6, 2)


def test_programs_are_named_where_they_are_known():
    shapes = [(CODE._replace(program=name),) for name in ("b", "a", "b")]
    held = [one for some in shapes for one in calls(2, rule="default", shapes=some)]
    made, _ = propose(held, POLICY, 2)
    assert sorted(one.effects[0]["program"] for one in made) == [["a"], ["b"]]
    both = calls(3, rule="default", shapes=(shapes[0][0], shapes[1][0]))
    (one,), _ = propose(both, POLICY, 2)
    assert one.effects[0]["program"] == ["a", "b"]
    half = calls(3, rule="default", tool="X", shapes=(shapes[0][0], CODE))
    (one,), _ = propose(half, POLICY, 2)
    assert "program" not in one.effects[0]


@pytest.mark.parametrize(
    ("held", "why"),
    [
        (calls(5, rule="floor"), "the rule is a floor, which has no exceptions"),
        (calls(5, rule="whole"), "the rule speaks about whole calls, which have no exceptions"),
        (calls(5, rule="gone"), "the policy in use asks by no such rule"),
        (calls(5, rule="temp"), "the policy in use asks by no such rule"),
        (calls(5, rule="default", shapes=(LOOK,)),
         "their entries do not show which effect no rule spoke for"),
        (calls(5, rule="default", shapes=(CODE,)),
         "what the calls do is unresolved(unknown-program), and only the vault could tell which "
         "programs they are"),
        (calls(5, shapes=(WRITE, Shape("gate.tamper", "gate", True, "proved"))),
         "some of them change this gate"),
        (calls(5, shapes=(WRITE, WRITE._replace(scope="gate"))), "some of them change this gate"),
        (calls(5, rule="force", shapes=(SEND, Shape("secret.read", "secret", True, "proved"))),
         "some of them send where a secret is at hand"),
        (calls(5) + calls(3, REFUSED), "3 of them were refused (refused0)"),
    ],
)  # fmt: skip
def test_what_is_never_proposed(held, why):
    made, (left,) = propose(held, POLICY)
    assert made == []
    assert left.why == why
    said = page(made, [left], 5, None, "")
    assert said[-1].endswith(f": {why}.")


def test_fewer_than_the_least_are_nothing():
    assert propose(calls(4), POLICY) == ([], [])
    assert len(propose(calls(4), POLICY, 4)[0]) == 1


def test_order_of_the_calls_means_nothing():
    held = calls(5) + calls(6, rule="force", shapes=(SEND,)) + calls(5, rule="floor")
    there, back = propose(held, POLICY), propose(list(reversed(held)), POLICY)
    assert page(*there, 5, None, "") == page(*back, 5, None, "")
    assert [one.approved for one in there[0]] == [6, 5]


@pytest.mark.parametrize("name", ["yes", "1.5", "a: b", "x'y\"", "tür", "#no", "- a", "a\nb", "~"])
def test_any_name_comes_back_from_the_page(name):
    import yaml

    policy = {"default": "ask", "rules": [{**RULES[0], "rule": name}]}
    held = calls(5, rule=name) + calls(5, rule="default", tool=name)
    held += calls(5, rule="default", tool=name, shapes=(LOOK,))
    made, left = propose(held, policy)
    said = yaml.safe_load("\n".join(page(made, left, 5, name, "2027-01-31")))
    assert len(left) == 1
    assert said["overrides"][0]["of"] == said["overrides"][0]["owner"] == name
    assert said["rules"][0]["tools"] == [name]
