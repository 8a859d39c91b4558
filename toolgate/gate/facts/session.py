"""What the gate may ask about a session, whoever keeps it. Pure."""

from typing import Protocol

from toolgate.gate.facts.artifacts import Artifact

READ_SECRET, READ_UNTRUSTED = "read_secret", "read_untrusted"
EXECUTES, PENDING_WRITE, UNREAD_ARTIFACT = (
    "executes_artifact",
    "pending_write",
    "unread_artifact",
)
ASKABLE = (READ_SECRET, READ_UNTRUSTED)
"""Codes a policy may make a rule depend on."""


class Session(Protocol):
    """A session so far."""

    def artifact(self, path: str) -> Artifact | None:
        """Return what a file is known to hold that the session has written.

        Args:
            path: absolute and normalized; for a part of a file (a target, a script),
                the path, NUL and the part's name.
        """

    def has(self, code: str, turns: int) -> str | None:
        """Return the latest entry that says a fact, or None.

        Args:
            code: one of ``ASKABLE``.
            turns: how many turns back, the present one counted, it may lie.
        """


class Nothing:
    """A session of which nothing is known, because there is none before the call."""

    def artifact(self, path: str) -> Artifact | None:
        """Return nothing."""
        return None

    def has(self, code: str, turns: int) -> str | None:
        """Return nothing."""
        return None


NOTHING: Session = Nothing()
