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


def ledger_that_is_there(ledger: str | None) -> str:
    """Return the ledger directory a command is to read; one that is named must be there.

    A user's standing ledger need not exist yet: then nothing is known.

    Raises:
        UsageError: it is a database.
        RefusedError: it was named, and no ledger is there.
    """
    from evalkit.errors import RefusedError

    root = ledger_root(ledger)
    if not ledger:
        return root
    if not os.path.isdir(root):
        raise RefusedError(f"{root}: expected a decision ledger, got no such directory")
    if not any(name.startswith("spine-") for name in os.listdir(root)):
        raise RefusedError(f"{root}: expected a decision ledger, got a directory without one")
    return root
