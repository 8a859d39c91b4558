"""The ``toolgate`` command."""

import os
import sys

import click

from toolgate import __version__
from toolgate.cli.lazy import LazyGroup
from toolgate.errors import EvidenceError, ToolgateError

_COMMANDS = {
    "allow-for": (
        "toolgate.cli.allow_for:allow_for",
        "Let the next calls of a class through, signed.",
    ),
    "allow-once": (
        "toolgate.cli.allow_once:allow_once",
        "Let one call through that was held back.",
    ),
    "approvals": ("toolgate.cli.approvals:approvals", "List what later calls may still use."),
    "approve": ("toolgate.cli.approve:approve", "Approve a call that was asked or denied, signed."),
    "catalog": (
        "toolgate.cli.catalog:catalog",
        "Check, show and measure what is known of programs.",
    ),
    "explain": ("toolgate.cli.explain:explain", "Show how one call is read and decided."),
    "hook": ("toolgate.cli.hook:hook", "Print the agent's settings that install the hook."),
    "key": ("toolgate.cli.key:key", "Make, show and rotate signing keys."),
    "ledger": ("toolgate.cli.ledger:ledger", "Verify and show the decision ledger."),
    "policy": ("toolgate.cli.policy:policy", "Write, check, test and compare policies."),
    "propose": ("toolgate.cli.propose:propose", "Propose rules for what people always approve."),
    "refuse": ("toolgate.cli.approve:refuse", "Refuse a call that was asked or denied, signed."),
    "replay": ("toolgate.cli.replay:replay", "Decide recorded decisions again, byte for byte."),
    "sessions": (
        "toolgate.cli.session_ledger:sessions",
        "Keep one redacted record per agent session.",
    ),
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
    return 2 if isinstance(error, EvidenceError) else 3


def _drop_output() -> None:
    """Let what is still buffered go nowhere, so that ending does not fail over it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _say(message: str) -> None:
    """Write an error for people, without the characters a terminal obeys: files name themselves.

    What is to be chosen from stands on lines of its own.
    """
    said = "".join(c if c.isprintable() or c == "\n" else "?" for c in message)
    sys.stderr.write(f"toolgate: {said}\n")


def main() -> None:
    """Run the command; errors are one line on standard error and an exit code."""
    try:
        cli(standalone_mode=False)
        sys.stdout.flush()
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
        _say(str(error))
        sys.exit(exit_code(error))
    except BrokenPipeError:
        _drop_output()  # the reader has gone
        sys.exit(0)
    except OSError as error:
        _drop_output()
        _say(f"{error.filename or 'output'}: {error.strerror}")
        sys.exit(3)
