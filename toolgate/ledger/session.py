"""A session's turns and entries, while its lock is held."""

from typing import Any

from toolgate.canonical import digest
from toolgate.ledger import state as states
from toolgate.ledger.held import Held
from toolgate.ledger.index import Place, parents_of
from toolgate.ledger.state import Turn
from toolgate.ledger.turn_dag import MAX_TURN_ENTRIES, frontier, frontier_root
from toolgate.records import entry, line_of


class Session(Held):
    """A session under its lock: opens and closes it and its turns, adds its entries."""

    def _load_entries(self) -> None:
        super()._load_entries()
        if self._fragment is not None:
            self._seal(*self._fragment)

    def _seal(self, offset: int, fragment: bytes) -> None:
        """Close a torn end with a line feed and an entry that says what it was."""
        if self.state.turn is None:
            self._reopen()
        turn = self.turn
        ev = {"offset": offset, "length": len(fragment), "digest": digest(fragment)}
        body = entry(
            "recovery",
            session=self.id,
            turn=turn.number,
            parents=[turn.digest],
            ts=max(self.ts, turn.ts),
            ev=ev,
        )
        self._buffer.append(b"\n")
        self._offset += 1
        self.add_entry(body)
        self.sealed.append(
            f"session {self.id}: sealed a fragment of {len(fragment)} bytes at offset {offset}"
        )

    def _reopen(self) -> None:
        """Open the turn a seal belongs to, and the session's next part if need be.

        Whoever seals may be another host than the one the session ran in, and another
        agent; the part names the session's own host, and nobody who started it.
        """
        self.reopened = self.state.opened is None
        sealing = self.setting
        host = self.state.host or sealing.host
        self.setting = sealing._replace(host=host, spawned_by=None)
        self.open_next_part("recovery")
        self.setting = sealing

    # -- turns

    def open(self, spawned_by: str | None = None) -> None:
        """Open the session, as its next part if it was closed before."""
        if self.state.opened is not None:
            return
        ev = {
            "shape": "linear" if self.linear else "dag",
            "host": self.setting.host,
            "executes": self.state.executes if self.state.part else self.setting.executes,
            "durability": "fsync" if self._store.durable else "os",
            "part": self.state.part + 1,
            "spawned_by": spawned_by or self.setting.spawned_by,
        }
        parents = [self.state.closed] if self.state.closed else []
        self.to_spine("session_open", parents=parents, turn=None, ev=ev)

    def open_turn(self, key: str, part: int, why: str) -> None:
        """Open a turn; the session is opened first if need be."""
        with self.spine():
            self.open()
            assert self.state.opened is not None
            ev = {"key": key, "part": part, "why": why}
            number = self.state.turns + 1
            self.to_spine("turn_open", parents=[self.state.opened], turn=number, ev=ev)
        self._count = 0

    def open_next_part(self, why: str) -> None:
        """Open the next part of the latest turn's key."""
        if self.state.key is None:
            self.open_turn("#0", 1, why)
        else:
            self.open_turn(self.state.key, self.state.key_part + 1, why)

    def open_prompt(self, key: str | None) -> None:
        """Open the turn of a new prompt, closing the one that is open."""
        if key is None:
            key = f"#{self.state.counter + 1}"
        part = self._parts_of(key) + 1
        with self.spine():
            self.close_turn("next_turn")
            self.open_turn(key, part, "prompt")

    def join(self, key: str | None) -> None:
        """Make sure the turn is open that an event with this key belongs to."""
        turn = self.state.turn
        if turn is None:
            if key is None or key == self.state.key:
                self.open_next_part("event")
            else:
                self.open_turn(key, self._parts_of(key) + 1, "event")
        elif key is not None and key != turn.key and not self._parts_of(key):
            with self.spine():
                self.close_turn("next_turn")
                self.open_turn(key, 1, "event")

    def knows(self, key: str) -> bool:
        """Say whether a key has had a turn in this session."""
        return key == self.state.key or self._parts_of(key) > 0

    def _parts_of(self, key: str) -> int:
        if not self.state.part:
            return 0
        self.flush()
        return states.parts_of(self._store, self.id, self.state, key)

    def close_turn(self, closed_by: str) -> None:
        """Close the open turn over the frontier of its entries, if one is open."""
        turn = self.state.turn
        if turn is None:
            return
        self.flush()
        lines = self.lines_at(self._places_of(turn))
        leaves = frontier((digest(line), parents_of(line)) for line in lines)
        if self._store.durable and not self.linear:
            self._stream.sync()
        ev = {"root": frontier_root(leaves), "count": len(lines), "closed_by": closed_by}
        self.to_spine("turn_close", parents=[turn.digest], turn=turn.number, ev=ev)

    def _places_of(self, turn: Turn) -> list[Place]:
        count = self.index.count_since(turn.offset)
        return self.index.places[len(self.index.places) - count :]

    def close(self, closed_by: str) -> None:
        """Close the session and its open turn."""
        if self.state.opened is None:
            return
        self.close_turn("session_end" if closed_by == "session_end" else "recovery")
        ev = {"closed_by": closed_by}
        self.to_spine("session_close", parents=[self.state.opened], turn=None, ev=ev)

    # -- entries

    def make_room(self, entries: int) -> None:
        """Start the turn's next part when it cannot take this many entries more."""
        if self._count + entries > MAX_TURN_ENTRIES:
            with self.spine():
                self.close_turn("limit")
                self.open_next_part("limit")

    def add_entry(self, body: dict[str, Any]) -> bytes:
        """Add an entry to the open turn; it is on its way to the disk at ``flush``.

        Returns:
            The entry's line.
        """
        self._count += 1
        if self._spine is not None and self.linear:
            begin = self._spine.offset
            _, line = self._spine.append(body)
            self.index.add(line, begin)
            return line
        line = line_of(body)
        self.index.add(line, self._offset)
        self._buffer.append(line + b"\n")
        self._offset += len(line) + 1
        return line
