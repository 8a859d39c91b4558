"""What is said of some acts, while their sentence is still being read. Pure."""

from toolgate.gate.task.names import Found
from toolgate.gate.task.statement import Name

MENTIONS = "mentions"
"""What a clause says of an act that it merely names."""


class Draft:
    """What is said of some acts, while the sentence is read.

    Args:
        says: one of ``statement``'s, or ``MENTIONS``.
        acts: the acts.
        form: how the act stands there.
        cue: the cue that governs it.
    """

    __slots__ = (
        *("acts", "but", "choice", "compared", "cue"),
        *("form", "found", "just", "limits", "phrase", "says", "seen", "sure"),
    )

    def __init__(self, says: str, acts: list[str], form: str, cue: str) -> None:
        self.says = says
        self.acts = acts
        self.form = form
        self.cue = cue
        self.found = Found()
        self.but: list[Name] = []
        self.limits: list[Name] | None = None
        """Names beyond which the act is forbidden; None where nothing limits it."""
        self.sure = True
        self.choice = False
        self.seen: Name | None = None
        """What its sentence named last before it."""
        self.phrase = False
        """Whether the words of the act say its object too."""
        self.just = False
        """Whether "just" stands before it: no more than it is wanted."""
        self.compared = False
        """Whether it stands behind "instead of", which rules out only what it names."""
