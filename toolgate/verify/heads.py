"""The log of session heads as layer 2 sees it: its root, its keys, its checkpoints.

It is recomputed while the spine is read: every session_close adds its digest,
every checkpoint must say what is there by then, signed with the key that is in
force. A checkpoint somebody kept must say the same.
"""

from collections.abc import Callable

from toolgate import signing
from toolgate.errors import InputError
from toolgate.ledger.checkpoint import Checkpoint, parse_text, spine_line
from toolgate.ledger.merkle import Tree
from toolgate.ledger.notes import (
    ED25519,
    Note,
    NoteKey,
    cosigned_at,
    is_name,
    parse_note,
    signed_by,
)
from toolgate.ledger.rotation import CHECKPOINT, unsigned_by
from toolgate.verify.anchors import Anchors, Held
from toolgate.verify.read import Line
from toolgate.verify.shapes import Other
from toolgate.verify.words import counted, printable

Add = Callable[[str, str, str], None]


class _Copy:
    """A checkpoint that was kept outside, and what was seen of it so far."""

    __slots__ = ("closed_at", "entry_at", "held", "root_at")

    def __init__(self, held: Held) -> None:
        self.held = held
        self.root_at: bytes | None = None
        self.closed_at = 0
        self.entry_at: str | None = None


class Heads:
    """The log, while the spine is read.

    Args:
        anchors: what was kept outside.
        add: takes a finding: code, entry, message.

    Attributes:
        origin: the log's name; None while no key was brought in.
        checkpoints: how many checkpoint entries there are.
        covered: number of the last spine entry that a checkpoint kept outside binds.
        names_entries: whether a checkpoint kept outside names a spine entry.
    """

    def __init__(self, anchors: Anchors, add: Add) -> None:
        self.origin: str | None = None
        self.checkpoints = 0
        self.covered = 0
        self._anchors = anchors
        self._add = add
        self._tree = Tree()
        self._keys: list[NoteKey] = []
        self._had: set[str] = set()
        self._by_id: dict[bytes, list[NoteKey]] = {}
        self._last: tuple[int, str] | None = None
        self._sizes: dict[int, list[_Copy]] = {}
        self._entries: dict[int, list[_Copy]] = {}
        self._copies = [_Copy(held) for held in anchors.held]
        self._said: list[str] = []
        for copy in self._copies:
            said = copy.held.checkpoint
            self._sizes.setdefault(said.size, []).append(copy)
            if said.spine is not None:
                self._entries.setdefault(said.spine[0], []).append(copy)
        self.names_entries = bool(self._entries)
        self._note_root(0)

    # -- while the spine is read

    def entry(self, seq: int, digest: str) -> None:
        """Note a spine entry that a checkpoint kept outside names."""
        for copy in self._entries.get(seq, ()):
            if copy.held.checkpoint.spine == (seq, digest) or copy.entry_at is None:
                copy.entry_at = digest

    def close(self, seq: int, digest: str) -> None:
        """Take the end of a session, given as number and digest of its entry."""
        self._tree.append(bytes.fromhex(digest[7:]))
        if self._sizes:
            self._note_root(seq)

    def _note_root(self, seq: int) -> None:
        for copy in self._sizes.get(self._tree.size, ()):
            copy.root_at, copy.closed_at = self._tree.root(), seq

    def other(self, line: Line, entry: Other, before: tuple[int, str]) -> None:
        """Take an entry that may be a key or a checkpoint.

        Args:
            line: the entry and its place.
            entry: what it says.
            before: number and digest of the spine entry before it.
        """
        if entry.kind == "key_rotate" and entry.ev["role"] == CHECKPOINT:
            fault = self._fault_of_key(entry)
            if fault is not None:
                self._add("log.key_rotation", line.digest, f"{line.where}: {fault}")
            else:
                self.origin = entry.ev["name"]
                key = NoteKey(self.origin, ED25519, signing.raw(entry.ev["new"]))
                self._keys.append(key)
                self._had.add(entry.ev["new"])
                self._by_id.setdefault(key.id, []).append(key)
        elif entry.kind == "checkpoint":
            self.checkpoints += 1
            fault = self._fault_of_checkpoint(entry, before)
            if fault is not None:
                self._add("log.checkpoint", line.digest, f"{line.where}: {fault}")

    def _fault_of_key(self, entry: Other) -> str | None:
        """Return what is wrong with the entry that brings in a key, None if nothing is."""
        ev = entry.ev
        now = signing.text(self._keys[-1].key) if self._keys else None
        if not is_name(ev["name"]) or self.origin not in (None, ev["name"]):
            wanted = "a name without spaces" if self.origin is None else repr(self.origin)
            return f"the log's name is {ev['name']!r:.80}; expected {wanted}"
        if ev["old"] != now:
            old = (
                "no key"
                if ev["old"] is None
                else f"{'the retired ' * (ev['old'] in self._had)}key "
            )
            return f"retires {old}{ev['old'] or ''}; the key in force is {now}"
        if ev["new"] in self._had:
            return f"brings back the key {ev['new']}, which the log has had before"
        lacks = unsigned_by(ev)
        return None if lacks is None else f"is not signed by the {lacks} key {ev[lacks]}"

    def _fault_of_checkpoint(self, entry: Other, before: tuple[int, str]) -> str | None:
        """Return what is wrong with a checkpoint entry, None if nothing is."""
        if not self._keys:
            return "no entry before it brings in the key it must be signed with"
        try:
            note = parse_note(entry.ev["text"].encode())
            said = parse_text(note.text)
        except InputError as error:
            return f"holds no checkpoint: {error}"
        fault = self._fault_of_text(said, before)
        if fault is None:
            fault = self._fault_of_signature(note)
        if fault is None:
            self._last = (entry.seq, note.text)
        return fault

    def _fault_of_text(self, said: Checkpoint, before: tuple[int, str]) -> str | None:
        if said.origin != self.origin:
            return f"is of the log {said.origin!r:.80}; this log is {self.origin!r}"
        if said.size != self._tree.size:
            ended = counted(self._tree.size, "session")
            return f"says that {said.size} had ended; {ended} had"
        if said.root != self._tree.root():
            return f"has the root {said.root.hex()}; the sessions give {self._tree.root().hex()}"
        if said.more != (spine_line(*before),):
            named = "; ".join(said.more) or "nothing"
            return f"names {named!r:.120} before it; expected {spine_line(*before)!r}"
        return None

    def _fault_of_signature(self, note: Note) -> str | None:
        now = self._keys[-1]
        if signed_by(note, now):
            return None
        named = dict.fromkeys(one.key_id for one in note.signatures)
        if any(signed_by(note, key) for item in named for key in self._by_id.get(item, ())):
            return f"is signed with a retired key; the key in force is {now.text}"
        return f"is not signed with the key in force, {now.text}"

    # -- now that it was read

    def finish(self, head: tuple[int, str]) -> None:
        """Compare what was kept outside with what was read.

        Args:
            head: number and digest of the last spine entry.
        """
        key = self._anchors.key
        if key is not None and key not in self._keys:
            message = f"the pinned key {key.text} is none of the keys this ledger's log has had"
            self._add("log.key_rotation", "pinned key", message)
        for copy in self._copies:
            self._compare(copy, head)

    def _compare(self, copy: _Copy, head: tuple[int, str]) -> None:
        held = copy.held
        said, name = held.checkpoint, f"checkpoint {held.name}"
        differs, unsigned = self._difference(copy, head[0]), self._fault_of_held(held)
        # A copy that no pinned key vouches for is believed because it was kept, as a head is.
        if unsigned is not None and (differs is None or self._anchors.key is not None):
            self._add("log.checkpoint", name, f"{name}: {unsigned}")
            return
        if differs is not None:
            self._add("log.equivocation", name, f"{name}: {differs}")
            return
        # A root binds the last session's end, and with it the chain up to there.
        covers = copy.closed_at if said.spine is None else said.spine[0]
        if self._last == (covers + 1, held.note.text):
            covers += 1  # the entry that carries the checkpoint itself
        self.covered = max(self.covered, covers)
        self._said.append(printable(self._sentence(held, covers)))

    def _fault_of_held(self, held: Held) -> str | None:
        """Return what is wrong with the signatures of a checkpoint that was kept."""
        trusted = self._trusted()
        if trusted and not any(signed_by(held.note, key) for key in trusted):
            whose = "the ledger's" if self._anchors.key is None else "the pinned"
            return f"is not signed with {whose} key {trusted[0].text}, nor one it was rotated to"
        for witness in self._anchors.witnesses:
            if cosigned_at(held.note, witness) is None:
                return f"carries no cosignature of {witness.text} that verifies"
        return None

    def _trusted(self) -> list[NoteKey]:
        """Return the keys that may sign a checkpoint that was kept; none where none is known."""
        pinned, keys = self._anchors.key, self._keys
        if pinned is None:
            return keys
        return keys[keys.index(pinned) :] if pinned in keys else [pinned]

    def _difference(self, copy: _Copy, last: int) -> str | None:
        """Return where a checkpoint that was kept and the ledger part, None if they do not."""
        said = copy.held.checkpoint
        if self.origin is not None and said.origin != self.origin:
            return f"is of the log {said.origin!r:.80}; this log is {self.origin!r}"
        if said.size > self._tree.size or (said.spine is not None and said.spine[0] > last):
            ended = counted(self._tree.size, "session")
            reached = "" if said.spine is None else f" and reached entry {said.spine[0]}"
            return (
                f"says that {said.size} had ended{reached}; the ledger ends at entry {last} with "
                f"{ended} ended: it lost its tail"
            )
        if copy.root_at != said.root:
            return f"has another root over the first {counted(said.size, 'session')}"
        if said.spine is not None and copy.entry_at != said.spine[1]:
            return f"names {said.spine[1]} as entry {said.spine[0]}; the ledger has {copy.entry_at}"
        return None

    def _sentence(self, held: Held, covers: int) -> str:
        said = held.checkpoint
        text = f"the ledger holds checkpoint {held.name} of {said.origin}"
        text += f" over {counted(said.size, 'session')}"
        if covers:
            text += f" and the spine up to entry {covers}"
        for witness in self._anchors.witnesses:
            text += f", seen by {witness.name} at {cosigned_at(held.note, witness)} s"
        return text

    def checked(self) -> list[str]:
        """Return what was checked, one sentence each."""
        said = []
        if self.checkpoints:
            made = counted(self.checkpoints, "checkpoint")
            keys = counted(len(self._keys), "key")
            text = f"{made} of {self.origin} against the sessions, signed with {keys}"
            said.append(printable(text))
        return said + self._said

    def unchecked(self) -> list[str]:
        """Return what was not checked, one sentence each."""
        if self._anchors.key is not None or not (self.checkpoints or self._copies):
            return []
        if not self._keys:
            return ["the signatures of checkpoints: the ledger names no key, and none was pinned"]
        return [
            "whose key signed the checkpoints: no key was pinned, so their signatures were checked "
            "only against the ledger's own"
        ]
