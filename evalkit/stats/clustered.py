"""Interval of a call rate when calls come in sessions.

Korn and Graubard's interval is Clopper-Pearson's on fewer calls: as many
independent ones as would vary as much as the sessions do. It is capped at the
calls there are, so it is never narrower than the interval for independent
calls. At no events (or nothing but events), and below ten sessions, the
sessions show no variance to rely on: what is left is the exact interval of the
share of sessions with any event, which bounds the call rate only where all
sessions are of one size.
"""

from collections.abc import Iterable
from typing import NamedTuple

from evalkit.errors import UsageError
from evalkit.stats.binomial import clopper_pearson, lower_limit, upper_limit
from evalkit.stats.counts import alpha_of, count, side_of, tails
from evalkit.stats.interval import Interval
from evalkit.stats.sessions import FEW, Sessions, sessions

METHOD = "Korn-Graubard by session, capped"
UNCAPPED = "Korn-Graubard by session, not capped"
BOOTSTRAP = "percentile bootstrap of sessions"
FEWEST_TO_RESAMPLE = 40
SMALL = 30.0
WIDE = 0.30


class Clustered(NamedTuple):
    """A rate by session with its intervals.

    Args:
        sessions: what it rests on.
        interval: interval of the call rate; None at no or all events and with few sessions.
        effective: independent calls that would vary as much; None without an interval.
        by_session: exact interval of the share of sessions with any event (of sessions with
            any other call, where every call is an event); None for one session.
        independent: exact interval as if calls were independent, to be printed beside it.
        flags: why to read it with care, one sentence each.
    """

    sessions: Sessions
    interval: Interval | None
    effective: float | None
    by_session: Interval | None
    independent: Interval
    flags: tuple[str, ...]


class Resampled(NamedTuple):
    """A bootstrap interval of a call rate, as a check of another.

    Args:
        interval: its limits.
        seed: seed of the generator.
        draws: number of resamples.
    """

    interval: Interval
    seed: int
    draws: int


def clustered(
    counts: Iterable[tuple[int, int]], level: float = 0.95, side: str = "two"
) -> Clustered:
    """Return the intervals of a call rate that allow for sessions.

    Args:
        counts: events and calls of each session, each with at least 1 call.
        level: confidence level, in (0, 1).
        side: ``two``; ``lower`` or ``upper`` for a one-sided bound at that end.

    Raises:
        UsageError: as in ``sessions``; a bad level or side.

    Source: Korn and Graubard (1998), Survey Methodology 24:193; flags after the US NCHS
        standards for proportions, Vital and Health Statistics 2(175), 2017.
    """
    base = sessions(counts)
    fitted = None if base.few() else korn_graubard(base, level, side)
    interval, effective = fitted if fitted is not None else (None, None)
    return Clustered(
        base,
        interval,
        effective,
        _by_session(base, level, side),
        clopper_pearson(base.k, base.n, level, side),
        tuple(_flags(base, interval, effective)),
    )


def korn_graubard(
    base: Sessions, level: float = 0.95, side: str = "two", *, cap: bool = True
) -> tuple[Interval, float] | None:
    """Return Korn and Graubard's interval and its effective calls, however few the sessions.

    Args:
        base: what ``sessions`` returned.
        level: confidence level, in (0, 1).
        side: ``two``; ``lower`` or ``upper`` for a one-sided bound at that end.
        cap: whether effective calls beyond the calls there are are cut to these.

    Returns:
        None at no or all events, for one session, and for an uncapped interval where the
        sessions do not differ at all.

    Raises:
        UsageError: a bad level or side.

    Source: Korn and Graubard (1998), Survey Methodology 24:193.
    """
    alpha = alpha_of(level)
    below, above = tails(alpha, side_of(side))
    if base.variance is None or base.k in (0, base.n):
        return None
    if base.variance == 0 and not cap:
        return None
    effective = _effective(base, alpha / 2 if side == "two" else alpha, cap=cap)
    events = effective * base.k / base.n
    lower = 0.0 if below is None else lower_limit(events, effective, below)
    upper = 1.0 if above is None else upper_limit(events, effective, above)
    method = METHOD if cap else UNCAPPED
    made = Interval(base.k, base.n, lower, upper, float(level), method, "process", side)
    return made, effective


def resampled(
    counts: Iterable[tuple[int, int]], seed: int, level: float = 0.95, draws: int = 2000
) -> Resampled | None:
    """Return the percentile bootstrap interval of a call rate, by drawing whole sessions.

    It is a check of ``clustered``, not a headline. The draws rest on the one generator whose
    sequence Python promises to keep (``random.Random(seed).random()``), so that a seed gives
    the same limits everywhere.

    Args:
        counts: events and calls of each session, each with at least 1 call.
        seed: seed of the generator, an integer of at least 0.
        level: confidence level, in (0, 1), kept only with many sessions.
        draws: resamples, at least 200.

    Returns:
        None below 40 sessions, and at no or all events, where every resample is alike.

    Raises:
        UsageError: as in ``sessions``; a bad seed, level or number of draws.

    Source: Efron (1979), with sessions as units.
    """
    base = sessions(counts)
    from random import Random

    start, alpha, number = count("seed", seed), alpha_of(level), count("draws", draws)
    if number < 200:
        raise UsageError(f"draws is {number}: expected at least 200")
    size = len(base.counts)
    if size < FEWEST_TO_RESAMPLE or base.k in (0, base.n):
        return None
    draw = Random(start).random
    rates = []
    for _ in range(number):
        picked = [base.counts[int(draw() * size)] for _ in range(size)]
        rates.append(sum(k for k, _ in picked) / sum(n for _, n in picked))
    rates.sort()
    cut = min(int(alpha / 2 * number), (number - 1) // 2)
    interval = Interval(
        base.k, base.n, rates[cut], rates[-1 - cut], float(level), BOOTSTRAP, "process", "two"
    )
    return Resampled(interval, start, number)


def _effective(base: Sessions, tail: float, *, cap: bool) -> float:
    """Return the independent calls that vary as the sessions do, for their degrees of freedom."""
    from scipy.special import stdtrit

    if not base.variance:
        return float(base.n)
    rate = base.k / base.n
    ratio = stdtrit(base.n - 1, 1 - tail) / stdtrit(len(base.counts) - 1, 1 - tail)
    found = float(rate * (1 - rate) / base.variance * ratio**2)
    return min(float(base.n), found) if cap else found


def _by_session(base: Sessions, level: float, side: str) -> Interval | None:
    count = len(base.counts)
    if count == 1:
        return None
    touched, asked = base.with_events, side
    if base.k == base.n:
        # Every call is an event: what can be bounded is the share of sessions with another one.
        touched = sum(events < calls for events, calls in base.counts)
        asked = {"lower": "upper", "upper": "lower"}.get(side, side)
    return clopper_pearson(touched, count, level, asked)._replace(estimand="sessions")


def _flags(base: Sessions, interval: Interval | None, effective: float | None) -> list[str]:
    count = len(base.counts)
    if count == 1:
        return ["one session: how sessions differ is not known, so nothing is said of others"]
    said = []
    if base.few():
        said.append(
            f"few sessions ({count}, fewer than {FEW}): only the share of sessions is bounded"
        )
    if base.k in (0, base.n):
        what = "no events" if base.k == 0 else "nothing but events"
        said.append(
            f"{what}: only the share of sessions is bounded; it bounds the call rate where all "
            "sessions are of one size"
        )
    if effective is not None and effective < SMALL:
        said.append(f"fewer than {SMALL:g} effective calls ({effective:.1f})")
    if interval is not None and interval.side == "two" and interval.upper - interval.lower >= WIDE:
        said.append(f"an interval {WIDE:.2f} wide or wider")
    return said
