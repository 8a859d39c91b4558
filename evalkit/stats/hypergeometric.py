"""Exact limits of the number of events in a finite population, from a sample of it.

The limits hold for a simple random sample without replacement, whatever the
calls depend on: the chance is in the draw. They are the integers M for which
both tails of the observed count exceed their share of alpha, strictly. Doubles
cannot tell a tail that equals its share from one that just exceeds it, so
tails that come close are counted in exact integers.

Edge rules: a census is exact, no sample leaves everything open, and no events
put the lower limit at 0. The end that a one-sided bound leaves open holds what
is certain: the events that were seen, or all calls but the others seen.
"""

from fractions import Fraction
from math import comb

from evalkit.errors import UsageError
from evalkit.stats.bisection import first
from evalkit.stats.counts import exact_alpha, share_of, side_of
from evalkit.stats.interval import Total

METHOD = "exact hypergeometric"
CENSUS = "census"
MOST = 4_000_000_000
"""Largest population; beyond it the library's tail takes minutes, and a sample says the same."""
_CLOSE = 1e-8
"""Relative gap under which a tail is counted exactly; far above the error of the doubles."""


def hypergeometric(
    k: int, n: int, population: int, level: float = 0.95, side: str = "two"
) -> Total:
    """Return exact limits of the events in a population of which n calls were drawn.

    Args:
        k: events in the sample, 0 <= k <= n.
        n: calls drawn at random without replacement, n <= population.
        population: calls in the population.
        level: confidence level, in (0, 1).
        side: ``two``; ``lower`` or ``upper`` for a one-sided bound at that end.

    Returns:
        Integer limits. With n = population they are k, and the estimand is ``census``.

    Raises:
        UsageError: counts that are negative, no integers, or not k <= n <= population; a bad
            level or side; a population above four billion calls.

    Source: Buonaccorsi (1987); Wright (1991), inversion of both tails.
    """
    events, drawn = share_of(k, n)
    drawn, whole = share_of(drawn, population, ("n", "population"))
    population_of(whole)
    alpha = exact_alpha(level)
    tail = alpha / 2 if side_of(side) == "two" else alpha
    return Total(
        events,
        drawn,
        whole,
        events if side == "upper" else fewest(events, drawn, whole, tail),
        whole - drawn + events if side == "lower" else most(events, drawn, whole, tail),
        float(level),
        METHOD,
        CENSUS if drawn == whole else "finite",
        side,
    )


def population_of(calls: int) -> int:
    """Return a population that is not too large to be counted.

    Raises:
        UsageError: it is above four billion calls.
    """
    if calls > MOST:
        raise UsageError(
            f"population is {calls}: expected at most {MOST}; take calls as independent instead"
        )
    return calls


def fewest(k: int, n: int, population: int, tail: Fraction) -> int:
    """Return the smallest M with P(X >= k) > tail, for counts that are known to fit.

    Args:
        k: events in the sample.
        n: calls drawn.
        population: calls in the population.
        tail: error that is accepted, in (0, 1).
    """
    return first(
        lambda events: _exceeds(k, n, population, events, tail, upper=True), k, population - n + k
    )


def most(k: int, n: int, population: int, tail: Fraction) -> int:
    """Return the largest M with P(X <= k) > tail, for counts that are known to fit.

    Args:
        k: events in the sample.
        n: calls drawn.
        population: calls in the population.
        tail: error that is accepted, in (0, 1).
    """
    beyond = population - n + k + 1
    return (
        first(
            lambda events: not _exceeds(k, n, population, events, tail, upper=False), k + 1, beyond
        )
        - 1
    )


def tail_probability(k: int, n: int, population: int, events: int, *, upper: bool) -> float:
    """Return P(X >= k) or P(X <= k) for a sample of n from a population with ``events``."""
    from scipy.stats import hypergeom

    if upper:
        return float(hypergeom.sf(k - 1, population, events, n))
    return float(hypergeom.cdf(k, population, events, n))


def exact_tail(k: int, n: int, population: int, events: int, *, upper: bool) -> Fraction:
    """Return the same tail without rounding, by exact integers.

    The terms follow from each other by one product and one exact division, so that even large
    samples take no more than seconds.
    """
    low, high = max(0, n - (population - events)), min(n, events)
    if not low <= k <= high:
        return Fraction(int((k < low) == upper))
    if (high - k > k - low) == upper:
        # The other tail is shorter; both together hold the observed count once.
        other = k - 1 if upper else k + 1
        if not low <= other <= high:
            return Fraction(1)
        return 1 - exact_tail(other, n, population, events, upper=not upper)
    term = total = comb(events, k) * comb(population - events, n - k)
    steps = range(k, high) if upper else range(k, low, -1)
    for at in steps:
        if upper:
            term = (
                term * ((events - at) * (n - at)) // ((at + 1) * (population - events - n + at + 1))
            )
        else:
            term = (
                term * (at * (population - events - n + at)) // ((events - at + 1) * (n - at + 1))
            )
        total += term
    return Fraction(total, comb(population, n))


def _exceeds(k: int, n: int, population: int, events: int, tail: Fraction, *, upper: bool) -> bool:
    """Return whether a tail is above its share of alpha, strictly."""
    share = float(tail)
    found = tail_probability(k, n, population, events, upper=upper)
    # The error of the doubles grows with the population; beyond a million so does the gap.
    if abs(found - share) > _CLOSE * share * max(1.0, population / 1e6):
        return found > share
    return exact_tail(k, n, population, events, upper=upper) > tail
