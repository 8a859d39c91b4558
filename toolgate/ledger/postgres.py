"""A ledger kept in PostgreSQL: the same lines as in files, a row each.

A stream is named ``session/<name>`` or ``spine/<number of its first entry>``,
as the files are. An append is one transaction: it holds the advisory locks of
its session and then of the spine until it commits, so nothing is ever half
written and no end is ever torn.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter

from toolgate.canonical import parse
from toolgate.ledger.index import NO_TAIL, Tail, tail_of
from toolgate.ledger.recall import Keys, Needles, Recall, Scanned
from toolgate.ledger.rows import END_OF_ALL, End, Rows, SpineRows
from toolgate.ledger.transactions import Transactions

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
_RECENT_BYTES = 1024 * 1024


class Database(Transactions):
    """A ledger in PostgreSQL as a store; see ``store.Store``.

    Args:
        url: ``postgresql://...``, as libpq reads it.
        durable: whether an append waits for the server's disk, whatever the server is set to.

    Raises:
        LedgerError: the url cannot be read.
    """

    boot: str | None = "postgresql"

    def __init__(self, url: str, *, durable: bool) -> None:
        super().__init__(url, durable=durable)
        self._states: dict[str, bytes | None] = {}
        self._recent: dict[tuple[str, int], bytes] = {}
        self._recent_bytes = 0

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

    def begun(self, name: str) -> bool:
        """Say whether a session's own stream has rows."""
        query = "SELECT 1 FROM entry WHERE stream = %s LIMIT 1"
        return self._has_tables() and bool(self.rows(query, f"session/{name}"))

    def lacks(self, name: str, needle: bytes) -> bool:
        """Say nothing: it would take as long as looking it up."""
        return False

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
        if name not in self._states:
            found = self.rows(_STATE, name) if self._has_tables() else []
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

    def end(self, failed: bool) -> None:
        """Leave a transaction; see ``Transactions.end``."""
        if self._depth == 1:
            self._states.clear()
        super().end(failed)

    def _forget(self) -> None:
        super()._forget()
        self._recent.clear()
        self._recent_bytes = 0

    # -- statements

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
