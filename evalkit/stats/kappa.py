"""Agreement beyond chance: Cohen's kappa, weighted or not, and Gwet's AC1.

The coefficients differ in what they take for chance. All of them have
large-sample standard errors only; at fewer than a hundred calls the bootstrap
over calls stands beside them. Without a single disagreement the standard error
is 0 and no interval is given: the raw agreement's lower limit says what there
is to say.
"""

from collections.abc import Callable, Iterable
from itertools import accumulate
from math import sqrt
from typing import NamedTuple

from evalkit.errors import UsageError
from evalkit.stats.agreement import Table, square
from evalkit.stats.counts import alpha_of, count, normal_quantile

KAPPA = "Cohen's kappa"
LINEAR = "Cohen's kappa, linear weights"
QUADRATIC = "Cohen's kappa, quadratic weights"
AC1 = "Gwet's AC1"
AC2 = "Gwet's AC2, linear weights"
BRENNAN_PREDIGER = "Brennan-Prediger"
BOOTSTRAP = "percentile bootstrap of calls"
FEW = 100

Weights = tuple[tuple[float, ...], ...]
_Shares = tuple[tuple[float, ...], ...]


class Coefficient(NamedTuple):
    """A coefficient of agreement beyond chance.

    Args:
        name: which one.
        value: 1 for full agreement, 0 for as much as chance, below 0 for less; None where all
            calls have one label, and chance alone would agree fully.
        se: large-sample standard error; None without a value.
        lower: lower limit, in [-1, 1]; None without a value and without a disagreement.
        upper: upper limit, likewise.
        table: calls by the first's label (rows) and the second's (columns).
        n: calls.
        level: confidence level, in (0, 1).
        method: how the limits were made, for people.
        estimand: ``process``.
        side: ``two``.
    """

    name: str
    value: float | None
    se: float | None
    lower: float | None
    upper: float | None
    table: Table
    n: int
    level: float
    method: str
    estimand: str
    side: str


def kappa(table: Iterable[Iterable[int]], name: str = KAPPA, level: float = 0.95) -> Coefficient:
    """Return a coefficient of agreement with its large-sample interval.

    Args:
        table: calls by the first's label (rows) and the second's (columns), categories in their
            order for the weighted ones.
        name: ``KAPPA``, ``LINEAR``, ``QUADRATIC``, ``AC1``, ``AC2`` or ``BRENNAN_PREDIGER``.
        level: confidence level, in (0, 1).

    Raises:
        UsageError: a table that is not square or holds what is no count; another name; a bad
            level.

    Source: Cohen (1960, 1968), standard error by Fleiss, Cohen and Everitt (1969); Gwet (2008);
        Brennan and Prediger (1981).
    """
    read, z = square(table), normal_quantile(alpha_of(level) / 2)
    found = _form(name)(read, _weights(name, len(read)))
    value, se = found or (None, None)
    limits: tuple[float | None, float | None] = (None, None)
    if value is not None and se:
        limits = max(-1.0, value - z * se), min(1.0, value + z * se)
    return Coefficient(
        name, value, se, *limits, read, _size(read), float(level), "large sample", "process", "two"
    )


def kappa_resampled(
    table: Iterable[Iterable[int]],
    seed: int,
    name: str = KAPPA,
    level: float = 0.95,
    draws: int = 2000,
) -> Coefficient:
    """Return a coefficient of agreement with a bootstrap interval over calls.

    Resamples without a value (all calls of one label) are left out; where they exceed alpha/2
    of all, or no call disagrees, there is no interval.

    Args:
        table: as in ``kappa``.
        seed: seed of the generator, an integer of at least 0.
        name: as in ``kappa``.
        level: confidence level, in (0, 1).
        draws: resamples, at least 200.

    Raises:
        UsageError: as in ``kappa``; a bad seed or number of draws.
    """
    from random import Random

    start, number = count("seed", seed), count("draws", draws)
    if number < 200:
        raise UsageError(f"draws is {number}: expected at least 200")
    point = kappa(table, name, level)._replace(lower=None, upper=None, method=BOOTSTRAP)
    if not point.se:
        return point
    size = len(point.table)
    form, weights = _form(name), _weights(name, size)
    draw = Random(start).random
    bounds = list(accumulate(cell for row in point.table for cell in row))
    values = []
    for _ in range(number):
        cells = [0] * (size * size)
        for _ in range(point.n):
            cells[_cell(bounds, draw() * point.n)] += 1
        made = tuple(tuple(cells[at * size : (at + 1) * size]) for at in range(size))
        found = form(made, weights)
        if found is not None:
            values.append(found[0])
    cut = int(alpha_of(level) / 2 * number)
    if number - len(values) > cut:
        return point
    values.sort()
    return point._replace(lower=values[cut], upper=values[-1 - cut])


def _cell(bounds: list[int], at: float) -> int:
    from bisect import bisect_right

    return bisect_right(bounds, at)


def _size(table: Table) -> int:
    return sum(map(sum, table))


def _weights(name: str, size: int) -> Weights:
    """Return how far two labels count as equal: 1 for the same, 0 for the farthest."""
    last = size - 1

    def weight(i: int, j: int) -> float:
        if name in (LINEAR, AC2):
            return 1 - abs(i - j) / last
        if name == QUADRATIC:
            return 1 - ((i - j) / last) ** 2
        return float(i == j)

    return tuple(tuple(weight(i, j) for j in range(size)) for i in range(size))


def _form(name: str) -> Callable[[Table, Weights], tuple[float, float] | None]:
    forms = {
        KAPPA: _cohen,
        LINEAR: _cohen,
        QUADRATIC: _cohen,
        AC1: _gwet,
        AC2: _gwet,
        BRENNAN_PREDIGER: _brennan_prediger,
    }
    if name not in forms:
        raise UsageError(f"coefficient is {name!r:.40}: expected one of {', '.join(forms)}")
    return forms[name]


def _cohen(table: Table, weights: Weights) -> tuple[float, float] | None:
    """Return Cohen's kappa and its standard error where it need not be 0."""
    n, size = _size(table), range(len(table))
    rows, columns = (
        [sum(row) for row in table],
        [sum(column) for column in zip(*table, strict=True)],
    )
    if n in (0, *(rows[at] for at in size if rows[at] == columns[at])):
        return None
    p = _shares(table, n)
    row, column = [total / n for total in rows], [total / n for total in columns]
    seen = _weighted(p, weights)
    chance = sum(weights[i][j] * row[i] * column[j] for i in size for j in size)
    value = (seen - chance) / (1 - chance)
    by_row = [sum(weights[i][j] * column[j] for j in size) for i in size]
    by_column = [sum(weights[i][j] * row[i] for i in size) for j in size]
    square_sum = sum(
        p[i][j] * (weights[i][j] - (by_row[i] + by_column[j]) * (1 - value)) ** 2
        for i in size
        for j in size
    )
    variance = square_sum - (value - chance * (1 - value)) ** 2
    return value, _error(variance, n) / (1 - chance)


def _gwet(table: Table, weights: Weights) -> tuple[float, float] | None:
    """Return Gwet's coefficient and its standard error for an unlimited number of calls."""
    n, size = _size(table), range(len(table))
    if n == 0:
        return None
    p = _shares(table, n)
    mean = [(sum(p[at]) + sum(row[at] for row in p)) / 2 for at in size]
    scale = sum(map(sum, weights)) / (len(table) * (len(table) - 1))
    seen = _weighted(p, weights)
    chance = scale * sum(share * (1 - share) for share in mean)
    value = (seen - chance) / (1 - chance)
    square_sum = sum(
        p[i][j] * (weights[i][j] - 2 * (1 - value) * scale * (1 - (mean[i] + mean[j]) / 2)) ** 2
        for i in size
        for j in size
    )
    variance = square_sum - (seen - 2 * (1 - value) * chance) ** 2
    return value, _error(variance, n) / (1 - chance)


def _brennan_prediger(table: Table, weights: Weights) -> tuple[float, float] | None:
    """Return agreement beyond that of labels chosen evenly, and its standard error."""
    n = _size(table)
    if n == 0:
        return None
    p = _shares(table, n)
    chance = sum(map(sum, weights)) / len(table) ** 2
    seen = _weighted(p, weights)
    size = range(len(table))
    variance = sum(p[i][j] * weights[i][j] ** 2 for i in size for j in size) - seen**2
    return (seen - chance) / (1 - chance), _error(variance, n) / (1 - chance)


def _shares(table: Table, n: int) -> _Shares:
    return tuple(tuple(cell / n for cell in row) for row in table)


def _weighted(p: _Shares, weights: Weights) -> float:
    return sum(
        share * weight
        for shares, row in zip(p, weights, strict=True)
        for share, weight in zip(shares, row, strict=True)
    )


def _error(variance: float, n: int) -> float:
    """Return a standard error; a variance of 0 comes out a little off 0 either way."""
    return sqrt(variance / n) if variance > 1e-15 else 0.0
