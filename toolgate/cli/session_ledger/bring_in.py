"""``toolgate sessions import``: store records of agent sessions."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import TYPE_CHECKING

import click

from toolgate.cli.ledger.progress import Progress

if TYPE_CHECKING:
    from toolgate.ledger.append import Ledger
    from toolgate.sessions.importing import Imported
    from toolgate.sessions.merge import Evidence
    from toolgate.sessions.redact import Paths

_PARTLY = 4
_SOURCES = ("jsonl", "transcript", "decision-ledger")


@click.command("import")
@click.option(
    "--source",
    "sources",
    multiple=True,
    required=True,
    metavar="NAME=PATH",
    help="jsonl, transcript or decision-ledger, and where it lies. Repeatable.",
)
@click.option("--paths", "mode", default="drop", show_default=True, metavar="drop|hash")
@click.option("--hash-salt-file", type=click.Path(), help="At least 16 secret bytes, mode 600.")
@click.option("--directory", type=click.Path(), help="SCIM users as JSON: who a user is.")
@click.option("--actor", help="Who imports; the account this runs as by default.")
@click.option("--ledger", type=click.Path(), help="The ledger; this user's by default.")
@click.option("--dry-run", is_flag=True, help="Print what would be stored; store nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def bring_in(
    sources: tuple[str, ...],
    mode: str,
    hash_salt_file: str | None,
    directory: str | None,
    actor: str | None,
    ledger: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Store what sources say of sessions, all of it or nothing.

    A source is a file of records, one JSON object a line (jsonl=FILE), a Claude Code
    transcript (transcript=FILE) or a ledger whose decisions tell of sessions
    (decision-ledger=PLACE). What they say of one session is merged. No content is kept:
    in records a field that no record has refuses the whole import; a value that is no
    identifier is dropped and counted.
    """
    from getpass import getuser

    from toolgate.cli.ledger.place import root_of
    from toolgate.ledger.append import Ledger
    from toolgate.sessions.identity import NOBODY, read_directory
    from toolgate.sessions.importing import collect
    from toolgate.sessions.record import text_of
    from toolgate.sessions.redact import paths_of
    from toolgate.sessions.store import StoppedError, store

    places = _places(sources)
    paths = paths_of(mode, hash_salt_file)
    known = NOBODY if directory is None else read_directory(directory)
    passed = count(1)
    with Progress("importing: {:,} rows read") as progress:
        imported = collect(_evidence(places, paths, lambda: next(passed)), progress)
    skipped = next(passed) - 1
    if dry_run:
        for one in imported.found:
            click.echo(text_of(one.record))
        _say(imported, skipped, 0, 0, as_json=as_json, err=True)
        return
    root = root_of(ledger)
    made = Ledger(root, durability="fsync", host="sessions")
    _warn(made, root, imported)
    ts = time.time_ns() // 1000
    try:
        stored = store(
            made, imported.found, directory=known, actor=actor or f"user:{getuser()}", ts=ts
        )
    except StoppedError as error:
        click.echo(f"toolgate sessions: {error}", err=True)
        sys.exit(_PARTLY)
    unresolved = sum(not one.resolved for one in stored)
    _say(imported, skipped, len(stored), unresolved, as_json=as_json, err=False)


def _places(sources: tuple[str, ...]) -> dict[str, list[str]]:
    """Read NAME=PATH, as often as it is given."""
    places: dict[str, list[str]] = {name: [] for name in _SOURCES}
    for text in sources:
        name, equals, place = text.partition("=")
        if name not in places or not equals or not place:
            raise click.BadParameter(
                f"expected NAME=PATH with NAME one of {', '.join(_SOURCES)}", param_hint="--source"
            )
        places[name].append(place)
    return places


def _evidence(
    places: dict[str, list[str]], paths: "Paths", passed_over: Callable[[], object]
) -> "Iterator[Evidence]":
    from toolgate.sessions.sources import decisions, jsonl, transcript

    for path in dict.fromkeys(places[jsonl.SOURCE]):
        yield from jsonl.read(path, paths)
    yield from transcript.read(tuple(places[transcript.SOURCE]), passed_over)
    yield from decisions.read(tuple(places[decisions.SOURCE]))


def _warn(ledger: "Ledger", root: str, imported: "Imported") -> None:
    """Say which stored records rest on sources that this import does not have."""
    from toolgate.sessions.read import read

    if not ledger.head()[0]:
        return
    kept = read(root).kept
    for one in imported.found:
        before = kept.get(one.record.id)
        lost = set(before.record.sources) - set(one.record.sources) if before else set()
        if lost:
            click.echo(
                f"toolgate sessions: {one.record.id}: the new version hides what "
                f"{', '.join(sorted(lost))} said",
                err=True,
            )


def _say(
    imported: "Imported", skipped: int, stored: int, unresolved: int, *, as_json: bool, err: bool
) -> None:
    report = {
        "rows": imported.rows,
        "skipped": skipped,
        "sessions": len(imported.found),
        "merged": imported.merged,
        "redacted": imported.redacted,
        "unresolved": unresolved,
        "stored": stored,
    }
    if as_json:
        click.echo(json.dumps(report), err=err)
        return
    said = ", ".join(f"{number} {name}" for name, number in report.items())
    click.echo(said, err=err)
