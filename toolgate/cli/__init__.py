"""The ``toolgate`` command."""

import sys

import click

from toolgate import __version__
from toolgate.cli.lazy import LazyGroup
from toolgate.errors import CheckError, EvidenceError, PolicyError, ToolgateError

_COMMANDS = {
    "explain": ("toolgate.cli.explain:explain", "Show how one call is read and decided."),
    "hook": ("toolgate.cli.hook:hook", "Print the agent's settings that install the hook."),
    "ledger": ("toolgate.cli.ledger:ledger", "Verify and show the decision ledger."),
    "policy": ("toolgate.cli.policy:policy", "Check, compile and show policies."),
    "simulate": (
        "toolgate.cli.simulate:simulate",
        "Decide a recorded log without running anything.",
    ),
}


@click.group(cls=LazyGroup, commands_at=_COMMANDS)
@click.version_option(__version__, prog_name="toolgate")
def cli() -> None:
    """A gate for coding agents whose every decision can be proved."""


def exit_code(error: ToolgateError) -> int:
    """Return the exit code of an error: 2 for bad input, 3 for refused or could not check."""
    if isinstance(error, EvidenceError):
        return 2
    if isinstance(error, (PolicyError, CheckError)):
        return 3
    return 3


def main() -> None:
    """Run the command; errors are one line on standard error and an exit code."""
    try:
        cli(standalone_mode=False)
    except click.exceptions.Abort:
        sys.stderr.write("toolgate: interrupted\n")
        sys.exit(130)
    except click.exceptions.Exit as ending:
        sys.exit(ending.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write("toolgate: interrupted\n")
        sys.exit(130)
    except ToolgateError as error:
        sys.stderr.write(f"toolgate: {error}\n")
        sys.exit(exit_code(error))
    except BrokenPipeError:
        sys.exit(0)
