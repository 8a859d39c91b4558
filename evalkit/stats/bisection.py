"""Where a monotone function reaches a value: on doubles and on integers."""

from collections.abc import Callable


def crossing(reached: Callable[[float], bool], low: float, high: float) -> float:
    """Return the end of the part of [low, high] on which a predicate does not hold yet.

    Args:
        reached: false up to some point, true from there on.
        low: where it is taken to be false.
        high: where it is taken to be true.

    Returns:
        The point, to the last bit: halving ends where no double lies between the ends.
    """
    while True:
        middle = low + (high - low) / 2
        if not low < middle < high:
            return middle
        if reached(middle):
            high = middle
        else:
            low = middle


def first(reached: Callable[[int], bool], low: int, high: int) -> int:
    """Return the smallest integer of [low, high] for which a predicate holds.

    Args:
        reached: false up to some integer, true from there on.
        low: smallest candidate.
        high: returned without asking where no smaller one holds.
    """
    while low < high:
        middle = (low + high) // 2
        if reached(middle):
            high = middle
        else:
            low = middle + 1
    return low
