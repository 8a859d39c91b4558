"""``toolgate ledger seal`` and ``unpack``: past days' sessions in segments, and back."""

import json

import click

from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, plain, root_of, stop


def _day(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    from datetime import date

    if value is None:
        return None
    try:
        date.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"expected a day as YYYY-MM-DD, got {value!r}") from None
    return value


@click.command()
@click.argument("path", required=False, type=click.Path())
@click.option(
    "--before",
    metavar="DATE",
    callback=_day,
    help="Pack sessions last closed before this UTC day, YYYY-MM-DD; default: today.",
)
@click.option("--keep", is_flag=True, help="Leave the session files in place as well.")
@click.option("--no-twin", is_flag=True, help="Make no Parquet file of the packed entries.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def seal(path: str | None, before: str | None, keep: bool, no_twin: bool, as_json: bool) -> None:
    """Pack the closed sessions of past days into segments.

    Torn ends are sealed and idle sessions closed first, as ``recover`` does. Nothing is
    rewritten: a packed ledger verifies as before, and ``unpack`` gives every byte back.

    Exit codes: 0 done or nothing to do, 2 wrong usage, 3 there is no ledger, it cannot be
    read or written, or a segment is damaged, 130 interrupted.
    """
    import time

    from toolgate.cli.ledger.progress import Progress
    from toolgate.errors import CheckError
    from toolgate.ledger.seal import seal as run
    from toolgate.verify.words import counted

    root, now = root_of(path), time.time_ns() // 1000
    try:
        with Progress("sealing: {:,} of {:,} sessions") as progress:
            done = run(
                root,
                ts=now,
                before=before,
                keep=keep,
                with_twin=not no_twin,
                progress=progress,
            )
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except KeyboardInterrupt:
        stop("interrupted; no session was lost, run it again to finish", INTERRUPTED)
    if as_json:
        click.echo(json.dumps(done._asdict()))
        return
    lines = list(done.recovered)
    if done.segments:
        held = counted(done.sessions, "session")
        lines.append(f"sealed {held} in {counted(len(done.segments), 'segment')}:")
        lines += [f"  segments/{name}" for name in done.segments]
    if done.removed:
        lines.append(f"removed {counted(done.removed, 'session file')} that a segment holds")
    for session in done.left:
        said = f"session {session} is left alone: its file does not begin with what is sealed of it"
        click.echo(plain(f"toolgate ledger: {said}"), err=True)
    click.echo("\n".join(lines) if lines else "nothing to seal")


@click.command()
@click.argument("path", required=False, type=click.Path())
@click.option("--keep", is_flag=True, help="Leave the segments in place as well.")
def unpack(path: str | None, keep: bool) -> None:
    """Give every sealed session its file back, byte for byte.

    Exit codes: 0 done or nothing to do, 2 wrong usage, 3 there is no ledger, it cannot be
    read or written, or a segment is damaged, 130 interrupted.
    """
    from toolgate.cli.ledger.progress import Progress
    from toolgate.errors import CheckError
    from toolgate.ledger.seal import unpack as run
    from toolgate.verify.words import counted

    try:
        with Progress("unpacking: {:,} of {:,} sessions") as progress:
            restored = run(
                root_of(path),
                keep=keep,
                progress=progress,
            )
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except KeyboardInterrupt:
        stop("interrupted; no session was lost, run it again to finish", INTERRUPTED)
    click.echo(f"restored {counted(restored, 'session file')}" if restored else "nothing to unpack")
