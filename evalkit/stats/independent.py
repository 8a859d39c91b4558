"""Two windows, taken as independent samples of calls: is the rate another one?

Where both windows were judged whole and the question is whether the rate
changed in fact, the answer is a subtraction and no test. A test is for the
claim that the process changed, and it takes calls as independent.
"""

from math import exp, inf, log, sqrt
from typing import Any, NamedTuple

from evalkit.errors import UsageError
from evalkit.stats.alternatives import score_limits
from evalkit.stats.bisection import crossing
from evalkit.stats.counts import alpha_of, normal_quantile, share_of
from evalkit.stats.interval import Difference

NEWCOMBE = "Newcombe hybrid score, method 10, approximate"
FISHER = "exact Fisher, by tables no likelier"
BOSCHLOO = "Boschloo, twice the smaller one-sided p"
ODDS = "exact conditional odds ratio"
MOST_TABLES = 4_000_000
MOST_VALUES = 10_000_000
"""Most values that the first window's events may take, given those of both."""
_NO_LIKELIER = 1 + 1e-7
"""Tables within this factor count as equally likely: doubles cannot tell them apart."""


class Odds(NamedTuple):
    """Limits of the odds of an event in the first window over those in the second.

    Args:
        value: conditional maximum-likelihood estimate; 0 or infinite at the ends.
        lower: lower limit, from 0.
        upper: upper limit, up to infinity.
        level: confidence level, in (0, 1).
        method: name of the method, for people.
        counts: events and calls of the first window, then of the second.
        estimand: ``process``.
        side: ``two``.
    """

    value: float
    lower: float
    upper: float
    level: float
    method: str
    counts: tuple[int, int, int, int]
    estimand: str = "process"
    side: str = "two"


class Independent(NamedTuple):
    """A comparison of the rates of two windows.

    Args:
        counts: events and calls of the first window, then of the second.
        p: two-sided Fisher p: the sum over tables no likelier than this; 1 where the rate
            cannot differ (no events, nothing but events, or a window without calls).
        p_less: one-sided p against a lower rate in the first.
        p_greater: one-sided p against a higher rate in the first.
        p_central: twice the smaller one-sided p, at most 1; agrees with the odds' limits.
        odds: conditional odds ratio; None where the rate cannot differ.
        difference: first rate less second; None where a window has no calls.
        method: name of the test, for people.
    """

    counts: tuple[int, int, int, int]
    p: float
    p_less: float
    p_greater: float
    p_central: float
    odds: Odds | None
    difference: Difference | None
    method: str


class Unconditional(NamedTuple):
    """Boschloo's test of two windows.

    Args:
        counts: events and calls of the first window, then of the second.
        p: two-sided p.
        p_less: one-sided p against a lower rate in the first.
        p_greater: one-sided p against a higher rate in the first.
        method: name of the test and of its two-sided form, for people.
    """

    counts: tuple[int, int, int, int]
    p: float
    p_less: float
    p_greater: float
    method: str


def independent(k1: int, n1: int, k2: int, n2: int, level: float = 0.95) -> Independent:
    """Compare the rates of two windows.

    Args:
        k1: events of the first window.
        n1: calls of the first window.
        k2: events of the second window.
        n2: calls of the second window.
        level: confidence level of both intervals, in (0, 1).

    Raises:
        UsageError: counts that are negative, no integers, or events > calls; a bad level;
            windows with more than ten million possible tables.

    Source: Fisher (1935); conditional odds by the noncentral hypergeometric law.
    """
    counts = _four(k1, n1, k2, n2)
    alpha = alpha_of(level)
    law = _Conditional(*counts)
    less, greater = law.tail(0.0, upper=False), law.tail(0.0, upper=True)
    return Independent(
        counts,
        law.no_likelier(),
        less,
        greater,
        min(1.0, 2 * min(less, greater)),
        _odds(law, alpha / 2, float(level), counts) if law.low < law.high else None,
        newcombe_independent(*counts, level),
        FISHER,
    )


def newcombe_independent(
    k1: int, n1: int, k2: int, n2: int, level: float = 0.95
) -> Difference | None:
    """Return Newcombe's interval of the difference of two windows; None without calls in one.

    Args:
        k1: events of the first window.
        n1: calls of the first window.
        k2: events of the second window.
        n2: calls of the second window.
        level: confidence level, in (0, 1), kept on average only.

    Raises:
        UsageError: as in ``independent``.

    Source: Newcombe (1998), Statistics in Medicine 17:873, method 10.
    """
    counts = _four(k1, n1, k2, n2)
    z = normal_quantile(alpha_of(level) / 2)
    first, calls1, second, calls2 = counts
    if calls1 == 0 or calls2 == 0:
        return None
    low1, high1 = score_limits(first, calls1, z)
    low2, high2 = score_limits(second, calls2, z)
    rate1, rate2 = first / calls1, second / calls2
    value = rate1 - rate2
    lower = value - sqrt((rate1 - low1) ** 2 + (high2 - rate2) ** 2)
    upper = value + sqrt((high1 - rate1) ** 2 + (rate2 - low2) ** 2)
    return Difference(value, max(-1.0, lower), min(1.0, upper), float(level), NEWCOMBE, counts)


def boschloo(k1: int, n1: int, k2: int, n2: int) -> Unconditional:
    """Return Boschloo's test of two windows, which is never less powerful than Fisher's.

    Args:
        k1: events of the first window.
        n1: calls of the first window.
        k2: events of the second window.
        n2: calls of the second window.

    Returns:
        The p of each side; all are 1 where the rate cannot differ.

    Raises:
        UsageError: as in ``independent``; windows with more than four million tables.

    Source: Boschloo (1970), through ``scipy.stats.boschloo_exact``. Its two-sided p is twice
        the smaller one-sided p; other programs order the tables by Fisher's two-sided p.
    """
    counts = _four(k1, n1, k2, n2)
    first, calls1, second, calls2 = counts
    if (calls1 + 1) * (calls2 + 1) > MOST_TABLES:
        raise UsageError(
            f"windows of {calls1} and {calls2} calls have more than {MOST_TABLES} tables: "
            "use Fisher's test"
        )
    if calls1 == 0 or calls2 == 0 or first + second in (0, calls1 + calls2):
        return Unconditional(counts, 1.0, 1.0, 1.0, BOSCHLOO)
    from scipy.stats import boschloo_exact

    table = [[first, second], [calls1 - first, calls2 - second]]
    less = float(boschloo_exact(table, "less").pvalue)
    greater = float(boschloo_exact(table, "greater").pvalue)
    return Unconditional(counts, min(1.0, 2 * min(less, greater)), less, greater, BOSCHLOO)


def _four(k1: int, n1: int, k2: int, n2: int) -> tuple[int, int, int, int]:
    return *share_of(k1, n1, ("k1", "n1")), *share_of(k2, n2, ("k2", "n2"))


class _Conditional:
    """The law of the first window's events, given the events and calls of both."""

    def __init__(self, k1: int, n1: int, k2: int, n2: int) -> None:
        import numpy as np

        events = k1 + k2
        self.low, self.high = max(0, events - n2), min(events, n1)
        if self.high - self.low > MOST_VALUES:
            raise UsageError(
                f"windows with {events} events among {n1} and {n2} calls have more than "
                f"{MOST_VALUES} tables: use the difference alone"
            )
        self.at = k1 - self.low
        self.values = np.arange(self.low, self.high + 1, dtype=float)
        before = self.values[:-1]
        # Ratios of neighbouring weights, added up in logarithms from the observed count.
        steps = np.log((n1 - before) * (events - before)) - np.log(
            (before + 1) * (n2 - events + before + 1)
        )
        logs = np.concatenate(([0.0], np.cumsum(steps)))
        self.logs = logs - logs[self.at]

    def no_likelier(self) -> float:
        """Return the sum over the values no likelier than the observed one."""
        import numpy as np

        weights = np.exp(self.logs - self.logs.max())
        kept = self.logs <= log(_NO_LIKELIER)
        return min(1.0, float(weights[kept].sum() / weights.sum()))

    def tail(self, log_odds: float, *, upper: bool) -> float:
        """Return P(X >= observed) or P(X <= observed) under an odds ratio."""
        weights = self._weights(log_odds)
        part = weights[self.at :] if upper else weights[: self.at + 1]
        return min(1.0, float(part.sum() / weights.sum()))

    def mean(self, log_odds: float) -> float:
        """Return the expected events of the first window under an odds ratio."""
        weights = self._weights(log_odds)
        return float((weights * self.values).sum() / weights.sum())

    def _weights(self, log_odds: float) -> Any:
        import numpy as np

        logs = self.logs + log_odds * (self.values - self.values[self.at])
        return np.exp(logs - logs.max())


def _odds(law: _Conditional, tail: float, level: float, counts: tuple[int, int, int, int]) -> Odds:
    """Return estimate and central limits, each by halving on the logarithm of the odds."""
    observed = law.values[law.at]
    value, lower, upper = 0.0, 0.0, inf
    if law.at == len(law.values) - 1:
        value = inf
    elif law.at > 0:
        value = exp(_solve(lambda odds: law.mean(odds) >= observed))
    if law.at > 0:
        lower = exp(_solve(lambda odds: law.tail(odds, upper=True) >= tail))
    if law.at < len(law.values) - 1:
        upper = exp(_solve(lambda odds: law.tail(odds, upper=False) <= tail))
    return Odds(value, lower, upper, level, ODDS, counts)


def _solve(reached: Any) -> float:
    """Return where a predicate of the log odds turns true; odds up to e**600 either way."""
    return crossing(reached, -600.0, 600.0)
