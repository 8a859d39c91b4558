"""Opens a ledger for reading, wherever it is kept."""

from toolgate.errors import LedgerError
from toolgate.ledger.files import is_postgresql
from toolgate.verify.directory import Directory
from toolgate.verify.reader import Reader


def open_ledger(place: str) -> Reader:
    """Open a ledger for reading.

    Args:
        place: a directory, or ``postgresql://...``.

    Raises:
        LedgerError: there is no ledger, or it cannot be read.
    """
    if not is_postgresql(place):
        return Directory(place)
    try:
        from toolgate.verify.postgres import Database
    except ImportError as error:
        raise LedgerError(
            "a ledger in PostgreSQL needs psycopg: pip install 'toolgate-evalkit[postgres]'"
        ) from error
    return Database(place)
