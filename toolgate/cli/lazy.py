"""A command group whose commands are imported when they are used."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """A group that knows its commands by where they are.

    Args:
        commands_at: command name to ``(module:attribute, one line of help)``.
    """

    def __init__(
        self, *args: Any, commands_at: Mapping[str, tuple[str, str]] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._at = dict(commands_at or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every command's name."""
        return sorted({*super().list_commands(ctx), *self._at})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command and return it."""
        if cmd_name not in self._at:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self._at[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with the help given at registration: none is imported for it."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._at[name][1]) for name in self.list_commands(ctx)])
