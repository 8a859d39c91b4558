"""The seed of a draw: a secret whose digest is known beforehand."""

import os
import re
import secrets

from evalkit.errors import RefusedError, UsageError
from toolgate.canonical import digest

SEED_BYTES = 32
_FORM = re.compile(rb"([0-9a-f]{64})\n?")


def new_seed(path: str) -> str:
    """Write a new seed as 64 hex digits, readable by its owner only; return its commitment.

    Raises:
        FileExistsError: something is there; a seed is never replaced.
    """
    seed = secrets.token_bytes(SEED_BYTES)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(seed.hex().encode("ascii") + b"\n")
    return commitment(seed)


def commitment(seed: bytes) -> str:
    """Return the digest that commits to a seed."""
    return digest(seed)


def read_seed(path: str) -> bytes:
    """Read a seed file.

    Raises:
        UsageError: it cannot be read, or is not 64 lower-case hex digits.
    """
    try:
        with open(path, "rb") as stream:
            data = stream.read(SEED_BYTES * 2 + 2)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    match = _FORM.fullmatch(data)
    if match is None:
        raise UsageError(f"{path}: expected 64 lower-case hex digits")
    return bytes.fromhex(match[1].decode("ascii"))


def seed_of(committed: str | None, path: str | None) -> bytes:
    """Return the seed a draw must use.

    Args:
        committed: the commitment in the declaration, or None.
        path: the seed file given, or None.

    Raises:
        RefusedError: a commitment without its seed or with another one, or a
            seed that nobody committed to: it could have been chosen.
    """
    if committed is None:
        if path is not None:
            raise RefusedError(
                f"{path}: the declaration committed to no seed, so a chosen one is refused; "
                "without --seed-file a new one is made"
            )
        return secrets.token_bytes(SEED_BYTES)
    if path is None:
        raise RefusedError(
            f"the declaration committed to a seed ({committed}); expected it in --seed-file"
        )
    seed = read_seed(path)
    if commitment(seed) != committed:
        raise RefusedError(
            f"{path}: the seed's digest is {commitment(seed)}; the declaration committed to "
            f"{committed}"
        )
    return seed
