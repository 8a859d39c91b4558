"""Which ledger a command works on."""

import os


def ledger_root(ledger: str | None) -> str:
    """Return the ledger directory a command is told, else this user's.

    Raises:
        UsageError: it is a database; runs and windows lie in directories.
    """
    from evalkit.errors import UsageError
    from toolgate.ledger.files import default_root, is_postgresql

    chosen = ledger or default_root(os.environ)
    if is_postgresql(chosen):
        raise UsageError(
            "the ledger is a database; evalkit needs a directory: toolgate ledger export makes one"
        )
    return os.path.abspath(chosen)
