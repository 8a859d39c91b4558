"""Many p values, many intervals: what keeps a declared family at its level."""

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from evalkit.errors import UsageError
from evalkit.stats.counts import closed_share, count, exact_alpha

HOLM = "Holm"
BONFERRONI = "Bonferroni"


class Adjusted(NamedTuple):
    """A p value adjusted for its family.

    Args:
        p: as it was computed.
        adjusted: to be compared with the error of the whole family.
        family: how many p values the family has.
        method: name of the adjustment, for people.
    """

    p: float
    adjusted: float
    family: int
    method: str


class Simultaneous(NamedTuple):
    """The level of each of several intervals that hold together.

    Args:
        level: of all together, in (0, 1).
        each: of each by itself.
        family: how many intervals there are.
        method: name of the adjustment, for people.
    """

    level: float
    each: float
    family: int
    method: str


def holm(values: Iterable[float]) -> list[Adjusted]:
    """Adjust the p values of one declared family, in their order.

    Args:
        values: p values in [0, 1]; their tests may depend on each other.

    Raises:
        UsageError: a p that is no number, NaN or outside [0, 1].

    Source: Holm (1979), step-down.
    """
    read = [closed_share(f"p of test {at}", value) for at, value in enumerate(values)]
    found, reached = [0.0] * len(read), 0.0
    for rank, at in enumerate(sorted(range(len(read)), key=read.__getitem__)):
        reached = max(reached, min(1.0, (len(read) - rank) * read[at]))
        found[at] = reached
    return [Adjusted(p, adjusted, len(read), HOLM) for p, adjusted in zip(read, found, strict=True)]


def bonferroni(values: Iterable[float]) -> list[Adjusted]:
    """Multiply the p values of one declared family by its size, in their order.

    Args:
        values: p values in [0, 1]; their tests may depend on each other.

    Raises:
        UsageError: a p that is no number, NaN or outside [0, 1].
    """
    read = [closed_share(f"p of test {at}", value) for at, value in enumerate(values)]
    return [Adjusted(p, min(1.0, len(read) * p), len(read), BONFERRONI) for p in read]


def simultaneous(level: float, family: int) -> Simultaneous:
    """Return the level that each interval of a family needs for all to hold together.

    Args:
        level: of all together, in (0, 1).
        family: how many intervals there are, at least 1.

    Raises:
        UsageError: a bad level or size.
    """
    alpha, size = exact_alpha(level), count("family", family)
    if size == 0:
        raise UsageError("family is 0: expected at least 1 interval")
    return Simultaneous(float(level), float(1 - alpha / Fraction(size)), size, BONFERRONI)
