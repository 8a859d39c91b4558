"""How far two labelers agree: the raw rate first, then each category, then beyond chance.

Where almost every call has one label, kappa is low however well people agree;
so it never stands alone. Agreement is with the other labeler: neither is the
truth.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evalkit.errors import UsageError
from evalkit.stats.binomial import clopper_pearson
from evalkit.stats.counts import count
from evalkit.stats.interval import Interval

CATEGORIES = ("allow", "ask", "deny")

Table = tuple[tuple[int, ...], ...]


class CategoryAgreement(NamedTuple):
    """Agreement on one category.

    Args:
        category: its name.
        both: calls that both gave it.
        first: calls that the first gave it.
        second: calls that the second gave it.
        value: 2 * both / (first + second): given that one of the two, picked by chance, gave
            it, the chance that the other did; None where neither gave it.
    """

    category: str
    both: int
    first: int
    second: int
    value: float | None


class Agreement(NamedTuple):
    """How far two labelers agree on the same calls.

    Args:
        table: calls by the first's label (rows) and the second's (columns).
        categories: names of rows and columns, in their order.
        agree: calls with equal labels.
        n: calls with both labels.
        raw: exact interval of the rate of equal labels.
        each: agreement on each category.
        missing: calls that one or both left without a label.
        worst: equal labels among all calls if every missing one had disagreed.
        best: equal labels among all calls if every missing one had agreed.
    """

    table: Table
    categories: tuple[str, ...]
    agree: int
    n: int
    raw: Interval
    each: tuple[CategoryAgreement, ...]
    missing: int
    worst: Interval
    best: Interval


def agreement(
    table: Iterable[Iterable[int]],
    categories: Sequence[str] = CATEGORIES,
    level: float = 0.95,
    missing: int = 0,
) -> Agreement:
    """Return how far two labelers agree.

    Args:
        table: calls by the first's label (rows) and the second's (columns).
        categories: names in the order of rows and columns, also of categories nobody used.
        level: confidence level, in (0, 1).
        missing: calls that one or both left without a label; counted both ways.

    Raises:
        UsageError: a table that is not square, has other than the named categories or fewer
            than two, or holds what is no count; a bad level.
    """
    read = square(table, categories)
    absent = count("missing", missing)
    size = range(len(read))
    n, agree = sum(map(sum, read)), sum(read[at][at] for at in size)
    return Agreement(
        read,
        tuple(categories),
        agree,
        n,
        clopper_pearson(agree, n, level),
        tuple(_category(read, categories[at], at) for at in size),
        absent,
        clopper_pearson(agree, n + absent, level),
        clopper_pearson(agree + absent, n + absent, level),
    )


def square(table: Iterable[Iterable[int]], categories: Sequence[str] | None = None) -> Table:
    """Return a square table of counts.

    Args:
        table: rows of counts.
        categories: names of its rows and columns, if they are known.

    Raises:
        UsageError: it is not square, smaller than 2 by 2, of another size than the categories,
            or holds what is no count.
    """
    rows = [list(row) for row in table]
    size = len(rows)
    if size < 2 or any(len(row) != size for row in rows):
        widths = ", ".join(str(len(row)) for row in rows[:9]) or "none"
        raise UsageError(
            f"rows of the table hold {widths} cells: expected a square, 2 by 2 or more"
        )
    if categories is not None and len(categories) != size:
        raise UsageError(f"the table has {size} rows: expected {len(categories)}, one a category")
    return tuple(
        tuple(count(f"row {i} column {j}", cell) for j, cell in enumerate(row))
        for i, row in enumerate(rows)
    )


def _category(table: Table, name: str, at: int) -> CategoryAgreement:
    both, first = table[at][at], sum(table[at])
    second = sum(row[at] for row in table)
    value = 2 * both / (first + second) if first + second else None
    return CategoryAgreement(name, both, first, second, value)
