"""Transactions on a ledger in PostgreSQL: as few messages as can be, and each whole or not at all.

What a lock is held for is messages, so statements wait until an answer is needed
and then go together: a transaction's beginning, its lock and a look at the end of
the stream are one round trip, what it writes and its commit another. What goes
with the first writes nothing, so a connection that is found dead there is opened
again; behind it, a lost connection is an error.
"""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import finalize

import psycopg

from toolgate.canonical import raw_digest
from toolgate.errors import LedgerError
from toolgate.ledger.address import database_name

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
_LOCK = "SELECT set_config('synchronous_commit', %s, true), pg_advisory_xact_lock(%s)"
_FLUSH = """
SELECT set_config('synchronous_commit', 'on', true), pg_logical_emit_message(true, 'toolgate', '')
"""
# A lost connection is one error of the caller's; the driver would tell it on stderr as well.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

Statement = tuple[str, tuple[Any, ...]]


class Transactions:
    """A connection to a ledger in PostgreSQL, opened when it is needed.

    Args:
        url: ``postgresql://...``, as libpq reads it.
        durable: whether an append waits for the server's disk, whatever the server is set to.

    Attributes:
        where: what the ledger is called in messages; holds no secret.
        epoch: changes when what this process remembers may never have come to be.

    Raises:
        LedgerError: the url cannot be read.
    """

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
        self._failed = False
        self._grouped = False
        self._ready = False

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
