"""What the spine says about approvals, read once and kept for the next process.

A hook starts for every call and cannot read a long spine for each. So what still
matters of it is kept beside the ledger, with the spine entry up to which it was
read: that entry's digest stands for everything before it. Where it is missing, of
another spine, or younger than the call, all of the spine is read again. It is a
cache and no evidence; signatures are checked whenever an approval is used.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toolgate.approval import (
    CITED,
    REFUSE,
    Approval,
    Keys,
    Target,
    is_signed,
    standing,
)
from toolgate.canonical import digest, parse, profile_bytes
from toolgate.errors import CanonicalizationError, RecordError
from toolgate.ledger.spine import Spine
from toolgate.ledger.store import Store
from toolgate.records import check

_NEEDLES = (b'"kind":"approval"', b'"kind":"key_rotate"', b'"action":"approval.cited"')
_CACHE = "approvals"
_KEEP_BYTES = 64 * 1024  # how far the spine may have grown before it is kept anew


class _Said(NamedTuple):
    """A line that says something, and the approvals it is about; None for a rotation."""

    line: bytes
    about: frozenset[str] | None


class Known:
    """What the spine says about approvals.

    Args:
        store: the ledger, which is read from the first entry.
    """

    def __init__(self, store: Store | None = None) -> None:
        self.approvals: list[Approval] = []
        self.cited: dict[str, set[str]] = {}
        self.keys = Keys()
        self._signatures: set[str] = set()
        self._said: list[_Said] = []
        if store is not None:
            self.read(store, 0)

    def read(self, store: Store, since: int) -> None:
        """Take the spine's lines from a position on into account."""
        for _, line in store.spine_lines(_NEEDLES, since):
            self.take(line)

    def take(self, line: bytes) -> None:
        """Take one of the spine's lines into account."""
        try:
            body = parse(line)
            check(body)
        except (CanonicalizationError, RecordError):
            return  # no entry; the verifier says so
        ev = body["ev"]
        if body["kind"] == "approval":
            self._approval(line, approval_of(digest(line), body))
        elif body["kind"] == "key_rotate":
            if ev["role"] == "approver":
                self.keys.rotate(body["seq"], ev)
                self._said.append(_Said(line, None))
        elif body["kind"] == "audit" and ev["action"] == CITED:
            named = ev["details"].get("approvals")
            names = frozenset(map(str, named if type(named) is list else ()))
            for item in names:
                self.cited.setdefault(item, set()).add(str(ev["target"]))
            self._said.append(_Said(line, names))

    def _approval(self, line: bytes, item: Approval) -> None:
        """Take an approval, unless it repeats a signature: one signature counts once."""
        signature = item.ev["sig"]
        if signature is None or signature not in self._signatures:
            self._signatures.add(signature)
            self.approvals.append(item)
            self._said.append(_Said(line, frozenset((item.entry,))))

    def lines_for(self, ts: int) -> list[bytes]:
        """Return the lines that say something to a decision of this time or a later one.

        An approval that has expired says nothing more, and a refusal only to approvals
        before it. A repeated signature expires with the one it repeats.

        Args:
            ts: microseconds UTC.
        """
        alive: set[str] = set()
        people: set[str] = set()
        for item in self.approvals:
            refuses = item.ev["verdict"] == REFUSE and item.principal in people
            if refuses or item.ev["expiry"] >= ts:
                alive.add(item.entry)
                people.add(item.principal)
        return [line for line, about in self._said if about is None or about & alive]

    def speaks(self, item: Approval, principals: Mapping[str, Sequence[str]]) -> bool:
        """Say whether an approval is signed, with a key that is its principal's."""
        given = principals.get(item.principal, ())
        key = item.key
        if key is None or not self.keys.speaks(item.principal, key, given, item.seq):
            return False
        return is_signed(item.ev)

    def standing(
        self,
        target: Target,
        principals: Mapping[str, Sequence[str]],
        ts: int,
        mine: Sequence[str] = (),
    ) -> list[Approval]:
        """Return the approvals a decision may rest on; ``mine`` are what it replaces rested on."""
        signed = [
            item
            for item in self.approvals
            if item.about(target)
            and (item.ev["verdict"] == REFUSE or ts <= item.ev["expiry"])
            and (item.entry in mine or not self.cited.get(item.entry))
            and self.speaks(item, principals)
        ]
        return standing(signed, target, ts)


def approval_of(name: str, body: Mapping[str, Any]) -> Approval:
    """Return an approval as its entry says it; ``name`` is its entry digest."""
    after = body["parents"][0] if body["parents"] else None
    return Approval(name, body["seq"], body["ts"], after, body["ev"])


def known_at(spine: Spine, store: Store, ts: int) -> Known:
    """Return what the spine says about approvals to a decision of this time.

    Args:
        spine: the spine, locked.
        store: the ledger.
        ts: microseconds UTC.
    """
    spine.flush()
    found, since = _cached(spine, store, ts) or (Known(), 0)
    found.read(store, since)
    if spine.offset - since > _KEEP_BYTES:
        held = {
            "last": list(spine.last),
            "lines": [line.decode("utf-8") for line in found.lines_for(ts)],
            "ts": ts,
        }
        store.keep_cache(_CACHE, profile_bytes(held))
    return found


def _cached(spine: Spine, store: Store, ts: int) -> tuple[Known, int] | None:
    """Return what was kept, and up to where it was read; None where it does not hold."""
    data = store.load_cache(_CACHE)
    if data is None:
        return None
    try:
        held = parse(data)
        stop, length, name = held["last"]
        if held["ts"] > ts or not spine.holds(stop, length, name):
            return None
        found = Known()
        for line in held["lines"]:
            found.take(line.encode("utf-8"))
    except (CanonicalizationError, AttributeError, KeyError, TypeError, ValueError):
        return None  # half written by a process that was killed: the spine knows
    return found, stop
