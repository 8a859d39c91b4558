"""A ledger kept in PostgreSQL: the same lines as in files, a row each.

A stream is named ``session/<name>`` or ``spine/<number of its first entry>``,
as the files are. An append is one transaction: it holds the advisory locks of
its session and then of the spine until it commits, so nothing is ever half
written and no end is ever torn.

What a lock is held for is messages, so statements wait until an answer is needed
and then go together: a transaction's beginning, its lock and a look at the end of
the stream are one round trip, what it writes and its commit another.
"""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import Any
from weakref import finalize

import psycopg

from toolgate.canonical import parse, raw_digest
from toolgate.errors import LedgerError
from toolgate.ledger.address import database_name
from toolgate.ledger.index import NO_TAIL, Tail, tail_of
from toolgate.ledger.rows import END_OF_ALL, End, Rows, SpineRows

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
_INSERT_MANY = """
INSERT INTO entry (stream, n, start, digest, line)
SELECT * FROM unnest(%s::text[], %s::bigint[], %s::bigint[], %s::text[], %s::bytea[])
"""
_END = """
SELECT n, start + length(line) + 1, line FROM entry WHERE stream = %s ORDER BY n DESC LIMIT 1
"""
# With the last row before the position: a stream that has none behind it still shows its end.
_LOOK = """
SELECT 0, 0, state FROM open_turn WHERE session = %s
UNION ALL (
  SELECT n, start, line FROM entry WHERE stream = %s AND start >= coalesce(
    (SELECT max(start) FROM entry WHERE stream = %s AND start < %s), 0)
)
"""
_KEEP_STATE = """
INSERT INTO open_turn (session, turn, digest, state) VALUES (%s, %s, %s, %s)
ON CONFLICT (session) DO UPDATE
SET turn = excluded.turn, digest = excluded.digest, state = excluded.state
"""
_LOCK = "SELECT set_config('synchronous_commit', %s, true), pg_advisory_xact_lock(%s)"
_FLUSH = """
SELECT set_config('synchronous_commit', 'on', true), pg_logical_emit_message(true, 'toolgate', '')
"""
_STATE = "SELECT state FROM open_turn WHERE session = %s"
# A loose scan: one look into the index a stream, however long the streams are.
_SPINE = """
WITH RECURSIVE found AS (
  SELECT min(stream) AS stream FROM entry WHERE stream >= 'spine/' AND stream < 'spine0'
  UNION ALL
  SELECT (SELECT min(e.stream) FROM entry e WHERE e.stream > found.stream AND e.stream < 'spine0')
  FROM found WHERE found.stream IS NOT NULL
)
SELECT found.stream, last.n, last.start + length(last.line) + 1, last.line
FROM found, LATERAL (
  SELECT n, start, line FROM entry e WHERE e.stream = found.stream ORDER BY n DESC LIMIT 1) last
WHERE found.stream IS NOT NULL ORDER BY found.stream
"""
_LINES = """
SELECT start, line FROM entry
WHERE stream = %s AND start >= %s AND EXISTS (
  SELECT FROM unnest(%s::bytea[]) AS needle WHERE position(needle IN line) > 0)
ORDER BY start LIMIT 10000
"""
_RANGE = """
SELECT start, line FROM entry WHERE stream = %s AND start < %s AND start >= coalesce(
  (SELECT max(start) FROM entry WHERE stream = %s AND start <= %s), 0)
ORDER BY start
"""
# A lost connection is one error of the caller's; the driver would tell it on stderr as well.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

_RECENT_BYTES = 1024 * 1024

Statement = tuple[str, tuple[Any, ...]]


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
        self._begun = False
        self._waiting: list[Statement] = []
        self._states: dict[str, bytes | None] = {}
        self._recent: dict[tuple[str, int], bytes] = {}
        self._recent_bytes = 0
        self._failed = False
        self._grouped = False
        self._ready = False

    # -- the store

    def session(self, name: str, *, since: int = 0) -> Rows:
        """Return a session's stream, not yet locked."""
        return Rows(self, name, since)

    def spine(self, *, alone: bool = False) -> SpineRows:
        """Return the spine, not yet locked; one log carries all streams to the disk in order."""
        return SpineRows(self)

    def exists(self) -> bool:
        """Say whether the spine has begun."""
        return bool(self.spine_ends())

    def spine_tail(self) -> Tail:
        """Say how the spine ends, without its lock."""
        ends = self.spine_ends()
        return self.tail_of(ends[-1]) if ends else NO_TAIL

    def session_tail(self, name: str) -> Tail:
        """Say how a session's stream ends, without its lock."""
        stream = f"session/{name}"
        found = self.rows(_END, stream) if self._has_tables() else []
        return self.tail_of(End(stream, *found[0])) if found else NO_TAIL

    def spine_lines(self, needles: Sequence[bytes], since: int) -> Iterator[tuple[int, bytes]]:
        """Yield the spine's lines that contain any of some bytes, and where each begins."""
        base = 0
        for end in self.spine_ends():
            if base + end.size > since:
                for start, line in self._matching(end.stream, max(since - base, 0), needles):
                    yield base + start, line
            base += end.size

    def _matching(
        self, stream: str, since: int, needles: Sequence[bytes]
    ) -> Iterator[tuple[int, bytes]]:
        wanted = list(needles or (b"",))
        while found := self.rows(_LINES, stream, since, wanted):
            yield from found
            since = found[-1][0] + 1

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
        if name not in self._states:
            found = self.rows(_STATE, name)
            return found[0][0] if found else None
        return self._states[name]

    def keep_state(self, name: str, data: bytes) -> None:
        """Cache a session's state, in the transaction of what led to it."""
        self._states.pop(name, None)
        turn = parse(data)["state"]["turn"] or {"number": None, "digest": None}
        self.execute(_KEEP_STATE, name, turn["number"], turn["digest"], data)

    def drop_state(self, name: str) -> None:
        """Remove a session's cached state before the spine changes under it."""
        self._states.pop(name, None)
        self.execute("DELETE FROM open_turn WHERE session = %s", name)

    def load_cache(self, name: str) -> bytes | None:
        """Return what was read of the spine and kept under a name; None when there is none."""
        return self.load_state(f"/{name}")

    def keep_cache(self, name: str, data: bytes) -> None:
        """Keep what was read of the spine; no session's name has a slash."""
        self.execute(_KEEP_STATE, f"/{name}", None, None, data)

    @contextmanager
    def group(self) -> Iterator[None]:
        """Let appends share one wait for the server's disk, which ends with the block."""
        if self._grouped or not self.durable:
            yield
            return
        connection = self._open()
        self._grouped = True
        try:
            yield
        finally:
            self._grouped = False
            if self._connection is not connection:  # a server that went down may have lost some
                raise LedgerError(f"cannot append to {self.where}: the connection was lost")
            self.begin()
            try:  # what is flushed up to this message includes every commit before it
                self.execute(_FLUSH)
            except BaseException:
                self.end(True)
                raise
            self.end(False)

    # -- transactions

    def begin(self) -> None:
        """Begin a transaction, or go on in the one that is open."""
        self._leave_parent()
        if not self._depth:
            self._failed = False
            try:
                self._create_tables()
            except BaseException:
                self._drop()  # a transaction may have begun on it
                raise
            self._begun = False
            self._waiting = [("BEGIN ISOLATION LEVEL READ COMMITTED", ())]
        self._depth += 1

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
        waiting, self._waiting = self._waiting, []
        self._states.clear()
        if self._failed:
            self._forget()  # what this process remembers may never have come to be
            self._roll_back()
            self._begun = False
            if not failed:
                raise LedgerError(f"cannot append to {self.where}: an earlier step failed")
            return
        try:
            with self._translated():
                self._send([*waiting, ("COMMIT", ())])
        except BaseException:
            self._forget()
            self._drop()
            raise
        finally:
            self._begun = False

    def _forget(self) -> None:
        self.epoch += 1
        self._recent.clear()
        self._recent_bytes = 0

    def _roll_back(self) -> None:
        if self._connection is None:
            return  # the server takes back what a lost connection began
        try:
            self._connection.execute("ROLLBACK")
        except psycopg.Error:
            self._drop()

    def lock(self, name: str) -> None:
        """Wait for an exclusive lock that is held until the transaction ends.

        The transaction is told here how its commit waits: one statement less.
        """
        waits = "on" if self.durable and not self._grouped else "off"
        self.execute(_LOCK, waits, lock_key(name))

    # -- statements

    def execute(self, statement: str, *values: Any) -> None:
        """Run a statement of the transaction, at the latest when it commits.

        Raises:
            LedgerError: the server refused it or is gone; or a later statement's caller has this.
        """
        self._waiting.append((statement, values))

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a query finds, in one round trip with the statements that wait."""
        statements, self._waiting = [*self._waiting, (query, values)], []
        with self._translated():
            try:
                found = self._send(statements)
            except psycopg.OperationalError:
                # Nothing was written yet, and the server was restarted since the last append.
                if self._begun or self._open_still():
                    raise
                self._drop()
                found = self._send(statements)
        self._begun = self._depth > 0
        return found

    def _send(self, statements: Sequence[Statement]) -> list[tuple[Any, ...]]:
        """Send statements together and return what the last finds; behind an error none is run."""
        connection = self._open()
        if len(statements) == 1:
            cursor = self._run(connection, *statements[0])
        else:
            with connection.pipeline():
                for statement in statements:
                    cursor = self._run(connection, *statement)
        return cursor.fetchall() if cursor.description else []

    def _run(
        self, connection: "psycopg.Connection[Any]", text: str, values: tuple[Any, ...]
    ) -> "psycopg.Cursor[Any]":
        return connection.execute(text, values or None, binary=True)

    def look(self, name: str, stream: str, since: int) -> list[tuple[int, int, bytes]]:
        """Wait for a session's lock; return its rows from the last one before a position on.

        Args:
            name: the session's name.
            stream: its stream.
            since: the position, in bytes.

        Returns:
            The number, first byte and line of each.
        """
        self.lock(stream)
        found = sorted(self.rows(_LOOK, name, stream, stream, since), key=itemgetter(0))
        cached = bool(found) and found[0][0] == 0
        self._states[name] = found[0][2] if cached else None
        return [(n, start, line) for n, start, line in found[cached:]]

    def insert(self, rows: list[tuple[str, int, int, str, bytes]]) -> None:
        """Insert entries."""
        if len(rows) == 1:
            self.execute(_INSERT, *rows[0])
        elif rows:
            self.execute(_INSERT_MANY, *map(list, zip(*rows, strict=True)))
        for stream, _, start, _, line in rows:
            self._remember(stream, start, line)

    def _remember(self, stream: str, start: int, line: bytes) -> None:
        """Keep a line that is likely asked for again; rows never change."""
        self._recent_bytes += len(line) - len(self._recent.pop((stream, start), b""))
        self._recent[stream, start] = line
        while self._recent_bytes > _RECENT_BYTES:
            self._recent_bytes -= len(self._recent.pop(next(iter(self._recent))))

    def spine_ends(self) -> list[End]:
        """Return where each of the spine's streams ends, oldest first."""
        return [End(*row) for row in self.rows(_SPINE)] if self._has_tables() else []

    def tail_of(self, end: End) -> Tail:
        """Say how a stream ends. Every row ends with its line feed, so no line is open."""
        if not end.n:
            return NO_TAIL
        found = tail_of(end.line + b"\n")
        if found is not None:
            return found._replace(good=end.size)
        data = self.bytes_of(end.stream, 0, None)
        return tail_of(data) or Tail(0, None, data, False)

    def bytes_of(self, stream: str, start: int, stop: int | None) -> bytes:
        """Return a stream's bytes from one offset to another, or to its end."""
        recent = self._recent.get((stream, start))
        if recent is not None and stop == start + len(recent):
            return recent
        last = END_OF_ALL if stop is None else stop
        found = self.rows(_RANGE, stream, last, stream, start)
        if not found:
            return b""
        data = b"".join([line + b"\n" for _, line in found])
        data = data[start - found[0][0] : last - found[0][0]]
        if b"\n" not in data:
            self._remember(stream, start, data)
        return data

    def _has_tables(self) -> bool:
        if not self._ready:
            query = "SELECT to_regclass('entry') IS NOT NULL AND to_regclass('blob') IS NOT NULL"
            self._ready = bool(self.rows(query)[0][0])
        return self._ready

    # -- the connection

    def _open(self) -> "psycopg.Connection[Any]":
        """Return this process's connection; inside a transaction, the one it began on."""
        self._leave_parent()
        if self._connection is not None:
            return self._connection
        if self._begun:
            raise LedgerError(f"cannot append to {self.where}: the connection was lost")
        with self._translated("connect to"):
            connection = psycopg.connect(self._url, autocommit=True, connect_timeout=10)
        self._connection, self._pid = connection, os.getpid()
        finalize(self, _close, connection, self._pid)
        return connection

    def _leave_parent(self) -> None:
        """Let go of a connection that was inherited: closing it would end it in the parent."""
        if self._connection is not None and self._pid != os.getpid():
            self._inherited.append(self._connection)
            self._connection = None
            self._depth, self._begun, self._waiting = 0, False, []

    def _open_still(self) -> bool:
        return self._connection is not None and not self._connection.closed

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
