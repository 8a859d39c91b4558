"""``toolgate ledger timeline``: one session as text or as one HTML page."""

from typing import TYPE_CHECKING

import click

from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, root_of, stop
from toolgate.cli.ledger.progress import Progress

if TYPE_CHECKING:
    from toolgate.views.timeline import Timeline


@click.command()
@click.argument("session")
@click.option(
    "--ledger", "path", type=click.Path(), metavar="PATH", help="The ledger; else this user's."
)
@click.option(
    "--html",
    "page",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Verify the ledger and write one self-contained page instead.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def timeline(session: str, path: str | None, page: str | None, as_json: bool) -> None:
    """Show one session: its turns, its calls side by side, what was decided and what ran.

    Exit codes: 0 done, whatever the verdict on the page is, 2 wrong usage, 3 there is no such
    ledger or session, it cannot be read, or FILE cannot be written, 130 interrupted.
    """
    from toolgate.errors import CheckError
    from toolgate.verify.place import open_ledger
    from toolgate.views.gather import gather, lines_of
    from toolgate.views.lay_out import timeline_of

    if page is not None and as_json:
        raise click.UsageError("--html and --json are two forms of the same; give one of them")
    root = root_of(path)
    try:
        directory = open_ledger(root)
        with Progress("reading: {:,} entries read") as progress:
            held = gather(lines_of(directory, session, progress), session)
        if not held.known:
            stop(f"the ledger at {directory.root} holds no session {session!r}", UNCHECKED)
        line = timeline_of(held, directory.policy)
        if page is not None:
            verdict = _write(root, directory.root, line, held.digests, page)
            click.echo(f"wrote {page}: the ledger's verdict is {verdict}")
            return
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except KeyboardInterrupt:
        stop("interrupted", INTERRUPTED)
    from toolgate.cli.ledger.rows import print_view
    from toolgate.views.timeline_text import timeline_rows

    print_view(line, timeline_rows, root=directory.root, as_json=as_json)


def _write(root: str, shown: str, line: "Timeline", own: frozenset[str], page: str) -> str:
    """Verify the ledger, write the page, and return the verdict."""
    from shlex import quote

    from toolgate.cli.ledger.keys import write_out
    from toolgate.verify import verify
    from toolgate.views.page import timeline_page

    with Progress("verifying: {:,} entries read") as progress:
        report = verify(root, progress=progress)
    text = timeline_page(line, report, path=quote(shown), own=own)
    write_out(page, text.encode("utf-8"))
    return report.verdict
