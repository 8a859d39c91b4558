"""Checkpoints: a log's origin, size and root, as the text of a signed note.

A ledger's log has one leaf a closed session: the digest of its session_close
entry. Its checkpoints carry one more line, ``spine <number> <digest>``, which
names the spine entry before them, so that what was written since the last
session closed is bound as well.

Source: C2SP tlog-checkpoint.
"""

from base64 import b64encode
from typing import NamedTuple

from toolgate.errors import InputError
from toolgate.ledger.notes import Note, decoded, format_note, is_name
from toolgate.records import is_digest

_LARGEST = 2**63 - 1
_ROOT_BYTES = 32
_SPINE = "spine "


class Checkpoint(NamedTuple):
    """What a checkpoint says.

    Args:
        origin: the log's name.
        size: how many leaves it has.
        root: its tree hash, 32 bytes.
        more: further lines.
    """

    origin: str
    size: int
    root: bytes
    more: tuple[str, ...] = ()

    @property
    def spine(self) -> tuple[int, str] | None:
        """Return number and digest of the spine entry it names; None if it names none."""
        named = [line for line in self.more if line.startswith(_SPINE)]
        if len(named) != 1:
            return None
        seq, _, digest = named[0][len(_SPINE) :].partition(" ")
        number = _number(seq)
        return None if not number or not is_digest(digest) else (number, digest)


def spine_line(seq: int, digest: str) -> str:
    """Return the line that names a spine entry."""
    return f"{_SPINE}{seq} {digest}"


def parse_text(text: str) -> Checkpoint:
    """Read the text of a checkpoint's note.

    Raises:
        InputError: it is not exactly a checkpoint's text; one sentence says why.
    """
    if not text.endswith("\n"):
        raise InputError("a checkpoint's text ends in a line feed; this does not")
    lines = text[:-1].split("\n")
    if len(lines) < 3 or not all(lines):
        raise InputError("a checkpoint has a line each for origin, size and root, none of it empty")
    size = _number(lines[1])
    if size is None:
        raise InputError("a checkpoint's size is a decimal number below 2^63; this is another text")
    root = decoded(lines[2], "a checkpoint's root")
    if len(root) != _ROOT_BYTES:
        raise InputError(f"a checkpoint's root is {_ROOT_BYTES} bytes; this is {len(root)}")
    return Checkpoint(lines[0], size, root, tuple(lines[3:]))


def _number(text: str) -> int | None:
    """Read a decimal number that is written in the only way it can be."""
    if not text.isascii() or not text.isdecimal() or len(text) > 19:
        return None
    number = int(text)
    return number if str(number) == text and number <= _LARGEST else None


def format_text(checkpoint: Checkpoint) -> str:
    """Return the text of a checkpoint's note.

    Raises:
        InputError: what it holds has no form as a checkpoint.
    """
    root = b64encode(checkpoint.root).decode("ascii")
    lines = (checkpoint.origin, str(checkpoint.size), root, *checkpoint.more)
    text = "".join(line + "\n" for line in lines)
    if parse_text(text) != checkpoint:
        raise InputError("a checkpoint's lines hold no line feed; these would read back otherwise")
    return text


def check_origin(origin: str) -> str:
    """Return an origin that can name the log's key too.

    Raises:
        InputError: it cannot.
    """
    if not is_name(origin):
        raise InputError(
            f"origin is {origin!r:.80}; expected text without spaces, plus signs or control "
            "characters, such as example.com/ledger"
        )
    return origin


def as_logged(note: Note, origin: str) -> bytes:
    """Return a checkpoint's bytes with the log's own signatures only, as it was first written.

    Witnesses add theirs later; what is made over these bytes stays good.

    Raises:
        InputError: the log signed none of it.
    """
    own = tuple(one for one in note.signatures if one.name == origin)
    if not own:
        raise InputError(f"the checkpoint carries no signature of its log {origin!r:.80}")
    return format_note(Note(note.text, own))
