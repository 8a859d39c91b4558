"""``toolgate ledger``: one file a command."""

import click

from toolgate.cli.lazy import LazyGroup

_COMMANDS = {
    "recover": ("toolgate.cli.ledger.recover:recover", "Seal torn ends, close idle sessions."),
    "show": ("toolgate.cli.ledger.show:show", "Tell the story of one call."),
    "tail": ("toolgate.cli.ledger.tail:tail", "Show the last entries, one line each."),
    "timeline": ("toolgate.cli.ledger.timeline:timeline", "Show one session as a timeline."),
    "verify": ("toolgate.cli.ledger.verify:verify", "Verify a ledger in three layers."),
}


@click.group(cls=LazyGroup, commands_at=_COMMANDS)
def ledger() -> None:
    """Verify, show and recover the decision ledger.

    Exit codes: 0 done, 1 the evidence is bad, 2 wrong usage, 3 could not be done, 4
    INCOMPLETE, 130 interrupted. Each command says which of them it has.
    """
