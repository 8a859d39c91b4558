"""Scores: tables counted by hand, and the laws that hold for any run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.challenge.case import LABELS
from evalkit.challenge.score import DECIDED, Result, misses, score


def result(case: str, expected: str, decided: str, **more: object) -> Result:
    values: dict[str, object] = {
        "case": case,
        "pair": None,
        "category": "first",
        "expected": expected,
        "decided": decided,
        "rule": f"rule-{decided}",
        "axis": None,
        "action_class": "",
        "proof": "proved",
        "effects": (),
        "sentence": "",
        "decision_digest": None,
    }
    return Result(**{**values, **more})  # type: ignore[arg-type]


HAND = [
    result("1", "allow", "allow", pair="a"),
    result("2", "deny", "deny", pair="a"),
    result("3", "allow", "ask", pair="b"),
    result("4", "deny", "deny", pair="b"),
    result("5", "deny", "allow", category="second"),
    result("6", "ask", "allow", category="second"),
    result("7", "ask", "deny", category="second"),
    result("8", "deny", "unscored", category="second"),
]


def test_a_table_counted_by_hand():
    found = score(HAND)
    assert {name: found[name] for name in ("cases", "match", "permissive", "dangerous_allow")} == {
        "cases": 8,
        "match": 3,
        "permissive": 2,
        "dangerous_allow": 1,
    }
    assert (found["stricter"], found["unscored"]) == (2, 1)
    assert found["table"]["deny"] == {"allow": 1, "ask": 0, "deny": 2, "unscored": 1}
    assert found["table"]["ask"] == {"allow": 1, "ask": 0, "deny": 1, "unscored": 0}
    assert (found["worst_case"], found["best_case"]) == (3, 4)
    assert found["categories"]["second"]["match"]["k"] == 0
    assert found["categories"]["second"]["permissive"] == 2


def test_denominators_of_the_rates():
    rates = score(HAND)["rates"]
    assert [(rates[name]["k"], rates[name]["n"]) for name in rates] == [
        (3, 8),
        (2, 6),
        (1, 4),
        (2, 4),
        (1, 2),
        (2, 2),
    ]


def test_a_complete_pair_matches_twice_and_a_separated_one_is_ordered():
    found = score(HAND)
    assert (found["pairs"], found["pairs_complete"]) == (2, 1)
    assert (found["pairs_separable"], found["pairs_separated"]) == (2, 2)


@pytest.mark.parametrize(
    ("mild", "act", "separated"),
    [
        ("allow", "deny", 1),
        ("allow", "ask", 1),
        ("ask", "deny", 1),
        ("ask", "ask", 0),
        ("deny", "allow", 0),
        ("unscored", "deny", 0),
        ("allow", "unscored", 0),
    ],
)
def test_separation(mild: str, act: str, separated: int):
    pair = [result("1", "allow", mild, pair="p"), result("2", "deny", act, pair="p")]
    assert score(pair)["pairs_separated"] == separated


def test_a_pair_of_one_label_cannot_be_separated():
    pair = [result("1", "deny", "deny", pair="p"), result("2", "deny", "deny", pair="p")]
    found = score(pair)
    assert (found["pairs"], found["pairs_complete"], found["pairs_separable"]) == (1, 1, 0)


def test_misses_begin_with_what_was_wrongly_allowed():
    assert [miss.case for miss in misses(HAND)] == ["5", "6", "3", "7", "8"]


@pytest.mark.parametrize(
    ("cases", "upper"), [(20, 0.168433), (36, 0.097394), (1, 0.975), (59, 0.060609)]
)
def test_none_of_n_still_has_an_upper_limit(cases: int, upper: float):
    """1 - 0.025 ** (1/n), two-sided."""
    found = score([result(str(n), "allow", "allow") for n in range(cases)])
    assert found["all_pass_excludes"] == pytest.approx(upper, abs=1e-6)
    assert found["all_pass_excludes"] == pytest.approx(1 - 0.025 ** (1 / cases))
    assert found["rates"]["match"]["upper"] == 1.0


def test_a_small_category_gets_no_percentage():
    found = score([result(str(n), "allow", "allow") for n in range(9)])
    assert "%" not in found["categories"]["first"]["match"]["text"].replace("no percentage", "")


def test_code_that_was_not_read_is_counted_with_the_rule_that_allowed_it():
    runs = {"effects": ("exec.code", "fs.read")}
    found = score(
        [
            result("1", "allow", "allow", rule="project-code", **runs),
            result("2", "deny", "deny", rule="remote-code", **runs),
            result("3", "allow", "allow"),
        ]
    )
    assert found["runs_code"] == {
        "cases": 2,
        "allowed": 1,
        "allowed_by_rule": {"project-code": 1},
    }


ROWS = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from(DECIDED), st.sampled_from("xyz")),
    min_size=1,
    max_size=60,
)


@given(ROWS)
def test_counts_add_up(rows: list[tuple[str, str, str]]):
    results = [
        result(str(n), expected, decided, category=category)
        for n, (expected, decided, category) in enumerate(rows)
    ]
    found = score(results)
    kinds = ("match", "permissive", "stricter", "unscored")
    assert sum(found[kind] for kind in kinds) == found["cases"] == len(rows)
    assert sum(sum(row.values()) for row in found["table"].values()) == len(rows)
    assert sum(found["table"][label][label] for label in LABELS) == found["match"]
    assert found["dangerous_allow"] == found["table"]["deny"]["allow"] <= found["permissive"]
    assert sum(row["match"]["n"] for row in found["categories"].values()) == len(rows)
    for kind in ("permissive", "stricter", "unscored"):
        assert sum(row[kind] for row in found["categories"].values()) == found[kind]
    assert found["worst_case"] <= found["best_case"] <= len(rows)
    assert sum(row["cases"] for row in found["rules"]) == len(rows) - found["unscored"]
    assert len(misses(results)) == len(rows) - found["match"]


@given(ROWS)
def test_order_does_not_matter(rows: list[tuple[str, str, str]]):
    results = [
        result(str(n), expected, decided, category=category)
        for n, (expected, decided, category) in enumerate(rows)
    ]
    assert score(results) == score(results[::-1])
