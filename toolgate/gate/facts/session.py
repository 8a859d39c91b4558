"""What the gate may ask about a session, whoever keeps it. Pure."""

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from toolgate.gate.facts.artifacts import Artifact

SECRET = "secret"
"""Note of a file that holds a secret."""

PART_MARK = "\x01"
"""Stands between a file and the name of a part of it."""

READ_SECRET, READ_UNTRUSTED = "read_secret", "read_untrusted"
EXECUTES, COPIES, PENDING_WRITE, UNREAD_ARTIFACT = (
    "executes_artifact",
    "copies_artifact",
    "pending_write",
    "unread_artifact",
)
RUN = frozenset((EXECUTES, PENDING_WRITE, UNREAD_ARTIFACT))
"""Codes of what a call runs."""

ASKABLE = (READ_SECRET, READ_UNTRUSTED)
"""Codes a policy may make a rule depend on."""


DEFINED_EARLIER = "defined_earlier"
"""Code of a link, or a change of the search path, that a call goes through."""

CODES = (*ASKABLE, EXECUTES, COPIES, PENDING_WRITE, UNREAD_ARTIFACT, DEFINED_EARLIER)
"""Every code a fact can have."""


class Fact(NamedTuple):
    """Something this session's earlier entries say.

    Args:
        code: what is known, e.g. ``executes_artifact``.
        entry: digest of the ledger entry that says it.
    """

    code: str
    entry: str


class Session(Protocol):
    """A session so far, and the disk its next call meets."""

    def artifact(self, path: str) -> "Artifact | None":
        """Return what a file is known to hold that the session has written.

        Args:
            path: absolute and normalized; for a part of a file (a target, a script),
                the path, the character U+0001 and the part's name.
        """

    def has(self, code: str, turns: int) -> str | None:
        """Return the latest entry that says a fact, or None.

        Args:
            code: one of ``ASKABLE``.
            turns: how many turns back, the present one counted, it may lie.
        """

    def leads(self, path: str) -> tuple[str, ...]:
        """Return where links on the disk take a path, nothing where they take it nowhere else.

        Args:
            path: absolute; a pattern stands for all that fit. ``..`` behind a link leads out of
                the folder behind it.

        Returns:
            Absolute paths. ``HOLE`` stands among them for what cannot be said.
        """


class ByName:
    """What judges a path by its name alone: the disk the call meets is not at hand."""

    def leads(self, path: str) -> tuple[str, ...]:
        """Return nothing."""
        return ()


class Nothing(ByName):
    """A session of which nothing is known, because there is none before the call."""

    def artifact(self, path: str) -> "Artifact | None":
        """Return nothing."""
        return None

    def has(self, code: str, turns: int) -> str | None:
        """Return nothing."""
        return None


NOTHING: Session = Nothing()
