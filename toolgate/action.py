"""What a call is, apart from what was decided about it: intent and action_ref."""

from typing import Any, NamedTuple

from toolgate.canonical import digest, profile_bytes

SCOPES = (
    "inspect-only",
    "workspace",
    "temp",
    "home",
    "outside",
    "unknown",
    "system",
    "secret",
    "gate",
)
"""Where an effect lands, from the least to the most guarded."""


class Intent(NamedTuple):
    """The content an action_ref is derived from.

    Args:
        agent_id: the agent chain, outermost first, joined by ``/``.
        action_type: the tool's name.
        scope: the strictest scope among the call's effects.
        ts: when the call was received, microseconds since the epoch, UTC.
        call: the host's call id, or one the writer made. Two identical
            parallel calls differ in nothing else.
    """

    agent_id: str
    action_type: str
    scope: str
    ts: int
    call: str

    def as_json(self) -> dict[str, Any]:
        """Return the intent as the closed object the ledger stores."""
        return self._asdict()


def action_ref(intent: Intent) -> str:
    """Return SHA256(JCS(intent)), which anyone can recompute from the intent alone."""
    return digest(profile_bytes(intent.as_json()))


def strictest_scope(scopes: list[str]) -> str:
    """Return the most guarded of some scopes; ``inspect-only`` when there are none."""
    return max(scopes, key=SCOPES.index, default="inspect-only")
