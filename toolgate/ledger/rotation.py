"""Key rotations: who vouches for a new key, and over which bytes.

The old key signs for the new one, so that whoever trusts the first key can
follow the ledger to the last; the new key signs too, so that nobody brings in
a key that is not his.
"""

from typing import Any

from toolgate.canonical import profile_bytes
from toolgate.signing import PrivateKey, verifies

CHECKPOINT = "checkpoint"
"""The role of the key that signs a log's checkpoints; the log's origin is its name."""


def message(ev: dict[str, Any]) -> bytes:
    """Return the bytes a rotation's signatures are over: all of ``ev`` but the signatures."""
    return profile_bytes({name: value for name, value in ev.items() if name != "signatures"})


def rotation(
    role: str, name: str, old: PrivateKey | None, new: PrivateKey, ts: int
) -> dict[str, Any]:
    """Return the event of a key_rotate entry.

    Args:
        role: what the key is for.
        name: whose key it is.
        old: the key that is retired; None for the first one.
        new: the key from here on.
        ts: microseconds UTC.
    """
    ev = {
        "role": role,
        "name": name,
        "old": None if old is None else old.public,
        "new": new.public,
        "ts": ts,
    }
    signers = [new] if old is None else [old, new]
    return {**ev, "signatures": [key.sign(message(ev)) for key in signers]}


def unsigned_by(ev: dict[str, Any]) -> str | None:
    """Return which key's signature a rotation lacks, ``old`` or ``new``; None if it has all.

    Args:
        ev: the event of a key_rotate entry that keeps to its schema.
    """
    wanted = ["new"] if ev["old"] is None else ["old", "new"]
    over = message(ev)
    for which, signature in zip(wanted, ev["signatures"], strict=True):
        if not verifies(ev[which], signature, over):
            return which
    return None
