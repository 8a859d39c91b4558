"""``toolgate ledger rotate-key``: another key for the checkpoints from here on."""

import click

from toolgate.cli.ledger.keys import default_key, private_key
from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, plain, root_of, stop


@click.command(name="rotate-key")
@click.argument("path", required=False, type=click.Path())
@click.option(
    "--key",
    "old_file",
    type=click.Path(),
    metavar="FILE",
    help="The private key in force; by default checkpoint.pem among your keys.",
)
@click.option(
    "--new", "new_file", required=True, type=click.Path(), metavar="FILE", help="The new key."
)
@click.option("--create-key", is_flag=True, help="Make the new key if the file is not there.")
def rotate_key(path: str | None, old_file: str | None, new_file: str, create_key: bool) -> None:
    """Retire the key that signs checkpoints; the old key and the new one sign for it.

    Exit codes: 0 done, 2 wrong usage or a bad key, 3 it could not be done, 130 interrupted.
    """
    import time

    from toolgate.errors import CheckError, EvidenceError
    from toolgate.ledger.append import Ledger
    from toolgate.verify.place import open_ledger

    root = root_of(path)
    try:
        open_ledger(root)
        old = private_key(old_file or default_key("checkpoint"), create=False, ledger=root)
        new = private_key(new_file, create=create_key, ledger=root)
        done = Ledger(root).rotate_key(old, new, ts=time.time_ns() // 1000)
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except EvidenceError as error:
        stop(str(error), 2)
    except KeyboardInterrupt:
        stop("interrupted", INTERRUPTED)
    click.echo(plain(f"{done}  {old.public} is retired; {new.public} signs from here on"))
