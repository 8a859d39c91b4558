"""``toolgate ledger show``: the story of one call, from why to what became of it."""

from typing import TYPE_CHECKING

import click

from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, root_of, stop
from toolgate.cli.ledger.progress import Progress

if TYPE_CHECKING:
    from toolgate.verify.reader import Reader
    from toolgate.views.find import Candidate
    from toolgate.views.story import Story

_AMBIGUOUS = 2


@click.command()
@click.argument("call")
@click.option(
    "--ledger", "path", type=click.Path(), metavar="PATH", help="The ledger; else this user's."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(call: str, path: str | None, as_json: bool) -> None:
    """Tell why a call was made, who allowed it, on which rule, and what became of it.

    CALL is a call id, a decision digest, the digest of a decision's or an outcome's entry, or
    the first 8 or more hex digits of one of these digests.

    Exit codes: 0 done, 2 wrong usage, or CALL may be several calls (they are listed), 3 there
    is no such ledger or call, or it cannot be read, 130 interrupted.
    """
    from toolgate.errors import CheckError
    from toolgate.verify.place import open_ledger

    root = root_of(path)
    try:
        with Progress("reading: {:,} entries read") as progress:
            directory = open_ledger(root)
            story = _story(directory, _the_call(directory, call, progress), progress)
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except KeyboardInterrupt:
        stop("interrupted", INTERRUPTED)
    from toolgate.cli.ledger.rows import print_view
    from toolgate.views.story_text import story_rows

    print_view(story, story_rows, root=directory.root, as_json=as_json)


def _the_call(directory: "Reader", wanted: str, progress: Progress) -> "Candidate":
    """Return the one call that is meant, or end the command."""
    from toolgate.views.find import find
    from toolgate.views.gather import all_lines

    found = find(lambda: all_lines(directory, progress), wanted)
    unclear = found.unclear(directory.root, wanted)
    if unclear is not None:
        stop(unclear, _AMBIGUOUS if found.calls else UNCHECKED)
    return found.calls[0]


def _story(directory: "Reader", call: "Candidate", progress: Progress) -> "Story":
    from toolgate.views.find import decision_of
    from toolgate.views.gather import all_lines, gather, lines_of
    from toolgate.views.tell import story_of

    return story_of(
        gather(lines_of(directory, call.session, progress), call.session),
        call.action_ref,
        policy=directory.policy,
        spawning=lambda event: decision_of(all_lines(directory, progress), event),
    )
