"""The secret that keys a ledger's resource names."""

import fcntl
import os

from toolgate.errors import LedgerError
from toolgate.ledger.files import beside, fail, make_directory, put_file

SALT_BYTES = 32


def salt(root: str) -> bytes:
    """Return the 32 secret bytes that key this ledger's resource names.

    They lie beside the ledger directory, never in it, so that a ledger can be
    handed to an auditor as it is; those of a database lie in this user's state
    directory. Created on first use, by one process.

    Args:
        root: the ledger directory, or ``postgresql://...``.

    Raises:
        LedgerError: the salt cannot be read, created, or has another length.
    """
    path = beside(root, ".salt")
    found = _read_salt(path)
    if found is None:
        make_directory(os.path.dirname(path))
        found = _create_salt(path)
    if len(found) != SALT_BYTES:
        raise LedgerError(f"{path} holds {len(found)} bytes; expected {SALT_BYTES}")
    return found


def known_salt(root: str) -> bytes | None:
    """Return a ledger's salt; None when it is not there. Never creates one.

    Raises:
        LedgerError: it cannot be read, or has another length.
    """
    path = beside(root, ".salt")
    found = _read_salt(path)
    if found is not None and len(found) != SALT_BYTES:
        raise LedgerError(f"{path} holds {len(found)} bytes; expected {SALT_BYTES}")
    return found


def _read_salt(path: str) -> bytes | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        fail("read", path, error)
    try:
        return os.read(fd, SALT_BYTES + 1)
    except OSError as error:
        fail("read", path, error)
    finally:
        os.close(fd)


def _create_salt(path: str) -> bytes:
    """Create the salt under a lock on its directory; a concurrent creator wins."""
    try:
        lock = os.open(os.path.dirname(path), os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            found = _read_salt(path)
            if found is None:
                found = os.urandom(SALT_BYTES)
                put_file(path, found)
            return found
        finally:
            os.close(lock)
    except OSError as error:
        fail("create", path, error)
