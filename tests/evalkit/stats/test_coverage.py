"""Methods that promise a level keep it: coverage by full enumeration, not by simulation."""

from functools import cache
from itertools import product
from math import comb, factorial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.stats.alternatives import blaker
from evalkit.stats.anytime import anytime
from evalkit.stats.binomial import clopper_pearson
from evalkit.stats.hypergeometric import hypergeometric
from evalkit.stats.melded import melded
from evalkit.stats.poisson import poisson
from evalkit.stats.stratified import stratified
from evalkit.stats.wendell_schmee import wendell_schmee

levels = st.sampled_from([0.8, 0.9, 0.95, 0.99])
SLACK = 1e-9
sizes = st.integers(2, 30).flatmap(
    lambda size: st.tuples(st.just(size), st.integers(0, size), st.integers(0, size))
)


@pytest.mark.parametrize("method", [clopper_pearson, blaker])
@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.floats(0, 1), levels)
def test_one_rate(method, n: int, rate: float, level: float) -> None:
    held = 0.0
    for k in range(n + 1):
        found = method(k, n, level)
        if found.lower <= rate <= found.upper:
            held += comb(n, k) * rate**k * (1 - rate) ** (n - k)
    assert held >= level - SLACK


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 40), st.floats(0, 1), levels, st.sampled_from(["lower", "upper"]))
def test_one_side_of_one_rate(n: int, rate: float, level: float, side: str) -> None:
    held = 0.0
    for k in range(n + 1):
        found = clopper_pearson(k, n, level, side)
        if found.lower <= rate <= found.upper:
            held += comb(n, k) * rate**k * (1 - rate) ** (n - k)
    assert held >= level - SLACK


def ways(size: int, events: int, n: int, k: int) -> int:
    return comb(events, k) * comb(size - events, n - k)


@settings(deadline=None, max_examples=60)
@given(sizes, levels, st.sampled_from(["two", "lower", "upper"]))
def test_a_finite_population(sizes_, level: float, side: str) -> None:
    size, events, n = sizes_
    held = 0
    for k in range(max(0, n - size + events), min(n, events) + 1):
        found = hypergeometric(k, n, size, level, side)
        if found.lower <= events <= found.upper:
            held += ways(size, events, n, k)
    assert held >= (level - SLACK) * comb(size, n)


@pytest.mark.parametrize("method", [stratified, wendell_schmee])
@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.integers(2, 8).flatmap(
            lambda size: st.tuples(st.just(size), st.integers(0, size), st.integers(0, size))
        ),
        min_size=1,
        max_size=2,
    ),
    st.sampled_from([0.8, 0.95]),
    st.sampled_from(["two", "lower", "upper"]),
)
def test_a_total_over_strata(method, truth, level: float, side: str) -> None:
    total, held, whole = sum(events for _, events, _ in truth), 0, 1
    for size, _, n in truth:
        whole *= comb(size, n)
    possible = [range(max(0, n - size + e), min(n, e) + 1) for size, e, n in truth]
    for sample in product(*possible):
        seen = [(size, n, k) for (size, _, n), k in zip(truth, sample, strict=True)]
        found = method(seen, level, side)
        if found.lower <= total <= found.upper:
            chance = 1
            for (size, events, n), k in zip(truth, sample, strict=True):
                chance *= ways(size, events, n, k)
            held += chance
    assert held >= (level - SLACK) * whole


@cache
def melded_limits(a: int, b: int, c: int, d: int) -> tuple[float, float]:
    found = melded(a, b, c, d, 0.9)
    assert found is not None
    return found.lower, found.upper


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 50), min_size=3, max_size=3).filter(any))
def test_a_paired_difference(weights: list[int]) -> None:
    """Twelve cases; only the changed ones count, so three kinds of case are enough."""
    n = 12
    same, first, second = (weight / sum(weights) for weight in weights)
    truth, held = first - second, 0.0
    for b in range(n + 1):
        for c in range(n - b + 1):
            low, high = melded_limits(n - b - c, b, c, 0)
            if low - SLACK <= truth <= high + SLACK:
                arrangements = factorial(n) // (factorial(b) * factorial(c) * factorial(n - b - c))
                held += arrangements * first**b * second**c * same ** (n - b - c)
    assert held >= 0.9 - SLACK


@settings(deadline=None, max_examples=30)
@given(st.floats(0.01, 15), levels)
def test_an_intensity(mean: float, level: float) -> None:
    held, chance = 0.0, 2.718281828459045**-mean
    for k in range(120):
        found = poisson(k, 1, "window", level)
        if found.lower <= mean <= found.upper:
            held += chance
        chance *= mean / (k + 1)
    assert held >= level - 1e-7


@settings(max_examples=20, deadline=None)
@given(
    st.integers(2, 12).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size))),
    st.sampled_from([0.5, 0.8, 0.9]),
)
def test_all_looks_at_a_window(sizes_: tuple[int, int], level: float) -> None:
    """Every order in which the calls may come, each look counted."""
    size, events = sizes_
    orders = {0: 1}
    for n in range(1, size + 1):
        longer: dict[int, int] = {}
        for seen, many in orders.items():
            for k in (seen, seen + 1):
                if k <= events and n - k <= size - events:
                    longer[k] = longer.get(k, 0) + many
        orders = {
            k: many
            for k, many in longer.items()
            if anytime(k, n, size, level)[3] <= events <= anytime(k, n, size, level)[4]
        }
    assert orders.get(events, 0) >= (level - SLACK) * comb(size, events)
