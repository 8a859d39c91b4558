"""Limits for windows that are looked at: reference values, exact ties, coverage, refusals."""

import random
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.stats.anytime import anytime
from evalkit.stats.hypergeometric import hypergeometric

samples = st.integers(1, 50).flatmap(
    lambda size: st.integers(0, size).flatmap(
        lambda n: st.tuples(st.integers(0, n), st.just(n), st.just(size))
    )
)


def test_reference_values(table, level) -> None:
    for row in table("confseq_wor"):
        prior = (float(row["prior_a"]), float(row["prior_b"]))
        counts = (int(row["x_t"]), int(row["t"]), int(row["N"]))
        found = anytime(*counts, level(row["alpha"]), prior)
        assert (found.lower, found.upper) == (int(row["M_lower"]), int(row["M_upper"])), row


def by_definition(k: int, n: int, size: int, alpha: Fraction) -> list[int]:
    """Independent route for the uniform prior: Bayes' rule over all M in exact fractions."""
    likelihood = [
        Fraction(comb(m, k) * comb(size - m, n - k), comb(size, n)) for m in range(size + 1)
    ]
    mean = sum(likelihood) / (size + 1)
    return [m for m, one in enumerate(likelihood) if one and mean / one < 1 / alpha]


@settings(deadline=None, max_examples=60)
@given(samples, st.sampled_from(["0.05", "0.01", "0.2", "0.5"]))
def test_the_set_is_the_one_defined(sample, alpha) -> None:
    kept = by_definition(*sample, Fraction(alpha))
    found = anytime(*sample, float(1 - Fraction(alpha)))
    assert list(range(found.lower, found.upper + 1)) == kept


def test_a_ratio_that_equals_its_limit_is_left_out() -> None:
    # One call of four, an event: the likelihood M/4 has the mean 1/2, twice that of M = 1.
    assert anytime(1, 1, 4, 0.5).lower == 2
    assert anytime(1, 1, 4, 0.51).lower == 1
    for size in range(2, 30):
        for k in (0, 1):
            kept = by_definition(k, 1, size, Fraction(1, 2))
            found = anytime(k, 1, size, 0.5)
            assert (found.lower, found.upper) == (kept[0], kept[-1])


@settings(deadline=None)
@given(samples, st.floats(0.1, 5), st.floats(0.1, 5))
def test_laws(sample, a: float, b: float) -> None:
    k, n, size = sample
    found, wide = anytime(*sample, 0.9, (a, b)), anytime(*sample, 0.99, (a, b))
    assert k <= wide.lower <= found.lower <= found.upper <= wide.upper <= size - n + k
    turned = anytime(n - k, n, size, 0.9, (b, a))
    assert (found.lower, found.upper) == (size - turned.upper, size - turned.lower)


def test_edges_and_names() -> None:
    found = anytime(3, 7, 7)
    assert (found.lower, found.upper, found.estimand) == (3, 3, "census")
    assert anytime(0, 0, 9)[3:5] == (0, 9)
    assert anytime(0, 0, 0)[3:5] == (0, 0)
    assert anytime(2, 50, 412, prior=(0.5, 0.5)).prior == (0.5, 0.5)


def test_the_price_of_looking() -> None:
    assert anytime(2, 50, 412).upper == 79
    assert anytime(2, 50, 412, prior=(0.5, 0.5)).upper == 75
    assert hypergeometric(2, 50, 412).upper == 54


def test_all_looks_together_hold_the_level() -> None:
    """Every look of 300 walks through 60 calls with 9 events; a fixed-size set misses more."""
    draw = random.Random(3)
    calls = [1] * 9 + [0] * 51
    sets = {
        (n, k): anytime(k, n, 60, 0.8)[3:5]
        for n in range(1, 61)
        for k in range(min(n, 9) + 1)
        if n - k <= 51
    }
    missed = 0
    for _ in range(300):
        draw.shuffle(calls)
        seen, bad = 0, False
        for n, event in enumerate(calls, 1):
            seen += event
            low, high = sets[n, seen]
            bad |= not low <= 9 <= high
        missed += bad
    assert missed <= 60


@pytest.mark.parametrize(
    "counts", [(-1, 5, 9), (6, 5, 9), (1, 10, 9), (1.0, 5, 9), (True, 5, 9), (1, float("nan"), 9)]
)
def test_bad_counts_are_refused(counts) -> None:
    with pytest.raises(UsageError, match=r"^[kn] is"):
        anytime(*counts)


@pytest.mark.parametrize(
    "prior", [(0, 1), (1, -1), (float("nan"), 1), (1, float("inf")), (True, 1)]
)
def test_bad_priors_are_refused(prior) -> None:
    with pytest.raises(UsageError, match=r"prior [ab] is"):
        anytime(1, 5, 9, 0.95, prior)
