"""``toolgate sessions list``, ``show`` and ``export``: what the chain holds of sessions."""

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from toolgate.cli.ledger.progress import Progress

if TYPE_CHECKING:
    from toolgate.sessions.read import Kept, Reading, Wanted

_BAD = 1


def _filters(command: Callable[..., Any]) -> Callable[..., Any]:
    for name, words in (
        ("--until", "Only those that began before this day or time (RFC 3339, UTC)."),
        ("--since", "Only those that had not ended before this day or time."),
        ("--tool", "Only those that used this tool."),
        ("--ring", "Only those of this ring."),
        ("--harness", "Only those of this harness."),
        ("--user", "Only those of this user or vendor's user."),
    ):
        command = click.option(name, help=words)(command)
    return command


def _wanted(asked: dict[str, str | None]) -> "Wanted":
    from toolgate.sessions.read import Wanted, time_of

    times = {name: asked.pop(name) for name in ("since", "until")}
    found: dict[str, int | None] = {}
    for name, text in times.items():
        found[name] = None if text is None else time_of(text)
        if text is not None and found[name] is None:
            raise click.BadParameter("expected a day or an RFC 3339 time in UTC", param_hint=name)
    return Wanted(**asked, since=found["since"], until=found["until"])


def _read(ledger: str | None) -> "Reading":
    from toolgate.cli.ledger.place import root_of
    from toolgate.sessions.read import read

    with Progress("reading: {:,} entries read") as progress:
        reading = read(root_of(ledger), progress)
    if reading.verify_error is not None:
        click.echo(f"toolgate sessions: the chain does not hold: {reading.verify_error}", err=True)
    return reading


def _state(reading: "Reading") -> dict[str, Any]:
    return {
        "verified": reading.verify_error is None,
        "verifyError": reading.verify_error,
        "head": {"seq": reading.head[0], "digest": reading.head[1]},
    }


@click.command("list")
@click.option("--ledger", type=click.Path(), help="The ledger; this user's by default.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@_filters
def list_sessions(ledger: str | None, as_json: bool, **asked: str | None) -> None:
    """List the newest version of each record, with what it says of who and when."""
    wanted = _wanted(asked)
    reading = _read(ledger)
    found = [one for one in reading.kept.values() if wanted.takes(one.record)]
    if as_json:
        body = {**_state(reading), "sessions": [one.as_json() for one in found]}
        click.echo(json.dumps(body, indent=1))
        return
    for one in found:
        click.echo(_row(one))


def _row(one: "Kept") -> str:
    from toolgate.sessions.moments import moment_text

    record = one.record
    who = record.user or record.vendor_user or record.unit or "unknown"
    when = "no time" if record.start is None else moment_text(record.start)
    return f"{record.id}  {when}  {record.harness}  {who}  {record.confidence}"


@click.command()
@click.argument("session")
@click.option("--ledger", type=click.Path(), help="The ledger; this user's by default.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(session: str, ledger: str | None, as_json: bool) -> None:
    """Show the record with an id or session id, and which source each field rests on."""
    from toolgate.errors import UnavailableError
    from toolgate.sessions.record import FIELDS, WHO_FIELDS

    reading = _read(ledger)
    found = reading.find(session)
    if not found:
        raise UnavailableError("no record has that id or session id")
    if as_json:
        body = {**_state(reading), "sessions": [one.as_json() for one in found]}
        click.echo(json.dumps(body, indent=1))
        return
    for one in found:
        said = one.as_json()["record"]
        flat = {**said, **said["who"]}
        for wire, (name, _) in {**FIELDS, **WHO_FIELDS}.items():
            if wire in flat and wire != "who":
                by = ", ".join(one.rests.get(name, []))
                click.echo(f"{wire}: {json.dumps(flat[wire])}{f'  ({by})' if by else ''}")
        click.echo(f"entry {one.audit_seq} {one.audit_hash}, version {one.versions}")


@click.command()
@click.option("--ledger", type=click.Path(), help="The ledger; this user's by default.")
@_filters
def export(ledger: str | None, **asked: str | None) -> None:
    """Print the newest version of each record as JSON, one a line.

    Every byte of the chain is read. Exits 1 when it does not hold; the records are
    printed all the same.
    """
    wanted = _wanted(asked)
    reading = _read(ledger)
    for one in reading.kept.values():
        if wanted.takes(one.record):
            click.echo(json.dumps(one.as_json(), sort_keys=True, separators=(",", ":")))
    sys.stdout.flush()
    if reading.verify_error is not None:
        sys.exit(_BAD)
