"""Signed notes: text, and signatures by named keys below it.

Reading is byte-strict and goes both ways: ``format_note(parse_note(data))`` is
``data`` for every note that is read at all, and what ``format_note`` writes
reads back as the same note. Two kinds of signature are known: that of a log
(Ed25519 over the text) and the cosignature of a witness (Ed25519 over the text
and the time it was seen). Signatures of other kinds are kept and judge nothing.

Source: C2SP signed-note and tlog-cosignature.
"""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from typing import NamedTuple

from toolgate import signing
from toolgate.canonical import raw_digest
from toolgate.errors import InputError

MAX_NOTE_BYTES = 64 * 1024
ED25519, COSIGNATURE = 1, 4
_MARK = "\u2014 "
_KEY_BYTES, _SIGNATURE_BYTES, _TIME_BYTES = 32, 64, 8
_LATEST = 2**63 - 1


class NoteKey(NamedTuple):
    """A public key that signs notes.

    Args:
        name: whose key it is: a log's origin or a witness's name.
        algorithm: ``ED25519`` or ``COSIGNATURE``.
        key: its 32 bytes.
    """

    name: str
    algorithm: int
    key: bytes

    @property
    def id(self) -> bytes:
        """Return the four bytes that stand before the key's signatures."""
        named = self.name.encode("utf-8") + b"\n" + bytes([self.algorithm]) + self.key
        return raw_digest(named)[:4]

    @property
    def text(self) -> str:
        """Return the key as it is handed around: ``<name>+<id>+<base64>``."""
        return f"{self.name}+{self.id.hex()}+{_base64(bytes([self.algorithm]) + self.key)}"


class NoteSignature(NamedTuple):
    """A signature below a note.

    Args:
        name: name of the key that made it.
        key_id: its four bytes.
        data: what the key made.
    """

    name: str
    key_id: bytes
    data: bytes


class Note(NamedTuple):
    """A note.

    Args:
        text: the signed text, which ends in a line feed.
        signatures: at least one.
    """

    text: str
    signatures: tuple[NoteSignature, ...]


def parse_key(text: str) -> NoteKey:
    """Read a verifier key.

    Raises:
        InputError: it is none, or one of a kind that is not known here.
    """
    name, _, rest = text.partition("+")
    hexed, _, encoded = rest.partition("+")
    if not is_name(name):
        raise InputError("a verifier key is <name>+<8 hex digits>+<base64>; it has no valid name")
    data = decoded(encoded, "a verifier key")
    if len(data) != _KEY_BYTES + 1 or data[0] not in (ED25519, COSIGNATURE):
        raise InputError(
            "a verifier key holds algorithm 1 or 4 and 32 bytes; this one holds something else"
        )
    key = NoteKey(name, data[0], data[1:])
    if hexed != key.id.hex():
        raise InputError(f"a verifier key of {name} has the id {hexed[:20]!r}; it must be another")
    return key


def is_name(name: str) -> bool:
    """Say whether a text can name a key: no spaces, no plus sign, nothing that is no text."""
    return bool(name) and "+" not in name and not any(_breaks(char) for char in name)


def _breaks(char: str) -> bool:
    return char.isspace() or char < " " or "\ud800" <= char <= "\udfff"


def parse_note(data: bytes) -> Note:
    """Read a signed note.

    Raises:
        InputError: it is not byte for byte a signed note; one sentence says why.
    """
    if len(data) > MAX_NOTE_BYTES:
        raise InputError(f"a note is at most {MAX_NOTE_BYTES} bytes; this is longer")
    try:
        whole = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"a note is UTF-8; this is not at byte {error.start}") from None
    for at, char in enumerate(whole):
        if char < " " and char != "\n":
            raise InputError(f"a note has no control characters; this has one at character {at}")
    at = whole.rfind("\n\n")
    if at < 0 or not whole.endswith("\n"):
        raise InputError("a note is text, an empty line, and lines with signatures")
    lines = whole[at + 2 : -1].split("\n")
    return Note(whole[: at + 1], tuple(_signature(line) for line in lines))


def _signature(line: str) -> NoteSignature:
    mark, rest = line[: len(_MARK)], line[len(_MARK) :]
    name, _, encoded = rest.partition(" ")
    if mark != _MARK or not is_name(name):
        raise InputError("a note's signature is a long dash, a name and base64, each after a space")
    data = decoded(encoded, "a note's signature")
    if len(data) <= 4:
        raise InputError("a note's signature is four bytes of key id and more; this has no more")
    return NoteSignature(name, data[:4], data[4:])


def decoded(text: str, what: str) -> bytes:
    """Return the bytes of base64 text, if it is exactly how they are written.

    Raises:
        InputError: it is not; ``what`` names what was read.
    """
    try:
        data = b64decode(text, validate=True)
    except (Base64Error, ValueError):
        data = b""
    if _base64(data) != text or not data:
        raise InputError(f"{what} ends in base64 (RFC 4648, section 4); this is none")
    return data


def _base64(data: bytes) -> str:
    return b64encode(data).decode("ascii")


def format_note(note: Note) -> bytes:
    """Return a note's bytes.

    Raises:
        InputError: what it holds has no form as a note.
    """
    lines = [f"{_MARK}{item.name} {_base64(item.key_id + item.data)}\n" for item in note.signatures]
    whole = note.text + "\n" + "".join(lines)
    try:
        data = whole.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("a note is UTF-8; this text has no such form") from None
    if parse_note(data) != note:
        raise InputError("a note's text ends in a line feed; this would read back as another note")
    return data


def sign(text: str, name: str, key: signing.PrivateKey) -> NoteSignature:
    """Return a log's signature over a note's text."""
    made = signing.raw(key.sign(text.encode("utf-8")))
    return NoteSignature(name, public(name, key).id, made)


def cosign(text: str, name: str, key: signing.PrivateKey, seconds: int) -> NoteSignature:
    """Return a witness's signature over a note's text and the time it was seen.

    Args:
        text: the note's text.
        name: the witness's name.
        key: the witness's key.
        seconds: the time, in seconds since the epoch.
    """
    made = signing.raw(key.sign(_cosigned(text, seconds)))
    stamp = seconds.to_bytes(_TIME_BYTES, "big")
    return NoteSignature(name, public(name, key, COSIGNATURE).id, stamp + made)


def _cosigned(text: str, seconds: int) -> bytes:
    return f"cosignature/v1\ntime {seconds}\n{text}".encode()


def public(name: str, key: signing.PrivateKey, algorithm: int = ED25519) -> NoteKey:
    """Return the verifier key that belongs to a private key."""
    return NoteKey(name, algorithm, signing.raw(key.public))


def signed_by(note: Note, key: NoteKey) -> bool:
    """Say whether a note carries a signature of a key, and all it carries of it verify."""
    mine = [one for one in note.signatures if (one.name, one.key_id) == (key.name, key.id)]
    return bool(mine) and all(_verifies(note.text, one.data, key) for one in mine)


def cosigned_at(note: Note, key: NoteKey) -> int | None:
    """Return when a witness saw a note, in seconds since the epoch; None if it did not sign it."""
    if key.algorithm != COSIGNATURE or not signed_by(note, key):
        return None
    return max(
        int.from_bytes(one.data[:_TIME_BYTES], "big")
        for one in note.signatures
        if (one.name, one.key_id) == (key.name, key.id)
    )


def _verifies(text: str, data: bytes, key: NoteKey) -> bool:
    public_key = signing.text(key.key)
    if key.algorithm == ED25519:
        return len(data) == _SIGNATURE_BYTES and signing.verifies(
            public_key, signing.text(data), text.encode("utf-8")
        )
    seconds = int.from_bytes(data[:_TIME_BYTES], "big")
    return (
        len(data) == _TIME_BYTES + _SIGNATURE_BYTES
        and seconds <= _LATEST
        and signing.verifies(public_key, signing.text(data[_TIME_BYTES:]), _cosigned(text, seconds))
    )
