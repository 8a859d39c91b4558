"""A ledger in PostgreSQL, read as ``directory.Directory`` reads files.

Everything is read in one transaction that writes nothing and sees the database
as it was when the verification began, whatever writers add meanwhile.
"""

from collections.abc import Iterator
from typing import Any
from weakref import finalize

import psycopg

from toolgate.errors import LedgerError
from toolgate.ledger.address import database_name
from toolgate.verify.directory import MAX_SIGNATURE_BYTES
from toolgate.verify.read import Bad, Line
from toolgate.verify.spool import read_bytes

_ROWS = 4096
_SIZES = """
SELECT stream, max(start + length(line) + 1) FROM entry GROUP BY stream ORDER BY stream
"""
# A loose scan: a look into the index a stream, however long the streams are.
_STREAMS = """
WITH RECURSIVE found AS (
  SELECT min(stream) AS stream FROM entry
  UNION ALL
  SELECT (SELECT min(e.stream) FROM entry e WHERE e.stream > found.stream)
  FROM found WHERE found.stream IS NOT NULL
)
SELECT found.stream, (SELECT start + length(line) + 1 FROM entry e
                      WHERE e.stream = found.stream ORDER BY n DESC LIMIT 1)
FROM found WHERE found.stream IS NOT NULL
"""
_BEHIND = """
SELECT start, line FROM entry WHERE stream = %s AND start >= coalesce(
  (SELECT max(start) FROM entry WHERE stream = %s AND start <= %s), 0)
ORDER BY start
"""
_WRITTEN = "SELECT pg_current_snapshot()::text"  # which transactions have ended, and which not
_LINES = "SELECT n, line FROM entry WHERE stream = %s AND n > %s ORDER BY n LIMIT %s"


class Database:
    """The streams of a ledger in PostgreSQL; see ``directory.Directory`` for the attributes.

    Args:
        url: ``postgresql://...``, as libpq reads it.

    Raises:
        LedgerError: it cannot be read, or holds no spine.
    """

    forks = False  # processes cannot share a connection

    def __init__(self, url: str) -> None:
        self.root = database_name(url)
        self._connection = self._connect(url)
        finalize(self, self._connection.close)
        tables = "SELECT to_regclass('entry') IS NOT NULL AND to_regclass('blob') IS NOT NULL"
        sizes = dict(self._rows(_SIZES)) if self._rows(tables)[0][0] else {}
        self._streams = {_file(stream): stream for stream in sizes}
        self.spine = sorted(_file(name) for name in sizes if name.startswith("spine/"))
        if not self.spine:
            raise LedgerError(f"no ledger here (no spine in {self.root})")
        self.beside: list[str] = []
        self.sessions = {
            name[len("session/") :]: size
            for name, size in sizes.items()
            if name.startswith("session/")
        }
        self.spine_size = int(sizes[self._streams[self.spine[-1]]])
        self.empty = False
        self.segments = None

    def _connect(self, url: str) -> "psycopg.Connection[Any]":
        try:
            connection = psycopg.connect(url, connect_timeout=10)
            connection.read_only = True
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        except psycopg.Error:
            raise LedgerError(f"cannot connect to {self.root}") from None
        return connection

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(query, values or None).fetchall()
        except psycopg.Error as error:
            why = error.sqlstate or "the connection was lost"
            raise LedgerError(f"cannot read {self.root}: {why}") from None

    def runs(self) -> list[str]:
        """Return the names of ledgers kept beside this one: a database holds none."""
        return []

    def read_spine(self) -> Iterator[Line | Bad]:
        """Yield the spine, stream after stream."""
        for name in self.spine:
            yield from read_bytes(self._bytes(self._streams[name]), name)

    def has_session(self, name: str) -> bool:
        """Say whether a session has entries of its own."""
        return name in self.sessions

    def read_session(self, name: str) -> Iterator[Line | Bad]:
        """Yield one session's entries."""
        yield from read_bytes(self._bytes(f"session/{name}"), f"sessions/{name}.jsonl")

    def _bytes(self, stream: str) -> Iterator[bytes]:
        after = 0
        while rows := self._rows(_LINES, stream, after, _ROWS):
            yield b"".join([line + b"\n" for _, line in rows])
            after = rows[-1][0]

    def is_growing(self, file: str, end: int) -> bool:
        """Say that no writer is at a stream: none is seen before it has finished."""
        return False

    def policy(self, version: str) -> bytes | None:
        """Return the text kept under a policy's digest; None when there is none."""
        return self._kept(version[7:] + ".json")

    def signature(self, version: str) -> bytes | None:
        """Return what is kept as the author's signature of a policy; None when nothing is."""
        found = self._kept(version[7:] + ".sig")
        return found and found[:MAX_SIGNATURE_BYTES]

    def _kept(self, name: str) -> bytes | None:
        query = "SELECT bytes FROM blob WHERE name = %s"
        found = self._rows(query, f"policies/{name}")
        return bytes(found[0][0]) if found else None


class GrowingDatabase:
    """A ledger in PostgreSQL to which rows are added; see ``views.growth.Growth``.

    Args:
        url: ``postgresql://...``, as libpq reads it.

    Raises:
        LedgerError: it cannot be read.
    """

    def __init__(self, url: str) -> None:
        self._root = database_name(url)
        try:
            self._connection = psycopg.connect(url, connect_timeout=10, autocommit=True)
        except psycopg.Error:
            raise LedgerError(f"cannot connect to {self._root}") from None
        finalize(self, self._connection.close)
        self._written = ""
        self._sizes: dict[str, int] = {}

    def names(self) -> list[str]:
        """Return the streams' names; nothing is looked for where nobody wrote to the server."""
        written = self._rows(_WRITTEN)[0][0]
        if written != self._written:
            sizes = {_file(stream): size for stream, size in self._rows(_STREAMS)}
            self._written, self._sizes = written, sizes
        return sorted(self._sizes, key=lambda name: (not name.startswith("spine-"), name))

    def read(self, name: str, begin: int) -> tuple[int, bytes] | None:
        """Return a stream's size and its bytes from an offset on; None when it is not there."""
        size = self._sizes.get(name)
        if size is not None and size <= begin:
            return size, b""
        stream = _stream(name)
        rows = self._rows(_BEHIND, stream, stream, begin)
        if not rows:
            return None
        data = b"".join([line + b"\n" for _, line in rows])
        first = rows[0][0]
        return first + len(data), data[begin - first :]

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(query, values or None).fetchall()
        except psycopg.Error as error:
            why = error.sqlstate or "the connection was lost"
            raise LedgerError(f"cannot read {self._root}: {why}") from None


def _stream(file: str) -> str:
    """Return the stream that is called this in findings."""
    name = file.removesuffix(".jsonl")
    return name.replace("spine-", "spine/", 1).replace("sessions/", "session/", 1)


def _file(stream: str) -> str:
    """Return what a stream is called in findings: the file it would be in a directory."""
    kind, _, name = stream.partition("/")
    return f"spine-{name}.jsonl" if kind == "spine" else f"sessions/{name}.jsonl"
