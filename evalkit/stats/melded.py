"""The exact interval of a paired difference that agrees with the exact McNemar p.

The difference is the discordant share of all cases times twice the first's
share of the discordant ones less 1. Each share has a lower and an upper
confidence distribution (Clopper-Pearson's); the melded limits are quantiles of
the product, with the distribution of the discordant share on the cautious side.
"""

from typing import Any

from evalkit.stats.bisection import crossing
from evalkit.stats.counts import alpha_of
from evalkit.stats.interval import Difference
from evalkit.stats.paired import four

METHOD = "exact melded, agrees with exact McNemar"
_PANELS = 8
"""Panels between quantiles of each distribution."""
_NODES = 10
"""Gauss-Legendre nodes in a panel; doubling both moves no limit by 1e-10."""


def melded(
    both: int, first: int, second: int, neither: int, level: float = 0.95
) -> Difference | None:
    """Return the melded exact interval of the paired difference; None without cases.

    Args:
        both: cases in which both have the event.
        first: cases in which only the first has it.
        second: cases in which only the second has it.
        neither: cases in which neither has it.
        level: confidence level, in (0, 1).

    Returns:
        The interval. It excludes 0 exactly where the two-sided exact McNemar p is below
        1 - level.

    Raises:
        UsageError: a count that is negative or no integer, or a level outside (0, 1).

    Source: Fay and Lumbard (2021), Statistics in Medicine 40:1147.
    """
    a, b, c, d = four(both, first, second, neither)
    tail = alpha_of(level) / 2
    total = a + b + c + d
    if total == 0:
        return None
    lower = _lower(b, c, total, tail)
    # Exchanging the gates turns the difference round.
    upper = -_lower(c, b, total, tail)
    return Difference((b - c) / total, lower, upper, float(level), METHOD, (a, b, c, d))


def _lower(b: int, c: int, total: int, tail: float) -> float:
    """Return the tail's quantile of the lower melded distribution of the difference."""
    from scipy.special import betainccinv

    discordant = b + c
    if b == 0:
        # The first's share is 0 for certain: only the discordant share is left.
        if discordant == total:
            return -1.0
        return -float(betainccinv(discordant + 1, total - discordant, tail))
    law = _Melded(b, c, total)
    return crossing(lambda delta: law.below(delta) >= tail, -1.0, b / total)


class _Melded:
    """The lower melded distribution of a difference, for b > 0.

    The first's share of the discordant cases follows Beta(b, c + 1). Below one half it is
    joined with the upper distribution of the discordant share, above it with the lower one.
    """

    def __init__(self, b: int, c: int, total: int) -> None:
        import numpy as np
        from scipy.special import betaincinv, betaln

        self.b, self.c, self.others = b, c, total - b - c
        self.scale = betaln(b, c + 1)
        self.nodes, self.weights = np.polynomial.legendre.leggauss(_NODES)
        ladder = np.concatenate(
            ([1e-15, 1e-9, 1e-5], np.linspace(1e-3, 0.999, _PANELS), [1 - 1e-5, 1 - 1e-9, 1.0])
        )
        self.own = betaincinv(b, c + 1, ladder)
        self.high = betaincinv(b + c + 1, self.others, ladder) if self.others else np.ones(1)
        self.low = betaincinv(b + c, self.others + 1, ladder)

    def below(self, delta: float) -> float:
        """Return the probability of a difference of at most ``delta``."""
        import numpy as np
        from scipy.special import betaincc, xlog1py, xlogy

        edges = self._edges(delta)
        half = np.diff(edges)[:, None] / 2
        share = edges[:-1, None] + half * (1 + self.nodes)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.clip(delta / (2 * share - 1), 0.0, 1.0)
        if delta >= 0:
            beyond = betaincc(self.b + self.c, self.others + 1, ratio)
        elif self.others:
            beyond = betaincc(self.b + self.c + 1, self.others, ratio)
        else:
            beyond = 1.0 * (ratio < 1)
        density = np.exp(xlogy(self.b - 1, share) + xlog1py(self.c, -share) - self.scale)
        part = float((beyond * density * self.weights * half).sum())
        return part if delta < 0 else 1.0 - part

    def _edges(self, delta: float) -> Any:
        """Return panel edges that follow both distributions, however narrow either is."""
        import numpy as np

        discordant = self.high if delta < 0 else self.low
        turns = (1 + delta / discordant[discordant > 0]) / 2
        ends = (0.0, 0.5) if delta < 0 else (0.5, 1.0)
        return np.unique(np.clip(np.concatenate((self.own, turns, ends)), *ends))
