"""Other intervals of one binomial rate, by name; none of them is a default.

Mid-P, Wilson and Jeffreys keep their level on average over rates, not at every
rate. Blaker is exact, and a subset of Clopper-Pearson.
"""

from math import sqrt

from evalkit.stats.binomial import lower_limit, upper_limit
from evalkit.stats.bisection import crossing, first
from evalkit.stats.counts import alpha_of, normal_quantile, share_of, side_of, tails
from evalkit.stats.interval import Interval


def mid_p(k: int, n: int, level: float = 0.95, side: str = "two") -> Interval:
    """Return the mid-P interval: the observed count weighs half in each tail.

    Args:
        k: events, 0 <= k <= n.
        n: trials; 0 gives (0, 1).
        level: confidence level, in (0, 1), kept on average only.
        side: ``two``; ``lower`` or ``upper`` for a one-sided bound at that end.

    Raises:
        UsageError: as in ``clopper_pearson``.

    Source: Lancaster (1961), limits by inverting both one-sided mid-P tests.
    """
    events, trials = share_of(k, n)
    below, above = tails(alpha_of(level), side_of(side))
    lower, upper = 0.0, 1.0
    if below is not None and events > 0:
        lower = _mid_lower(events, trials, below)
    if above is not None and events < trials:
        upper = _mid_upper(events, trials, above)
    return Interval(events, trials, lower, upper, float(level), "mid-P", "process", side)


def wilson(k: int, n: int, level: float = 0.95, side: str = "two") -> Interval:
    """Return Wilson's score interval, without continuity correction.

    Args:
        k: events, 0 <= k <= n.
        n: trials; 0 gives (0, 1).
        level: confidence level, in (0, 1), kept on average only.
        side: ``two``; ``lower`` or ``upper`` for a one-sided bound at that end.

    Raises:
        UsageError: as in ``clopper_pearson``.

    Source: Wilson (1927).
    """
    events, trials = share_of(k, n)
    below, above = tails(alpha_of(level), side_of(side))
    lower, upper = 0.0, 1.0
    if trials and below is not None:
        lower = score_limits(events, trials, normal_quantile(below))[0]
    if trials and above is not None:
        upper = score_limits(events, trials, normal_quantile(above))[1]
    return Interval(events, trials, lower, upper, float(level), "Wilson score", "process", side)


def jeffreys(k: int, n: int, level: float = 0.95, side: str = "two") -> Interval:
    """Return the equal-tailed Jeffreys interval, with 0 and 1 at no and at all events.

    Args:
        k: events, 0 <= k <= n.
        n: trials; 0 gives (0, 1).
        level: posterior probability, in (0, 1); kept as coverage on average only.
        side: ``two``; ``lower`` or ``upper`` for a one-sided bound at that end.

    Raises:
        UsageError: as in ``clopper_pearson``.

    Source: Brown, Cai and DasGupta (2001), prior Beta(1/2, 1/2).
    """
    from scipy.special import betainccinv, betaincinv

    events, trials = share_of(k, n)
    below, above = tails(alpha_of(level), side_of(side))
    lower, upper = 0.0, 1.0
    if below is not None and events > 0:
        lower = float(betaincinv(events + 0.5, trials - events + 0.5, below))
    if above is not None and events < trials:
        upper = float(betainccinv(events + 0.5, trials - events + 0.5, above))
    return Interval(events, trials, lower, upper, float(level), "Jeffreys", "process", side)


def blaker(k: int, n: int, level: float = 0.95) -> Interval:
    """Return Blaker's exact interval, which lies inside Clopper-Pearson's.

    Args:
        k: events, 0 <= k <= n.
        n: trials; 0 gives (0, 1).
        level: confidence level, in (0, 1). There is no one-sided form.

    Raises:
        UsageError: as in ``clopper_pearson``.

    Source: Blaker (2000); the hull of the rates whose acceptability exceeds alpha.
    """
    events, trials = share_of(k, n)
    alpha = alpha_of(level)
    lower = _blaker_lower(events, trials, alpha)
    upper = 1.0 - _blaker_lower(trials - events, trials, alpha)
    return Interval(events, trials, lower, upper, float(level), "exact Blaker", "process", "two")


def score_limits(k: float, n: float, z: float) -> tuple[float, float]:
    """Return both score limits of k in n.

    Args:
        k: events, 0 <= k <= n.
        n: trials, above 0.
        z: normal quantile of the level, at least 0.
    """
    rate, square = k / n, z * z
    scale = 1 + square / n
    half = z * sqrt(rate * (1 - rate) / n + square / (4 * n * n))
    upper = (rate + square / (2 * n) + half) / scale
    # The limits are the roots of one quadratic: their product gives the lower one undiminished.
    lower = rate * rate / (scale * upper) if k else 0.0
    return lower, 1.0 if k == n else min(1.0, upper)


def _mid_lower(k: int, n: int, tail: float) -> float:
    """Return where P(X > k) + P(X = k)/2 reaches the tail, for k > 0."""
    return crossing(
        lambda rate: (at_least(k, n, rate) + at_least(k + 1, n, rate)) / 2 >= tail,
        lower_limit(k, n, tail),
        1.0,
    )


def _mid_upper(k: int, n: int, tail: float) -> float:
    """Return where P(X < k) + P(X = k)/2 falls to the tail, for k < n."""
    return crossing(
        lambda rate: (at_most(k, n, rate) + at_most(k - 1, n, rate)) / 2 <= tail,
        0.0,
        upper_limit(k, n, tail),
    )


def _blaker_lower(k: int, n: int, alpha: float) -> float:
    """Return the smallest rate at which k of n are acceptable.

    Below the observed rate the acceptability is P(X >= k) + P(X <= j), with j the largest
    count whose lower tail is no larger than P(X >= k). j grows with the rate; where it does,
    both tails are equal and the sum jumps to twice P(X >= k), which exceeds alpha anywhere
    above Clopper-Pearson's limit. So the answer lies between that limit and the first jump,
    and there the sum falls at most before it rises: it crosses alpha once.
    """
    if k == 0:
        return 0.0
    start = lower_limit(k, n, alpha / 2)
    beyond = first(lambda j: at_most(j, n, start) > at_least(k, n, start), 0, k - 1)
    jump = crossing(
        lambda rate: at_most(beyond, n, rate) <= at_least(k, n, rate), start, upper_limit(k, n, 0.5)
    )
    return crossing(
        lambda rate: at_least(k, n, rate) + at_most(beyond - 1, n, rate) >= alpha, start, jump
    )


def at_least(k: int, n: int, rate: float) -> float:
    """Return P(X >= k) for X binomial(n, rate)."""
    if k <= 0:
        return 1.0
    if k > n:
        return 0.0
    from scipy.special import betainc

    return float(betainc(k, n - k + 1, rate))


def at_most(k: int, n: int, rate: float) -> float:
    """Return P(X <= k) for X binomial(n, rate)."""
    if k < 0:
        return 0.0
    if k >= n:
        return 1.0
    from scipy.special import betaincc

    return float(betaincc(k + 1, n - k, rate))
