"""A sharper limit of the total over few strata: Wendell and Schmee's test inversion.

Samples are ordered by the total that they estimate. A total is refuted when,
however its events lie among the strata, an estimate as low as the one seen has
probability alpha or less. The search over where the events lie is what limits
the method to three sampled strata.
"""

from collections.abc import Iterable
from math import lcm, prod
from typing import Any, NamedTuple

from evalkit.errors import UsageError
from evalkit.stats.bisection import first
from evalkit.stats.counts import alpha_of, count, side_of
from evalkit.stats.stratified import Stratified, Stratum, assembled, read_strata

METHOD = "Wendell-Schmee inversion by the estimated total"
MOST_STRATA = 3
MOST_TERMS = 20_000_000
"""Largest number of products (samples times allocations) of one p-value."""


class TotalTest(NamedTuple):
    """How well a total agrees with what was seen.

    Args:
        strata: what was drawn and seen.
        total: the supposed number of events in the population.
        p: largest probability, over all places of the events, of an estimate as low.
        method: name of the method, for people.
        side: ``upper``: a small p refutes totals as high as this.
    """

    strata: tuple[Stratum, ...]
    total: int
    p: float
    method: str
    side: str


def wendell_schmee(
    strata: Iterable[tuple[int, int, int]], level: float = 0.95, side: str = "upper"
) -> Stratified:
    """Return limits of the events in a population of up to three sampled strata.

    Args:
        strata: calls, calls drawn and events drawn of each stratum. Strata judged whole add
            their events; strata not sampled leave everything open; neither counts here.
        level: confidence level of the total, in (0, 1).
        side: ``upper`` or ``lower`` for a one-sided bound; ``two`` gives half of the error to
            each end.

    Raises:
        UsageError: as in ``stratified``; more than three sampled strata, or strata too large.

    Source: Wendell and Schmee (1996), Journal of the American Statistical Association 91:825.
    """
    read = read_strata(strata)
    alpha = alpha_of(level)
    if side_of(side) == "two":
        alpha /= 2
    parts = _sampled(read)
    lower = sum(stratum.k for stratum in read)
    upper = sum(stratum.population - stratum.n + stratum.k for stratum in read)
    if parts and side != "lower":
        spare = sum(part.population - part.n + part.k for part in parts)
        upper += _most(parts, alpha) - spare
    if parts and side != "upper":
        mirrored = [part._replace(k=part.n - part.k) for part in parts]
        whole = sum(part.population for part in parts)
        lower += whole - _most(mirrored, alpha) - sum(part.k for part in parts)
    return assembled(read, lower=lower, upper=upper, level=level, method=METHOD, side=side)


def total_test(strata: Iterable[tuple[int, int, int]], total: int) -> TotalTest:
    """Return the p of a supposed total against the estimate that was seen.

    Args:
        strata: calls, calls drawn and events drawn of each stratum, each sampled in part.
        total: events supposed in the population, at least those that were seen.

    Raises:
        UsageError: as in ``wendell_schmee``; a stratum judged whole or not sampled; a total that
            the sample excludes.
    """
    read = read_strata(strata)
    parts = _sampled(read)
    if len(parts) < len(read):
        raise UsageError("a stratum is judged whole or not sampled: expected a part of each")
    supposed = count("total", total)
    low = sum(part.k for part in parts)
    high = sum(part.population - part.n + part.k for part in parts)
    if not low <= supposed <= high:
        raise UsageError(f"total is {supposed}: the sample leaves {low} to {high}")
    return TotalTest(read, supposed, _Search(parts).p(supposed), METHOD, "upper")


def _sampled(strata: tuple[Stratum, ...]) -> list[Stratum]:
    parts = [stratum for stratum in strata if 0 < stratum.n < stratum.population]
    if len(parts) > MOST_STRATA:
        raise UsageError(f"{len(parts)} sampled strata: expected at most {MOST_STRATA}")
    return parts


def _most(parts: list[Stratum], alpha: float) -> int:
    """Return the largest total that is not refuted; the p falls as the total grows."""
    search = _Search(parts)
    low = sum(part.k for part in parts)
    high = sum(part.population - part.n + part.k for part in parts)
    step = 1
    # Doubling first: the work of one p grows with the total, and bounds are far below the middle.
    while low + step <= high and search.p(low + step) > alpha:
        step *= 2
    ends = low + step // 2 + 1, min(low + step, high + 1)
    return first(lambda total: search.p(total) <= alpha, *ends) - 1


class _Search:
    """The largest probability of an estimate as low as the one seen, over all allocations."""

    def __init__(self, parts: list[Stratum]) -> None:
        scale = lcm(*(part.n for part in parts))
        steps = [part.population * (scale // part.n) for part in parts]
        self.parts = parts
        self.samples: list[tuple[int, ...]] = []
        # The estimate in integers, so that equal estimates are known to be equal.
        self._collect(steps, sum(s * p.k for s, p in zip(steps, parts, strict=True)), ())

    def _collect(self, steps: list[int], left: int, head: tuple[int, ...]) -> None:
        """List the samples of all strata but the last, with the most that the last may show."""
        at = len(head)
        reach = min(self.parts[at].n, left // steps[at])
        if at == len(steps) - 1:
            self.samples.append((*head, reach))
            if len(self.samples) > MOST_TERMS // 1000:
                raise UsageError("the samples of these strata are too many for Wendell-Schmee")
            return
        for events in range(reach + 1):
            self._collect(steps, left - events * steps[at], (*head, events))

    def p(self, total: int) -> float:
        """Return the largest probability over all ways to place ``total`` events."""
        import numpy as np

        places = self._places(total)
        last = len(self.parts) - 1
        tables = [
            {
                events: self._table(at, events, places[at], exact=at < last)
                for events in {sample[at] for sample in self.samples}
            }
            for at in range(last + 1)
        ]
        rows = [place - place.min() for place in places]
        found = np.zeros(places[0].shape)
        for sample in self.samples:
            term = tables[0][sample[0]][rows[0]]
            for at in range(1, last + 1):
                term = term * tables[at][sample[at]][rows[at]]
            found += term
        return float(found.max())

    def _places(self, total: int) -> list[Any]:
        """Return, stratum by stratum, the events that each allocation puts there.

        Only allocations that the sample leaves possible: the true one is always among them.
        """
        import numpy as np

        lows = [part.k for part in self.parts]
        highs = [part.population - part.n + part.k for part in self.parts]
        axes = [
            np.arange(low, min(high, total) + 1)
            for low, high in zip(lows[:-1], highs[:-1], strict=True)
        ]
        if prod(axis.size for axis in axes) * len(self.samples) > MOST_TERMS:
            raise UsageError("these strata are too large for Wendell-Schmee: use Wright's bound")
        grids = [grid.ravel() for grid in np.meshgrid(*axes, indexing="ij")] if axes else []
        rest = np.asarray(total - sum(grids)).reshape(-1)
        kept = (rest >= lows[-1]) & (rest <= highs[-1])
        return [grid[kept] for grid in grids] + [rest[kept]]

    def _table(self, at: int, events: int, places: Any, *, exact: bool) -> Any:
        """Return the chance of a sample from a stratum, from the fewest to the most it may hold."""
        import numpy as np
        from scipy.stats import hypergeom

        part = self.parts[at]
        holds = np.arange(places.min(), places.max() + 1)
        law = hypergeom.pmf if exact else hypergeom.cdf
        return law(events, part.population, holds, part.n)
