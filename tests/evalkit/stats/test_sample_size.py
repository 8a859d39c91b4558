"""How many to label: reference values, exact ties, agreement with the bounds, refusals."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import RefusedError, UsageError
from evalkit.stats.binomial import clopper_pearson
from evalkit.stats.hypergeometric import hypergeometric
from evalkit.stats.sample_size import inflated, power, sample_size


def test_reference_values(table, level) -> None:
    ties = 0
    for row in table("sample_size"):
        population = int(row["N"]) if row["N"] else None
        found = sample_size(float(row["p0"]), int(row["c"]), level(row["alpha"]), population)
        if found.n == int(row["n"]):
            assert found.tail == pytest.approx(float(row["tail_at_n"]), rel=1e-9, abs=1e-15), row
            continue
        # One call less is enough where its tail is alpha itself, which doubles miss by a bit.
        assert population is not None
        assert found.n == int(row["n"]) - 1, row
        assert Fraction(comb(population - 1, found.n), comb(population, found.n)) == Fraction(
            row["alpha"]
        )
        ties += 1
    assert ties == 6


@pytest.mark.parametrize(
    ("bound", "none", "of_5000", "of_412", "one"),
    [
        (0.05, 59, 58, 54, 93),
        (0.01, 299, 284, 185, 473),
        (0.005, 598, 543, 260, 947),
        (0.001, 2995, 1965, 392, 4742),
    ],
)
def test_the_planning_table(bound, none, of_5000, of_412, one) -> None:
    assert sample_size(bound).n == none
    assert sample_size(bound, population=5000).n == of_5000
    assert sample_size(bound, population=412).n == of_412
    assert sample_size(bound, allowed=1).n == one


@settings(deadline=None)
@given(st.integers(1, 400), st.integers(0, 6), st.sampled_from([0.8, 0.95, 0.99]))
def test_a_plan_is_what_the_bound_needs(thousandths: int, few: int, level: float) -> None:
    bound = thousandths / 1000
    plan = sample_size(bound, few, level)
    assert clopper_pearson(few, plan.n, level, "upper").upper <= bound * (1 + 1e-9)
    assert clopper_pearson(few, plan.n - 1, level, "upper").upper >= bound * (1 - 1e-9)
    assert plan.tail <= 1 - level + 1e-12


@settings(deadline=None)
@given(st.integers(1, 300), st.integers(1, 400), st.integers(0, 3))
def test_a_plan_of_a_population_is_what_its_bound_needs(size, thousandths, few) -> None:
    bound = thousandths / 1000
    highest = size * thousandths // 1000
    if few > highest or highest + 1 > size:
        with pytest.raises(RefusedError, match="no sample can show it"):
            sample_size(bound, few, population=size)
        return
    plan = sample_size(bound, few, population=size)
    assert hypergeometric(few, plan.n, size, side="upper").upper <= highest
    if plan.n - 1 > few:
        assert hypergeometric(few, plan.n - 1, size, side="upper").upper > highest
    assert (plan.estimand == "census") == (plan.n == size)


@pytest.mark.parametrize(
    ("bound", "n", "level"), [(0.09, 2, 0.1719), (0.18, 4, 0.54787824), (0.15, 6, 0.622850484375)]
)
def test_a_tail_equal_to_alpha_is_enough_where_doubles_say_otherwise(bound, n, level) -> None:
    assert (1 - Fraction(str(bound))) ** n == 1 - Fraction(str(level))
    assert sample_size(bound, level=level).n == n


def test_power_is_the_probability_to_pass() -> None:
    plan = sample_size(0.05, allowed=1)
    found = power(plan, 0.01)
    wanted = 0.99**plan.n + plan.n * 0.01 * 0.99 ** (plan.n - 1)
    assert found.passes == pytest.approx(wanted, rel=1e-12)
    assert power(plan, 0).passes == 1.0
    assert power(plan, 1).passes == 0.0
    assert power(plan, 0.05).passes == pytest.approx(plan.tail)


def test_power_in_a_population_counts_whole_events() -> None:
    plan = sample_size(0.05, population=412)
    found = power(plan, 0.01)
    assert found.events == 4
    wanted = Fraction(comb(408, plan.n), comb(412, plan.n))
    assert found.passes == pytest.approx(float(wanted), rel=1e-9)
    census = sample_size(0.001, population=100, level=0.999)
    assert census.estimand == "census"
    assert (power(census, 0).passes, power(census, 0.01).passes) == (1.0, 0.0)


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(0, 1))
def test_power_falls_as_the_true_rate_grows(one: float, other: float) -> None:
    plan = sample_size(0.05, allowed=2)
    low, high = sorted((one, other))
    assert power(plan, high).passes <= power(plan, low).passes + 1e-12


def test_sessions_cost_calls() -> None:
    found = inflated(sample_size(0.01), 20, 0.05)
    assert found.design_effect == pytest.approx(1.95)
    assert found.n == 584
    assert inflated(sample_size(0.01), 1, 0.5).n == 299
    with pytest.raises(UsageError, match="finite population"):
        inflated(sample_size(0.05, population=412), 20, 0.05)


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.5, float("nan"), True, "0.05", None])
def test_bad_bounds_are_refused(value) -> None:
    with pytest.raises(UsageError, match="bound is"):
        sample_size(value)


@pytest.mark.parametrize("value", [-1, 1.0, True, float("nan")])
def test_bad_counts_are_refused(value) -> None:
    with pytest.raises(UsageError, match="allowed is"):
        sample_size(0.05, value)
    with pytest.raises(UsageError, match="population is"):
        sample_size(0.05, population=value)


def test_other_bad_input_is_refused() -> None:
    plan = sample_size(0.05)
    for rate in (-0.1, 1.1, float("nan"), True):
        with pytest.raises(UsageError, match="rate is"):
            power(plan, rate)
    for size in (0.5, 0, float("inf"), True):
        with pytest.raises(UsageError, match="session_size is"):
            inflated(plan, size, 0.1)
    with pytest.raises(UsageError, match="icc is"):
        inflated(plan, 5, -0.1)
    with pytest.raises(UsageError, match="expected at most 4000000000"):
        sample_size(0.05, population=10**10)
    with pytest.raises(UsageError, match="no countable number"):
        sample_size(1e-300)
    with pytest.raises(RefusedError, match="0 events among 0 calls"):
        sample_size(0.05, population=0)
