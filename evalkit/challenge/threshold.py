"""Thresholds a run is held to: ``dangerous_allow.upper <= 0.05``. Pure.

A threshold is part of the claim, so it is on record before the first case, and lowering it
later is seen. It is best set on a confidence limit: a rate of a small set says little.
"""

import re
from typing import Any, NamedTuple

from evalkit.errors import UsageError

RATES = ("match", "permissive", "dangerous_allow", "stricter", "pairs_complete", "pairs_separated")
FIELDS = ("k", "n", "rate", "lower", "upper")
UNSCORED, LOSS = "unscored", "loss"
COUNTS = (UNSCORED, LOSS)
"""What is a count and no rate. The loss takes every unscored case for its dearest answer."""
_FORM = re.compile(r"\s*([a-z_]{1,20})(?:\.([a-z]{1,5}))?\s*(<=|>=|<|>)\s*([0-9.]{1,20})\s*")
_SAYS = {
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


class Threshold(NamedTuple):
    """What a run must not show.

    Args:
        text: as it was given.
        rate: one of ``RATES`` or ``COUNTS``.
        field: one of ``FIELDS``; ``k`` for the count alone.
        sign: one of ``< <= > >=``.
        limit: the number.
    """

    text: str
    rate: str
    field: str
    sign: str
    limit: float


def threshold(text: str) -> Threshold:
    """Read a threshold.

    Args:
        text: ``RATE.FIELD SIGN NUMBER``, or ``RATE SIGN NUMBER`` for the count.

    Raises:
        UsageError: it is something else.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise UsageError(
            f"--fail-if: expected RATE.FIELD, one of < <= > >= and a number, such as "
            f"'dangerous_allow.upper > 0.05', got {text!r:.100}"
        )
    rate, field, sign, number = found.groups()
    if rate not in (*RATES, *COUNTS):
        raise UsageError(f"--fail-if: expected one of {', '.join((*RATES, *COUNTS))}, got {rate!r}")
    if rate in COUNTS and field not in (None, "k"):
        raise UsageError(f"--fail-if: {rate} is a count: expected {rate} alone, got {field!r}")
    if field not in (None, *FIELDS):
        raise UsageError(f"--fail-if: {rate}: expected one of {', '.join(FIELDS)}, got {field!r}")
    try:
        limit = float(number)
    except ValueError:
        raise UsageError(f"--fail-if: expected a number, got {number!r}") from None
    return Threshold(" ".join(text.split()), rate, field or "k", sign, limit)


def held(thresholds: list[Threshold], figures: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what each threshold found, and whether the run stays clear of it.

    Args:
        thresholds: what the run must not show.
        figures: what ``score`` returned.

    Returns:
        ``text, value, failed`` each. A rate of no cases fails whatever it is held to: nothing
        was measured.
    """
    return [_held(one, figures) for one in thresholds]


def _held(one: Threshold, figures: dict[str, Any]) -> dict[str, Any]:
    if one.rate in COUNTS:
        value: float | None = figures["loss"]["worst"] if one.rate == LOSS else figures[UNSCORED]
        measured = figures["cases"] > 0
    else:
        rate = figures["rates"][one.rate]
        value, measured = rate[one.field], rate["n"] > 0
    failed = not measured or value is None or _SAYS[one.sign](value, one.limit)
    return {"text": one.text, "value": value if measured else None, "failed": failed}
