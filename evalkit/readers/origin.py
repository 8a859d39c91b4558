"""Where a draft comes from, and writing it: the edges of an import."""

import hashlib
import os
from datetime import UTC, datetime

from evalkit.errors import RefusedError
from toolgate.canonical import digest_of


def digest_of_source(path: str) -> str:
    """Return the digest of a file's bytes; of a directory, of its names and their digests."""
    if not os.path.isdir(path):
        return _digest(path)
    files = {name: os.path.join(path, name) for name in sorted(os.listdir(path))}
    return digest_of({name: _digest(file) for name, file in files.items() if os.path.isfile(file)})


def _digest(path: str) -> str:
    """Return the digest of a file of any size."""
    with open(path, "rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def today() -> str:
    """Return the date, ``YYYY-MM-DD``, UTC."""
    return datetime.now(UTC).date().isoformat()


def refuse_existing(path: str) -> None:
    """Refuse a path where something is.

    Raises:
        RefusedError: something is there.
    """
    if os.path.lexists(path):
        raise RefusedError(f"{path}: expected a new file, got one that is there")


def write_draft(path: str, data: bytes, *, mode: int = 0o644) -> None:
    """Write a draft that must not exist yet.

    Raises:
        RefusedError: something is there, or it cannot be written.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except FileExistsError:
        raise RefusedError(f"{path}: expected a new file, got one that is there") from None
    except OSError as error:
        raise RefusedError(f"{path}: the draft cannot be written: {error.strerror}") from None
