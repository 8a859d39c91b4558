"""Appends what anchors a ledger outside of it: checkpoints, and the keys they are signed with."""

from typing import Any, NamedTuple

from toolgate.canonical import digest, parse
from toolgate.errors import CanonicalizationError, InputError, LedgerError
from toolgate.ledger.checkpoint import (
    Checkpoint,
    check_origin,
    format_text,
    parse_text,
    spine_line,
)
from toolgate.ledger.merkle import Tree
from toolgate.ledger.notes import Note, format_note, parse_note, sign
from toolgate.ledger.rotation import CHECKPOINT, rotation
from toolgate.ledger.spine import Spine
from toolgate.records import entry
from toolgate.signing import PrivateKey

_KINDS = {
    b'{"ev":{"closed_by":': "session_close",
    b'{"ev":{"name":': "key_rotate",
    b'{"ev":{"text":': "checkpoint",
}
"""How the canonical lines of some kinds begin; other kinds begin so too."""

_WHOLE = b',"v":1}'


class _Standing(NamedTuple):
    """What a spine says of its log.

    Args:
        first: digest of its first entry; None when it is empty.
        tree: the log of its session heads.
        origin: the log's name; None before its first checkpoint.
        keys: its public keys, oldest first; the last one is in force.
    """

    first: str | None
    tree: Tree
    origin: str | None
    keys: list[str]


def checkpoint(spine: Spine, key: PrivateKey, origin: str | None, ts: int) -> bytes:
    """Append a checkpoint; see ``append.Ledger.checkpoint``."""
    known = _standing(spine)
    if known.first is None:
        raise LedgerError("there is nothing to checkpoint: the ledger has no entry")
    name = origin or known.origin or f"toolgate.invalid/{known.first[7:23]}"
    if known.origin is None:
        ev = rotation(CHECKPOINT, check_origin(name), None, key, ts)
        _append(spine, "key_rotate", ev, ts)
    elif name != known.origin:
        raise LedgerError(f"the ledger's origin is {known.origin!r}, not {name!r:.80}")
    else:
        _in_force(known, key)
    last = spine_line(spine.head.seq, spine.head.digest)
    text = format_text(Checkpoint(name, known.tree.size, known.tree.root(), (last,)))
    note = format_note(Note(text, (sign(text, name, key),)))
    _append(spine, "checkpoint", {"text": note.decode("utf-8")}, ts)
    return note


def rotate(spine: Spine, old: PrivateKey, new: PrivateKey, ts: int) -> str:
    """Append a rotation of the checkpoints' key; see ``append.Ledger.rotate_key``."""
    known = _standing(spine)
    if known.origin is None:
        raise LedgerError("there is no key to rotate: the ledger has no checkpoint yet")
    _in_force(known, old)
    if new.public in known.keys:
        raise LedgerError(f"the ledger has had the key {new.public} before; expected a new one")
    return _append(spine, "key_rotate", rotation(CHECKPOINT, known.origin, old, new, ts), ts)


def _in_force(known: _Standing, key: PrivateKey) -> None:
    if key.public != known.keys[-1]:
        raise LedgerError(
            f"the ledger's checkpoints are signed with {known.keys[-1]}, not {key.public}"
        )


def _append(spine: Spine, kind: str, ev: dict[str, Any], ts: int) -> str:
    return spine.append(entry(kind, session=None, turn=None, parents=[], ts=ts, ev=ev))[0]


def _standing(spine: Spine) -> _Standing:
    """Read the whole spine.

    Raises:
        LedgerError: an earlier checkpoint is not of this log; signing another one
            would vouch for both.
    """
    first: str | None = None
    origin: str | None = None
    keys: list[str] = []
    tree = Tree()
    for line in spine.lines():
        if first is None and line.endswith(_WHOLE):
            first = digest(line)
        body = _body(line)
        if body is None:
            continue
        kind, ev = body["kind"], body["ev"]
        if kind == "session_close":
            tree.append(bytes.fromhex(digest(line)[7:]))
        elif kind == "key_rotate" and ev["role"] == CHECKPOINT:
            origin = ev["name"]
            keys.append(ev["new"])
        elif kind == "checkpoint":
            _compare(ev["text"], tree, body["seq"])
    return _Standing(first, tree, origin, keys)


def _compare(text: str, tree: Tree, seq: int) -> None:
    try:
        said = parse_text(parse_note(text.encode("utf-8")).text)
    except InputError as error:
        raise LedgerError(f"entry {seq} of the spine holds no checkpoint: {error}") from None
    if (said.size, said.root) != (tree.size, tree.root()):
        raise LedgerError(
            f"the checkpoint in entry {seq} of the spine is not of this log; verify the ledger"
        )


def _body(line: bytes) -> dict[str, Any] | None:
    """Return a line as an entry, if it is one of those that count here."""
    kind = next((kind for begin, kind in _KINDS.items() if line.startswith(begin)), None)
    if kind is None:
        return None
    try:
        body: Any = parse(line)
    except CanonicalizationError:
        return None  # a fragment
    return body if body.get("kind") == kind else None
