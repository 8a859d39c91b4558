"""Keys and small files on the command line."""

import os
from typing import TYPE_CHECKING

import click

from toolgate.cli.ledger.place import UNCHECKED, stop

if TYPE_CHECKING:
    from toolgate.ledger.notes import NoteKey
    from toolgate.signing import PrivateKey


def default_key(name: str) -> str:
    """Return where this user's private key of a name lies: outside of every ledger."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "toolgate", "keys", f"{name}.pem")


def private_key(path: str, *, create: bool, ledger: str | None = None) -> "PrivateKey":
    """Return the private key in a file.

    Args:
        path: the file.
        create: whether a new key is made where there is no file.
        ledger: the ledger's directory, in which no key may lie.

    Raises:
        LedgerError: it cannot be read or made.
        InputError: it holds no key.
    """
    from toolgate.errors import LedgerError
    from toolgate.ledger.files import make_directory
    from toolgate.signing import PrivateKey

    path = os.path.abspath(path)
    if ledger is not None and _is_inside(path, ledger):
        raise LedgerError(f"the private key {path} lies in the ledger; keep it elsewhere")
    if create and not os.path.lexists(path):
        make_directory(os.path.dirname(path))
        PrivateKey.new().save(path)
    return PrivateKey.load(path)


def _is_inside(path: str, folder: str) -> bool:
    inside, folder = os.path.realpath(path), os.path.realpath(folder)
    return os.path.commonpath([inside, folder]) == folder


def verifier_key(text: str, option: str, algorithm: int) -> "NoteKey":
    """Read a verifier key from an option; anything else is wrong usage.

    Args:
        text: the key.
        option: the option it stood behind.
        algorithm: the kind it must be of.
    """
    from toolgate.errors import InputError
    from toolgate.ledger.notes import parse_key

    try:
        key = parse_key(text)
    except InputError as error:
        raise click.BadParameter(str(error), param_hint=option) from None
    if key.algorithm != algorithm:
        kind = {1: "a log's key (algorithm 1)", 4: "a witness's key (algorithm 4)"}
        raise click.BadParameter(
            f"expected {kind[algorithm]}; {key.text} is {kind[key.algorithm]}", param_hint=option
        )
    return key


def write_out(path: str | None, data: bytes) -> None:
    """Write data to a file at once, or to standard output where none is named.

    A pipe or a device is written to; a file is never put in its place.
    """
    from toolgate.errors import CheckError
    from toolgate.ledger.files import put_file

    if path is None:
        click.echo(data, nl=False)
        return
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as stream:
                stream.write(data)
        else:
            put_file(os.path.abspath(path), data)
    except OSError as error:
        stop(f"cannot write {path}: {error.strerror}", UNCHECKED)
    except CheckError as error:
        stop(str(error), UNCHECKED)
