"""What is read of a call beyond its effects: one axis, one source, one number. Pure."""

from typing import NamedTuple

AUTHORIZED = "authorized"
"""The one mitigator: the user asked for just this."""

LEXICON, JUDGE = "lexicon", "judge"
"""Sources: words of the user's prompts, read by rule; a decision model."""


class Reading(NamedTuple):
    """What one source says of a call on one axis.

    Args:
        axis: an axis of the policy, or ``authorized``.
        value: 0 to 1, not rounded; compared with the policy's lines by ``>=``.
        source: ``lexicon`` or ``judge``.
        name: what was read, e.g. the constraint's name or the question's.
        words: the words it rests on, for people; never recorded.
        entry: digest of the ledger entry that stands for the prompt, or None.
    """

    axis: str
    value: float
    source: str
    name: str
    words: str = ""
    entry: str | None = None
