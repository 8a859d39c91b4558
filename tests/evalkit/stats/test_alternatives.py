"""Mid-P, Wilson, Jeffreys and Blaker: reference values, and what each promises."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.stats.alternatives import blaker, jeffreys, mid_p, wilson
from evalkit.stats.binomial import clopper_pearson

ALL = (mid_p, wilson, jeffreys, blaker)
# What the tools say of themselves: mid-P by a root finder of low precision, Blaker on a grid.
TOLERANCE = {
    "midp_central": (mid_p, 1e-4),
    "blaker": (blaker, 1e-6),
    "wilson": (wilson, 1e-12),
    "wilson_proptest": (wilson, 1e-12),
    "jeffreys_equal_tail": (jeffreys, 1e-12),
}
pairs = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
small = st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
levels = st.sampled_from([0.8, 0.9, 0.95, 0.99])


def test_reference_values(table) -> None:
    rows = [row for row in table("binomial_alternatives") if row["method"] in TOLERANCE]
    assert len(rows) == 630
    for row in rows:
        method, gap = TOLERANCE[row["method"]]
        found = method(int(row["x"]), int(row["n"]), float(row["conf"]))
        wanted = (float(row["lower"]), float(row["upper"]))
        assert (found.lower, found.upper) == pytest.approx(wanted, abs=gap), row


def mid_tail(k: int, n: int, rate: float, *, upper: bool) -> Fraction:
    """Independent route: the mid-P tail in exact fractions."""
    share = Fraction(rate)
    weights = {
        i: comb(n, i) * share**i * (1 - share) ** (n - i)
        for i in (range(k, n + 1) if upper else range(k + 1))
    }
    return sum(weights.values()) - weights[k] / 2


@settings(deadline=None)
@given(small, levels)
def test_mid_p_limits_have_the_tail_they_claim(pair: tuple[int, int], level: float) -> None:
    k, n = pair
    found, tail = mid_p(k, n, level), (1 - level) / 2
    if k > 0:
        assert float(mid_tail(k, n, found.lower, upper=True)) == pytest.approx(tail, rel=1e-9)
    if k < n:
        assert float(mid_tail(k, n, found.upper, upper=False)) == pytest.approx(tail, rel=1e-9)


def acceptability(k: int, n: int, rate: Fraction) -> Fraction:
    """Independent route: Blaker's definition, outcome by outcome, in exact fractions."""
    weights = [comb(n, i) * rate**i * (1 - rate) ** (n - i) for i in range(n + 1)]

    def smaller(at: int) -> Fraction:
        return min(sum(weights[: at + 1]), sum(weights[at:]))

    return sum(weights[i] for i in range(n + 1) if smaller(i) <= smaller(k))


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), levels)
def test_blaker_holds_every_acceptable_rate(pair: tuple[int, int], level: float) -> None:
    k, n = pair
    found, alpha = blaker(k, n, level), 1 - Fraction(str(level))
    for step in range(1, 200):
        rate = Fraction(step, 200)
        if acceptability(k, n, rate) > alpha:
            assert found.lower - 1e-9 <= rate <= found.upper + 1e-9
    for limit, away in ((found.lower, -1e-6), (found.upper, 1e-6)):
        if 0 < limit < 1 and 0 < limit + away < 1:
            assert acceptability(k, n, Fraction(limit + away)) <= alpha


@settings(deadline=None)
@given(pairs, levels)
def test_blaker_lies_inside_clopper_pearson(pair: tuple[int, int], level: float) -> None:
    inner, outer = blaker(*pair, level), clopper_pearson(*pair, level)
    assert outer.lower - 1e-12 <= inner.lower <= inner.upper <= outer.upper + 1e-12


@settings(deadline=None)
@given(pairs, levels)
def test_mid_p_lies_inside_clopper_pearson(pair: tuple[int, int], level: float) -> None:
    inner, outer = mid_p(*pair, level), clopper_pearson(*pair, level)
    assert outer.lower <= inner.lower <= inner.upper <= outer.upper


@settings(deadline=None)
@given(pairs, levels, st.sampled_from(ALL))
def test_they_mirror_nest_and_hold_the_rate(pair, level, method) -> None:
    k, n = pair
    found, mirror, wide = method(k, n, level), method(n - k, n, level), method(k, n, 0.999)
    assert found.lower == pytest.approx(1 - mirror.upper, abs=1e-9)
    assert wide.lower - 1e-12 <= found.lower <= k / n + 1e-12
    assert k / n - 1e-12 <= found.upper <= wide.upper + 1e-12


@settings(deadline=None)
@given(pairs, st.sampled_from([mid_p, wilson, jeffreys]))
def test_a_one_sided_bound_is_the_end_of_an_interval_of_twice_the_error(pair, method) -> None:
    two = method(*pair, 0.9)
    low, high = method(*pair, 0.95, "lower"), method(*pair, 0.95, "upper")
    assert (low.lower, low.upper) == pytest.approx((two.lower, 1.0), abs=1e-12)
    assert (high.lower, high.upper) == pytest.approx((0.0, two.upper), abs=1e-12)


@pytest.mark.parametrize("method", ALL)
def test_edges_and_names(method) -> None:
    assert method(0, 0)[2:4] == (0.0, 1.0)
    assert method(0, 20).lower == 0.0
    assert method(20, 20).upper == 1.0
    found = method(3, 20)
    assert (found.k, found.n, found.level, found.estimand) == (3, 20, 0.95, "process")
    assert found.method != clopper_pearson(3, 20).method


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize(
    ("k", "n"), [(-1, 5), (6, 5), (1.0, 5), (True, 5), (float("nan"), 5), (1, 2**60), ("1", 5)]
)
def test_bad_counts_are_refused(method, k, n) -> None:
    with pytest.raises(UsageError, match=r"k is|n is|n has"):
        method(k, n)


@pytest.mark.parametrize("method", ALL)
def test_bad_levels_are_refused(method) -> None:
    with pytest.raises(UsageError, match="level is"):
        method(1, 5, 1.0)
