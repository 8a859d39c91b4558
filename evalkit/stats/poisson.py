"""Exact interval of an intensity: events for each unit of exposure."""

from math import log
from typing import NamedTuple

from evalkit.errors import UsageError
from evalkit.stats.counts import alpha_of, count, positive, side_of, tails

METHOD = "exact Poisson"


class Intensity(NamedTuple):
    """Confidence limits of a number of events for each unit of exposure.

    Args:
        k: events counted.
        exposure: how much was watched, in units.
        unit: what one unit is, e.g. ``1,000 calls`` or ``hour``.
        value: events for each unit.
        lower: lower limit, at least 0.
        upper: upper limit; infinite where only the lower one is bounded.
        level: confidence level, in (0, 1).
        method: name of the method, for people.
        estimand: ``process``.
        side: ``two``, or the one limit that is bounded: ``lower`` or ``upper``.
    """

    k: int
    exposure: float
    unit: str
    value: float
    lower: float
    upper: float
    level: float
    method: str
    estimand: str
    side: str


def poisson(
    k: int, exposure: float, unit: str, level: float = 0.95, side: str = "two"
) -> Intensity:
    """Return the exact interval of the intensity behind k events.

    Args:
        k: events.
        exposure: how much was watched, in units, finite and above 0.
        unit: what one unit is.
        level: confidence level, in (0, 1).
        side: ``two``; ``lower`` or ``upper`` for a one-sided bound at that end.

    Raises:
        UsageError: k is no count; an exposure not above 0; no unit; a bad level or side.

    Source: Garwood (1936), by gamma quantiles.
    """
    events, watched = count("k", k), positive("exposure", exposure)
    if not isinstance(unit, str) or not unit:
        raise UsageError(f"unit is {unit!r:.40}: expected the name of a unit, e.g. 1,000 calls")
    below, above = tails(alpha_of(level), side_of(side))
    lower = 0.0 if below is None else mean_lower(events, below) / watched
    upper = float("inf") if above is None else mean_upper(events, above) / watched
    return Intensity(
        events,
        watched,
        unit,
        events / watched,
        lower,
        upper,
        float(level),
        METHOD,
        "process",
        side,
    )


def mean_lower(k: int, tail: float) -> float:
    """Return the mean at which k or more events have probability ``tail``; 0 at k = 0."""
    if k == 0:
        return 0.0
    from scipy.special import gammaincinv

    return float(gammaincinv(k, tail))


def mean_upper(k: int, tail: float) -> float:
    """Return the mean at which k or fewer events have probability ``tail``."""
    if k == 0:
        return -log(tail)
    from scipy.special import gammainccinv

    return float(gammainccinv(k + 1, tail))
