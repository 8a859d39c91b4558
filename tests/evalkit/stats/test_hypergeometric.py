"""Finite populations: reference values, exact ties, laws and refusals."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.stats.hypergeometric import exact_tail, hypergeometric, tail_probability
from evalkit.stats.interval import Total


def test_reference_values(table, level) -> None:
    rows = table("hypergeom_exact")
    assert sum(row["tie"] == "1" for row in rows) >= 5
    for row in rows:
        at, n, k = level(row["alpha"]), int(row["n"]), int(row["x"])
        population = int(row["N"])
        two = hypergeometric(k, n, population, at)
        found = (
            two.lower,
            two.upper,
            hypergeometric(k, n, population, at, "lower").lower,
            hypergeometric(k, n, population, at, "upper").upper,
        )
        columns = ("M_lower_two", "M_upper_two", "M_lower_one", "M_upper_one")
        assert found == tuple(int(row[column]) for column in columns), row


def test_the_admissible_interval_lies_inside(table) -> None:
    """Wang (2015) is another method, made to lie inside the tails."""
    for row in table("hypergeom_admissible_wang2015"):
        found = hypergeometric(int(row["x"]), int(row["n"]), int(row["N"]), float(row["conf"]))
        assert found.lower <= int(row["M_lower"]) <= int(row["M_upper"]) <= found.upper, row


def test_a_tail_that_equals_its_share_is_left_out() -> None:
    # One call of forty, an event: M = 1 has P(X >= 1) = 1/40, which is alpha/2 itself.
    assert hypergeometric(1, 1, 40).lower == 2
    assert hypergeometric(1, 1, 40, 0.951).lower == 1


def by_definition(k: int, n: int, population: int, tail: Fraction) -> list[int]:
    """Independent route: every M by exact sums of ways."""
    total, kept = comb(population, n), []
    for events in range(k, population - n + k + 1):
        ways = [comb(events, i) * comb(population - events, n - i) for i in range(n + 1)]
        if sum(ways[k:]) > tail * total and sum(ways[: k + 1]) > tail * total:
            kept.append(events)
    return kept


samples = st.integers(1, 60).flatmap(
    lambda size: st.integers(0, size).flatmap(
        lambda n: st.tuples(st.integers(0, n), st.just(n), st.just(size))
    )
)


@settings(deadline=None, max_examples=60)
@given(samples, st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.975, 0.99]))
def test_the_set_is_the_one_defined(sample: tuple[int, int, int], level: float) -> None:
    kept = by_definition(*sample, (1 - Fraction(str(level))) / 2)
    found = hypergeometric(*sample, level)
    assert list(range(found.lower, found.upper + 1)) == kept


@settings(deadline=None)
@given(samples)
def test_laws(sample: tuple[int, int, int]) -> None:
    k, n, size = sample
    found, wide = hypergeometric(k, n, size), hypergeometric(k, n, size, 0.99)
    mirror = hypergeometric(n - k, n, size)
    assert (found.lower, found.upper) == (size - mirror.upper, size - mirror.lower)
    assert wide.lower <= found.lower <= found.upper <= wide.upper
    assert hypergeometric(k, n, size, 0.975, "upper").upper == found.upper
    if k < n:
        above = hypergeometric(k + 1, n, size)
        assert found.lower <= above.lower
        assert found.upper <= above.upper


@settings(deadline=None, max_examples=40)
@given(samples, st.booleans())
def test_the_exact_tail_is_the_sum_of_ways(sample: tuple[int, int, int], upper: bool) -> None:
    k, n, size = sample
    for events in {0, 1, size // 3, size // 2, size}:
        ways = [comb(events, i) * comb(size - events, n - i) for i in range(n + 1)]
        part = sum(ways[k:] if upper else ways[: k + 1])
        assert exact_tail(k, n, size, events, upper=upper) == Fraction(part, comb(size, n))


@pytest.mark.parametrize("events", [4000, 250_000, 900_000])
def test_doubles_are_closer_to_the_tail_than_the_gap_that_is_counted_exactly(events) -> None:
    k = 500 * events // 1_000_000 + 3
    for upper in (True, False):
        exact = float(exact_tail(k, 500, 1_000_000, events, upper=upper))
        found = tail_probability(k, 500, 1_000_000, events, upper=upper)
        assert found == pytest.approx(exact, rel=2e-9)


def test_edges_and_names() -> None:
    assert hypergeometric(3, 7, 7) == Total(
        3, 7, 7, 3, 3, 0.95, "exact hypergeometric", "census", "two"
    )
    assert hypergeometric(0, 0, 9)[3:5] == (0, 9)
    assert hypergeometric(0, 0, 0).rate() is None
    assert hypergeometric(0, 5, 9).lower == 0
    assert hypergeometric(5, 5, 9).upper == 9
    assert hypergeometric(2, 5, 9, side="upper").lower == 2
    assert hypergeometric(2, 5, 9, side="lower").upper == 6
    rate = hypergeometric(1, 50, 412).rate()
    assert rate is not None
    assert (rate.k, rate.n, rate.estimand) == (1, 50, "finite")
    assert rate.upper == hypergeometric(1, 50, 412).upper / 412


@pytest.mark.parametrize(
    ("k", "n", "population"),
    [
        (-1, 5, 9),
        (6, 5, 9),
        (1, 10, 9),
        (1.0, 5, 9),
        (1, 5, 9.0),
        (True, 5, 9),
        (1, float("nan"), 9),
        (1, 5, 2**70),
    ],
)
def test_bad_counts_are_refused(k, n, population) -> None:
    with pytest.raises(UsageError, match=r"^(k|n|population) (is|has)"):
        hypergeometric(k, n, population)


def test_bad_levels_and_sides_are_refused() -> None:
    with pytest.raises(UsageError, match="level is"):
        hypergeometric(1, 5, 9, 0)
    with pytest.raises(UsageError, match="side is"):
        hypergeometric(1, 5, 9, 0.95, "up")


def test_populations_too_large_for_the_library_are_refused() -> None:
    with pytest.raises(UsageError, match="expected at most 4000000000"):
        hypergeometric(1, 5, 5 * 10**9)
    found = hypergeometric(100, 10_000, 10**9)
    assert found.upper / 10**9 == pytest.approx(0.01214, abs=1e-4)
