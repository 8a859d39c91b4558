"""``toolgate key``: the keys that approvals and policies are signed with."""

import os

import click

from toolgate.cli.keys import key_file, load_key
from toolgate.errors import LedgerError
from toolgate.signing import PrivateKey


@click.group()
def key() -> None:
    """Make, show and rotate the keys that approvals and policies are signed with.

    A private key is a PEM file in ~/.config/toolgate/keys, for its owner alone, and never
    part of a ledger. What a policy holds is the public text that `key show` prints.
    """


@key.command()
@click.argument("name")
def new(name: str) -> None:
    """Make a private key for NAME and print the public text to put in a policy.

    Exit codes: 0 done, 2 wrong usage, 3 there is one already or it cannot be written.
    """
    path = key_file(name)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    made = PrivateKey.new()
    made.save(path)
    click.echo(made.public)
    click.echo(f"private key: {path}", err=True)


@key.command()
@click.argument("name")
@click.option("--key", "file", metavar="FILE", help="The private key, if not at its usual place.")
def show(name: str, file: str | None) -> None:
    """Print NAME's public key, as a policy's principals hold it.

    Exit codes: 0 done, 2 the file holds no key, 3 it cannot be read.
    """
    click.echo(load_key(name, file).public)


@key.command()
@click.argument("name")
@click.option("--as", "principal", help="The principal, if the key file has another name.")
@click.option("--ledger", "path", metavar="PATH", help="The ledger; this user's by default.")
def rotate(name: str, principal: str | None, path: str | None) -> None:
    """Replace NAME's key: from here on the ledger takes approvals by the new one only.

    The rotation is signed by both keys and appended to the ledger. The old file is kept as
    NAME.<8 digits>.retired.pem. Interrupted, run it again: it goes on where it stopped.

    Exit codes: 0 done, 2 the ledger refuses it, 3 it could not be done.
    """
    import time

    from toolgate.cli.ledger.place import existing_ledger

    root = existing_ledger(path)
    file = key_file(name)
    old, waiting = PrivateKey.load(file), file[: -len(".pem")] + ".next.pem"
    if not os.path.exists(waiting):
        PrivateKey.new().save(waiting)
    fresh = PrivateKey.load(waiting)
    _record(root, principal or name, old, fresh, time.time_ns() // 1000)
    digits = old.public.partition(":")[2][:8]
    try:
        os.link(file, f"{file[: -len('.pem')]}.{digits}.retired.pem")
    except FileExistsError:
        pass  # an earlier run came this far
    except OSError as error:
        raise LedgerError(f"cannot keep the old key {file}: {error.strerror}") from error
    os.replace(waiting, file)
    click.echo(fresh.public)


def _record(root: str, name: str, old: PrivateKey, fresh: PrivateKey, ts: int) -> None:
    """Append the rotation, unless a run that was interrupted has done so."""
    from toolgate.ledger.append import Ledger, open_store
    from toolgate.ledger.known import Known

    if not Known(open_store(root, durable=True)).keys.replaced(name, old.public, fresh.public):
        Ledger(root).rotate_approver(name, old=old, new=fresh, ts=ts)
