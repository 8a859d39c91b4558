"""``toolgate sessions``: one file a command."""

import click

from toolgate.cli.lazy import LazyGroup

_AT = "toolgate.cli.session_ledger"
_COMMANDS = {
    "export": (f"{_AT}.reading:export", "Print every record as JSON, one a line."),
    "import": (f"{_AT}.bring_in:bring_in", "Store records of agent sessions."),
    "list": (f"{_AT}.reading:list_sessions", "List records of agent sessions."),
    "show": (f"{_AT}.reading:show", "Show one record and what each field rests on."),
}


@click.group(cls=LazyGroup, commands_at=_COMMANDS)
def sessions() -> None:
    """Keep one redacted record per agent session in the ledger's chain.

    Exit codes: 0 done, 1 the chain does not verify (export), 2 wrong usage, 3 a source
    failed or was refused and nothing was stored, 4 an append failed midway.
    """
