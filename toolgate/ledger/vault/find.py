"""Finding and forgetting what the vault keeps."""

import os
from collections.abc import Iterator

from toolgate.canonical import digest
from toolgate.errors import InputError, LedgerError
from toolgate.ledger.files import fail
from toolgate.ledger.vault.input import GateInput, read_input

MAX_BYTES = 64 * 1024 * 1024


def inputs_of(vault: str, args_digest: str) -> Iterator[GateInput]:
    """Yield what was kept under the digest of a tool's input, in no particular order.

    A file whose bytes do not have the digest it is named by was altered and is passed
    over, as is one that is not of the vault's form.

    Raises:
        LedgerError: the vault cannot be read.
    """
    folder = os.path.join(vault, args_digest[7:])
    for name in sorted(_names(folder)):
        if not name.endswith(".json"):
            continue
        path = os.path.join(folder, name)
        try:
            with open(path, "rb") as file:
                data = file.read(MAX_BYTES)
        except FileNotFoundError:
            continue  # pruned meanwhile
        except OSError as error:
            fail("read", path, error)
        if digest(data)[7:] + ".json" != name:
            continue
        try:
            yield read_input(data)
        except InputError:
            continue


def input_for(
    vault: str, args_digest: str, *, session: str, call: str, tool: str, ts: int
) -> GateInput | None:
    """Return what was kept for one decision; None if it is not there.

    A call that is asked about again has the same id and arguments; the latest input that
    is not younger than the decision is its own.

    Args:
        vault: the vault's directory.
        args_digest: digest of the tool's input.
        session: the session id.
        call: the call id.
        tool: the tool's name.
        ts: when it was decided, microseconds UTC.
    """
    found = [
        held
        for held in inputs_of(vault, args_digest)
        if (held.call["session"], held.call["call"], held.call["tool"]) == (session, call, tool)
        and held.call["ts"] <= ts
    ]
    return max(found, key=lambda held: int(held.call["ts"]), default=None)


def prune(vault: str, before_ns: int) -> int:
    """Forget what was kept before a time; return how many files that were.

    Args:
        vault: the vault's directory; nothing happens if there is none.
        before_ns: nanoseconds since the epoch; files last written earlier go.

    Raises:
        LedgerError: a file cannot be removed.
    """
    gone = 0
    for folder in sorted(_names(vault)):
        inside = os.path.join(vault, folder)
        for name in sorted(_names(inside)):
            path = os.path.join(inside, name)
            try:
                if os.stat(path).st_mtime_ns < before_ns:
                    os.unlink(path)
                    gone += 1
            except FileNotFoundError:
                continue
            except OSError as error:
                fail("remove", path, error)
        try:
            os.rmdir(inside)
        except OSError:
            pass  # it still holds something, or a hook has just put something in
    return gone


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise LedgerError(f"cannot read {folder}: {error.strerror}") from error
