"""A session's stream and its place on the spine, while their locks are held.

Lock order is always the session's stream, then the spine. A session of shape
``dag`` writes its decisions and outcomes to its own stream and only its turns'
openings and closes to the spine; one of shape ``linear`` writes everything to
the spine, whose lock it then holds throughout.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from toolgate.ledger import state as states
from toolgate.ledger.files import session_name
from toolgate.ledger.index import Index, Place, is_unresolved, tail_of
from toolgate.ledger.spine import Spine, SpineMemory
from toolgate.ledger.state import State, Turn
from toolgate.records import entry

if TYPE_CHECKING:
    from toolgate.ledger.store import Store


class Setting(NamedTuple):
    """What every session of one ledger shares. See ``append.Ledger`` for the fields."""

    store: "Store"
    linear: bool
    executes: bool
    host: str
    rotate: int
    spawned_by: str | None = None


class Memory:
    """What a process keeps between two appends; all of it can be read again."""

    __slots__ = ("indexes", "policies", "spine")

    def __init__(self) -> None:
        self.spine = SpineMemory()
        self.indexes: dict[str, Index] = {}
        self.policies: set[str] = set()


class Held:
    """A session under its lock: what was written, and what is about to be.

    Args:
        setting: the ledger's settings.
        memory: the process's memory.
        session: the session id.
        ts: time of what is done, microseconds UTC.
    """

    def __init__(self, setting: Setting, memory: Memory, session: str, ts: int) -> None:
        self.id = session
        self.setting = setting
        self.ts = ts
        self.state = State()
        self.linear = False
        self.index = Index()
        self.sealed: list[str] = []
        self.reopened = False
        self._memory = memory
        self._store = setting.store
        self._name = session_name(session)
        known = memory.indexes.get(session)
        self._stream = self._store.session(self._name, since=known.end if known else 0)
        self._spine: Spine | None = None
        self._buffer: list[bytes] = []
        self._fragment: tuple[int, bytes] | None = None
        self._offset = 0
        self._count = 0
        self._cached: State | None = None
        self._late: dict[bytes, bytes] | None = None

    def __enter__(self) -> Self:
        self._stream.__enter__()
        try:
            self._load_state()
            if self.linear:
                self._spine = self._new_spine().__enter__()
            self._load_entries()
        except BaseException as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        spine, self._spine = self._spine, None
        try:
            try:
                if kind is None:
                    self._write_buffer()
            except BaseException as error:
                kind, value, trace = type(error), error, error.__traceback__
                raise
            finally:
                if spine is not None:
                    spine.__exit__(kind, value, trace)
            if kind is None:
                self._remember()
        except BaseException:
            self._memory.indexes.pop(self.id, None)
            raise
        finally:
            if kind is not None:
                self._memory.indexes.pop(self.id, None)
            self._stream.__exit__(kind, value, trace)

    # -- reading

    def _load_state(self) -> None:
        known = State() if self._stream.created else states.load(self._store, self._name)
        self._cached = known
        self.state = known or states.from_spine(self._store, self.id)
        self.linear = self.state.linear if self.state.part else self.setting.linear

    def _load_entries(self) -> None:
        self.index = self._memory.indexes.get(self.id) or Index()
        if self.linear and self._spine is not None:
            self._read_spine(self._spine)
        else:
            self._read_file()
        turn = self.state.turn
        if turn is not None:
            self._count = self.index.count_since(turn.offset)

    def _read_spine(self, spine: Spine) -> None:
        identity = spine.identity()
        if identity != self.index.identity or spine.offset < self.index.end:
            self.index = Index()
            self.index.identity = identity
        spine.flush()  # what the last writer left open ends here, so that all lines are whole
        since = max(self.state.since, self.index.end)
        for offset, line in states.lines_of(self._store, self.id, since):
            self.index.add(line, offset)
        self.index.end = spine.offset
        if spine.sealed:
            self.sealed.append(spine.sealed)

    def _read_file(self) -> None:
        identity = self._stream.identity()
        if identity != self.index.identity or self._stream.size() < self.index.end:
            self.index = Index()
            self.index.identity = identity
        begin = self.index.end
        data = self._stream.read(begin)
        self._offset = begin + len(data)
        tail = tail_of(data) if data else None
        good = tail.good if tail else 0
        self.index.add_all(data[:good], begin)
        turn = self.state.turn
        if turn is not None and self._cached is None:
            self.state = self.state._replace(turn=turn._replace(offset=self._start_of(turn)))
        if tail is not None and tail.open:
            self._buffer.append(b"\n")
            self._offset += 1
            self.sealed.append(f"session {self.id}: supplied the line feed of its last line")
        elif data[good:]:
            self._fragment = (begin + good, data[good:])

    def _start_of(self, turn: Turn) -> int:
        """Find where a turn's entries begin in the session's stream."""
        start = self._offset
        suffix = b',"turn":%d,"v":1}' % turn.number
        for place in reversed(self.index.places):
            if not self.line_at(place).endswith(suffix):
                break
            start = place.start
        return start

    def line_at(self, place: Place) -> bytes:
        """Return one of the session's lines."""
        self.flush()
        held = self._spine if self.linear and self._spine is not None else self._stream
        return held.read(place.start, place.stop)

    def lines_at(self, places: list[Place]) -> list[bytes]:
        """Return some of the session's lines, oldest first; its own stream is read once."""
        if self.linear or not places:
            return [self.line_at(place) for place in places]
        self.flush()
        begin = places[0].start
        data = self._stream.read(begin, places[-1].stop)
        return [data[place.start - begin : place.stop - begin] for place in places]

    def answer_to(self, decision_digest: str, place: Place) -> bytes | None:
        """Return the latest outcome line that commits to a decision, if any."""
        key = decision_digest.encode("ascii")
        found = self.index.answers.get(key)
        turn = self.state.turn
        closed = turn is None or place.start < turn.offset
        if closed and not self.linear and (found is None or is_unresolved(found)):
            found = self.late.get(key, found)
        return found

    @property
    def late(self) -> dict[bytes, bytes]:
        """The session's outcomes that came after their turn, by decision_digest."""
        if self._late is None:
            self._late = states.late_answers(self._store, self.id, self.state)
        return self._late

    @property
    def turn(self) -> Turn:
        """The open turn. Only asked for when there is one."""
        assert self.state.turn is not None
        return self.state.turn

    # -- the spine

    def _new_spine(self) -> Spine:
        rotate = self.setting.rotate
        return Spine(self._store, self._memory.spine, rotate=rotate, ts=self.ts, alone=self.linear)

    @contextmanager
    def spine(self) -> Iterator[Spine]:
        """Hold the spine; re-entrant, and held throughout in a linear session."""
        if self._spine is not None:
            yield self._spine
            return
        with self._new_spine() as spine:
            self._spine = spine
            try:
                yield spine
            finally:
                self._spine = None

    def to_spine(self, kind: str, *, parents: list[str], turn: int | None, ev: Any) -> str:
        """Append a spine entry of this session and follow its state; return its digest."""
        body = entry(
            kind,
            session=self.id,
            turn=turn,
            parents=parents,
            ts=max(self.ts, self.state.ts),
            ev=ev,
        )
        return self.body_to_spine(body)

    def body_to_spine(self, body: dict[str, Any]) -> str:
        """Append a ready spine entry of this session; return its digest."""
        self._store.drop_state(self._name)
        self._cached = None
        with self.spine() as spine:
            begin = spine.offset
            done, line = spine.append(body)
            if self.linear:
                self.index.add(line, begin)
            behind = spine.offset if self.linear else self._offset
        if body["kind"] == "session_open" and not self.state.part:
            self.state = self.state._replace(since=begin)
        self.state = states.after(self.state, body, done, behind)
        return done

    def audit(self, action: str, details: dict[str, Any]) -> None:
        """Append an audit entry of this session to the spine."""
        ev = {"action": action, "actor": self.setting.host, "target": None, "details": details}
        with self.spine() as spine:
            spine.append(entry("audit", session=self.id, turn=None, parents=[], ts=self.ts, ev=ev))

    def was_audited(self, details: dict[str, Any]) -> bool:
        """Say whether an audit entry of this session has exactly these details."""
        self.flush()
        return states.was_audited(self._store, self.id, self.state, details)

    def flush(self) -> None:
        """Write what was added, with one write."""
        if self.linear and self._spine is not None:
            self._spine.flush()
        self._write_buffer()

    def _write_buffer(self) -> None:
        if self._buffer:
            data, self._buffer = b"".join(self._buffer), []
            self._stream.append(data)

    def _remember(self) -> None:
        if self._cached is None:
            states.keep(self._store, self._name, self.state)
        self.index.end = self._offset if not self.linear else self._memory.spine.size
        if self.state.opened is None:
            self._memory.indexes.pop(self.id, None)
        else:
            self._memory.indexes[self.id] = self.index
