"""``toolgate ledger vault``: look at and forget what the gate was given."""

import json

import click

from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, plain, root_of, stop

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


@click.group()
def vault() -> None:
    """Show and prune the vault, which keeps what the gate was given.

    Exit codes: 0 done, 2 wrong usage, 3 could not be done. Each command says which of them it
    has.
    """


def _seconds(ctx: click.Context, param: click.Parameter, text: str) -> int:
    """Read a time span as ``30d``: a number and one of s, m, h, d, w."""
    number, unit = text[:-1], text[-1:]
    if not (number.isascii() and number.isdecimal() and len(number) < 7 and unit in _UNITS):
        raise click.BadParameter(f"expected a number and one of s, m, h, d, w, got {text!r}")
    return int(number) * _UNITS[unit]


@vault.command()
@click.argument("path", required=False, type=click.Path())
@click.option(
    "--older-than",
    "age_s",
    required=True,
    callback=_seconds,
    metavar="AGE",
    help="As 30d or 12h.",
)
def prune(path: str | None, age_s: int) -> None:
    """Forget what was kept longer ago than AGE. Verification never needs it.

    Exit codes: 0 done or nothing to do, 2 wrong usage, 3 a file cannot be removed.
    """
    import time

    from toolgate.errors import CheckError
    from toolgate.ledger.vault.find import prune as forget
    from toolgate.ledger.vault.keep import vault_of
    from toolgate.verify.words import counted

    try:
        gone = forget(vault_of(root_of(path)), time.time_ns() - age_s * 10**9)
    except CheckError as error:
        stop(str(error), UNCHECKED)
    click.echo(f"{counted(gone, 'input')} removed")


@vault.command()
@click.argument("decision")
@click.argument("path", required=False, type=click.Path())
@click.option("--plain", "whole", is_flag=True, help="Do not redact: prints content and secrets.")
def show(decision: str, path: str | None, whole: bool) -> None:
    """Show what the gate was given for DECISION (its digest, 8 hex digits or more), redacted.

    Exit codes: 0 done, 2 wrong usage, 3 there is no such decision or nothing was kept for it,
    130 interrupted.
    """
    from toolgate.errors import CheckError

    try:
        _show(root_of(path), decision, whole)
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except KeyboardInterrupt:
        stop("interrupted", INTERRUPTED)


def _show(root: str, decision: str, whole: bool) -> None:
    from os import urandom

    from toolgate.ledger.salt import SALT_BYTES, known_salt
    from toolgate.ledger.vault.find import input_for
    from toolgate.ledger.vault.keep import vault_of
    from toolgate.ledger.vault.redact import redacted
    from toolgate.replay import decisions, is_named
    from toolgate.verify.place import open_ledger

    directory = open_ledger(root)
    made = next((one for one in decisions(directory) if is_named(one, decision)), None)
    if made is None:
        stop(f"the ledger at {directory.root} holds no decision {decision!r}", UNCHECKED)
    entry = made.entry
    held = input_for(
        vault_of(root),
        entry.ev.args_digest,
        session=entry.session or "",
        call=entry.intent.call,
        tool=entry.intent.action_type,
        ts=entry.ev.ts,
    )
    if held is None:
        stop(f"the vault holds no input of decision {made.line.event}", UNCHECKED)
    call = held.call
    if not whole:
        call = redacted(call, known_salt(root) or urandom(SALT_BYTES))
    shown = {"decision": made.line.event, "exact": held.exact, "call": call}
    text = json.dumps(shown, ensure_ascii=False, indent=1, sort_keys=True)
    click.echo("\n".join(plain(line) for line in text.split("\n")))
