"""Keeping what the gate was given, before its decision is written."""

import os
from collections.abc import Mapping

from toolgate.canonical import digest
from toolgate.errors import CanonicalizationError, LedgerError
from toolgate.ledger.files import (
    beside,
    fail,
    make_directory,
    sync,
    sync_directory,
    write_all,
)
from toolgate.ledger.vault.input import GateInput

OFF, ON, REDACTED = "off", "on", "redacted"
SETTING = "TOOLGATE_VAULT"


def setting_of(environ: Mapping[str, str]) -> str:
    """Return the vault's setting: ``off``, ``on`` or ``redacted``.

    Args:
        environ: the environment; ``TOOLGATE_VAULT`` is read.

    Raises:
        LedgerError: it is none of them.
    """
    chosen = environ.get(SETTING) or OFF
    if chosen not in (OFF, ON, REDACTED):
        raise LedgerError(f"{SETTING} is {chosen!r}; expected {OFF}, {ON} or {REDACTED}")
    return chosen


def vault_of(root: str) -> str:
    """Return where the vault of a ledger lies: beside its directory, never in it."""
    return beside(root, ".vault")


def keep(vault: str, args_digest: str, held: GateInput, *, durable: bool) -> None:
    """Keep what the gate was given, under the digest of the tool's input.

    Args:
        vault: the vault's directory; created if absent.
        args_digest: digest of the tool's input as the host sent it.
        held: what the gate was given, already redacted if it is to be.
        durable: whether to wait for the disk.

    Raises:
        LedgerError: it could not be written, or others than its owner may read the vault.
    """
    try:
        data = held.as_bytes()
    except CanonicalizationError as error:
        raise LedgerError(f"cannot keep the call in {vault}: it {error}") from None
    folder = os.path.join(vault, args_digest[7:])
    make_directory(folder)
    path = os.path.join(folder, digest(data)[7:] + ".json")
    fresh = f"{path}.{os.getpid()}.new"
    try:
        if os.stat(vault).st_mode & 0o077:
            raise LedgerError(f"{vault} can be read by others than its owner; expected mode 700")
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            write_all(fd, data, fresh)
            if durable:
                sync(fd, fresh)
        finally:
            os.close(fd)
        os.rename(fresh, path)
        if durable:
            sync_directory(folder)
    except OSError as error:
        fail("keep the call in", path, error)
