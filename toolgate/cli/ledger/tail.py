"""``toolgate ledger tail``: the last entries, one line each, and those that follow."""

import json
from typing import TYPE_CHECKING

import click

from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, root_of, stop
from toolgate.cli.ledger.progress import Progress

if TYPE_CHECKING:
    from toolgate.verify.read import Bad, Line

_POLL_S = 0.25


def _how_many(_: click.Context, param: click.Parameter, value: str) -> int | None:
    """Read a number of entries; ``all`` is None."""
    if value == "all":
        return None
    if value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    raise click.BadParameter(f"expected a number from 0, or all; got {value!r}", param=param)


@click.command()
@click.argument("path", required=False, type=click.Path())
@click.option(
    "-n",
    "last",
    metavar="N|all",
    default="20",
    show_default=True,
    callback=_how_many,
    help="How many entries.",
)
@click.option("--session", metavar="ID", help="Only this session's entries.")
@click.option("--follow", is_flag=True, help="Go on with what is added, until interrupted.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def tail(
    path: str | None, last: int | None, session: str | None, follow: bool, as_json: bool
) -> None:
    """Show a ledger's last entries, one line each.

    They come in the order of the spine, a turn's entries between its opening and its close;
    what that leaves open is put in order by the clock, which proves nothing.

    Exit codes: 0 done, 2 wrong usage, 3 there is no such ledger or session, or it cannot be
    read, 130 interrupted, which is also how --follow ends.
    """
    from toolgate.errors import CheckError
    from toolgate.verify.place import open_ledger
    from toolgate.views.tail import tail as last_of

    root = root_of(path)
    try:
        directory = open_ledger(root)
        # One entry at least, to see whether there is such a session.
        most = None if last is None else max(last, 1)
        with Progress("reading: {:,} entries read") as progress:
            # All of them are printed while they are read, which shows progress enough.
            found = last_of(directory, most, session, progress if most is not None else None)
        any_of = False
        for item in found.items:
            any_of = True
            if last != 0:
                _print(item, as_json)
        if session is not None and not any_of and not follow:
            stop(f"the ledger at {directory.root} holds no session {session!r}", UNCHECKED)
        if follow:
            _follow(root, found.ends, session, as_json)
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except KeyboardInterrupt:
        stop("interrupted", INTERRUPTED)


def _follow(root: str, ends: dict[str, int], session: str | None, as_json: bool) -> None:
    import time

    from toolgate.views.growth import open_growth
    from toolgate.views.tail import Follower

    def note(said: str) -> None:
        click.echo(f"toolgate ledger: {said}", err=True)

    follower = Follower(open_growth(root), ends, session, note)
    while True:
        for item in follower.batch():
            _print(item, as_json)
        time.sleep(_POLL_S)


def _print(item: "Line | Bad", as_json: bool) -> None:
    from toolgate.verify.read import Bad
    from toolgate.views.lines import line_text

    if not as_json:
        click.echo(line_text(item))
    elif isinstance(item, Bad):
        said = {"file": item.file, "entry": None, "lines": item.total, "sealed": item.covered}
        click.echo(json.dumps(said, ensure_ascii=False))
    else:
        entry = json.loads(item.raw)
        said = {"file": item.file, "digest": item.digest, "entry": entry}
        click.echo(json.dumps(said, ensure_ascii=False))
