"""What rules and readings make of each other: every axis, both mitigations, to the last bit."""

import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate.gate.decision import ALLOW, ASK, DENY, STRICTNESS
from toolgate.gate.policy.axes import SHIPPED, Axes, Axis, shipped_axes
from toolgate.gate.policy.lattice import Static, settle
from toolgate.gate.readings import AUTHORIZED, JUDGE, LEXICON, Reading

AXES = shipped_axes()
SOFT = [axis.name for axis in SHIPPED if axis.softened]
HARD = [axis.name for axis in SHIPPED if not axis.softened]


def read(source=JUDGE, **values: float) -> tuple[Reading, ...]:
    return tuple(Reading(axis, value, source, axis) for axis, value in values.items())


def state(
    *, static=ALLOW, axis=None, softenable=False, floor=ALLOW, task=True, source=JUDGE, **values
):
    given_by_rules = Static(static, axis, softenable, floor)
    return settle(AXES, given_by_rules, read(source, **values), task=task).state


def test_the_shipped_axes_are_softened_and_capped_as_the_specification_says():
    assert sorted(SOFT) == ["destructive", "exfiltration", "privilege"]
    assert {axis.name for axis in SHIPPED if axis.ceiling == ASK} == {
        "off_task",
        "unresolved_choice",
    }
    assert {axis.name for axis in SHIPPED if axis.needs_task} == {
        "off_task",
        "violates_constraint",
        "unresolved_choice",
    }


@pytest.mark.parametrize("axis", [axis.name for axis in SHIPPED])
def test_the_lines_are_reached_at_their_value_and_not_below(axis):
    top = DENY if AXES.axes[axis].ceiling == DENY else ASK
    for value, expected in (
        (0.0, ALLOW),
        (math.nextafter(0.55, 0), ALLOW),
        (0.55, ASK),
        (math.nextafter(0.85, 0), ASK),
        (0.85, top),
        (1.0, top),
    ):
        assert state(**{axis: value}) == expected


def test_values_are_not_rounded_before_they_are_compared():
    axes = Axes({"destructive": Axis("destructive", ask=0.5, deny=0.9)})
    assert settle(axes, Static(ALLOW), read(destructive=0.4996), task=True).state == ALLOW
    assert settle(axes, Static(ALLOW), read(destructive=0.5), task=True).state == ASK
    assert state(destructive=0.8499999) == ASK


def test_off_task_just_below_its_line_lets_a_request_soften_and_at_the_line_it_does_not():
    assert state(destructive=0.56, authorized=0.99, off_task=0.549) == ALLOW
    assert state(destructive=0.56, authorized=0.99, off_task=0.55) == ASK


@pytest.mark.parametrize("axis", SOFT)
def test_a_request_lowers_an_axis_that_is_softened_by_one_step_and_no_more(axis):
    assert state(**{axis: 0.56}, authorized=0.99, off_task=0.1) == ALLOW
    assert state(**{axis: 0.99}, authorized=0.99, off_task=0.1) == ASK
    assert state(**{axis: 0.56}, authorized=math.nextafter(0.80, 0), off_task=0.1) == ASK
    assert state(**{axis: 0.56}, authorized=0.80, off_task=0.1) == ALLOW


@pytest.mark.parametrize("axis", HARD)
def test_a_request_lowers_no_other_axis(axis):
    values = {"off_task": 0.1, axis: 0.56}
    assert state(**values, authorized=0.99) == ASK


def test_a_request_softens_one_axis_while_another_asks():
    assert state(exfiltration=0.56, authorized=0.99, off_task=0.0) == ALLOW
    both = settle(
        AXES,
        Static(ALLOW),
        read(exfiltration=0.56, secret_exposure=0.56, authorized=0.99, off_task=0.0),
        task=True,
    )
    assert (both.state, both.axis) == (ASK, "secret_exposure")


@pytest.mark.parametrize("axis", [axis.name for axis in SHIPPED if axis.needs_task])
def test_an_axis_that_needs_a_task_says_nothing_without_one(axis):
    assert state(task=False, **{axis: 1.0}) == ALLOW
    assert state(task=True, **{axis: 1.0}) != ALLOW


def test_without_a_task_nothing_is_requested():
    assert state(destructive=0.56, authorized=1.0, off_task=0.0, task=False) == ASK
    assert (
        state(
            static=ASK,
            axis="destructive",
            softenable=True,
            authorized=1.0,
            source=LEXICON,
            task=False,
        )
        == ASK
    )


def test_what_nobody_read_is_not_zero():
    # A judge that says nothing of off_task has not said that the call is on task.
    assert state(destructive=0.56, authorized=0.99) == ASK
    assert state(destructive=0.9, unresolved_choice=0.9) == DENY
    # The user's own words for just this act need no such answer.
    assert state(destructive=0.56, authorized=0.99, source=LEXICON) == ALLOW


@pytest.mark.parametrize("value", [math.nan, -0.1, 1.1, math.inf, -math.inf])
def test_a_value_that_is_none_counts_as_not_read(value):
    assert state(destructive=value) == ALLOW
    assert state(destructive=0.56, authorized=value, off_task=0.0) == ASK
    assert state(destructive=0.56, authorized=0.99, off_task=value) == ASK


def test_a_reservation_lowers_what_a_softened_axis_denies_to_ask_and_never_further():
    assert state(destructive=0.9, unresolved_choice=0.9, off_task=0.1) == ASK
    assert state(destructive=0.6, unresolved_choice=0.9, off_task=0.1) == ASK
    assert state(unresolved_choice=0.9, off_task=0.1) == ASK
    # In the ask band it is a question, and lowers nothing.
    assert state(destructive=0.9, unresolved_choice=0.84, off_task=0.1) == DENY


@pytest.mark.parametrize("axis", ["secret_exposure", "violates_constraint"])
def test_a_reservation_lowers_no_axis_that_is_not_softened(axis):
    assert state(**{axis: 0.9}, unresolved_choice=0.9, off_task=0.1) == DENY


def test_a_reservation_needs_a_task_and_a_call_that_is_on_it():
    assert state(destructive=0.9, unresolved_choice=0.9, off_task=0.1, task=False) == DENY
    assert state(destructive=0.9, unresolved_choice=0.9, off_task=0.55) == DENY
    assert state(off_task=1.0, unresolved_choice=1.0) == ASK


def test_a_prohibition_in_the_ask_band_does_not_block_a_reservation():
    assert (
        state(destructive=0.9, violates_constraint=0.6, unresolved_choice=0.9, off_task=0.1) == ASK
    )


@pytest.mark.parametrize(
    "values",
    [{}, {"authorized": 1.0, "off_task": 0.0}, {"unresolved_choice": 1.0, "off_task": 0.0}],
)
@pytest.mark.parametrize("source", [LEXICON, JUDGE])
def test_a_static_deny_stands(values, source):
    assert state(static=DENY, axis="destructive", softenable=True, source=source, **values) == DENY


def test_a_static_ask_is_lowered_where_its_axis_and_the_act_can_be():
    ask = {"static": ASK, "source": LEXICON, "authorized": 1.0}
    assert state(**ask, axis="destructive", softenable=True) == ALLOW
    assert state(**ask, axis="destructive", softenable=False) == ASK
    assert state(**ask, axis=None, softenable=True) == ASK
    for axis in HARD:
        assert state(**ask, axis=axis, softenable=True) == ASK


@pytest.mark.parametrize("floor", [ASK, DENY])
def test_a_floor_raises_and_never_caps(floor):
    assert state(floor=floor) == floor
    assert (
        state(
            static=ASK,
            axis="destructive",
            softenable=True,
            source=LEXICON,
            authorized=1.0,
            floor=floor,
        )
        == floor
    )
    assert state(secret_exposure=1.0, floor=ASK) == DENY
    assert state(static=DENY, floor=ASK) == DENY


def test_the_answer_names_its_axis_and_what_made_it_milder():
    made = settle(AXES, Static(ALLOW), read(privilege=0.9, authorized=0.9, off_task=0.2), task=True)
    assert (made.state, made.axis) == (ASK, "privilege")
    assert made.mitigation is not None
    assert made.mitigation.axis == AUTHORIZED
    made = settle(
        AXES, Static(ALLOW), read(privilege=0.9, unresolved_choice=0.9, off_task=0.2), task=True
    )
    assert made.mitigation is not None
    assert made.mitigation.axis == "unresolved_choice"
    made = settle(
        AXES, Static(ALLOW), read(exfiltration=0.6, authorized=0.9, off_task=0.2), task=True
    )
    assert (made.state, made.axis) == (ALLOW, "exfiltration")
    assert made.mitigation is not None


VALUES = st.floats(0, 1)
READINGS = st.lists(
    st.builds(
        Reading,
        axis=st.sampled_from([*(axis.name for axis in SHIPPED), AUTHORIZED, "unknown"]),
        value=VALUES,
        source=st.sampled_from([LEXICON, JUDGE]),
        name=st.just("x"),
    ),
    max_size=5,
)
STATICS = st.builds(
    Static,
    state=st.sampled_from([ALLOW, ASK, DENY]),
    axis=st.sampled_from([None, *(axis.name for axis in SHIPPED)]),
    softenable=st.booleans(),
    floor=st.sampled_from([ALLOW, ASK]),
)


@given(static=STATICS, readings=READINGS, task=st.booleans())
def test_the_order_of_readings_changes_no_answer(static, readings, task):
    found = {
        settle(AXES, static, tuple(order), task=task).state
        for order in list(permutations(readings))[:24]
    }
    assert len(found) == 1


@given(static=STATICS, readings=READINGS, task=st.booleans())
def test_nothing_lowers_a_static_answer_by_more_than_one_step_or_below_its_floor(
    static, readings, task
):
    made = settle(AXES, static, tuple(readings), task=task)
    assert STRICTNESS[made.state] >= STRICTNESS[static.state] - 1
    assert STRICTNESS[made.state] >= STRICTNESS[static.floor]
    if static.state == DENY or not any(one.axis == AUTHORIZED for one in readings):
        assert STRICTNESS[made.state] >= STRICTNESS[static.state]


@given(readings=READINGS, axis=st.sampled_from([*SOFT, *HARD]), value=VALUES)
def test_what_harms_more_is_answered_no_milder(readings, axis, value):
    low = [one for one in readings if one.axis != axis]
    if axis in ("off_task", "unresolved_choice"):
        return  # these two decide whether others are lowered
    before = settle(AXES, Static(ALLOW), (*low, Reading(axis, value / 2, JUDGE, "x")), task=True)
    after = settle(AXES, Static(ALLOW), (*low, Reading(axis, value, JUDGE, "x")), task=True)
    assert STRICTNESS[after.state] >= STRICTNESS[before.state]
