"""``toolgate ledger show``: a ledger's entries, one line each."""

from typing import Any

import click

from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, plain, root_of, stop


@click.command()
@click.argument("path", required=False, type=click.Path())
@click.option("--session", metavar="ID", help="Only this session's entries.")
def show(path: str | None, session: str | None) -> None:
    """Show a ledger's entries, one line each.

    Exit codes: 0 done, 2 wrong usage, 3 there is no such ledger or session, or it cannot be
    read, 130 interrupted.
    """
    from toolgate.errors import CheckError
    from toolgate.verify.directory import Directory, session_name

    root, shown = root_of(path), 0
    try:
        directory = Directory(root)
        for item in directory.read_spine():
            shown += _show(item, session)
        wanted = None if session is None else session_name(session)
        for name in sorted(directory.sessions):
            if wanted in (None, name):
                for item in directory.read_session(name):
                    shown += _show(item, session)
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except KeyboardInterrupt:
        stop("interrupted", INTERRUPTED)
    if session is not None and not shown:
        stop(f"the ledger at {root} holds no session {session!r}", UNCHECKED)


def _show(item: Any, session: str | None) -> bool:
    """Print one entry; say whether it is of the session that is asked for."""
    from toolgate.verify.read import Bad
    from toolgate.verify.words import counted

    if isinstance(item, Bad):
        what = "sealed fragment" if item.covered else "no entry"
        if session is None:
            click.echo(f"{item.file}: {counted(item.total, 'line')}: {what}")
        return False
    entry = item.entry
    if session is not None and entry.session != session:
        return False
    turn = "" if entry.turn is None else f" turn {entry.turn}"
    where = "" if entry.session is None else f" {entry.session}{turn}"
    said = f"{_time(entry.ts)} {item.digest[7:19]} {entry.kind}{where} {_words(entry)}"
    click.echo(plain(said.rstrip()))
    return True


def _time(ts: int) -> str:
    from datetime import UTC, datetime, timedelta

    try:
        when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=ts)
    except OverflowError:
        return str(ts)
    return when.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _words(entry: Any) -> str:
    """Return what an entry says, for people."""
    from toolgate.verify import shapes

    ev = entry.ev
    if isinstance(entry, shapes.Decision):
        intent = entry.intent
        said = f"{ev.decision_state} {intent.action_type} {intent.call} by {entry.rule}"
    elif isinstance(entry, shapes.Outcome):
        said = f"{ev.terminal_state} for decision {ev.decision_digest[7:19]} ({entry.source})"
    elif isinstance(entry, shapes.TurnOpen):
        said = f"{ev.key} part {ev.part} ({ev.why})"
    elif isinstance(entry, shapes.TurnClose):
        said = f"{ev.count} entries, by {ev.closed_by}"
    elif isinstance(entry, shapes.SessionOpen):
        said = f"part {ev.part}, {ev.shape}, host {ev.host}"
    elif isinstance(entry, shapes.SessionClose):
        said = f"by {ev.closed_by}"
    elif isinstance(entry, shapes.Recovery):
        said = f"{ev.length} bytes at offset {ev.offset}"
    elif isinstance(entry, shapes.PolicySet):
        said = str(ev.policy)
    else:
        said = " ".join(str(ev[name]) for name in ("action", "actor", "target") if ev.get(name))
    return said
