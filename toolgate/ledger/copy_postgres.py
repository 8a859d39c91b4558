"""A ledger in PostgreSQL as the source or the target of a copy."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from toolgate.errors import LedgerError
from toolgate.ledger.address import database_name
from toolgate.ledger.copy import row_of
from toolgate.ledger.transactions import SCHEMA, lock_key, reason

_ROWS = 4096
_SIZES = """
SELECT stream, max(start + length(line) + 1) FROM entry GROUP BY stream
ORDER BY stream < 'spine/', stream
"""
_LINES = "SELECT n, line FROM entry WHERE stream = %s AND n > %s ORDER BY n LIMIT %s"
_COPY = "COPY entry (stream, n, start, digest, line) FROM STDIN"


class _Connected:
    """A connection within one transaction."""

    def __init__(self, url: str) -> None:
        self.where = database_name(url)
        with self.translated("connect to"):
            self.connection: psycopg.Connection[Any] = psycopg.connect(url, connect_timeout=10)

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        with self.translated("use"):
            return self.connection.execute(query, values or None).fetchall()

    def has_tables(self) -> bool:
        """Say whether a ledger's tables are there."""
        query = "SELECT to_regclass('entry') IS NOT NULL AND to_regclass('blob') IS NOT NULL"
        return bool(self.rows(query)[0][0])

    @contextmanager
    def translated(self, doing: str) -> Iterator[None]:
        """Turn what the driver raises into one error that holds no secret."""
        try:
            yield
        except psycopg.Error as error:
            raise LedgerError(f"cannot {doing} {self.where}: {reason(error)}") from None


class Snapshot(_Connected):
    """A ledger that is copied, as it was when the copying began."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.connection.read_only = True
        self.connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        self._sizes = dict(self.rows(_SIZES)) if self.has_tables() else {}
        if not any(stream.startswith("spine/") for stream in self._sizes):
            self.close()
            raise LedgerError(f"no ledger here (no spine in {self.where})")

    def streams(self) -> dict[str, int]:
        """Return the length of every stream, the spine's first."""
        return {stream: int(size) for stream, size in self._sizes.items()}

    def read(self, stream: str, size: int) -> Iterator[bytes]:
        """Yield a stream's bytes."""
        after = 0
        while found := self.rows(_LINES, stream, after, _ROWS):
            yield b"".join([line + b"\n" for _, line in found])
            after = found[-1][0]

    def blobs(self) -> Iterator[tuple[str, bytes]]:
        """Yield policies and public keys."""
        for name, data in self.rows("SELECT name, bytes FROM blob ORDER BY name"):
            yield name, bytes(data)

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


class NewDatabase(_Connected):
    """An empty database that a ledger is copied to, in one transaction."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        try:
            self._make_tables()
        except BaseException:
            self.abandon()
            raise

    def _make_tables(self) -> None:
        with self.translated("copy to"):
            for name in ("schema", "spine"):
                self.connection.execute("SELECT pg_advisory_xact_lock(%s)", [lock_key(name)])
            if not self.has_tables():
                for statement in SCHEMA.split(";")[:-1]:
                    self.connection.execute(statement)
        query = "SELECT EXISTS (SELECT FROM entry) OR EXISTS (SELECT FROM blob)"
        if self.rows(query)[0][0]:
            raise LedgerError(
                f"{self.where} is not empty; a ledger is copied to an empty place only"
            )

    def write(self, stream: str, lines: Iterator[bytes]) -> None:
        """Write a stream's lines, a row each."""
        start = 0
        with (
            self.translated("copy to"),
            self.connection.cursor() as cursor,
            cursor.copy(_COPY) as copy,
        ):
            for n, line in enumerate(lines, 1):
                copy.write_row(row_of(stream, n, start, line[:-1]))
                start += len(line)

    def keep(self, name: str, data: bytes) -> None:
        """Write a policy or key."""
        with self.translated("copy to"):
            self.connection.execute("INSERT INTO blob VALUES (%s, %s)", [name, data])

    def finish(self) -> None:
        """Commit."""
        with self.translated("copy to"):
            self.connection.execute("SET LOCAL synchronous_commit = on")
            self.connection.commit()
        self.connection.close()

    def abandon(self) -> None:
        """Close the connection, which takes everything back."""
        self.connection.close()
