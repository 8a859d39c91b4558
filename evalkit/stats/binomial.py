"""Exact interval of one binomial rate.

Edge rules: no events puts the lower limit at 0, nothing but events the upper
limit at 1, and no trials say nothing, so the interval is (0, 1). A one-sided
bound leaves the other limit at its end and spends all of alpha on one tail; a
two-sided interval keeps alpha/2 in each tail, also at no events.
"""

from fractions import Fraction
from functools import lru_cache
from math import expm1, log
from operator import index
from typing import Any, NamedTuple

from evalkit.errors import UsageError

SIDES = ("two", "lower", "upper")
METHOD = "exact Clopper-Pearson"


class Interval(NamedTuple):
    """Confidence limits of a rate, with everything they rest on.

    Args:
        k: events counted.
        n: trials counted.
        lower: lower limit, in [0, 1].
        upper: upper limit, in [0, 1].
        level: confidence level, in (0, 1).
        method: name of the method, for people.
        estimand: what the limits speak of: ``process``, ``finite`` or ``census``.
        side: ``two``, or the one limit that is bounded: ``lower`` or ``upper``.
    """

    k: int
    n: int
    lower: float
    upper: float
    level: float
    method: str
    estimand: str
    side: str


def clopper_pearson(k: int, n: int, level: float = 0.95, side: str = "two") -> Interval:
    """Return the exact interval of the rate behind k events in n independent trials.

    Args:
        k: events, 0 <= k <= n.
        n: trials; 0 gives (0, 1).
        level: confidence level, in (0, 1).
        side: ``two``; ``lower`` or ``upper`` for a one-sided bound at that end.

    Returns:
        The interval; its estimand is ``process``: what the same process would
        do on further independent trials.

    Raises:
        UsageError: counts that are negative, not integers (bool and float
            included) or k > n; a level outside (0, 1); an unknown side.

    Source: Clopper and Pearson (1934), by beta quantiles.
    """
    events, trials = count("k", k), count("n", n)
    if events > trials:
        raise UsageError(f"k is {events}, n is {trials}: expected k <= n")
    if side not in SIDES:
        raise UsageError(f"side is {side!r}: expected one of {', '.join(SIDES)}")
    alpha = alpha_of(level)
    lower, upper = 0.0, 1.0
    if side == "two":
        lower = _lower(events, trials, alpha / 2)
        upper = _upper(events, trials, alpha / 2)
    elif side == "lower":
        lower = _lower(events, trials, alpha)
    else:
        upper = _upper(events, trials, alpha)
    return Interval(events, trials, lower, upper, float(level), METHOD, "process", side)


@lru_cache(maxsize=64)
def alpha_of(level: float) -> float:
    """Return 1 - level, taken in decimal so that 0.999999 gives 1e-06 to the last bit.

    Raises:
        UsageError: the level is not a number inside (0, 1).
    """
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0 < level < 1:
        raise UsageError(f"level is {level!r}: expected a number between 0 and 1")
    return float(1 - Fraction(repr(float(level))))


def count(name: str, value: Any) -> int:
    """Return a count as an int.

    Args:
        name: what it is called in messages.
        value: any value.

    Raises:
        UsageError: it is negative or no integer (bool and float included).
    """
    if isinstance(value, bool):
        raise UsageError(f"{name} is {value}: expected a count")
    try:
        number = index(value)
    except TypeError:
        raise UsageError(f"{name} is {value!r:.40}: expected an integer count") from None
    if number < 0:
        raise UsageError(f"{name} is {number}: expected a count of at least 0")
    return number


def _lower(k: int, n: int, tail: float) -> float:
    if k == 0:
        return 0.0
    if k == n:
        return _root_of_tail(n, tail)
    from scipy.special import betaincinv

    return float(betaincinv(k, n - k + 1, tail))


def _upper(k: int, n: int, tail: float) -> float:
    if k == n:
        return 1.0
    if k == 0:
        return -expm1(log(tail) / n)
    from scipy.special import betainccinv

    return float(betainccinv(k + 1, n - k, tail))


def _root_of_tail(n: int, tail: float) -> float:
    """Return tail ** (1/n): the rate at which n events in n trials have that probability."""
    return float(tail ** (1.0 / n))
