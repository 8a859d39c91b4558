"""Which keys speak for a principal, read from a policy and the rotations on the spine."""

from collections.abc import Iterable, Mapping, Set
from typing import Any, NamedTuple

from toolgate.canonical import profile_bytes
from toolgate.signing import verifies

_FOREVER = 2**62


class Rotation(NamedTuple):
    """A rotation of an approver's key.

    Args:
        entry: its entry digest.
        seq: its number on the spine.
        name: the principal.
        old: the key it retires.
        new: the key it brings.
        signed: whether both keys signed it.
    """

    entry: str
    seq: int
    name: str
    old: str
    new: str
    signed: bool


class Term(NamedTuple):
    """Between which spine entries a key is a principal's: behind ``after``, up to ``until``."""

    after: int
    until: int


def rotation_of(entry: str, seq: int, ev: dict[str, Any]) -> Rotation:
    """Return a rotation as its entry says it."""
    said = profile_bytes({name: value for name, value in ev.items() if name != "signatures"})
    old, new, signatures = ev["old"], ev["new"], ev["signatures"]
    signed = (
        old is not None
        and len(signatures) == 2
        and verifies(old, signatures[0], said)
        and verifies(new, signatures[1], said)
    )
    return Rotation(entry, seq, ev["name"], old or "", new, signed)


class Keys:
    """The rotations of a ledger, taken in spine order."""

    def __init__(self) -> None:
        self._ended: dict[tuple[str, str], int] = {}
        self._origin: dict[tuple[str, str], tuple[str, int]] = {}
        self._next: dict[tuple[str, str], tuple[str, int]] = {}

    def take(self, one: Rotation, owners: Mapping[str, Set[str]]) -> str | None:
        """Take a rotation; return why it does not count, None if it does.

        Args:
            one: the rotation.
            owners: to whom the policies that the ledger announces give each key.
        """
        name, old, new = one.name, one.old, one.new
        if not one.signed:
            return "it is not signed by the old key and the new one"
        if (name, old) in self._ended or (name, new) in self._ended:
            return "one of its keys was retired before"
        if old == new:
            return "it replaces a key by itself"
        if (name, old) not in self._origin and name not in owners.get(old, ()):
            return f"the old key is none of {name!r}"
        if (name, new) in self._origin:
            return "the new key has replaced another one before"
        if not owners.get(new, set()) <= {name}:
            return "the new key is another principal's"
        self._ended[name, old] = one.seq
        self._origin[name, new] = (old, one.seq)
        self._next[name, old] = (new, one.seq)
        return None

    def speaks(self, name: str, key: str, given: Iterable[str], seq: int | None) -> bool:
        """Say whether a key is a principal's.

        Args:
            name: the principal.
            key: the key.
            given: the keys a policy gives the principal.
            seq: number of the spine entry at which it is used; None where none is known.
        """
        at = float("inf") if seq is None else seq
        if seq is not None and self._ended.get((name, key), at) < at:
            return False
        known = frozenset(given)
        while key not in known:
            before = self._origin.get((name, key))
            if before is None or before[1] >= at:
                return False
            key = before[0]
        return True

    def terms(self, name: str, given: Iterable[str]) -> dict[str, Term]:
        """Return every key that is a principal's at some time.

        Args:
            name: the principal.
            given: the keys a policy gives the principal.
        """
        found = {key: Term(0, self._ended.get((name, key), _FOREVER)) for key in given}
        for first in list(found):
            following = self._next.get((name, first))
            while following is not None and following[0] not in found:
                key, after = following
                found[key] = Term(after, self._ended.get((name, key), _FOREVER))
                following = self._next.get((name, key))
        return found
