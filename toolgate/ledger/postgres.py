"""A ledger kept in PostgreSQL: the same lines as in files, a row each.

A stream is named ``session/<name>`` or ``spine/<number of its first entry>``,
as the files are. An append is one transaction: it holds the advisory locks of
its session and then of the spine until it commits, so nothing is ever half
written and no end is ever torn.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import finalize

import psycopg

from toolgate.canonical import parse, raw_digest
from toolgate.errors import LedgerError
from toolgate.ledger.address import database_name
from toolgate.ledger.index import NO_TAIL, Tail, tail_of
from toolgate.ledger.recall import Keys, Needles, Recall, Scanned
from toolgate.ledger.rows import END_OF_ALL, Rows, SpineRows

SCHEMA = """
CREATE TABLE IF NOT EXISTS entry (
  stream text COLLATE "C" NOT NULL,
  n bigint NOT NULL,
  start bigint NOT NULL,
  digest text NOT NULL,
  line bytea NOT NULL,
  PRIMARY KEY (stream, n)
);
CREATE UNIQUE INDEX IF NOT EXISTS entry_start ON entry (stream, start);
CREATE INDEX IF NOT EXISTS entry_digest ON entry (digest);
CREATE TABLE IF NOT EXISTS blob (name text COLLATE "C" PRIMARY KEY, bytes bytea NOT NULL);
CREATE TABLE IF NOT EXISTS open_turn (
  session text COLLATE "C" PRIMARY KEY,
  turn bigint,
  digest text,
  state bytea NOT NULL
);
"""
_INSERT = "INSERT INTO entry (stream, n, start, digest, line) VALUES (%s, %s, %s, %s, %s)"
_END = """
SELECT n, start + length(line) + 1, line FROM entry WHERE stream = %s ORDER BY n DESC LIMIT 1
"""
# A loose scan: one look into the index a stream, however long the streams are.
_SPINE = """
WITH RECURSIVE found AS (
  SELECT min(stream) AS stream FROM entry WHERE stream >= 'spine/' AND stream < 'spine0'
  UNION ALL
  SELECT (SELECT min(e.stream) FROM entry e WHERE e.stream > found.stream AND e.stream < 'spine0')
  FROM found WHERE found.stream IS NOT NULL
)
SELECT stream, (SELECT start + length(line) + 1 FROM entry e WHERE e.stream = found.stream
                ORDER BY n DESC LIMIT 1)
FROM found WHERE stream IS NOT NULL ORDER BY stream
"""
_LINES = """
SELECT start, line FROM entry
WHERE stream = %s AND start >= %s AND EXISTS (
  SELECT FROM unnest(%s::bytea[]) AS needle WHERE position(needle IN line) > 0)
ORDER BY n LIMIT 10000
"""
_RANGE = """
SELECT start, line FROM entry WHERE stream = %s AND start < %s AND start >= coalesce(
  (SELECT max(start) FROM entry WHERE stream = %s AND start <= %s), 0)
ORDER BY n
"""


class Database:
    """A ledger in PostgreSQL as a store; see ``store.Store``.

    Args:
        url: ``postgresql://...``, as libpq reads it.
        durable: whether an append waits for the server's disk, whatever the server is set to.

    Raises:
        LedgerError: the url cannot be read.
    """

    boot: str | None = "postgresql"

    def __init__(self, url: str, *, durable: bool) -> None:
        self.where = database_name(url)
        self.durable = durable
        self.epoch = 1
        self._url = url
        self._connection: psycopg.Connection[Any] | None = None
        self._pid = 0
        self._inherited: list[Any] = []
        self._depth = 0
        self._failed = False
        self._grouped = False
        self._ready = False

    # -- the store

    def session(self, name: str) -> Rows:
        """Return a session's stream, not yet locked."""
        return Rows(self, f"session/{name}")

    def spine(self, *, alone: bool = False) -> SpineRows:
        """Return the spine, not yet locked; one log carries all streams to the disk in order."""
        return SpineRows(self)

    def exists(self) -> bool:
        """Say whether the spine has begun."""
        return bool(self.spine_streams())

    def spine_tail(self) -> Tail:
        """Say how the spine ends, without its lock."""
        streams = self.spine_streams()
        return self.tail_of(streams[-1][0]) if streams else NO_TAIL

    def session_tail(self, name: str) -> Tail:
        """Say how a session's stream ends, without its lock."""
        return self.tail_of(f"session/{name}")

    def spine_lines(self, needles: Sequence[bytes], since: int) -> Iterator[tuple[int, bytes]]:
        """Yield the spine's lines that contain any of some bytes, and where each begins."""
        base = 0
        for stream, size in self.spine_streams():
            if base + size > since:
                for start, line in self._matching(stream, max(since - base, 0), needles):
                    yield base + start, line
            base += size

    def _matching(
        self, stream: str, since: int, needles: Sequence[bytes]
    ) -> Iterator[tuple[int, bytes]]:
        wanted = list(needles or (b"",))
        while found := self.rows(_LINES, stream, since, wanted):
            yield from found
            since = found[-1][0] + 1

    def begun(self, name: str) -> bool:
        """Say whether a session's own stream has rows."""
        query = "SELECT 1 FROM entry WHERE stream = %s LIMIT 1"
        return self._has_tables() and bool(self.rows(query, f"session/{name}"))

    def recall(self, name: str, keys_of: Keys, needles_of: Needles) -> Recall:
        """Return what finds lines in a session's rows; see ``store.Store``."""

        def lines(needles: Sequence[bytes]) -> Iterator[bytes]:
            if self._has_tables():
                for _, line in self._matching(f"session/{name}", 0, needles):
                    yield bytes(line)

        return Scanned(lines, needles_of)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the spine's lock without appending to it."""
        self.begin()
        try:
            self.lock("spine")
            yield
        except BaseException:
            self.end(True)
            raise
        self.end(False)

    def has(self, name: str) -> bool:
        """Say whether a file beside the streams is there."""
        return self.read(name) is not None

    def read(self, name: str) -> bytes | None:
        """Return a file beside the streams; None when it is not there."""
        if not self._has_tables():
            return None
        found = self.rows("SELECT bytes FROM blob WHERE name = %s", name)
        return bytes(found[0][0]) if found else None

    def keep(self, name: str, data: bytes) -> None:
        """Put a file beside the streams. The caller holds the spine's lock."""
        self.execute(
            "INSERT INTO blob (name, bytes) VALUES (%s, %s) "
            "ON CONFLICT (name) DO UPDATE SET bytes = excluded.bytes",
            name,
            data,
        )

    def load_state(self, name: str) -> bytes | None:
        """Return a session's cached state; None when there is none."""
        found = self.rows("SELECT state FROM open_turn WHERE session = %s", name)
        return found[0][0] if found else None

    def keep_state(self, name: str, data: bytes) -> None:
        """Cache a session's state, in the transaction of what led to it."""
        turn = parse(data)["state"]["turn"] or {"number": None, "digest": None}
        self.execute(
            "INSERT INTO open_turn (session, turn, digest, state) VALUES (%s, %s, %s, %s) "
            "ON CONFLICT (session) DO UPDATE SET turn = excluded.turn, "
            "digest = excluded.digest, state = excluded.state",
            name,
            turn["number"],
            turn["digest"],
            data,
        )

    def drop_state(self, name: str) -> None:
        """Remove a session's cached state before the spine changes under it."""
        self.execute("DELETE FROM open_turn WHERE session = %s", name)

    @contextmanager
    def group(self) -> Iterator[None]:
        """Let appends share one wait for the server's disk, which ends with the block."""
        if self._grouped or not self.durable:
            yield
            return
        self._grouped = True
        try:
            yield
        finally:
            self._grouped = False
            self.begin()
            try:  # what is flushed up to this message includes every commit before it
                self.execute("SELECT pg_logical_emit_message(true, 'toolgate', '')")
            except BaseException:
                self.end(True)
                raise
            self.end(False)

    # -- transactions

    def begin(self) -> None:
        """Begin a transaction, or go on in the one that is open."""
        if not self._depth:
            self._failed = False
            try:
                self._begin()
            except BaseException:
                self._drop()  # a transaction may have begun on it
                raise
        self._depth += 1

    def _begin(self) -> None:
        begin = "BEGIN ISOLATION LEVEL READ COMMITTED"
        self._create_tables()
        try:
            self._open().execute(begin)
        except psycopg.OperationalError:  # the server was restarted since the last append
            self._drop()
            self.execute(begin)
        waits = self.durable and not self._grouped
        self.execute(f"SET LOCAL synchronous_commit = {'on' if waits else 'off'}")

    def _create_tables(self) -> None:
        """Create the tables if need be, by one process and in a transaction of their own.

        In a writer's transaction their locks would be taken in another order than those
        of writers that found the tables there.
        """
        try:
            if self._has_tables():
                return
        except LedgerError:
            self._drop()  # an idle connection that was cut
        if not self._has_tables():
            with self._translated(), self._open().transaction():
                self._open().execute("SELECT pg_advisory_xact_lock(%s)", [lock_key("schema")])
                for statement in SCHEMA.split(";")[:-1]:
                    self._open().execute(statement)

    def end(self, failed: bool) -> None:
        """Leave a transaction; leaving the outermost one commits it, or takes all of it back.

        Args:
            failed: whether what was done in it must not stand.
        """
        self._depth -= 1
        self._failed = self._failed or failed
        if self._depth:
            return
        if self._failed:
            self.epoch += 1  # what this process remembers may never have come to be
            self._roll_back()
            if not failed:
                raise LedgerError(f"cannot append to {self.where}: an earlier step failed")
            return
        try:
            self.execute("COMMIT")
        except BaseException:
            self.epoch += 1
            self._drop()
            raise

    def _roll_back(self) -> None:
        if self._connection is None:
            return  # the server takes back what a lost connection began
        try:
            self._connection.execute("ROLLBACK")
        except psycopg.Error:
            self._drop()

    def lock(self, name: str) -> None:
        """Wait for an exclusive lock that is held until the transaction ends."""
        self.execute("SELECT pg_advisory_xact_lock(%s)", lock_key(name))

    # -- statements

    def execute(self, statement: str, *values: Any) -> None:
        """Run a statement.

        Raises:
            LedgerError: the server refused it or is gone.
        """
        with self._translated():
            self._open().execute(statement, values or None)

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        with self._translated():
            return self._open().execute(query, values).fetchall()

    def insert(self, rows: list[tuple[str, int, int, str, bytes]]) -> None:
        """Insert entries."""
        with self._translated():
            if len(rows) == 1:
                self._open().execute(_INSERT, rows[0])
            else:
                self._open().cursor().executemany(_INSERT, rows)

    def spine_streams(self) -> list[tuple[str, int]]:
        """Return the spine's streams, oldest first, and the bytes of each."""
        return [(row[0], row[1]) for row in self.rows(_SPINE)] if self._has_tables() else []

    def end_of(self, stream: str) -> tuple[int, int, bytes]:
        """Return the number of a stream's last line, its size in bytes, and that line."""
        found = self.rows(_END, stream) if self._has_tables() else []
        return found[0] if found else (0, 0, b"")

    def tail_of(self, stream: str) -> Tail:
        """Say how a stream ends. Every row ends with its line feed, so no line is open."""
        n, size, line = self.end_of(stream)
        if not n:
            return NO_TAIL
        found = tail_of(line + b"\n")
        if found is not None:
            return found._replace(good=size)
        data = self.bytes_of(stream, 0, None)
        return tail_of(data) or Tail(0, None, data, False)

    def bytes_of(self, stream: str, start: int, stop: int | None) -> bytes:
        """Return a stream's bytes from one offset to another, or to its end."""
        last = END_OF_ALL if stop is None else stop
        found = self.rows(_RANGE, stream, last, stream, start)
        if not found:
            return b""
        data = b"".join([line + b"\n" for _, line in found])
        return data[start - found[0][0] : last - found[0][0]]

    def _has_tables(self) -> bool:
        if not self._ready:
            query = "SELECT to_regclass('entry') IS NOT NULL AND to_regclass('blob') IS NOT NULL"
            self._ready = bool(self.rows(query)[0][0])
        return self._ready

    # -- the connection

    def _open(self) -> "psycopg.Connection[Any]":
        """Return this process's connection; inside a transaction, the one it began on."""
        if self._connection is not None and self._pid == os.getpid():
            return self._connection
        if self._connection is not None:
            self._inherited.append(self._connection)  # closing it would end it in the parent
            self._depth = 0
        elif self._depth:
            raise LedgerError(f"cannot append to {self.where}: the connection was lost")
        with self._translated("connect to"):
            connection = psycopg.connect(self._url, autocommit=True, connect_timeout=10)
        self._connection, self._pid = connection, os.getpid()
        finalize(self, _close, connection, self._pid)
        return connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    @contextmanager
    def _translated(self, doing: str = "use") -> Iterator[None]:
        """Turn what the driver raises into one error that holds no secret."""
        try:
            yield
        except psycopg.Error as error:
            if self._connection is not None and self._connection.closed:
                self._connection = None
            raise LedgerError(f"cannot {doing} {self.where}: {reason(error)}") from None


def _close(connection: "psycopg.Connection[Any]", pid: int) -> None:
    if pid == os.getpid():
        connection.close()


def lock_key(name: str) -> int:
    """Return the number an advisory lock is known by."""
    return int.from_bytes(raw_digest(f"toolgate ledger {name}".encode())[:8], "big", signed=True)


def reason(error: psycopg.Error) -> str:
    """Return the reason without what the address may have held."""
    if error.sqlstate is None:
        return "the connection failed or was lost"
    if error.sqlstate.startswith("28"):
        return "the server refused the login"
    return f"{error.diag.message_primary or type(error).__name__} ({error.sqlstate})"
