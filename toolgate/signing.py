"""Ed25519 keys and signatures, in the text form entries and policies carry.

A public key is ``ed25519:`` and 64 lower-case hex digits, a signature
``ed25519:`` and 128. Private keys are PEM files outside every ledger. The
library that does the arithmetic is loaded when it is first needed: the hook
starts without it.
"""

import os
from typing import Any

from toolgate.errors import InputError, LedgerError

_PREFIX = "ed25519:"
_HEX = frozenset("0123456789abcdef")
_PRIVATE_MODE = 0o077  # what others may not have
_SMALL_ORDER = frozenset(
    (
        "00" * 32,
        "01" + "00" * 31,
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ec" + "ff" * 30 + "7f",
        "ed" + "ff" * 30 + "7f",
        "ee" + "ff" * 30 + "7f",
    )
)
"""Every encoding, its sign bit cleared, of the eight points that 8 takes to the neutral one."""


def is_key(value: Any) -> bool:
    """Say whether a value has the form of a public key."""
    return _is_hex(value, 64)


def is_signature(value: Any) -> bool:
    """Say whether a value has the form of a signature."""
    return _is_hex(value, 128)


def _is_hex(value: Any, digits: int) -> bool:
    return (
        type(value) is str
        and len(value) == len(_PREFIX) + digits
        and value.startswith(_PREFIX)
        and _HEX.issuperset(value[len(_PREFIX) :])
    )


def is_weak(key: str) -> bool:
    """Say whether a public key is a point of small order, under which anybody can sign.

    Such a key belongs to no private key, and one signature under it fits any text or a
    good part of them; RFC 8032 leaves it to the user of a key to refuse it.

    Args:
        key: the public key, whose form was checked.

    Source: Chalkias et al., Taming the Many EdDSAs, 2020, section 3.
    """
    data = bytearray(raw(key))
    data[-1] &= 0x7F
    return data.hex() in _SMALL_ORDER


def raw(text: str) -> bytes:
    """Return the bytes of a key or signature whose form was checked."""
    return bytes.fromhex(text[len(_PREFIX) :])


def text(data: bytes) -> str:
    """Return the text form of a key's 32 or a signature's 64 bytes."""
    return _PREFIX + data.hex()


def verifies(key: str, signature: str, message: bytes) -> bool:
    """Say whether a signature over a message verifies under a public key that is not weak.

    Args:
        key: the public key.
        signature: the signature.
        message: the bytes that were signed.

    Source: RFC 8032.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if not is_key(key) or is_weak(key) or not is_signature(signature):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(raw(key)).verify(raw(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


class PrivateKey:
    """A private key in memory.

    Args:
        key: the library's key object.
    """

    def __init__(self, key: Any) -> None:
        self._key = key

    @classmethod
    def new(cls) -> "PrivateKey":
        """Make a new key."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: str) -> "PrivateKey":
        """Read a private key.

        Args:
            path: a PEM file (PKCS #8, not encrypted) that only its owner can read.

        Raises:
            LedgerError: it cannot be read, or others can read it.
            InputError: it holds no Ed25519 private key.
        """
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            with open(path, "rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                data = file.read(64 * 1024)
        except OSError as error:
            raise LedgerError(f"cannot read the key {path}: {error.strerror}") from error
        if mode & _PRIVATE_MODE:
            raise LedgerError(
                f"others can read the private key {path} (mode {mode & 0o777:03o}); "
                "expected mode 600"
            )
        try:
            key = load_pem_private_key(data, password=None)
        except (ValueError, TypeError):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise InputError(f"{path} holds no unencrypted Ed25519 private key in PEM form")
        return cls(key)

    def save(self, path: str) -> None:
        """Write the key to a new file of mode 600.

        Raises:
            LedgerError: a file is there already, or it cannot be written.
        """
        from cryptography.hazmat.primitives import serialization as form

        data = self._key.private_bytes(
            form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()
        )
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except FileExistsError:
            raise LedgerError(f"{path} exists; a key is never overwritten") from None
        except OSError as error:
            raise LedgerError(f"cannot write the key {path}: {error.strerror}") from error

    @property
    def public(self) -> str:
        """Return the public key's text form."""
        return text(self._key.public_key().public_bytes_raw())

    def sign(self, message: bytes) -> str:
        """Return the signature over a message."""
        return text(self._key.sign(message))
