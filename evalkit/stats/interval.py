"""The values that methods return: limits with everything that they rest on."""

from typing import NamedTuple


class Interval(NamedTuple):
    """Confidence limits of a rate.

    Args:
        k: events counted.
        n: trials counted.
        lower: lower limit, in [0, 1].
        upper: upper limit, in [0, 1].
        level: confidence level, in (0, 1).
        method: name of the method, for people.
        estimand: what the limits speak of: ``process`` (what the same process would do on
            further calls), ``finite`` (all calls of the population that was sampled),
            ``census`` (every call was judged) or ``sessions`` (sessions with any event).
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


class Total(NamedTuple):
    """Limits of the number of events in a finite population.

    Args:
        k: events seen in the sample.
        n: calls in the sample.
        population: calls in the population.
        lower: fewest events in the population, an integer.
        upper: most events in the population, an integer.
        level: confidence level, in (0, 1).
        method: name of the method, for people.
        estimand: ``finite``, or ``census`` where the sample is the population.
        side: ``two``, or the one limit that is bounded: ``lower`` or ``upper``.
    """

    k: int
    n: int
    population: int
    lower: int
    upper: int
    level: float
    method: str
    estimand: str
    side: str

    def rate(self) -> Interval | None:
        """Return the same limits as a rate of the population; None for an empty one."""
        if self.population == 0:
            return None
        return Interval(
            self.k,
            self.n,
            self.lower / self.population,
            self.upper / self.population,
            self.level,
            self.method,
            self.estimand,
            self.side,
        )


class Difference(NamedTuple):
    """Limits of the difference of two rates.

    Args:
        value: rate of the first less rate of the second.
        lower: lower limit, in [-1, 1].
        upper: upper limit, in [-1, 1].
        level: confidence level, in (0, 1).
        method: name of the method, for people.
        counts: what it rests on; for two gates on the same cases: events of both, of the
            first alone, of the second alone, of neither; for two windows: events and calls of
            the first, then of the second.
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
