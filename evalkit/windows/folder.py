"""The files of windows: copies beside the ledger, written whole or not at all."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evalkit.errors import EvidenceError, RefusedError, UsageError
from evalkit.windows.declare import ID_FORM
from toolgate.canonical import canonical_bytes, digest, parse
from toolgate.errors import CanonicalizationError

WINDOWS, REPORTS = "windows", "reports"


def checked_id(window: str) -> str:
    """Return a window id that is safe as a file name.

    Raises:
        UsageError: it is not of the form of an id.
    """
    if not ID_FORM.fullmatch(window):
        raise UsageError(f"{window!r:.70} is no window id; expected {ID_FORM.pattern}")
    return window


def declaration_path(folder: str, window: str) -> str:
    """Return where the copy of a declaration lies."""
    return os.path.join(folder, f"{window}.declaration.json")


def close_path(folder: str, window: str) -> str:
    """Return where the copy of a close record lies."""
    return os.path.join(folder, f"{window}.close.json")


@contextmanager
def held(folder: str) -> Iterator[None]:
    """Hold a folder for one declaration, closing or export at a time.

    The lock is on the directory itself, so it leaves no file behind.

    Raises:
        RefusedError: another process holds it.
    """
    os.makedirs(folder, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RefusedError(f"{folder} is in use by another evalkit process") from None
        yield
    finally:
        os.close(descriptor)


def write_whole(path: str, data: bytes, mode: int = 0o644) -> None:
    """Write a file and put it in place in one step, replacing what was there."""
    part = f"{path}.{os.getpid()}.part"
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise


def write_canonical(path: str, value: Any) -> str:
    """Write a value's canonical bytes and a line feed; return the digest of the bytes."""
    data = canonical_bytes(value)
    write_whole(path, data + b"\n")
    return digest(data)


def read_canonical(path: str, what: str) -> tuple[Any, str]:
    """Read a copy back.

    Returns:
        The value, and the digest of the bytes without their line feed. Bytes
        that are not canonical have a digest nobody chained, and so are found
        by comparing it.

    Raises:
        RefusedError: the file is not there.
        EvidenceError: it is not JSON.
    """
    try:
        with open(path, "rb") as stream:
            data = stream.read().removesuffix(b"\n")
    except FileNotFoundError:
        raise RefusedError(f"{what}: {path} is not there") from None
    try:
        return parse(data), digest(data)
    except CanonicalizationError as error:
        raise EvidenceError(f"{what}: {path}: {error}") from None
