"""``toolgate ledger prove``: a proof that stands without the ledger."""

from shlex import quote

import click

from toolgate.cli.ledger.keys import write_out
from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, plain, root_of, stop
from toolgate.cli.ledger.progress import Progress


@click.command()
@click.argument("entry", nargs=-1, metavar="ENTRY [PATH]")
@click.option(
    "--from",
    "size",
    type=click.IntRange(min=1),
    metavar="SIZE",
    help="Instead of an entry: prove that the log continues what it was at this size.",
)
@click.option(
    "--checkpoint",
    type=click.Path(),
    metavar="FILE",
    help="Prove against this checkpoint; by default the ledger's latest.",
)
@click.option("--out", type=click.Path(), metavar="FILE", help="Write the proof here.")
def prove(
    entry: tuple[str, ...], size: int | None, checkpoint: str | None, out: str | None
) -> None:
    """Prove that an entry was in the ledger's log, or that the log continues an earlier one.

    ENTRY is an entry's digest or a decision_digest, or the first 8 hex digits or more.

    Exit codes: 0 done, 2 wrong usage, 3 it could not be proved, 130 interrupted.
    """
    from toolgate.errors import CheckError, EvidenceError
    from toolgate.verify.anchors import read_held
    from toolgate.verify.prove import prove_entry, prove_growth

    words = list(entry)
    wanted = None if size is not None else words.pop(0) if words else ""
    if wanted == "" or len(words) > 1:
        raise click.UsageError("expected ENTRY [PATH], or --from SIZE [PATH]")
    root = root_of(words[0] if words else None)
    try:
        held = None if checkpoint is None else read_held(checkpoint)
        with Progress("proving: {:,} entries read") as progress:
            if wanted is None:
                data = prove_growth(root, size or 1, held, progress)
            else:
                data = prove_entry(root, wanted, held, progress)
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except EvidenceError as error:
        stop(str(error), 2)
    except KeyboardInterrupt:
        stop("interrupted", INTERRUPTED)
    write_out(out, data)
    if out is not None:
        check = f"toolgate ledger check-proof {quote(out)} --key KEY"
        click.echo(
            plain(f"to check it, with the key that `checkpoint --out` prints: {check}"), err=True
        )
