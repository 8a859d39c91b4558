"""The draw: bottom-k by HMAC within each stratum, checkable in any language.

An item's rank is HMAC-SHA256(seed, stratum || decision_digest), both as UTF-8;
the n smallest ranks of a stratum are drawn. No generator's version matters,
one more item in the window changes at most one item of the sample, and a
larger n keeps the smaller sample.
"""

from hmac import digest as hmac_digest
from typing import Any, NamedTuple

from evalkit.errors import UsageError

ID_DIGITS = 12


class Item(NamedTuple):
    """One call that may be drawn.

    Args:
        decision_digest: what it is known by.
        args_digest: digest of its input.
        tool: the tool's name.
        state: what the gate answered first.
        rule: the rule that answered.
        stratum: where it is drawn from.
    """

    decision_digest: str
    args_digest: str
    tool: str
    state: str
    rule: str
    stratum: str


def stratum_of(names: list[str], values: list[Any]) -> str:
    """Return a stratum's name: ``column=value`` joined by commas; ``all`` without columns."""
    if not names:
        return "all"
    return ",".join(f"{name}={_value(value)}" for name, value in zip(names, values, strict=True))


def _value(value: Any) -> str:
    if value is None:
        return "null"
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def rank(seed: bytes, stratum: str, decision_digest: str) -> bytes:
    """Return an item's rank in its stratum's draw: 32 bytes, the smaller the sooner."""
    return hmac_digest(seed, (stratum + decision_digest).encode("utf-8"), "sha256")


def opaque_id(salt: bytes, decision_digest: str) -> str:
    """Return the id a labeler sees: nothing follows from it without the salt."""
    return hmac_digest(salt, decision_digest.encode("ascii"), "sha256").hex()[:ID_DIGITS]


def sizes(plan: Any, asked: int | None, strata: list[str]) -> dict[str, int]:
    """Return how many to draw from each stratum.

    Args:
        plan: the declaration's ``sample.n``: a count, a mapping, or None.
        asked: the count given at export, or None.
        strata: the strata of the slice.

    Raises:
        UsageError: neither says how many, or both do and differ.
    """
    if plan is None and asked is None:
        raise UsageError("how many to draw? the declaration does not say; expected --n N")
    if asked is not None and plan is not None and asked != plan:
        raise UsageError(f"--n {asked}: the declaration fixed sample.n as {plan}")
    if isinstance(plan, dict):
        return {stratum: int(plan.get(stratum, 0)) for stratum in strata}
    each = asked if plan is None else int(plan)
    assert each is not None
    return dict.fromkeys(strata, each)


def draw(items: list[Item], seed: bytes, counts: dict[str, int]) -> list[Item]:
    """Return the drawn items, stratum by stratum, in rank order.

    Args:
        items: every call of the slice.
        seed: the secret seed.
        counts: how many to draw, by stratum; a stratum with fewer gives all it has.
    """
    drawn = []
    for stratum in sorted(counts):
        members = [item for item in items if item.stratum == stratum]
        members.sort(key=lambda item: rank(seed, stratum, item.decision_digest))
        drawn.extend(members[: counts[stratum]])
    return drawn
