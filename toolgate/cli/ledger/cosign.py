"""``toolgate ledger cosign``: witness somebody's checkpoint."""

from typing import TYPE_CHECKING

import click

from toolgate.cli.ledger.keys import private_key, verifier_key, write_out
from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, plain, stop

if TYPE_CHECKING:
    from toolgate.verify.witness import Witness

_REFUSED = 1


@click.command()
@click.argument("checkpoint", type=click.Path())
@click.option(
    "--key",
    "key_file",
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="The witness's private key (PEM).",
)
@click.option("--create-key", is_flag=True, help="Make the key if the file is not there.")
@click.option("--name", required=True, metavar="NAME", help="The witness's name.")
@click.option(
    "--state",
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="Where the witness remembers the latest checkpoint of each log.",
)
@click.option(
    "--log-key",
    metavar="KEY",
    help="The log's key; needed for a log that is new here, or whose key has changed.",
)
@click.option(
    "--proof",
    "proof_file",
    type=click.Path(),
    metavar="FILE",
    help="That the log continues the last one: `toolgate ledger prove --from SIZE`.",
)
@click.option("--out", type=click.Path(), metavar="FILE", help="Write the checkpoint here.")
def cosign(
    checkpoint: str,
    key_file: str,
    create_key: bool,
    name: str,
    state: str,
    log_key: str | None,
    proof_file: str | None,
    out: str | None,
) -> None:
    """Sign a checkpoint as a witness, if it continues the last one seen of its log.

    Prints the checkpoint with the witness's signature; the key that verifies it goes to
    standard error.

    Exit codes: 0 signed, 1 refused, 2 wrong usage, 3 could not be checked, 130 interrupted.
    """
    import time

    from toolgate.errors import CheckError, EvidenceError
    from toolgate.ledger.notes import ED25519
    from toolgate.verify.anchors import read_held, read_small
    from toolgate.verify.proof import MAX_PROOF_BYTES

    log = None if log_key is None else verifier_key(log_key, "--log-key", ED25519)
    try:
        held = read_held(checkpoint)
        proof = None if proof_file is None else read_small(proof_file, MAX_PROOF_BYTES)
        witness = _witness(name, key_file, create_key, state)
        data = witness.cosign(held, now=int(time.time()), log_key=log, proof=proof)
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except EvidenceError as error:
        stop(f"not signed: {error}", _REFUSED)
    except KeyboardInterrupt:
        stop("interrupted", INTERRUPTED)
    write_out(out, data)
    click.echo(plain(f"key  {witness.public.text}"), err=True)


def _witness(name: str, key_file: str, create: bool, state: str) -> "Witness":
    """Return the witness; a name or key that is none is wrong usage.

    Raises:
        LedgerError: the key cannot be read.
    """
    from toolgate.errors import EvidenceError
    from toolgate.verify.witness import Witness

    try:
        return Witness(name, private_key(key_file, create=create), state)
    except EvidenceError as error:
        raise click.UsageError(str(error)) from None
