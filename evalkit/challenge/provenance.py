"""Who labeled a set, what of any answers they had seen, what they worked from. Pure."""

from typing import Any, NamedTuple

from evalkit.challenge.fields import Fields, is_date, shown

SEEN = ("nothing run", "no results seen", "results not opened", "results seen")
"""What somebody had seen of any gate's answers to a set's cases, from nothing to all.

Source: the four levels of the public tool prereg.
"""


class Provenance(NamedTuple):
    """Where a set's labels come from.

    Args:
        labelers: who labeled, one text each.
        labeled: when the labels were made, ``YYYY-MM-DD``, or None.
        seen: one of ``SEEN``, or None where the set does not say.
        evidence: what the cases were written from, one text each.
    """

    labelers: tuple[str, ...] = ()
    labeled: str | None = None
    seen: str | None = None
    evidence: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return what is stated, as a manifest has it; empty where nothing is."""
        stated = {
            "labelers": list(self.labelers),
            "labeled": self.labeled,
            "seen": self.seen,
            "evidence": list(self.evidence),
        }
        return {name: value for name, value in stated.items() if value}


def provenance_of(fields: Fields) -> Provenance:
    """Return what a set says of its labels.

    Args:
        fields: the set.
    """
    labeled = fields.optional_text("labeled")
    if labeled is not None and not is_date(labeled):
        fields.faults.add("labeled", "a date as YYYY-MM-DD", shown(labeled))
    return Provenance(
        labelers=fields.texts("labelers"),
        labeled=labeled,
        seen=fields.optional_word("seen", SEEN),
        evidence=fields.texts("evidence"),
    )
