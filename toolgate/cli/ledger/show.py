"""``toolgate ledger show``: the story of one call, from why to what became of it."""

import json
from typing import TYPE_CHECKING

import click

from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, plain, root_of, stop
from toolgate.cli.ledger.progress import Progress

if TYPE_CHECKING:
    from toolgate.verify.reader import Reader
    from toolgate.views.find import Candidate, Found
    from toolgate.views.story import Story

_AMBIGUOUS = 2
_MOST_LISTED = 50


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
    if as_json:
        from toolgate.views.gather import as_json as said

        click.echo(json.dumps(said(story), ensure_ascii=False, indent=1))
        return
    from shlex import quote

    from toolgate.cli.ledger.rows import print_rows, width
    from toolgate.views.story_text import story_rows

    print_rows(story_rows(story, width=width(), path=quote(directory.root)))


def _the_call(directory: "Reader", wanted: str, progress: Progress) -> "Candidate":
    """Return the one call that is meant, or end the command."""
    from toolgate.views.find import find
    from toolgate.views.gather import all_lines

    found = find(lambda: all_lines(directory, progress), wanted)
    if not found.calls:
        stop(_unknown(directory.root, wanted, found), UNCHECKED)
    if len(found.calls) > 1:
        lines = [f"{wanted!r} may be {len(found.calls)} calls; name one by its entry:"]
        lines += [_line(one) for one in found.calls[:_MOST_LISTED]]
        if len(found.calls) > _MOST_LISTED:
            lines.append(f"  and {len(found.calls) - _MOST_LISTED} more")
        stop("\n".join(lines), _AMBIGUOUS)
    return found.calls[0]


def _line(one: "Candidate") -> str:
    from toolgate.views.moments import moment

    return plain(
        f"  {one.entry}  {one.tool} call {one.call}, session {one.session}, {one.state} "
        f"{moment(one.ts)}"
    )


def _unknown(root: str, wanted: str, found: "Found") -> str:
    """Say why a text names no call."""
    if found.others:
        entry, kind = found.others[0]
        article = "an" if kind[0] in "aeiou" else "a"
        return f"{entry} is {article} {kind} entry that belongs to no decided call"
    if found.reports:
        entries = ", ".join(found.reports[:_MOST_LISTED])
        return (
            f"call {wanted!r} ran, and the ledger holds no decision on it (execution.unmatched, "
            f"entry {entries}); `toolgate ledger verify` reports it"
        )
    return (
        f"the ledger at {root} holds no call {wanted!r}; expected a call id, or a digest of a "
        "decision or of its entry, or its first 8 or more hex digits"
    )


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
