"""``toolgate sessions import``: store records of agent sessions."""

import json
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from toolgate.cli.ledger.progress import Progress

if TYPE_CHECKING:
    from toolgate.sessions.importing import Imported
    from toolgate.sessions.merge import Evidence
    from toolgate.sessions.redact import Paths

_PARTLY = 4


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option(
    "--source", type=click.Choice(["jsonl", "transcript"]), required=True, help="What FILES are."
)
@click.option("--paths", "mode", default="drop", show_default=True, metavar="drop|hash")
@click.option("--hash-salt-file", type=click.Path(), help="At least 16 secret bytes, mode 600.")
@click.option("--directory", type=click.Path(), help="SCIM users as JSON: who a user is.")
@click.option("--actor", help="Who imports; the account this runs as by default.")
@click.option("--ledger", type=click.Path(), help="The ledger; this user's by default.")
@click.option("--dry-run", is_flag=True, help="Print what would be stored; store nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def bring_in(
    files: tuple[str, ...],
    source: str,
    mode: str,
    hash_salt_file: str | None,
    directory: str | None,
    actor: str | None,
    ledger: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Store what FILES say, all of it or nothing.

    FILES are records, one JSON object a line (jsonl), or Claude Code transcripts
    (transcript). No content is kept: in records a field that no record has refuses the
    whole import; a value that is no identifier is dropped and counted.
    """
    from getpass import getuser

    from toolgate.cli.ledger.place import root_of
    from toolgate.ledger.append import Ledger
    from toolgate.sessions.identity import NOBODY, read_directory
    from toolgate.sessions.importing import collect
    from toolgate.sessions.record import text_of
    from toolgate.sessions.redact import paths_of
    from toolgate.sessions.store import StoppedError, store

    paths = paths_of(mode, hash_salt_file)
    known = NOBODY if directory is None else read_directory(directory)
    with Progress("importing: {:,} rows read") as progress:
        imported = collect(_evidence(source, files, paths), progress)
    if dry_run:
        for one in imported.found:
            click.echo(text_of(one.record))
        _say(imported, 0, 0, as_json=as_json, err=True)
        return
    made = Ledger(root_of(ledger), durability="fsync", host="sessions")
    ts = time.time_ns() // 1000
    try:
        stored = store(
            made, imported.found, directory=known, actor=actor or f"user:{getuser()}", ts=ts
        )
    except StoppedError as error:
        click.echo(f"toolgate sessions: {error}", err=True)
        sys.exit(_PARTLY)
    unresolved = sum(not one.resolved for one in stored)
    _say(imported, len(stored), unresolved, as_json=as_json, err=False)


def _evidence(source: str, files: tuple[str, ...], paths: "Paths") -> "Iterator[Evidence]":
    from toolgate.sessions.sources import jsonl, transcript

    if source == transcript.SOURCE:
        yield from transcript.read(files)
        return
    for path in files:
        yield from jsonl.read(path, paths)


def _say(imported: "Imported", stored: int, unresolved: int, *, as_json: bool, err: bool) -> None:
    report = {
        "rows": imported.rows,
        "sessions": len(imported.found),
        "merged": imported.merged,
        "redacted": imported.redacted,
        "unresolved": unresolved,
        "stored": stored,
    }
    if as_json:
        click.echo(json.dumps(report), err=err)
        return
    said = ", ".join(f"{count} {name}" for name, count in report.items())
    click.echo(said, err=err)
