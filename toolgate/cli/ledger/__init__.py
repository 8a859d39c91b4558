"""``toolgate ledger``: one file a command."""

import click

from toolgate.cli.lazy import LazyGroup

_COMMANDS = {
    "reconcile": (
        "toolgate.cli.ledger.reconcile:reconcile",
        "Record the ends of calls that only a trace shows.",
    ),
    "recover": ("toolgate.cli.ledger.recover:recover", "Seal torn ends, close idle sessions."),
    "show": ("toolgate.cli.ledger.show:show", "Show a ledger's entries, one line each."),
    "vault": ("toolgate.cli.ledger.vault:vault", "Show and prune what the gate was given."),
    "verify": ("toolgate.cli.ledger.verify:verify", "Verify a ledger in three layers."),
}


@click.group(cls=LazyGroup, commands_at=_COMMANDS)
def ledger() -> None:
    """Verify, show, recover and reconcile the decision ledger.

    Exit codes: 0 done, 1 the evidence is bad, 2 wrong usage, 3 could not be done, 4
    INCOMPLETE, 130 interrupted. Each command says which of them it has.
    """
