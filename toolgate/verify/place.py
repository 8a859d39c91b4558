"""Opens a ledger for reading, wherever it is kept."""

from toolgate.ledger.address import require_driver
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
    require_driver()
    from toolgate.verify.postgres import Database

    return Database(place)
