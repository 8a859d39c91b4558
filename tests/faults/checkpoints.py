"""Faults of checkpoints, keys and what is kept of them; rows as in ``catalogue``.

The writer's keys are fixed here, so that a rewriter may have them or not: one who
has the key in force can make the ledger's own checkpoints fit again, and is seen
by a copy that was kept outside.
"""

from collections.abc import Callable
from typing import Any

from catalogue import fault
from ledgers import START, Row

from toolgate.canonical import digest, profile_bytes
from toolgate.ledger.append import Ledger
from toolgate.ledger.checkpoint import Checkpoint, format_text, parse_text, spine_line
from toolgate.ledger.merkle import tree_root
from toolgate.ledger.notes import (
    COSIGNATURE,
    Note,
    cosign,
    format_note,
    parse_note,
    public,
    sign,
)
from toolgate.ledger.rotation import message, rotation
from toolgate.signing import PrivateKey
from toolgate.verify.anchors import Anchors, Held

ORIGIN = "example.com/ledger"
WITNESS = "witness.example/w"


def private(number: int) -> PrivateKey:
    """Return a key that is the same in every run."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return PrivateKey(Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32))


FIRST, SECOND, STRANGER, SEER = private(1), private(2), private(3), private(4)


def held(data: bytes, name: str = "kept") -> Held:
    """Return a checkpoint as an outsider keeps it."""
    note = parse_note(data)
    return Held(name, note, parse_text(note.text))


def cosigned(data: bytes, key: PrivateKey = SEER) -> bytes:
    """Return a checkpoint with a witness's signature more."""
    note = parse_note(data)
    return format_note(Note(note.text, (*note.signatures, cosign(note.text, WITNESS, key, 7))))


def checkpointed(kit: Any) -> bytes:
    """Let the writer append a checkpoint, and return it."""
    note = Ledger(str(kit.root)).checkpoint(FIRST, ts=START + 10**9, origin=ORIGIN)
    kit.reload()
    return note


def heads(kit: Any, before: Row) -> list[bytes]:
    """Return the log's leaves before an entry."""
    rows = kit.spine[: kit.spine.index(before)]
    closes = [row for row in rows if row.body["kind"] == "session_close"]
    return [bytes.fromhex(digest(profile_bytes(row.body))[7:]) for row in closes]


def resign(kit: Any, row: Row, key: PrivateKey = FIRST, **change: Any) -> None:
    """Make a checkpoint entry fit what stands before it, but for some changes, and sign it."""
    kit.rehash()
    before = kit.spine[kit.spine.index(row) - 1]
    leaves = heads(kit, row)
    last = spine_line(before.body["seq"], digest(profile_bytes(before.body)))
    made = Checkpoint(ORIGIN, len(leaves), tree_root(leaves), (last,))._replace(**change)
    text = format_text(made)
    note = format_note(Note(text, (sign(text, made.origin, key),)))
    row.body["ev"]["text"] = note.decode()
    kit.rehash()


def add(kit: Any, kind: str, ev: dict[str, Any]) -> Row:
    """Append an entry of the spine."""
    row = kit.copy(kit.find("policy_set"))
    row.body |= {"kind": kind, "ev": ev}
    row.body["ts"] = ev["ts"] = START + 2 * 10**9
    row.old = digest(profile_bytes(ev))
    kit.spine.append(row)
    kit.rehash()
    return row


def rotated(kit: Any, old: PrivateKey | None, new: PrivateKey, **change: Any) -> Row:
    """Append a rotation, signed as it should be but for what is changed afterwards."""
    ev = rotation("checkpoint", ORIGIN, old, new, START + 2 * 10**9)
    return add(kit, "key_rotate", {**ev, **change})


def last(kit: Any, kind: str = "checkpoint") -> Row:
    return [row for row in kit.spine if row.body["kind"] == kind][-1]


def cut_behind(kit: Any, number: int) -> None:
    """Drop the spine's entries behind one."""
    kit.files["spine-000000000001.jsonl"] = kit.spine[:number]
    kit.write()


def extended(kit: Any) -> None:
    before = kit.spine[kit.spine.index(last(kit)) - 1]
    line = spine_line(before.body["seq"], before.old)
    resign(kit, last(kit), more=(line, "more"))


def retext(kit: Any, change: Callable[[str], str]) -> None:
    ev = last(kit).body["ev"]
    ev["text"] = change(ev["text"])
    kit.rehash()


def placed(kit: Any) -> None:
    last(kit).body["session"] = "alpha"
    kit.rehash()


def last_signature(key: PrivateKey) -> str:
    """Return the new key's own signature over a rotation from the first key."""
    ev = rotation("checkpoint", ORIGIN, FIRST, key, START + 2 * 10**9)
    return key.sign(message(ev))


def rotated_at(kit: Any, old: PrivateKey, new: PrivateKey) -> None:
    """Append a rotation whose time was changed after it was signed."""
    add(kit, "key_rotate", rotation("checkpoint", ORIGIN, old, new, START))


# -- keys


def _key(name: str, change: Callable[[Any], None]) -> None:
    @fault(name, "R", "log.key_rotation")
    def _(kit: Any) -> None:
        checkpointed(kit)
        change(kit)


_OTHER = STRANGER.sign(b"other")
_key("rotation-not-signed-by-the-old-key", lambda kit: rotated(kit, STRANGER, SECOND))
_key(
    "rotation-signed-by-a-stranger",
    lambda kit: rotated(kit, FIRST, SECOND, signatures=[_OTHER, last_signature(SECOND)]),
)
_key(
    "rotation-without-an-old-key",
    lambda kit: rotated(kit, None, SECOND),
)
_key(
    "rotation-renames-the-log",
    lambda kit: add(
        kit, "key_rotate", rotation("checkpoint", "example.com/other", FIRST, SECOND, START)
    ),
)
_key(
    "rotation-moved-in-time",
    lambda kit: rotated_at(kit, FIRST, SECOND),
)


@fault("rotation-by-a-retired-key", "R", "log.key_rotation")
def _(kit: Any) -> None:
    checkpointed(kit)
    rotated(kit, FIRST, SECOND)
    rotated(kit, FIRST, STRANGER)


@fault("rotation-back-to-a-retired-key", "R", "log.key_rotation")
def _(kit: Any) -> None:
    checkpointed(kit)
    rotated(kit, FIRST, SECOND)
    rotated(kit, SECOND, FIRST)


@fault("first-key-not-signed", "R", "log.key_rotation")
def _(kit: Any) -> None:
    checkpointed(kit)
    last(kit, "key_rotate").body["ev"]["signatures"] = [_OTHER]
    resign(kit, last(kit))


@fault("key-in-a-session", "R", "entries.schema")
def _(kit: Any) -> None:
    checkpointed(kit)
    last(kit, "key_rotate").body["session"] = "alpha"
    resign(kit, last(kit))


# -- checkpoints the ledger itself holds


def _checkpoint(name: str, change: Callable[[Any], None]) -> None:
    @fault(name, "R", "log.checkpoint")
    def _(kit: Any) -> None:
        checkpointed(kit)
        change(kit)


_checkpoint("root-wrong", lambda kit: resign(kit, last(kit), root=bytes(32)))
_checkpoint("size-too-small", lambda kit: resign(kit, last(kit), size=1))
_checkpoint("size-too-large", lambda kit: resign(kit, last(kit), size=99))
_checkpoint(
    "spine-line-wrong", lambda kit: resign(kit, last(kit), more=("spine 1 " + digest(b""),))
)
_checkpoint("spine-line-missing", lambda kit: resign(kit, last(kit), more=()))
_checkpoint("another-line-in-a-checkpoint", extended)
_checkpoint("checkpoint-of-another-log", lambda kit: resign(kit, last(kit), origin="example.com/x"))
_checkpoint("checkpoint-by-a-stranger", lambda kit: resign(kit, last(kit), key=STRANGER))
_checkpoint("note-without-signature", lambda kit: retext(kit, lambda text: text.split("\n\n")[0]))
_checkpoint("note-that-is-none", lambda kit: retext(kit, lambda text: "checkpoint"))
_checkpoint(
    "note-with-a-carriage-return", lambda kit: retext(kit, lambda t: t.replace("\n", "\r\n"))
)
_checkpoint(
    "size-with-a-zero-before-it", lambda kit: retext(kit, lambda t: t.replace("\n", "\n0", 1))
)


@fault("checkpoint-in-a-session", "R", "entries.schema")
def _(kit: Any) -> None:
    checkpointed(kit)
    placed(kit)


@fault("checkpoint-that-names-a-parent", "R", "entries.schema")
def _(kit: Any) -> None:
    checkpointed(kit)
    last(kit).body["parents"] = [kit.spine[0].old]
    kit.rehash()


@fault("size-decreases", "R", "log.checkpoint")
def _(kit: Any) -> None:
    checkpointed(kit)
    text = format_text(parse_text(parse_note(checkpointed(kit)).text)._replace(size=1))
    again = format_note(Note(text, (sign(text, ORIGIN, FIRST),)))
    last(kit).body["ev"]["text"] = again.decode()
    kit.rehash()


@fault("checkpoint-by-a-retired-key", "R", "log.checkpoint")
def _(kit: Any) -> None:
    checkpointed(kit)
    rotated(kit, FIRST, SECOND)
    resign(kit, add(kit, "checkpoint", {"text": ""}))


@fault("checkpoint-before-any-key", "R", "log.checkpoint")
def _(kit: Any) -> None:
    checkpointed(kit)
    kit.drop(last(kit, "key_rotate"))
    resign(kit, last(kit))


@fault("rewriter-without-the-key", "R", "log.checkpoint")
def _(kit: Any) -> None:
    checkpointed(kit)
    kit.decision("a0").body["ev"]["principal"] = "mallory"
    kit.rehash()


# -- against what was kept outside


@fault("rewriter-with-the-key", "R", "log.equivocation", pin=True)
def _(kit: Any) -> None:
    kit.anchors = Anchors((held(checkpointed(kit)),), public(ORIGIN, FIRST))
    kit.decision("a0").body["ev"]["principal"] = "mallory"
    resign(kit, last(kit))


@fault("rewriter-with-another-key", "R", "log.equivocation", pin=True)
def _(kit: Any) -> None:
    kit.anchors = Anchors((held(checkpointed(kit)),), public(ORIGIN, FIRST))
    kit.decision("a0").body["ev"]["principal"] = "mallory"
    ev = rotation("checkpoint", ORIGIN, None, STRANGER, START + 10**9)
    last(kit, "key_rotate").body["ev"] = ev
    resign(kit, last(kit), key=STRANGER)


@fault("another-tree-of-that-size", "H", "log.equivocation", pin=True)
def _(kit: Any) -> None:
    said = parse_text(parse_note(checkpointed(kit)).text)
    text = format_text(said._replace(root=bytes(32)))
    kit.anchors = Anchors((held(format_note(Note(text, (sign(text, ORIGIN, FIRST),)))),))


@fault("another-entry-at-that-place", "H", "log.equivocation", pin=True)
def _(kit: Any) -> None:
    said = parse_text(parse_note(checkpointed(kit)).text)
    assert said.spine is not None
    text = format_text(said._replace(more=(spine_line(said.spine[0], digest(b"other")),)))
    kit.anchors = Anchors((held(format_note(Note(text, (sign(text, ORIGIN, FIRST),)))),))


@fault("checkpoint-of-another-ledger", "H", "log.equivocation", pin=True)
def _(kit: Any) -> None:
    said = parse_text(parse_note(checkpointed(kit)).text)
    text = format_text(said._replace(origin="example.com/other"))
    note = format_note(Note(text, (sign(text, "example.com/other", STRANGER),)))
    kit.anchors = Anchors((held(note),))


@fault("tail-cut-below-a-checkpoint", "N", "log.equivocation", pin=True)
def _(kit: Any) -> None:
    kit.anchors = Anchors((held(checkpointed(kit)),), public(ORIGIN, FIRST))
    cut_behind(kit, len(kit.spine) - 2)


@fault("sessions-cut-below-a-checkpoint", "R", "log.equivocation", pin=True)
def _(kit: Any) -> None:
    kit.anchors = Anchors((held(checkpointed(kit)),))
    kit.drop(*[row for row in kit.spine if row.body["session"] == "run-1"])
    kit.drop(last(kit), last(kit, "key_rotate"))
    kit.files["sessions/run-1.jsonl"] = []
    kit.rehash()


@fault("witness-signature-bad", "H", "log.checkpoint", pin=True)
def _(kit: Any) -> None:
    data = cosigned(checkpointed(kit), STRANGER)
    kit.anchors = Anchors((held(data),), None, (public(WITNESS, SEER, COSIGNATURE),))


@fault("witness-signature-missing", "H", "log.checkpoint", pin=True)
def _(kit: Any) -> None:
    kit.anchors = Anchors((held(checkpointed(kit)),), None, (public(WITNESS, SEER, COSIGNATURE),))


@fault("kept-checkpoint-not-signed-by-the-pinned-key", "H", "log.checkpoint", pin=True)
def _(kit: Any) -> None:
    text = parse_note(checkpointed(kit)).text
    data = format_note(Note(text, (sign(text, ORIGIN, STRANGER),)))
    kit.anchors = Anchors((held(data),), public(ORIGIN, FIRST))


@fault("kept-checkpoint-not-signed-by-the-ledgers-key", "H", "log.checkpoint", pin=True)
def _(kit: Any) -> None:
    text = parse_note(checkpointed(kit)).text
    kit.anchors = Anchors((held(format_note(Note(text, (sign(text, ORIGIN, STRANGER),)))),))


@fault("pinned-key-is-not-the-ledgers", "H", "log.key_rotation", pin=True)
def _(kit: Any) -> None:
    checkpointed(kit)
    kit.anchors = Anchors((), public(ORIGIN, STRANGER))
