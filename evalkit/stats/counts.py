"""What may be given to a method: counts, levels and sides, each refused with one clear error."""

from fractions import Fraction
from functools import lru_cache
from math import isfinite
from operator import index
from typing import Any

from evalkit.errors import UsageError

SIDES = ("two", "lower", "upper")
MOST = 2**53
"""Largest count: above it a double no longer tells neighbours apart."""


def count(name: str, value: Any) -> int:
    """Return a count as an int.

    Args:
        name: what it is called in messages.
        value: any value.

    Raises:
        UsageError: it is negative, no integer (bool, float and NaN included) or above 2**53.
    """
    if isinstance(value, bool):
        raise UsageError(f"{name} is {value}: expected a count")
    try:
        number = index(value)
    except TypeError:
        raise UsageError(f"{name} is {value!r:.40}: expected an integer count") from None
    if number < 0:
        raise UsageError(f"{name} is {number:.6g}: expected a count of at least 0")
    if number > MOST:
        raise UsageError(f"{name} has {number.bit_length()} bits: expected a count up to 2**53")
    return number


def share_of(k: Any, n: Any, names: tuple[str, str] = ("k", "n")) -> tuple[int, int]:
    """Return two counts, of which the first is part of the second.

    Args:
        k: the part.
        n: the whole.
        names: what the two are called in messages.

    Raises:
        UsageError: as in ``count``; or k > n.
    """
    part, whole = count(names[0], k), count(names[1], n)
    if part > whole:
        raise UsageError(
            f"{names[0]} is {part}, {names[1]} is {whole}: expected {names[0]} <= {names[1]}"
        )
    return part, whole


def open_share(name: str, value: Any) -> float:
    """Return a number inside (0, 1).

    Args:
        name: what it is called in messages.
        value: any value.

    Raises:
        UsageError: it is no number (bool and NaN included) or not inside.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1:
        raise UsageError(f"{name} is {value!r:.40}: expected a number between 0 and 1")
    return float(value)


def closed_share(name: str, value: Any) -> float:
    """Return a number of [0, 1].

    Args:
        name: what it is called in messages.
        value: any value.

    Raises:
        UsageError: it is no number (bool and NaN included) or not in [0, 1].
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise UsageError(f"{name} is {value!r:.40}: expected a number from 0 to 1")
    return float(value)


def positive(name: str, value: Any) -> float:
    """Return a finite number above 0.

    Args:
        name: what it is called in messages.
        value: any value.

    Raises:
        UsageError: it is no number (bool and NaN included), not finite or not above 0.
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not (value > 0 and isfinite(value))
    ):
        raise UsageError(f"{name} is {value!r:.40}: expected a finite number above 0")
    return float(value)


@lru_cache(maxsize=64)
def exact_alpha(level: float) -> Fraction:
    """Return 1 - level in decimal, without rounding: 0.95 gives 1/20.

    Raises:
        UsageError: the level is not a number inside (0, 1).
    """
    return 1 - exact_share(open_share("level", level))


def exact_share(value: float) -> Fraction:
    """Return the number that a person wrote: the shortest decimal that gives this double."""
    return Fraction(repr(value))


def alpha_of(level: float) -> float:
    """Return 1 - level, taken in decimal so that 0.999999 gives 1e-06 to the last bit.

    Raises:
        UsageError: the level is not a number inside (0, 1).
    """
    return float(exact_alpha(level))


def side_of(side: str) -> str:
    """Return a side that is known.

    Raises:
        UsageError: it is none of ``SIDES``.
    """
    if side not in SIDES:
        raise UsageError(f"side is {side!r:.40}: expected one of {', '.join(SIDES)}")
    return side


def tails(alpha: float, side: str) -> tuple[float | None, float | None]:
    """Return what each end may err: a two-sided interval splits alpha evenly.

    Args:
        alpha: error in (0, 1).
        side: one of ``SIDES``.

    Returns:
        The error below the lower and above the upper limit; None for an end not bounded.
    """
    if side == "two":
        return alpha / 2, alpha / 2
    return (alpha, None) if side == "lower" else (None, alpha)


def normal_quantile(tail: float) -> float:
    """Return z with P(Z > z) = tail for a standard normal Z.

    Args:
        tail: probability in (0, 1).
    """
    from statistics import NormalDist

    return -NormalDist().inv_cdf(tail)
