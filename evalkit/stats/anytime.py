"""Limits that hold at every look: a window whose labels are read while they come in.

Fixed-sample limits hold for one look at a size set beforehand. Whoever may stop
because of what was seen needs a set that is right at all sizes at once; it is
wider. The calls must be labeled in a random order without replacement.
"""

from fractions import Fraction
from math import comb, lgamma, log, prod
from typing import NamedTuple

from evalkit.stats.bisection import first
from evalkit.stats.counts import exact_alpha, positive, share_of

METHOD = "anytime-valid, prior over posterior, without replacement"
_CLOSE = 1e-14
"""Gap of logarithms, over the largest of them, under which a ratio is taken exactly."""
_MOST_EXACT = 20_000
"""Most calls for which it is; beyond them one more event never comes near the limit exactly."""


class Anytime(NamedTuple):
    """Limits of the events in a population, valid at every look.

    Args:
        k: events among the calls labeled so far.
        n: calls labeled so far.
        population: calls in the population.
        lower: fewest events.
        upper: most events.
        level: confidence level of all looks together, in (0, 1).
        prior: parameters of the beta-binomial prior; to be declared before the first look.
        method: name of the method, for people.
        estimand: ``finite``, or ``census`` once every call is labeled.
        side: ``two``.
    """

    k: int
    n: int
    population: int
    lower: int
    upper: int
    level: float
    prior: tuple[float, float]
    method: str
    estimand: str
    side: str


def anytime(
    k: int,
    n: int,
    population: int,
    level: float = 0.95,
    prior: tuple[float, float] = (1.0, 1.0),
) -> Anytime:
    """Return limits of the events in a population that hold whenever one looks.

    Args:
        k: events among the calls labeled so far, 0 <= k <= n.
        n: calls labeled so far, in random order without replacement; 0 leaves all open.
        population: calls in the population.
        level: confidence level of all looks together, in (0, 1).
        prior: parameters of the beta-binomial prior, above 0. Any choice is valid if it is made
            before the first look; it decides where the limits are narrow.

    Returns:
        The integers M whose prior is less than 1/alpha times their posterior. The set is one
        run of integers and is never empty. Sets of earlier looks are not intersected.

    Raises:
        UsageError: counts that are negative, no integers, or not k <= n <= population; a bad
            level or prior.

    Source: Waudby-Smith and Ramdas (2020), Confidence sequences for sampling without
        replacement, section 2.
    """
    events, drawn = share_of(k, n)
    drawn, whole = share_of(drawn, population, ("n", "population"))
    a, b = positive("prior a", prior[0]), positive("prior b", prior[1])
    alpha = exact_alpha(level)
    limit = -log(alpha)
    base = (
        _log_beta(a + events, b + drawn - events)
        - _log_beta(a, b)
        + _log_choose(whole, drawn)
        + _log_choose(drawn, events)
    )

    close = max(1e-10, _CLOSE * lgamma(whole + 2))

    def kept(total: int) -> bool:
        seen = _log_choose(total, events) + _log_choose(whole - total, drawn - events)
        found = base - seen
        if abs(found - limit) > close or drawn > _MOST_EXACT:
            return found < limit
        return _exact_ratio(events, drawn, whole, total, (a, b)) * alpha < 1

    # The likelihood has one peak, at the rate that was seen; the set lies around it.
    low, high = events, whole - drawn + events
    peak = min(high, max(low, (whole + 1) * events // drawn)) if drawn else low
    if drawn == 0:
        low, high = 0, whole
    else:
        low = first(kept, low, peak)
        high = first(lambda total: not kept(total), peak + 1, high + 1) - 1
    return Anytime(
        events,
        drawn,
        whole,
        low,
        high,
        float(level),
        (a, b),
        METHOD,
        "census" if drawn == whole else "finite",
        "two",
    )


def _exact_ratio(
    k: int, n: int, population: int, total: int, prior: tuple[float, float]
) -> Fraction:
    """Return prior over posterior of a total without rounding, by rising factorials."""
    a, b = Fraction(prior[0]), Fraction(prior[1])
    predicted = _rising(a, k) * _rising(b, n - k) / _rising(a + b, n)
    ways = Fraction(comb(total, k) * comb(population - total, n - k), comb(population, n))
    return predicted * comb(n, k) / ways


def _rising(start: Fraction, steps: int) -> Fraction:
    """Return start * (start + 1) * ... with so many factors."""
    step = start.denominator
    return Fraction(prod(start.numerator + at * step for at in range(steps)), step**steps)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
