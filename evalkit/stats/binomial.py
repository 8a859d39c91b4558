"""Exact interval of one binomial rate.

Edge rules: no events puts the lower limit at 0, nothing but events the upper
limit at 1, and no trials say nothing, so the interval is (0, 1). A one-sided
bound leaves the other limit at its end and spends all of alpha on one tail; a
two-sided interval keeps alpha/2 in each tail, also at no events.
"""

from collections.abc import Iterable
from math import expm1, log

from evalkit.stats.counts import alpha_of, share_of, side_of, tails
from evalkit.stats.interval import Interval

METHOD = "exact Clopper-Pearson"


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
    events, trials = share_of(k, n)
    below, above = tails(alpha_of(level), side_of(side))
    lower = 0.0 if below is None else lower_limit(events, trials, below)
    upper = 1.0 if above is None else upper_limit(events, trials, above)
    return Interval(events, trials, lower, upper, float(level), METHOD, "process", side)


def clopper_pearson_each(
    counts: Iterable[tuple[int, int]], level: float = 0.95, side: str = "two"
) -> list[Interval]:
    """Return the exact intervals of many rates, in their order.

    The limits are those of ``clopper_pearson`` to the last bit; the quantiles of all rates are
    taken in one call, which is what makes tables of many rates cheap.

    Args:
        counts: events and trials of each rate.
        level: confidence level of each interval by itself, in (0, 1).
        side: as in ``clopper_pearson``.

    Raises:
        UsageError: as in ``clopper_pearson``.
    """
    pairs = [share_of(k, n) for k, n in counts]
    below, above = tails(alpha_of(level), side_of(side))
    lowers = [0.0] * len(pairs) if below is None else _lower_limits(pairs, below)
    uppers = [1.0] * len(pairs) if above is None else _upper_limits(pairs, above)
    shown = float(level)
    return [
        Interval(k, n, lower, upper, shown, METHOD, "process", side)
        for (k, n), lower, upper in zip(pairs, lowers, uppers, strict=True)
    ]


def lower_limit(k: float, n: float, tail: float) -> float:
    """Return the rate at which k or more events of n have probability ``tail``; 0 at k = 0."""
    if k == 0:
        return 0.0
    if k == n:
        return _all_events(n, tail)
    from scipy.special import betaincinv

    return float(betaincinv(k, n - k + 1, tail))


def upper_limit(k: float, n: float, tail: float) -> float:
    """Return the rate at which k or fewer events of n have probability ``tail``; 1 at k = n."""
    if k == n:
        return 1.0
    if k == 0:
        return _no_events(n, tail)
    from scipy.special import betainccinv

    return float(betainccinv(k + 1, n - k, tail))


def _lower_limits(pairs: list[tuple[int, int]], tail: float) -> list[float]:
    from scipy.special import betaincinv

    inner = [(k, n) for k, n in pairs if 0 < k < n]
    found = iter(betaincinv([k for k, _ in inner], [n - k + 1 for k, n in inner], tail).tolist())
    return [next(found) if 0 < k < n else lower_limit(k, n, tail) for k, n in pairs]


def _upper_limits(pairs: list[tuple[int, int]], tail: float) -> list[float]:
    from scipy.special import betainccinv

    inner = [(k, n) for k, n in pairs if 0 < k < n]
    found = iter(betainccinv([k + 1 for k, _ in inner], [n - k for k, n in inner], tail).tolist())
    return [next(found) if 0 < k < n else upper_limit(k, n, tail) for k, n in pairs]


def _all_events(n: float, tail: float) -> float:
    """Return tail ** (1/n): the rate at which n events in n trials have that probability."""
    return float(tail ** (1.0 / n))


def _no_events(n: float, tail: float) -> float:
    """Return 1 - tail ** (1/n), without loss where the bound is small."""
    return -expm1(log(tail) / n)
