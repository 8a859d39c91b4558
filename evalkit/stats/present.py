"""How a rate is written: counts first, then the rate, then the interval and its method.

One rounding rule for every report: a rate is rounded half to even, a lower
limit down and an upper limit up, so that a printed interval never claims more
than the computed one. Below 1 % two significant digits are kept. Under ten
trials no percentage is printed: the counts say more.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any

from evalkit.stats.binomial import METHOD, clopper_pearson
from evalkit.stats.clustered import BOOTSTRAP, UNCAPPED, Clustered
from evalkit.stats.clustered import METHOD as BY_SESSION
from evalkit.stats.interval import Interval, Total
from evalkit.stats.stratified import Stratified

FEWEST_FOR_A_PERCENTAGE = 10
ASSUMPTION = {
    "process": "calls taken as independent",
    "finite": "simple random sample of this population",
    "census": "every call counted",
    "sessions": "share of sessions, not of calls",
}
BY_METHOD = dict.fromkeys((BY_SESSION, UNCAPPED, BOOTSTRAP), "sessions taken as independent")
"""What a method assumes where that is not what its estimand says."""


def rate(k: int, n: int) -> float | None:
    """Return k/n, or None where n is 0."""
    return k / n if n else None


def percent(k: int, n: int) -> str:
    """Return k/n in percent, rounded half to even; ``not estimated`` for n = 0."""
    if n == 0:
        return "not estimated"
    return _percent_text(Decimal(k) / Decimal(n), ROUND_HALF_EVEN) + " %"


def upper_percent(share: float) -> str:
    """Return an upper limit in percent, rounded up like every upper limit."""
    return _percent_text(Decimal(share), ROUND_CEILING) + " %"


def limits(interval: Interval) -> str:
    """Return the two limits in percent, lower rounded down and upper rounded up."""
    lower = _percent_text(Decimal(interval.lower), ROUND_FLOOR)
    upper = _percent_text(Decimal(interval.upper), ROUND_CEILING)
    return f"{lower}, {upper}"


def p_value(value: float) -> str:
    """Return a p for people: rounded up, so that it never looks rarer than it is."""
    if value < 0.0001:
        return "< 0.0001"
    return f"{Decimal(value).quantize(Decimal('0.0001'), rounding=ROUND_CEILING):f}"


def points(value: float, lower: float, upper: float) -> str:
    """Return a difference of two rates in percentage points, limits rounded outwards."""
    shown = [
        f"{(Decimal(share) * 100).quantize(Decimal('0.1'), rounding=rounding):+f}"
        for share, rounding in (
            (value, ROUND_HALF_EVEN),
            (lower, ROUND_FLOOR),
            (upper, ROUND_CEILING),
        )
    ]
    return f"{shown[0]} points [{shown[1]}, {shown[2]}]"


def format_interval(interval: Interval) -> str:
    """Return the bracket that follows a rate: level, limits, method and what it assumes."""
    level = f"{Decimal(repr(interval.level)) * 100:f}".rstrip("0").rstrip(".")
    side = "CI" if interval.side == "two" else f"one-sided {interval.side} bound"
    assumption = BY_METHOD.get(interval.method) or ASSUMPTION[interval.estimand]
    return f"[{level} % {side} {limits(interval)}; {interval.method}, {assumption}]"


def format_rate(k: int, n: int, level: float = 0.95) -> str:
    """Return a rate for people, e.g. ``3/412 = 0.73 % [95 % CI 0.15, 2.12; ...]``.

    Args:
        k: events.
        n: trials; 0 gives ``0/0 (not estimated)``, fewer than ten no percentage.
        level: confidence level, in (0, 1).

    Raises:
        UsageError: as in ``clopper_pearson``.
    """
    interval = clopper_pearson(k, n, level)
    if n == 0:
        return "0/0 (not estimated)"
    if n < FEWEST_FOR_A_PERCENTAGE:
        return f"{k}/{n} (fewer than {FEWEST_FOR_A_PERCENTAGE}: no percentage)"
    shown = f"{k}/{n} = {percent(k, n)} {format_interval(interval)}"
    if k == 0:
        bound = clopper_pearson(0, n, level, "upper").upper
        top = _percent_text(Decimal(bound), ROUND_CEILING)
        shown = f"{shown[:-1]}; one-sided upper bound {top}]"
    return shown


def format_total(total: Total | Stratified) -> str:
    """Return a finite population's events for people, counts first.

    Args:
        total: limits of a sampled or wholly judged population, by strata or not.
    """
    whole = total.population
    if isinstance(total, Total):
        seen, drawn = total.k, total.n
    else:
        seen = sum(stratum.k for stratum in total.strata)
        drawn = sum(stratum.n for stratum in total.strata)
    rates = total.rate()
    if rates is None:
        return "0/0 (not estimated)"
    if total.estimand == "census":
        return f"{seen}/{whole} = {percent(seen, whole)} (census: no sampling error)"
    if drawn == 0:
        return f"0 of 0 drawn from {whole} (not estimated)"
    head, _, tail = format_interval(rates).partition(limits(rates))
    ends = limits(rates).replace(", ", " to ")
    shown = f"{seen} of {drawn} drawn from {whole}: {total.lower} to {total.upper} events"
    return f"{shown}, {ends} % {head.rstrip()}{tail}"


def format_sessions(found: Clustered) -> str:
    """Return a rate by session for people, with the sessions that it rests on.

    Args:
        found: the rate's intervals.
    """
    base = found.sessions
    many = len(base.counts)
    said = [
        f"{base.k}/{base.n} = {percent(base.k, base.n)} in {base.with_events} of {many} "
        f"{'session' if many == 1 else 'sessions'}, the largest with {base.largest} calls"
    ]
    if found.interval is not None:
        said.append(format_interval(found.interval))
    elif found.by_session is not None:
        said.append(f"sessions {format_interval(found.by_session)}")
    if base.icc is not None and base.design_effect is not None:
        said.append(f"ICC {base.icc:.3f}, design effect {base.design_effect:.2f}")
    return "; ".join([*said, *found.flags])


def rate_json(k: int, n: int, level: float = 0.95) -> dict[str, Any]:
    """Return a rate for machines: counts, unrounded rate and limits, and the printed text."""
    interval = clopper_pearson(k, n, level)
    return {
        "k": k,
        "n": n,
        "rate": rate(k, n),
        "lower": interval.lower,
        "upper": interval.upper,
        "level": level,
        "side": interval.side,
        "method": METHOD,
        "estimand": interval.estimand,
        "text": format_rate(k, n, level),
    }


def _percent_text(share: Decimal, rounding: str) -> str:
    value = share * 100
    if value == 0:
        return "0"
    # adjusted() is the exponent of the first digit: two significant digits below 1 %.
    places = 2 if value >= 1 else 1 - value.adjusted()
    quantum = Decimal(1).scaleb(-places)
    text = f"{value.quantize(quantum, rounding=rounding):f}"
    return text.rstrip("0").rstrip(".") if value == 100 else text
