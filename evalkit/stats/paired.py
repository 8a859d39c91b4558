"""Two gates on the same cases: exact McNemar, its mid-P, and the size of the difference.

Only the cases that the two answer differently (the discordant ones) say which
is better; the others say how much that matters.
"""

from math import comb, sqrt
from typing import NamedTuple

from evalkit.errors import UsageError
from evalkit.stats.binomial import Interval, alpha_of, clopper_pearson, count

NEWCOMBE = "Newcombe square-and-add, method 10, approximate"


class Difference(NamedTuple):
    """Limits of the difference of two rates on the same cases.

    Args:
        value: rate of the first less rate of the second.
        lower: lower limit, in [-1, 1].
        upper: upper limit, in [-1, 1].
        level: confidence level, in (0, 1).
        method: name of the method, for people.
    """

    value: float
    lower: float
    upper: float
    level: float
    method: str


class Paired(NamedTuple):
    """A comparison of two gates on the same cases.

    Args:
        both: events of both.
        first: events of the first alone.
        second: events of the second alone.
        neither: events of neither.
        p_exact: two-sided exact McNemar p; 1 without discordant cases.
        p_mid: its mid-P.
        share: exact interval of the first's share of the discordant cases; None without any.
        difference: the difference of the rates; None without cases.
    """

    both: int
    first: int
    second: int
    neither: int
    p_exact: float
    p_mid: float
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
    a, b = count("both", both), count("first", first)
    c, d = count("second", second), count("neither", neither)
    discordant = b + c
    return Paired(
        a,
        b,
        c,
        d,
        p_exact=_p_exact(b, c),
        p_mid=_p_mid(b, c),
        share=clopper_pearson(b, discordant, level) if discordant else None,
        difference=_newcombe(a, b, c, d, level) if a + b + c + d else None,
    )


def fewest_discordant(alpha: float = 0.05) -> int:
    """Return how many cases must change, all one way, for the exact p to be below alpha.

    Args:
        alpha: the error that is accepted, in (0, 1).

    Raises:
        UsageError: alpha is no number inside (0, 1).
    """
    if not isinstance(alpha, float) or not 0 < alpha < 1:
        raise UsageError(f"alpha is {alpha!r}: expected a number between 0 and 1")
    cases = 1
    while _p_exact(cases, 0) >= alpha:
        cases += 1
    return cases


def _p_exact(b: int, c: int) -> float:
    """Return twice the smaller binomial tail at 1/2, in exact integers."""
    tail = sum(comb(b + c, k) for k in range(min(b, c) + 1))
    return min(1.0, _share(2 * tail, b + c))


def _p_mid(b: int, c: int) -> float:
    """Return twice the smaller one-sided mid-P; 1 where both are equal."""
    tail = sum(comb(b + c, k) for k in range(min(b, c) + 1))
    return _share(2 * tail - comb(b + c, min(b, c)), b + c)


def _share(ways: int, cases: int) -> float:
    """Return ways / 2**cases, whatever their size."""
    return ways / (1 << cases)


def _newcombe(a: int, b: int, c: int, d: int, level: float) -> Difference:
    """Return Newcombe's interval of the paired difference.

    Source: Newcombe (1998), Statistics in Medicine 17:2635, method 10: Wilson limits of the
        two rates, joined with their correlation, which is corrected for continuity.
    """
    total = a + b + c + d
    z = _quantile(1 - alpha_of(level) / 2)
    low1, high1 = _wilson(a + b, total, z)
    low2, high2 = _wilson(a + c, total, z)
    rate1, rate2 = (a + b) / total, (a + c) / total
    phi = _phi(a, b, c, d)
    down1, up1 = rate1 - low1, high1 - rate1
    down2, up2 = rate2 - low2, high2 - rate2
    value = (b - c) / total
    lower = value - sqrt(max(0.0, down1**2 - 2 * phi * down1 * up2 + up2**2))
    upper = value + sqrt(max(0.0, up1**2 - 2 * phi * up1 * down2 + down2**2))
    return Difference(value, max(-1.0, lower), min(1.0, upper), float(level), NEWCOMBE)


def _phi(a: int, b: int, c: int, d: int) -> float:
    total = a + b + c + d
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    if margins == 0:
        return 0.0
    product = float(a * d - b * c)
    if product > 0:
        product = max(product - total / 2, 0.0)
    return product / sqrt(margins)


def _wilson(k: int, n: int, z: float) -> tuple[float, float]:
    """Return Wilson's score limits of k in n."""
    rate = k / n
    middle = rate + z * z / (2 * n)
    half = z * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def _quantile(share: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(share)
