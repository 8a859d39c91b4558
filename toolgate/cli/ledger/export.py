"""``toolgate ledger export``: a ledger's lines, copied between files and PostgreSQL."""

import json
import os

import click

from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, root_of, stop


@click.command()
@click.argument("dest", type=click.Path())
@click.argument("path", required=False, type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def export(dest: str, path: str | None, as_json: bool) -> None:
    """Copy a ledger to DEST, line for line: a directory or postgresql://...

    DEST must hold nothing yet. Sealed sessions are copied unpacked. The salt, runs/ and
    caches are not copied; whoever goes on writing to DEST needs the salt.

    Exit codes: 0 done, 2 wrong usage, 3 there is no ledger, DEST is not empty, or one of
    them cannot be read or written, 130 interrupted.
    """
    from toolgate.cli.ledger.progress import Progress
    from toolgate.errors import CheckError
    from toolgate.ledger.copy import export as run
    from toolgate.ledger.files import is_postgresql
    from toolgate.verify.words import counted

    target = dest if is_postgresql(dest) else os.path.abspath(dest)
    try:
        with Progress("copying: {:,.1f} of {:,.1f} MB") as progress:
            done = run(
                root_of(path),
                target,
                lambda done, total: progress(done / 1e6, total / 1e6),
            )
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except KeyboardInterrupt:
        stop("interrupted; nothing was copied", INTERRUPTED)
    for stream in done.left_out:
        click.echo(f"toolgate ledger: {stream} ends in an unfinished line, left out", err=True)
    if as_json:
        click.echo(json.dumps(done._asdict()))
    else:
        held = counted(done.sessions, "session")
        click.echo(f"copied {counted(done.lines, 'line')}, {held}")
