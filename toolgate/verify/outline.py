"""What a ledger's spine names, read before the ledger is verified as one of several."""

from typing import NamedTuple

from toolgate.errors import LedgerError
from toolgate.ledger.rotation import CHECKPOINT
from toolgate.verify.place import open_ledger
from toolgate.verify.read import Line
from toolgate.verify.shapes import Other, SessionOpen


class Child(NamedTuple):
    """A session's part that names the decision that started its agent."""

    entry: str
    session: str
    ledger: str
    decision: str


class Outline:
    """What is known of a ledger before it is verified."""

    __slots__ = ("children", "origins", "sessions", "start")

    def __init__(self) -> None:
        self.children: list[Child] = []
        self.origins: set[str] = set()
        self.sessions: dict[str, str] = {}
        self.start = ""


def outline(path: str, place: str) -> Outline:
    """Read a ledger's spine for its log's name and for who started its sessions.

    Args:
        path: what the ledger is called.
        place: where it is.

    Raises:
        LedgerError: there is no ledger, nothing in it, or it cannot be read.
    """
    directory = open_ledger(place)
    if directory.empty:
        raise LedgerError(f"the ledger at {path} has no entry")
    made = Outline()
    for item in directory.read_spine():
        if not isinstance(item, Line):
            continue
        entry = item.entry
        if not made.start:
            made.start = item.digest
            made.origins.add(f"toolgate.invalid/{item.digest[7:23]}")
        if isinstance(entry, SessionOpen):
            session = entry.session
            made.sessions.setdefault(session, item.digest)
            if entry.ev.spawned_by is not None:
                made.children.append(Child(item.digest, session, path, entry.ev.spawned_by))
        elif isinstance(entry, Other) and entry.ev.get("role") == CHECKPOINT:
            made.origins.add(entry.ev["name"])
    return made
