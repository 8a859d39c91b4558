"""What somebody outside kept of a ledger's log: checkpoints, and the keys to trust them by."""

import os
from typing import NamedTuple

from toolgate.errors import InputError, LedgerError
from toolgate.ledger.checkpoint import Checkpoint, parse_text
from toolgate.ledger.notes import MAX_NOTE_BYTES, Note, NoteKey, parse_note
from toolgate.verify.words import printable


class Held(NamedTuple):
    """A checkpoint that was kept outside.

    Args:
        name: what it is called, for people.
        note: its text and signatures.
        checkpoint: what the text says.
    """

    name: str
    note: Note
    checkpoint: Checkpoint

    @property
    def binds(self) -> bool:
        """Say whether it binds any entry; one over no session that names none does not."""
        return self.checkpoint.size > 0 or self.checkpoint.spine is not None


class Anchors(NamedTuple):
    """Everything that was kept outside.

    Args:
        held: checkpoints.
        key: the log's key, if it is known from elsewhere.
        witnesses: keys whose cosignature every checkpoint held must carry.
    """

    held: tuple[Held, ...] = ()
    key: NoteKey | None = None
    witnesses: tuple[NoteKey, ...] = ()


NOTHING = Anchors()


def read_held(path: str) -> Held:
    """Read a checkpoint's file.

    Raises:
        LedgerError: it cannot be read, or is no checkpoint.
    """
    data = read_small(path, MAX_NOTE_BYTES)
    try:
        note = parse_note(data)
        return Held(printable(os.path.basename(path)), note, parse_text(note.text))
    except InputError as error:
        raise LedgerError(f"{path} is no checkpoint: {error}") from None


def read_small(path: str, most: int) -> bytes:
    """Return a file's bytes, at most one more than it may have.

    Raises:
        LedgerError: it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return file.read(most + 1)
    except OSError as error:
        raise LedgerError(f"cannot read {path}: {error.strerror}") from error
