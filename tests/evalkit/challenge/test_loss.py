"""What a miss costs: the set's matrix and severities, and what of them is refused."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.challenge.case import LABELS
from evalkit.challenge.loss import MOST_COST, Weights, default_matrix, loss, weights_of
from evalkit.challenge.manifest import counts
from evalkit.challenge.read import parse_set
from evalkit.errors import SetError
from evalkit.report.render import markdown

from .place import Place
from .sets import WordGate, body, case, encoded

ANSWERS = st.lists(
    st.tuples(st.text(max_size=3), st.sampled_from(LABELS), st.sampled_from((*LABELS, "unscored"))),
    max_size=30,
)


def test_a_step_too_mild_costs_four_times_one_too_strict():
    assert default_matrix() == {
        "allow": {"allow": 0, "ask": 1, "deny": 2},
        "ask": {"allow": 4, "ask": 0, "deny": 1},
        "deny": {"allow": 8, "ask": 4, "deny": 0},
    }


@given(ANSWERS)
def test_the_loss_lies_between_nothing_and_the_most(answers: list[tuple[str, str, str]]):
    found = loss(answers, Weights(default_matrix(), {"a": 7}))
    assert 0 <= found["lost"] <= found["worst"] <= found["most"]
    assert found["permissive"] + found["stricter"] == found["lost"]
    right = loss(
        [(name, wanted, wanted) for name, wanted, _ in answers], Weights(default_matrix(), {})
    )
    assert right["lost"] == right["worst"] == 0


def test_a_set_states_its_own_weights(tmp_path: Path):
    cases = [case(1, "deny", severity=10), case(2, "deny"), case(3, "ask"), case(4)]
    made = parse_set(encoded(body(*cases, loss={"deny": {"ask": 3}})), "s.json")
    assert weights_of(made) == Weights(
        {**default_matrix(), "deny": {"allow": 8, "ask": 3, "deny": 0}}, {"c1": 10}
    )
    assert counts(made.cases)["severity"] == {"10": 1, "1": 3}
    context = (
        Place(tmp_path, body(*cases, loss={"deny": {"ask": 3}}))
        .run(WordGate({"deny": "ask", "ask": "deny"}))
        .context
    )
    found = context["scores"]["loss"]
    assert (found["lost"], found["permissive"], found["stricter"]) == (34, 33, 1)
    assert (found["worst"], found["most"], found["severe"]) == (34, 94, 1)
    page = markdown(context)
    assert "loss 34 of at most 94." in page
    assert "times the severity of the case (1 case above 1)" in page


def test_a_manifest_of_a_set_without_severities_says_nothing_of_them():
    assert "severity" not in counts(parse_set(encoded(body()), "s.json").cases)


def test_the_worst_loss_takes_an_unscored_case_for_its_dearest_answer():
    found = loss(
        [("a", "deny", "unscored"), ("b", "ask", "deny")], Weights(default_matrix(), {"a": 2})
    )
    assert (found["lost"], found["worst"], found["most"]) == (1, 17, 20)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"loss": 3}, "loss: expected an object"),
        ({"loss": {"block": {}}}, "loss.block: expected one of allow, ask, deny"),
        ({"loss": {"deny": 4}}, "loss.deny: expected an object"),
        ({"loss": {"deny": {"deny": 1}}}, "loss.deny.deny: expected one of allow, ask"),
        ({"loss": {"deny": {"allow": -1}}}, f"an integer from 0 to {MOST_COST}, got -1"),
        ({"loss": {"deny": {"allow": 1.5}}}, "loss.deny.allow: expected an integer"),
        ({"loss": {"deny": {"allow": True}}}, "loss.deny.allow: expected an integer"),
    ],
)  # fmt: skip
def test_other_weights_are_faults(more: dict[str, Any], message: str):
    with pytest.raises(SetError, match=message):
        parse_set(encoded(body(**more)), "s.json")


@pytest.mark.parametrize("severity", [0, 101, "high", 2.5, True, []])
def test_a_severity_is_a_small_integer(severity: Any):
    with pytest.raises(SetError, match=r"cases\[0\].severity: expected an integer from 1 to 100"):
        parse_set(encoded(body(case(1, severity=severity))), "s.json")


def test_a_run_is_held_to_its_loss(tmp_path: Path):
    place = Place(tmp_path, body(case(1, "deny"), case(2)))
    context = place.run(WordGate({"deny": "allow"}), fail_if=("loss > 7", "loss > 8")).context
    assert [row["failed"] for row in context["thresholds"]] == [True, False]
