"""Overrides: a person lets a rule answer less strictly for some effects, until a day."""

from typing import Any, NamedTuple


class Override(NamedTuple):
    """One override.

    Args:
        name: unique among rules and overrides.
        of: the rule that it stands in for.
        decide: the answer instead, less strict than the rule's.
        because: why, for people.
        owner: who answers for it.
        expires: microseconds UTC from which it no longer applies.
        effects: what it is for, of the effects that the rule speaks about.
    """

    name: str
    of: str
    decide: str
    because: str
    owner: str
    expires: int
    effects: tuple[dict[str, Any], ...]

    def applies_at(self, ts: int) -> bool:
        """Say whether it applies at a time, microseconds UTC; never where the time is not known."""
        return 0 < ts < self.expires

    def last_day(self) -> str:
        """Return the last day it applies, UTC, as it was written."""
        from datetime import UTC, datetime

        return datetime.fromtimestamp(self.expires // 1_000_000 - 1, tz=UTC).date().isoformat()


def override_of(compiled: dict[str, Any]) -> Override:
    """Return an override that a compiled policy holds."""
    return Override(
        compiled["override"],
        compiled["of"],
        compiled["decide"],
        compiled["because"],
        compiled["owner"],
        compiled["expires"],
        tuple(compiled["effects"]),
    )
