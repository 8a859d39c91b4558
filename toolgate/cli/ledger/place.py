"""What the ledger commands share: where the ledger is, how text is printed, how they stop."""

import sys
from typing import NoReturn

import click

from toolgate.views.sheet import plain

__all__ = ["INTERRUPTED", "UNCHECKED", "plain", "root_of", "stop"]

UNCHECKED, INTERRUPTED = 3, 130


def root_of(path: str | None) -> str:
    """Return the ledger a command works on: the one it is told, else this user's."""
    import os

    from toolgate.ledger.files import default_root, is_postgresql

    if not path:
        return default_root(os.environ)
    return path if is_postgresql(path) else os.path.abspath(path)


def shown(root: str) -> str:
    """Return a ledger's place as it may be shown: without who uses it."""
    from toolgate.ledger.address import database_name
    from toolgate.ledger.files import is_postgresql

    return database_name(root) if is_postgresql(root) else root


def existing_ledger(path: str | None) -> str:
    """Return the ledger a command adds to; it must be one already.

    Raises:
        LedgerError: there is none.
    """
    from toolgate.verify.place import open_ledger

    root = root_of(path)
    open_ledger(root)
    return root


def stop(message: str, code: int) -> NoReturn:
    """Say on standard error why a command cannot go on, and end it."""
    click.echo(f"toolgate ledger: {message}", err=True)
    sys.exit(code)
