"""A rate corrected for labelers who err, when a study has measured how often they do.

The correction is Rogan and Gladen's. Its interval by Lang and Reiczigel allows
for the size of the study as well, but is approximate; the guaranteed interval
combines three exact ones. A corrected rate stands beside the plain one, never in
its place.
"""

from fractions import Fraction
from math import sqrt
from typing import NamedTuple

from evalkit.errors import RefusedError, UsageError
from evalkit.stats.binomial import clopper_pearson
from evalkit.stats.counts import alpha_of, normal_quantile, share_of
from evalkit.stats.multiplicity import simultaneous

LANG_REICZIGEL = "Rogan-Gladen with Lang-Reiczigel limits, approximate"
GUARANTEED = "Rogan-Gladen over three exact intervals (Bonferroni)"
KNOWN = "Rogan-Gladen over Clopper-Pearson, error rates taken as known"


class Corrected(NamedTuple):
    """A rate corrected for label errors.

    Args:
        k: calls labeled as events.
        n: calls labeled.
        sensitivity: true events of the study labeled as events, and true events of the study.
        specificity: its true non-events labeled as such, and its true non-events.
        raw: the corrected rate as it comes out, which may lie outside [0, 1].
        value: the corrected rate, cut to [0, 1].
        lower: lower limit, in [0, 1].
        upper: upper limit, in [0, 1].
        level: confidence level, in (0, 1).
        method: name of the method, for people.
        estimand: ``process``.
        side: ``two``.
    """

    k: int
    n: int
    sensitivity: tuple[int, int]
    specificity: tuple[int, int]
    raw: float
    value: float
    lower: float
    upper: float
    level: float
    method: str
    estimand: str
    side: str


def rogan_gladen(
    k: int,
    n: int,
    sensitivity: tuple[int, int],
    specificity: tuple[int, int],
    level: float = 0.95,
    method: str = LANG_REICZIGEL,
) -> Corrected | None:
    """Return a rate corrected for label errors; None where no call was labeled.

    Args:
        k: calls labeled as events.
        n: calls labeled.
        sensitivity: true events of the study labeled as events, and true events of the study.
        specificity: its true non-events labeled as such, and its true non-events.
        level: confidence level, in (0, 1).
        method: ``LANG_REICZIGEL``; ``GUARANTEED`` keeps the level at any size; ``KNOWN`` takes
            the study's rates for the truth.

    Raises:
        UsageError: counts that are negative, no integers, or a part above its whole; a bad level.
        RefusedError: the study is empty, or its labels say no more than chance (the two rates
            add up to 1 or less).

    Source: Rogan and Gladen (1978); Lang and Reiczigel (2014), Preventive Veterinary
        Medicine 113:13.
    """
    events, calls = share_of(k, n)
    hit, ill = share_of(*sensitivity, ("sensitivity k", "sensitivity n"))
    right, well = share_of(*specificity, ("specificity k", "specificity n"))
    alpha = alpha_of(level)
    if method not in _LIMITS:
        raise UsageError(f"method is {method!r:.40}: expected one of {', '.join(_LIMITS)}")
    if ill == 0 or well == 0:
        raise RefusedError("the labelers' study has no true events or no true non-events")
    if Fraction(hit, ill) + Fraction(right, well) <= 1:
        raise RefusedError(
            f"labels right on {hit}/{ill} events and {right}/{well} others say no more than "
            "chance: no rate can be corrected by them"
        )
    if calls == 0:
        return None
    raw = _corrected(events / calls, hit / ill, right / well)
    lower, upper = _LIMITS[method](events, calls, (hit, ill), (right, well), float(level), alpha)
    return Corrected(
        events,
        calls,
        (hit, ill),
        (right, well),
        raw,
        _cut(raw),
        _cut(lower),
        _cut(upper),
        float(level),
        method,
        "process",
        "two",
    )


def _corrected(rate: float, sensitivity: float, specificity: float) -> float:
    return (rate + specificity - 1) / (sensitivity + specificity - 1)


def _cut(share: float) -> float:
    return min(1.0, max(0.0, share))


def _lang_reiczigel(
    k: int, n: int, se: tuple[int, int], sp: tuple[int, int], _level: float, alpha: float
) -> tuple[float, float]:
    """Return the limits from counts to which a little was added on both sides."""
    z = normal_quantile(alpha / 2)
    square = z * z
    calls, ill, well = n + square, se[1] + 2, sp[1] + 2
    rate = (k + square / 2) / calls
    hit, right = (se[0] + 1) / ill, (sp[0] + 1) / well
    span = hit + right - 1
    value = (rate + right - 1) / span
    shift = 2 * square * (value * hit * (1 - hit) / ill - (1 - value) * right * (1 - right) / well)
    variance = (
        rate * (1 - rate) / calls
        + value**2 * hit * (1 - hit) / ill
        + (1 - value) ** 2 * right * (1 - right) / well
    )
    middle, half = value + shift, z * sqrt(variance) / span
    return middle - half, middle + half


def _guaranteed(
    k: int, n: int, se: tuple[int, int], sp: tuple[int, int], level: float, _alpha: float
) -> tuple[float, float]:
    """Return the extremes over three exact intervals that hold together.

    The corrected rate, cut to [0, 1], rises with the plain rate and the specificity and falls
    with the sensitivity. Where the extreme rates say no more than chance, nothing is bounded.
    """
    each = simultaneous(level, 3).each
    plain = clopper_pearson(k, n, each)
    hits, rights = clopper_pearson(*se, each), clopper_pearson(*sp, each)
    lower, upper = 0.0, 1.0
    if hits.upper + rights.lower > 1:
        lower = _corrected(plain.lower, hits.upper, rights.lower)
    if hits.lower + rights.upper > 1:
        upper = _corrected(plain.upper, hits.lower, rights.upper)
    return lower, upper


def _known(
    k: int, n: int, se: tuple[int, int], sp: tuple[int, int], level: float, _alpha: float
) -> tuple[float, float]:
    plain = clopper_pearson(k, n, level)
    rates = se[0] / se[1], sp[0] / sp[1]
    return _corrected(plain.lower, *rates), _corrected(plain.upper, *rates)


_LIMITS = {LANG_REICZIGEL: _lang_reiczigel, GUARANTEED: _guaranteed, KNOWN: _known}
