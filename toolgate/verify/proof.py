"""Proofs that stand alone: an entry was in a log, or one log continues another.

A proof is one canonical JSON object in one line. What it needs is in it, except
the log's key, which whoever checks it must have from elsewhere.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import UNSET

from toolgate.canonical import MAX_INTEGER, digest, parse_line
from toolgate.errors import CanonicalizationError, InputError
from toolgate.ledger.checkpoint import Checkpoint, parse_text
from toolgate.ledger.merkle import is_consistent, leaf_hash, root_of_inclusion
from toolgate.ledger.notes import NoteKey, parse_note, signed_by
from toolgate.ledger.turn_dag import MAX_TURN_ENTRIES, frontier_root
from toolgate.records import is_digest
from toolgate.verify import shapes
from toolgate.verify.anchors import Held
from toolgate.verify.read import decode
from toolgate.verify.shapes import Entry, SessionClose, TurnClose
from toolgate.verify.words import counted, printable

ENTRY, CONSISTENCY = "toolgate.proof/1", "toolgate.consistency/1"
MAX_PROOF_BYTES = 64 * 1024 * 1024
_MOST_HASHES = 128

_FIELDS = {
    ENTRY: {
        "checkpoint",
        "entry",
        "format",
        "frontier",
        "path",
        "session",
        "spine",
        "turn_close",
    },
    CONSISTENCY: {"checkpoint", "first", "format", "path"},
}

NOT_PROVED = (
    "that the ledger still holds it, or that nothing else was there: verify the ledger for that",
    "that what an entry says is true, or when it was written: the writer says so",
    "that others were shown the same log: compare the checkpoint with theirs, or have it witnessed",
)


class Proved(NamedTuple):
    """What a proof shows.

    Args:
        proved: one sentence each.
        entry: digest of the entry it is about; None for a consistency proof.
        origin: the log.
        size: how many sessions had ended in it.
    """

    proved: list[str]
    entry: str | None
    origin: str
    size: int


def check(data: bytes, keys: Sequence[NoteKey], held: Held | None = None) -> Proved:
    """Check a proof.

    Args:
        data: the proof's bytes.
        keys: the log's keys, known from elsewhere; its checkpoint must be signed by one.
        held: a checkpoint that was kept; an entry's proof must be of that very one, a
            consistency proof must begin with it.

    Raises:
        InputError: it proves nothing; one sentence says why.
    """
    body = _body(data)
    text = _text(body, "checkpoint")
    note = parse_note(text.encode("utf-8"))
    signed = [key for key in keys if signed_by(note, key)]
    said = parse_text(note.text)
    if not signed or signed[0].name != said.origin:
        raise InputError("the proof's checkpoint is not signed with the key that was given")
    by = f"the checkpoint is signed with the key {signed[0].text}"
    log = f"the log {said.origin} with {counted(said.size, 'ended session')}"
    if body["format"] == CONSISTENCY:
        shown = _continues(body, said, keys, held)
        return Proved([printable(f"{log} continues {shown}"), by], None, said.origin, said.size)
    if held is not None and held.note.text != note.text:
        raise InputError("the proof leads to another checkpoint than the one that was kept")
    entry, shown = _contains(body, said)
    return Proved(
        [printable(f"{shown}, stood in {log}"), by], digest(entry), said.origin, said.size
    )


def ends(data: bytes, keys: Sequence[NoteKey]) -> tuple[tuple[int, bytes], tuple[int, bytes]]:
    """Check a consistency proof and return size and root of the log it begins and ends with.

    Raises:
        InputError: it proves nothing, or something else.
    """
    check(data, keys)
    body = _body(data)
    if body["format"] != CONSISTENCY:
        raise InputError("the proof is about an entry; expected one that a log continues another")
    said = parse_text(parse_note(body["checkpoint"].encode("utf-8")).text)
    first = body["first"]
    return (first["size"], bytes.fromhex(first["root"][7:])), (said.size, said.root)


def _body(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_PROOF_BYTES:
        raise InputError(f"a proof is at most {MAX_PROOF_BYTES} bytes; this is longer")
    try:
        body = parse_line(data.removesuffix(b"\n"))
    except CanonicalizationError as error:
        raise InputError(f"a proof is one canonical JSON object; this is {error}") from None
    made = body.get("format") if type(body) is dict else None
    if type(made) is not str or made not in _FIELDS:
        raise InputError(f"a proof says its format, {ENTRY} or {CONSISTENCY}; this says neither")
    if body.keys() != _FIELDS[made]:
        raise InputError(f"a proof of format {made} has {', '.join(sorted(_FIELDS[made]))}")
    return dict(body)


# -- an entry


def _contains(body: dict[str, Any], said: Checkpoint) -> tuple[bytes, str]:
    """Follow an entry's proof to the checkpoint; return its line and what it is."""
    line, entry = _line(body["entry"], "the entry")
    last, at = line, entry
    if body["turn_close"] is None:
        if body["path"] != [] or body["frontier"] is not None:
            raise InputError("an entry outside of turns has neither path nor frontier")
        if entry.prev_digest is UNSET:
            raise InputError("the entry is not on the spine, and no turn's close is given")
    else:
        last, at = _line(body["turn_close"], "the turn's close")
        _in_turn(body, line, entry, at)
    for raw in _list(body, "spine"):
        behind, following = _line(raw, "a spine entry")
        if following.prev_digest != digest(last) or following.seq != _seq(at) + 1:
            raise InputError("the spine entries do not follow one another")
        last, at = behind, following
    if body["session"] is None:
        if said.spine != (_seq(at), digest(last)):
            raise InputError("the last spine entry is not the one the checkpoint names")
    elif not isinstance(at, SessionClose):
        raise InputError("the last spine entry does not end a session")
    else:
        index, size, path = _place(body["session"])
        leaf = leaf_hash(bytes.fromhex(digest(last)[7:]))
        if size != said.size or root_of_inclusion(leaf, index, size, path) != said.root:
            raise InputError("the session's end is not in the checkpoint's log")
    return line, _what(line, entry)


def _in_turn(body: dict[str, Any], line: bytes, entry: Entry, close: Entry) -> None:
    """Follow the entries that name one another to the frontier of their turn."""
    place, now = (entry.session, entry.turn), line
    for raw in _list(body, "path"):
        following, child = _line(raw, "an entry of the path")
        if digest(now) not in child.parents or (child.session, child.turn) != place:
            raise InputError("the entries of the path do not name one another in one turn")
        now = following
    if not isinstance(close, TurnClose) or (close.session, close.turn) != place:
        raise InputError("the turn's close is of another turn, or is none")
    # All of the frontier, not a path in it: its size is recorded nowhere, so a path could
    # claim another one.
    leaves = _list(body, "frontier")
    if len(leaves) > MAX_TURN_ENTRIES or not all(map(is_digest, leaves)):
        raise InputError("the proof's frontier is no list of a turn's digests")
    if leaves != sorted(set(leaves)) or frontier_root(leaves) != close.ev.root:
        raise InputError("the proof's frontier does not have the root its turn's close records")
    if digest(now) not in leaves:
        raise InputError("the path does not lead to the frontier of its turn")


def _place(value: Any) -> tuple[int, int, list[bytes]]:
    """Read a leaf's place in the log, the log's size, and the hashes from there upwards."""
    if type(value) is not dict or value.keys() != {"index", "size", "path"}:
        raise InputError("the proof's session is index, size and path; this is something else")
    index, size = _natural(value["index"], "session"), _natural(value["size"], "session")
    return index, size, _hashes(value["path"], "session")


def _what(line: bytes, entry: Entry) -> str:
    """Return what an entry is, for people."""
    where = "" if entry.session is None else f" of session {entry.session!r}"
    if entry.turn is not None:
        where += f", turn {entry.turn}"
    if isinstance(entry, shapes.Decision):
        ev = entry.ev
        what = f"decision ({ev.decision_state}: {entry.intent.action_type} {entry.intent.call!r})"
    elif isinstance(entry, shapes.Outcome):
        what = f"outcome ({entry.ev.terminal_state})"
    else:
        what = f"{entry.kind} entry"
    return f"the {what} {digest(line)}{where}"


# -- a log that continues another


def _continues(
    body: dict[str, Any], said: Checkpoint, keys: Sequence[NoteKey], held: Held | None
) -> str:
    first = body["first"]
    if type(first) is not dict or first.keys() != {"size", "root"} or not is_digest(first["root"]):
        raise InputError("the proof's first is a size and a root; this is something else")
    size, root = _natural(first["size"], "first"), bytes.fromhex(first["root"][7:])
    if not is_consistent(size, root, said.size, said.root, _hashes(body["path"], "path")):
        raise InputError("the path does not lead from the first log to the second")
    if held is not None:
        kept = held.checkpoint
        if (kept.origin, kept.size, kept.root) != (said.origin, size, root):
            raise InputError("the proof begins with another checkpoint than the one that was kept")
        if not any(key.name == said.origin and signed_by(held.note, key) for key in keys):
            raise InputError("the checkpoint that was kept is not signed with a key that was given")
    return f"the log with {counted(size, 'ended session')} and root {first['root']}"


# -- values


def _line(value: Any, what: str) -> tuple[bytes, Entry]:
    if type(value) is not str:
        raise InputError(f"{what} of the proof is no text")
    raw = value.encode("utf-8")
    entry = decode(raw)
    if entry is None:
        raise InputError(f"{what} of the proof is not a ledger's line")
    return raw, entry


def _seq(entry: Entry) -> int:
    return entry.seq if isinstance(entry.seq, int) else 0


def _text(body: dict[str, Any], name: str) -> str:
    value = body[name]
    if type(value) is not str:
        raise InputError(f"the proof's {name} is no text")
    return value


def _list(body: dict[str, Any], name: str) -> list[Any]:
    value = body[name]
    if type(value) is not list:
        raise InputError(f"the proof's {name} is no list")
    return value


def _natural(value: Any, name: str) -> int:
    if type(value) is not int or not 0 <= value <= MAX_INTEGER:
        raise InputError(f"the proof's {name} has a number that is none from 0")
    return value


def _hashes(value: Any, name: str) -> list[bytes]:
    if type(value) is not list or len(value) > _MOST_HASHES or not all(map(is_digest, value)):
        raise InputError(f"the proof's {name} has a path that is no list of digests")
    return [bytes.fromhex(item[7:]) for item in value]
