"""A small witness: signs a log's checkpoint only if it continues the last one it has seen.

A log that shows two people two histories cannot have both witnessed. The
witness remembers of each log its key and the latest checkpoint it signed, and
writes that down before it lets the signature out.

Source: C2SP tlog-witness and tlog-cosignature.
"""

import os
from typing import Any, NamedTuple

from toolgate.canonical import parse_line, profile_bytes
from toolgate.errors import CanonicalizationError, InputError, LedgerError
from toolgate.ledger.files import Locked, put_file
from toolgate.ledger.notes import (
    COSIGNATURE,
    Note,
    NoteKey,
    cosign,
    format_note,
    is_name,
    parse_key,
    public,
    signed_by,
)
from toolgate.records import is_digest
from toolgate.signing import PrivateKey
from toolgate.verify import proof as proofs
from toolgate.verify.anchors import Held, read_small

MAX_STATE_BYTES = 16 * 1024 * 1024


class Seen(NamedTuple):
    """What a witness remembers of a log.

    Args:
        key: the log's key.
        size: size of the latest checkpoint it signed.
        root: its root.
    """

    key: NoteKey
    size: int
    root: bytes


class Witness:
    """A witness.

    Args:
        name: its name.
        key: its private key.
        state: the file in which it remembers.
    """

    def __init__(self, name: str, key: PrivateKey, state: str) -> None:
        if not is_name(name):
            raise InputError(
                f"the witness's name is {name!r:.80}; expected text without spaces or plus signs"
            )
        self._name = name
        self._key = key
        self._state = os.path.abspath(state)

    @property
    def public(self) -> NoteKey:
        """Return the key its signatures are checked with."""
        return public(self._name, self._key, COSIGNATURE)

    def cosign(
        self, held: Held, *, now: int, log_key: NoteKey | None = None, proof: bytes | None = None
    ) -> bytes:
        """Return a checkpoint's note with the witness's signature.

        Args:
            held: the checkpoint.
            now: the time, in seconds since the epoch.
            log_key: the log's key; needed once for each log, and when it has changed.
            proof: that it continues the last one; needed when it is larger.

        Raises:
            InputError: it is not signed by its log, or does not continue the last one.
            LedgerError: the state cannot be read or written.
        """
        said = held.checkpoint
        with Locked(self._state + ".lock"):
            seen = _load(self._state)
            last = seen.get(said.origin)
            key = log_key or (last and last.key)
            if not key:
                raise InputError(f"the log {said.origin!r:.80} is new here; its key must be given")
            if key.name != said.origin or not signed_by(held.note, key):
                raise InputError(f"the checkpoint is not signed with its log's key {key.text}")
            _continues(last, held, key, proof)
            mine = self.public
            others = [
                one
                for one in held.note.signatures
                if (one.name, one.key_id) != (mine.name, mine.id)
            ]
            made = cosign(held.note.text, self._name, self._key, now)
            seen[said.origin] = Seen(key, said.size, said.root)
            put_file(self._state, _dump(seen))
        return format_note(Note(held.note.text, (*others, made)))


def _continues(last: Seen | None, held: Held, key: NoteKey, proof: bytes | None) -> None:
    """Refuse a checkpoint that does not continue the last one.

    Raises:
        InputError: it does not; one sentence says why.
    """
    said = held.checkpoint
    if last is None or (last.size == said.size and last.root == said.root):
        return
    if said.size <= last.size:
        how = "shorter than" if said.size < last.size else "another than"
        raise InputError(f"the log is {how} the one of size {last.size} that was signed before")
    if not last.size:
        return  # whatever begins continues nothing
    if proof is None:
        raise InputError(
            f"the log has grown from {last.size} to {said.size}; a consistency proof must be given"
        )
    first, second = proofs.ends(proof, [key])
    if first != (last.size, last.root):
        raise InputError(f"the proof does not begin with the log of size {last.size} signed before")
    if second != (said.size, said.root):
        raise InputError("the proof leads to another log than this checkpoint's")


def _load(path: str) -> dict[str, Seen]:
    if not os.path.lexists(path):
        return {}
    data = read_small(path, MAX_STATE_BYTES)
    try:
        body = parse_line(data.removesuffix(b"\n"))
        return {key.name: seen for key, seen in map(_seen, body["logs"])}
    except (CanonicalizationError, InputError, KeyError, TypeError):
        raise LedgerError(f"{path} is not a witness's state; nothing was signed") from None


def _seen(item: Any) -> tuple[NoteKey, Seen]:
    key, size, root = parse_key(item["key"]), item["size"], item["root"]
    if type(size) is not int or size < 0 or not is_digest(root):
        raise InputError("a log's size and root are a number and a digest")
    return key, Seen(key, size, bytes.fromhex(root[7:]))


def _dump(seen: dict[str, Seen]) -> bytes:
    logs = [
        {"key": one.key.text, "size": one.size, "root": "sha256:" + one.root.hex()}
        for _, one in sorted(seen.items())
    ]
    return profile_bytes({"logs": logs}) + b"\n"
