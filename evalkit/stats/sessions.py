"""What a rate rests on when calls come in sessions: how many, how uneven, how alike.

Calls of one session resemble each other, so n calls say less than n independent
ones. The intraclass correlation says how alike they are, the design effect how
many calls one independent call costs.
"""

from collections.abc import Iterable
from typing import NamedTuple

from evalkit.errors import UsageError
from evalkit.stats.counts import share_of

FEW = 10
"""Fewer sessions than this carry no interval of the call rate."""


class Sessions(NamedTuple):
    """Events and calls, session by session.

    Args:
        counts: events and calls of each session that has calls.
        k: events of all sessions.
        n: calls of all sessions.
        largest: calls of the largest session.
        with_events: sessions with at least one event.
        icc: one-way ANOVA intraclass correlation, which may be below 0; None where every
            session has one call, where there is one session, or where no call differs.
        variance: between-session variance of the rate, linearized; None for one session.
        design_effect: that variance over the one of n independent calls (drawn with
            replacement); None where either is missing or 0.
    """

    counts: tuple[tuple[int, int], ...]
    k: int
    n: int
    largest: int
    with_events: int
    icc: float | None
    variance: float | None
    design_effect: float | None

    def few(self) -> bool:
        """Return whether there are too few sessions for an interval of the call rate."""
        return len(self.counts) < FEW


def sessions(counts: Iterable[tuple[int, int]]) -> Sessions:
    """Return what a rate by session rests on.

    Args:
        counts: events and calls of each session; one without calls says nothing of a rate
            and may not be listed.

    Raises:
        UsageError: no session; a session without calls; counts that are negative, no
            integers, or events > calls.

    Source: intraclass correlation by one-way ANOVA; variance of a ratio by linearization,
        Korn and Graubard (1998).
    """
    read = []
    for at, (k, n) in enumerate(counts):
        events, calls = share_of(k, n, (f"events of session {at}", f"calls of session {at}"))
        if calls == 0:
            raise UsageError(f"session {at} has no calls: expected at least 1 in each session")
        read.append((events, calls))
    if not read:
        raise UsageError("no session is given: expected at least 1")
    k, n = sum(events for events, _ in read), sum(calls for _, calls in read)
    variance = _variance(read, k, n)
    return Sessions(
        tuple(read),
        k,
        n,
        max(calls for _, calls in read),
        sum(events > 0 for events, _ in read),
        _icc(read, k, n),
        variance,
        _design_effect(variance, k, n),
    )


def _variance(read: list[tuple[int, int]], k: int, n: int) -> float | None:
    """Return J/(J-1) times the sum of (x_j - p n_j)^2 over n^2; the sum is taken in integers."""
    count = len(read)
    if count == 1:
        return None
    square = sum((events * n - k * calls) ** 2 for events, calls in read)
    return count * square / ((count - 1) * n**4)


def _design_effect(variance: float | None, k: int, n: int) -> float | None:
    if variance is None or k in (0, n):
        return None
    return variance * n * n * (n - 1) / (k * (n - k))


def _icc(read: list[tuple[int, int]], k: int, n: int) -> float | None:
    count = len(read)
    if count in (1, n) or k in (0, n):
        return None
    within = sum(events * (calls - events) / calls for events, calls in read) / (n - count)
    between = sum((events * n - k * calls) ** 2 / calls for events, calls in read) / n**2
    between /= count - 1
    size = (n - sum(calls * calls for _, calls in read) / n) / (count - 1)
    spread = between + (size - 1) * within
    return (between - within) / spread if spread else None
