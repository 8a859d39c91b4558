"""``toolgate ledger recover``: seal what writers that died have left."""

import click

from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, root_of, stop


@click.command()
@click.argument("path", required=False, type=click.Path())
@click.option(
    "--idle",
    "idle_s",
    default=3600,
    show_default=True,
    type=click.IntRange(min=0),
    metavar="SECONDS",
    help="Close a session whose last entry is at least this old.",
)
def recover(path: str | None, idle_s: int) -> None:
    """Seal torn ends and close idle sessions.

    Exit codes: 0 done or nothing to do, 2 wrong usage, 3 there is no ledger or it cannot be
    written, 130 interrupted.
    """
    import time

    from toolgate.errors import CheckError
    from toolgate.ledger.append import Ledger
    from toolgate.verify.place import open_ledger

    root = root_of(path)
    try:
        open_ledger(root)  # a recovery must not found a ledger where there is none
        now = time.time_ns() // 1000
        done = Ledger(root).recover(ts=now, idle_us=idle_s * 1_000_000)
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except KeyboardInterrupt:
        stop("interrupted; run it again to finish", INTERRUPTED)
    click.echo("\n".join(done) if done else "nothing to recover")
