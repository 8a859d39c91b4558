"""``toolgate ledger check-timestamp``: since when a checkpoint has been there at the latest."""

import click

from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, plain, stop

_BAD = 1


@click.command(name="check-timestamp")
@click.argument("response", type=click.Path())
@click.option(
    "--checkpoint",
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="The checkpoint; witnesses may have signed it since.",
)
@click.option(
    "--root",
    "root_file",
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="The certificate of the timestamp authority's root, PEM or DER.",
)
def check_timestamp(response: str, checkpoint: str, root_file: str) -> None:
    """Check a timestamp authority's answer (RFC 3161) over a checkpoint.

    The request for it is made by `toolgate ledger checkpoint --timestamp-request`.

    Exit codes: 0 it verifies, 1 it does not, 2 wrong usage, 3 could not check, 130 interrupted.
    """
    from toolgate.errors import CheckError, EvidenceError
    from toolgate.ledger import timestamp
    from toolgate.ledger.checkpoint import as_logged
    from toolgate.verify.anchors import read_held, read_small

    try:
        held = read_held(checkpoint)
        data = as_logged(held.note, held.checkpoint.origin)
        answer = read_small(response, timestamp.MAX_RESPONSE_BYTES)
        root = read_small(root_file, timestamp.MAX_RESPONSE_BYTES)
        when = timestamp.verify(answer, data, root)
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except EvidenceError as error:
        stop(str(error), _BAD)
    except KeyboardInterrupt:
        stop("interrupted", INTERRUPTED)
    said = held.checkpoint
    click.echo(
        plain(
            f"the checkpoint of {said.origin} over {said.size} ended sessions was there at "
            f"{when.isoformat()}, as the authority says; the log's signature was not checked here"
        )
    )
