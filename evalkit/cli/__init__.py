"""The ``evalkit`` command. A sub-command's module is imported only when it is used."""

import sys
from typing import NoReturn

import click

from toolgate.cli.lazy import LazyGroup

_COMMANDS = {
    "build": ("evalkit.cli.build:group", "Show the pinned build that a run would be about."),
    "compare": ("evalkit.cli.compare:compare", "Compare sealed runs of one challenge set."),
    "label": ("evalkit.cli.label:label", "Draw blind labeling forms from a closed window."),
    "list": ("evalkit.cli.looks:list_runs", "List the runs a ledger knows."),
    "resume": ("evalkit.cli.run:resume", "Continue a run that was interrupted."),
    "run": ("evalkit.cli.run:run", "Run a frozen challenge set, once per pinned build."),
    "set": ("evalkit.cli.set:group", "Freeze, verify and lint challenge sets."),
    "status": ("evalkit.cli.looks:status", "Say how far a run is."),
    "verify": ("evalkit.cli.verify:verify", "Verify a ledger, its runs and its kept heads."),
    "window": ("evalkit.cli.window:window", "Declare and close windows over a decision ledger."),
}


def _print_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from toolgate import __version__

        click.echo(f"evalkit {__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, commands_at=_COMMANDS)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def evalkit() -> None:
    """Frozen challenge sets, declared windows and blind labels for a tool-call gate.

    Exit codes: 0 done; 1 the evidence is bad; 2 usage; 3 refused or could not
    check; 4 incomplete, can be continued; 5 our own storage is damaged.
    """


def main() -> NoReturn:
    """Run the command line; every failure is a message and an exit code, never a traceback."""
    from evalkit.errors import EvalkitError
    from toolgate.errors import ToolgateError

    try:
        code = evalkit.main(prog_name="evalkit", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _say(_stopped(sys.argv[1:]), [])
        code = 130
    except (EvalkitError, ToolgateError, OSError) as error:
        _say(*_text_of(error))
        code = _code_of(error)
    sys.exit(code)


def _code_of(error: Exception) -> int:
    from evalkit.errors import EvalkitError
    from toolgate.errors import EvidenceError

    if isinstance(error, EvalkitError):
        return error.exit_code
    return 2 if isinstance(error, EvidenceError) else 3


def _stopped(words: list[str]) -> str:
    """Return what to say of an interrupt: only runs are left to be continued."""
    command = next((word for word in words if not word.startswith("-")), "")
    if command in ("run", "resume"):
        return "stopped at once; a claimed run can be continued: evalkit resume RUN"
    return "interrupted"


def _text_of(error: Exception) -> tuple[str, list[str]]:
    """Return a message and the lines under it; an error that carries faults lists them all."""
    from evalkit.errors import SetError
    from toolgate.errors import PolicyError

    if isinstance(error, (SetError, PolicyError)) and len(error.faults) > 1:
        return f"{error.source}: {len(error.faults)} faults", error.faults
    if isinstance(error, OSError):
        return f"{error.filename or 'input or output'}: {error.strerror or 'failed'}", []
    return str(error), []


def _say(text: str, more: list[str]) -> None:
    print("\n    ".join([f"evalkit: {text}", *more]), file=sys.stderr)
