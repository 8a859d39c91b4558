"""Limits of the number of events over all strata of a population, each sampled by itself.

Wright's bound adds up the strata's own exact bounds, each at the level that
makes them hold together. Strata that were judged whole add exactly what was
counted and cost no level; strata that were not sampled leave everything open.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import expm1, log1p
from typing import NamedTuple

from evalkit.errors import UsageError
from evalkit.stats.counts import exact_alpha, share_of, side_of
from evalkit.stats.hypergeometric import CENSUS, fewest, most, population_of
from evalkit.stats.interval import Interval

SIDAK = "sum of exact hypergeometric bounds at Sidak's level (Wright)"
BONFERRONI = "sum of exact hypergeometric bounds at Bonferroni's level"


class Stratum(NamedTuple):
    """One stratum of a population.

    Args:
        population: calls in the stratum.
        n: calls drawn from it at random without replacement.
        k: events among these.
    """

    population: int
    n: int
    k: int


class Stratified(NamedTuple):
    """Limits of the number of events over all strata.

    Args:
        strata: what was drawn and seen, in the order given.
        population: calls of all strata.
        estimate: sum of population * k / n; None where a stratum with calls was not sampled.
        lower: fewest events.
        upper: most events.
        sampled: strata of which a part was drawn; they share the error.
        census: strata judged whole.
        unsampled: calls of strata not sampled at all; all of them may be events, or none.
        level: confidence level of the total, in (0, 1).
        method: name of the method, for people.
        estimand: ``finite``, or ``census`` where every call was judged.
        side: ``two``, or the one limit that is bounded: ``lower`` or ``upper``.
    """

    strata: tuple[Stratum, ...]
    population: int
    estimate: float | None
    lower: int
    upper: int
    sampled: int
    census: int
    unsampled: int
    level: float
    method: str
    estimand: str
    side: str

    def rate(self) -> Interval | None:
        """Return the same limits as a rate of the population; None for an empty one."""
        if self.population == 0:
            return None
        return Interval(
            sum(stratum.k for stratum in self.strata),
            sum(stratum.n for stratum in self.strata),
            self.lower / self.population,
            self.upper / self.population,
            self.level,
            self.method,
            self.estimand,
            self.side,
        )


def stratified(
    strata: Iterable[tuple[int, int, int]],
    level: float = 0.95,
    side: str = "upper",
    *,
    joint: str = SIDAK,
) -> Stratified:
    """Return exact limits of the events in a population that was sampled by strata.

    Args:
        strata: calls, calls drawn and events drawn of each stratum.
        level: confidence level of the total, in (0, 1).
        side: ``upper`` or ``lower`` for a one-sided bound; ``two`` gives half of the error to
            each end.
        joint: ``SIDAK`` for strata drawn independently; ``BONFERRONI`` needs no independence.

    Raises:
        UsageError: no stratum; counts that are negative, no integers, or not k <= n <=
            population; one above four billion calls; a bad level, side or joint level.

    Source: Wright (1991), Exact Confidence Bounds when Sampling from Small Finite Universes.
    """
    read = read_strata(strata)
    alpha = exact_alpha(level)
    if side_of(side) == "two":
        alpha /= 2
    if joint not in (SIDAK, BONFERRONI):
        raise UsageError(f"joint is {joint!r:.40}: expected SIDAK or BONFERRONI")
    sampled = sum(0 < stratum.n < stratum.population for stratum in read)
    tail = _each(alpha, sampled, joint)
    return assembled(
        read,
        lower=sum(_fewest(stratum, tail, side) for stratum in read),
        upper=sum(_most(stratum, tail, side) for stratum in read),
        level=level,
        method=joint,
        side=side,
    )


def read_strata(strata: Iterable[tuple[int, int, int]]) -> tuple[Stratum, ...]:
    """Return strata whose counts are known to fit.

    Args:
        strata: calls, calls drawn and events drawn of each stratum.

    Raises:
        UsageError: no stratum; counts that are negative, no integers, or not k <= n <= population.
    """
    read = []
    for at, (population, n, k) in enumerate(strata):
        names = (f"n of stratum {at}", f"population of stratum {at}")
        drawn, whole = share_of(n, population, names)
        events, drawn = share_of(k, drawn, (f"k of stratum {at}", names[0]))
        read.append(Stratum(population_of(whole), drawn, events))
    if not read:
        raise UsageError("no stratum is given: expected at least 1")
    return tuple(read)


def assembled(
    strata: tuple[Stratum, ...], *, lower: int, upper: int, level: float, method: str, side: str
) -> Stratified:
    """Return the value of a total whose limits are known.

    Args:
        strata: what was drawn and seen.
        lower: fewest events.
        upper: most events.
        level: confidence level, in (0, 1).
        method: name of the method, for people.
        side: one of ``SIDES``.
    """
    unsampled = sum(stratum.population for stratum in strata if stratum.n == 0)
    whole = sum(stratum.population for stratum in strata)
    judged = sum(stratum.n for stratum in strata)
    estimate = sum(
        (Fraction(one.population * one.k, one.n) for one in strata if one.n), start=Fraction(0)
    )
    return Stratified(
        strata,
        whole,
        None if unsampled else float(estimate),
        lower,
        upper,
        sum(0 < stratum.n < stratum.population for stratum in strata),
        sum(0 < stratum.n == stratum.population for stratum in strata),
        unsampled,
        float(level),
        method,
        CENSUS if judged == whole else "finite",
        side,
    )


def _each(alpha: Fraction, strata: int, joint: str) -> Fraction:
    """Return the error of each of so many strata that gives alpha together."""
    if strata <= 1:
        return alpha
    if joint == BONFERRONI:
        return alpha / strata
    return Fraction(-expm1(log1p(-float(alpha)) / strata))


def _fewest(stratum: Stratum, tail: Fraction, side: str) -> int:
    if side == "upper" or stratum.n in (0, stratum.population):
        return stratum.k
    return fewest(stratum.k, stratum.n, stratum.population, tail)


def _most(stratum: Stratum, tail: Fraction, side: str) -> int:
    certain = stratum.population - stratum.n + stratum.k
    if side == "lower" or stratum.n in (0, stratum.population):
        return certain
    return most(stratum.k, stratum.n, stratum.population, tail)
