"""The address of a ledger in PostgreSQL, and what of it may be shown."""

from urllib.parse import quote, urlencode

from toolgate.errors import LedgerError


def require_driver() -> None:
    """Check that PostgreSQL can be spoken to from here.

    Raises:
        LedgerError: psycopg is missing.
    """
    try:
        import psycopg
    except ImportError:
        raise LedgerError(
            "a ledger in PostgreSQL needs psycopg: pip install 'toolgate-evalkit[postgres]'"
        ) from None
    if not psycopg.Pipeline.is_supported():
        raise LedgerError(
            f"a ledger in PostgreSQL needs libpq 14 or newer; found {psycopg.pq.version()}: "
            "pip install 'toolgate-evalkit[postgres]'"
        )


def database_name(url: str) -> str:
    """Return which database an address names, as an address without who uses it.

    The name of a name is itself.

    Args:
        url: ``postgresql://...``, as libpq reads it.

    Raises:
        LedgerError: the address cannot be read, or psycopg is missing.
    """
    require_driver()
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        found = conninfo_to_dict(url)
    except psycopg.Error:
        raise LedgerError(_UNREADABLE) from None
    host, port, name = (str(found.get(part) or "") for part in ("host", "port", "dbname"))
    # A password that was not percent-encoded spills into the parts behind it.
    if "@" in host + name or port.strip("0123456789,"):
        raise LedgerError(_UNREADABLE)
    more = {"options": str(found["options"])} if found.get("options") else {}
    if host.startswith("/"):
        more["host"], host = host, ""
    place = f"postgresql://{host}{port and ':' + port}/{quote(name, safe='')}"
    return f"{place}?{urlencode(more, quote_via=quote)}" if more else place


_UNREADABLE = (
    "the ledger's address cannot be read; expected postgresql://user:password@host:port/database "
    "with reserved characters percent-encoded"
)
