"""Two gates on the same cases: exact McNemar, its mid-P, and the size of the difference.

Only the cases that the two answer differently (the discordant ones) say which
is better; the others say how much that matters. The exact p and the share's
interval agree with each other, and so does the melded difference
(``evalkit.stats.melded``); Newcombe's and Tango's intervals are approximate
and may exclude 0 where the exact p does not: a gate must not mix them.
"""

from math import sqrt
from typing import NamedTuple

from evalkit.stats.alternatives import at_most, score_limits
from evalkit.stats.binomial import clopper_pearson
from evalkit.stats.bisection import crossing
from evalkit.stats.counts import alpha_of, count, normal_quantile, open_share
from evalkit.stats.interval import Difference, Interval

NEWCOMBE = "Newcombe square-and-add, method 10, approximate"
TANGO = "Tango score, approximate"
_MOST_EXACT = 20_000


class Paired(NamedTuple):
    """A comparison of two gates on the same cases.

    Args:
        both: events of both.
        first: events of the first alone.
        second: events of the second alone.
        neither: events of neither.
        p_exact: two-sided exact McNemar p; 1 without discordant cases.
        p_mid: its mid-P.
        p_less: one-sided exact p against the first having fewer events.
        p_greater: one-sided exact p against the first having more events.
        share: exact interval of the first's share of the discordant cases; None without any.
        difference: the difference of the rates; None without cases.
    """

    both: int
    first: int
    second: int
    neither: int
    p_exact: float
    p_mid: float
    p_less: float
    p_greater: float
    share: Interval | None
    difference: Difference | None


def paired(both: int, first: int, second: int, neither: int, level: float = 0.95) -> Paired:
    """Compare two gates on the same cases.

    Args:
        both: cases in which both have the event.
        first: cases in which only the first has it.
        second: cases in which only the second has it.
        neither: cases in which neither has it.
        level: confidence level, in (0, 1).

    Raises:
        UsageError: a count that is negative or no integer, or a level outside (0, 1).

    Source: McNemar (1947), exact as a binomial test of 1/2; mid-P by Fagerland, Lydersen
        and Laake (2013).
    """
    a, b, c, d = four(both, first, second, neither)
    tail, at, mid = _smaller_tail(b, c)
    other = 1 - tail + at
    return Paired(
        a,
        b,
        c,
        d,
        p_exact=min(1.0, 2 * tail),
        p_mid=2 * mid,
        p_less=tail if b <= c else other,
        p_greater=tail if c <= b else other,
        share=clopper_pearson(b, b + c, level) if b + c else None,
        difference=newcombe(a, b, c, d, level),
    )


def newcombe(
    both: int, first: int, second: int, neither: int, level: float = 0.95
) -> Difference | None:
    """Return Newcombe's interval of the paired difference; None without cases.

    Args:
        both: cases in which both have the event.
        first: cases in which only the first has it.
        second: cases in which only the second has it.
        neither: cases in which neither has it.
        level: confidence level, in (0, 1), kept on average only.

    Raises:
        UsageError: as in ``paired``.

    Source: Newcombe (1998), Statistics in Medicine 17:2635, method 10: Wilson limits of the
        two rates, joined with their correlation, which is corrected for continuity.
    """
    a, b, c, d = four(both, first, second, neither)
    z = normal_quantile(alpha_of(level) / 2)
    total = a + b + c + d
    if total == 0:
        return None
    low1, high1 = score_limits(a + b, total, z)
    low2, high2 = score_limits(a + c, total, z)
    rate1, rate2 = (a + b) / total, (a + c) / total
    phi = _phi(a, b, c, d)
    down1, up1 = rate1 - low1, high1 - rate1
    down2, up2 = rate2 - low2, high2 - rate2
    value = (b - c) / total
    lower = value - sqrt(max(0.0, down1**2 - 2 * phi * down1 * up2 + up2**2))
    upper = value + sqrt(max(0.0, up1**2 - 2 * phi * up1 * down2 + down2**2))
    limits = max(-1.0, lower), min(1.0, upper)
    return Difference(value, *limits, float(level), NEWCOMBE, (a, b, c, d))


def tango(
    both: int, first: int, second: int, neither: int, level: float = 0.95
) -> Difference | None:
    """Return Tango's score interval of the paired difference; None without cases.

    Args:
        both: cases in which both have the event.
        first: cases in which only the first has it.
        second: cases in which only the second has it.
        neither: cases in which neither has it.
        level: confidence level, in (0, 1), kept on average only.

    Raises:
        UsageError: as in ``paired``.

    Source: Tango (1998), Statistics in Medicine 17:891, by inverting the score test.
    """
    a, b, c, d = four(both, first, second, neither)
    z = normal_quantile(alpha_of(level) / 2)
    total = a + b + c + d
    if total == 0:
        return None
    value = (b - c) / total
    lower = crossing(lambda delta: _tango_score(b, c, total, delta) <= z, -1.0, value)
    upper = crossing(lambda delta: _tango_score(b, c, total, delta) <= -z, value, 1.0)
    return Difference(value, lower, upper, float(level), TANGO, (a, b, c, d))


def fewest_discordant(alpha: float = 0.05) -> int:
    """Return how many cases must change, all one way, for the exact p to be below alpha.

    Args:
        alpha: the error that is accepted, in (0, 1).

    Raises:
        UsageError: alpha is no number inside (0, 1).
    """
    accepted = open_share("alpha", alpha)
    cases = 1
    while 2 / (1 << cases) >= accepted:
        cases += 1
    return cases


def four(both: int, first: int, second: int, neither: int) -> tuple[int, int, int, int]:
    """Return the four counts of a paired comparison.

    Raises:
        UsageError: one of them is no count.
    """
    return (
        count("both", both),
        count("first", first),
        count("second", second),
        count("neither", neither),
    )


def _smaller_tail(b: int, c: int) -> tuple[float, float, float]:
    """Return P(X <= k), P(X = k) and the mid-P of the smaller count k, X binomial(b + c, 1/2).

    Summed in integers, so that no rounding enters; very many changed cases by the beta function.
    """
    few = min(b, c)
    if few > _MOST_EXACT:
        tail = at_most(few, b + c, 0.5)
        below = at_most(few - 1, b + c, 0.5)
        return tail, tail - below, (tail + below) / 2
    total, term = 0, 1
    for at in range(few + 1):
        total += term
        last, term = term, term * (b + c - at) // (at + 1)
    whole = 1 << (b + c)
    return total / whole, last / whole, (2 * total - last) / (2 * whole)


def _phi(a: int, b: int, c: int, d: int) -> float:
    total = a + b + c + d
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    if margins == 0:
        return 0.0
    product = float(a * d - b * c)
    if product > 0:
        product = max(product - total / 2, 0.0)
    return product / sqrt(margins)


def _tango_score(b: int, c: int, total: int, delta: float) -> float:
    """Return the score statistic of a difference, with the discordant share at its best fit."""
    quadratic = -b - c + (2 * total - b + c) * delta
    constant = -c * delta * (1 - delta)
    root = sqrt(max(0.0, quadratic**2 - 8 * total * constant))
    second = (root - quadratic) / (4 * total)
    spread = total * (2 * second + delta * (1 - delta))
    distance = b - c - total * delta
    if spread <= 0:
        return float("inf") if distance > 0 else float("-inf") if distance < 0 else 0.0
    return distance / sqrt(spread)
