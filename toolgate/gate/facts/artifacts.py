"""What a file is known to hold after the writes a session has made to it. Pure.

A write is known by its ledger entry alone: what was decided on it, how it ended,
and in short notation what the file would do when run. No content is kept.

Laws: what a file holds is the union over its writes back to the latest confirmed
whole one; a denied or failed write changes nothing and hides nothing; a pending
write adds and never takes away; the order of the entries is the order of the writes.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from toolgate.gate.facts.session import SECRET

CONFIRMED, PENDING, VOID = "confirmed", "pending", "void"

PART, UNREAD, RUNS = "part", "unread", "runs="
"""Notes with a meaning here: it changes what is there; nobody could read it; running it runs the
files that follow, by their keys."""

FOLDER = "folder"
"""Note of a folder into which an archive or a repository was put: what lies in it nobody read."""

LINK = "link"
"""Note of a link, with the scope of the file behind it: what is written to it goes there."""

SEVERAL = "several"
"""Note of a call that has written too many files to name: any file may be one of them."""

ALL_OR_NOTHING = frozenset(("Write", "Edit", "MultiEdit", "NotebookEdit", "write_file", "replace"))
"""Tools that have written nothing when they report an error."""

MAX_CHAIN = 64
"""How many files an execution is followed through; what lies behind them counts as unread."""


class Write(NamedTuple):
    """One write of a file, or its end.

    Args:
        entry: digest of the ledger entry that decided it.
        state: ``confirmed``, ``pending`` or ``void``.
        holds: what it puts into the file, as notes without ``part``.
        whole: whether it replaces what was there.
        ends: whether it deletes the file instead.
    """

    entry: str
    state: str
    holds: tuple[str, ...]
    whole: bool
    ends: bool = False


class Artifact(NamedTuple):
    """A file the session has written, as it is known now.

    Args:
        holds: each note and the latest entry that says it, sorted by note.
        entries: the writes it rests on, oldest first.
        pending: those of them whose outcome is not known.
        readable: False when the session's entries could not be read.
    """

    holds: tuple[tuple[str, str], ...]
    entries: tuple[str, ...]
    pending: tuple[str, ...] = ()
    readable: bool = True

    def entry_of(self, note: str) -> str | None:
        """Return the entry that says a note; None when none does."""
        return next((entry for said, entry in self.holds if said == note), None)


UNREADABLE = Artifact((), (), (), False)
"""What is known of any file when the session's entries cannot be read."""


def state_of(decided: str, tool: str, ending: str | None) -> str:
    """Return what became of a write.

    Args:
        decided: ``allowed``, ``asked`` or ``denied``.
        tool: the tool's name.
        ending: its outcome's terminal_state; None while there is no outcome.
    """
    if ending == "ok":
        return CONFIRMED  # also of a denied call: it ran nevertheless
    if ending == "refused":
        return VOID
    if ending in (None, "unresolved"):
        return VOID if decided == "denied" else PENDING
    # A shell that failed may have written before it did, and who was cut off may be done.
    return VOID if ending == "error" and tool in ALL_OR_NOTHING else PENDING


def held(writes: Sequence[Write]) -> Artifact | None:
    """Return what a file holds after its writes, oldest first; None when nothing is known."""
    counted: list[Write] = []
    for write in reversed(writes):
        if write.state == VOID or (write.ends and write.state != CONFIRMED):
            continue
        if write.ends:
            break
        counted.append(write)
        if write.whole and write.state == CONFIRMED:
            break
    if not counted:
        return None
    counted.reverse()
    holds = {note: write.entry for write in counted for note in write.holds}
    return Artifact(
        tuple(sorted(holds.items())),
        tuple(dict.fromkeys(write.entry for write in counted)),
        tuple(dict.fromkeys(write.entry for write in counted if write.state == PENDING)),
    )


def followed(key: str, writes_of: Callable[[str], Sequence[Write]]) -> Artifact | None:
    """Return what a file holds together with the files that running it runs.

    Args:
        key: the file's key.
        writes_of: returns a file's writes, oldest first, by its key.
    """
    first = held(writes_of(key))
    if first is None:
        return None
    parts, seen, waiting = [first], {key}, _runs(first)
    while waiting:
        other, entry = waiting.pop()
        if other in seen:
            continue
        if len(seen) >= MAX_CHAIN:
            parts.append(Artifact(((UNREAD, entry),), (entry,)))
            break
        seen.add(other)
        part = held(writes_of(other))
        if part is not None:
            parts.append(part._replace(holds=tuple(h for h in part.holds if h[0] != SECRET)))
            waiting += _runs(part)
    return joined(parts)


def joined(parts: Iterable[Artifact]) -> Artifact | None:
    """Return what several files hold together; None of none."""
    several = list(parts)
    if not several:
        return None
    holds: dict[str, str] = {}
    for part in reversed(several):
        holds.update(part.holds)
    return Artifact(
        tuple(sorted(holds.items())),
        tuple(dict.fromkeys(entry for part in several for entry in part.entries)),
        tuple(dict.fromkeys(entry for part in several for entry in part.pending)),
        all(part.readable for part in several),
    )


def _runs(artifact: Artifact) -> list[tuple[str, str]]:
    return [
        (key, entry)
        for note, entry in artifact.holds
        if note.startswith(RUNS)
        for key in note.removeprefix(RUNS).split(",")
    ]
