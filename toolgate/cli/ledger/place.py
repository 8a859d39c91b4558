"""What the ledger commands share: where the ledger is, how text is printed, how they stop."""

import sys
from typing import NoReturn

import click

UNCHECKED, INTERRUPTED = 3, 130


def root_of(path: str | None) -> str:
    """Return the ledger a command works on: the one it is told, else this user's."""
    import os

    from toolgate.ledger.files import default_root

    return os.path.abspath(path) if path else default_root(os.environ)


def existing_ledger(path: str | None) -> str:
    """Return the ledger a command adds to; it must be one already.

    Raises:
        LedgerError: there is none.
    """
    from toolgate.verify.read import Directory

    root = root_of(path)
    Directory(root)
    return root


def plain(text: str) -> str:
    """Return text without the characters a terminal obeys."""
    return "".join(char if char.isprintable() else "?" for char in text)


def stop(message: str, code: int) -> NoReturn:
    """Say on standard error why a command cannot go on, and end it."""
    click.echo(f"toolgate ledger: {message}", err=True)
    sys.exit(code)
