"""Options that several commands have."""

import click

LEDGER = click.option(
    "--ledger", metavar="DIR", help="The decision ledger (default: TOOLGATE_LEDGER, else yours)."
)
HEADS = click.option(
    "--reports",
    default="reports",
    show_default=True,
    metavar="DIR",
    help="Where the ledger's heads are kept.",
)
REPORTS = click.option(
    "--reports", default="reports", show_default=True, metavar="DIR", help="Where reports go."
)
