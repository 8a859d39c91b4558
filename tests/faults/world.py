"""A world around one ledger: processes that write it and die, people, and what really happened.

Everything is done with the real writer, and what it answers is checked. Beside it the world
keeps what a person would have written down: sessions, calls, what they were told, their ends.
"""

import os
from collections.abc import Callable
from pathlib import Path

from approved import key
from ledgers import SPINE
from world_ends import Ends
from world_sessions import LONG, NOT_RUN, SETTINGS, Call

from toolgate.canonical import digest

__all__ = ["LONG", "NOT_RUN", "SETTINGS", "Call", "World"]


class World(Ends):
    """One ledger and everybody around it."""

    # -- checkpoints

    def checkpoint(self, process: int) -> None:
        desk = self._at(process, "")
        if desk.ledger.head()[0]:
            self.notes.append(desk.ledger.checkpoint(key(self.log_keys[-1]), ts=desk.tick()))

    def rotate_log_key(self, process: int) -> None:
        if self.notes:
            self.log_keys.append(f"log {len(self.log_keys)}")
            desk, (old, new) = self._at(process, ""), self.log_keys[-2:]
            desk.ledger.rotate_key(key(old), key(new), ts=desk.tick())

    def audit(self, process: int) -> None:
        desk = self._at(process, "")
        desk.ledger.audit(
            action="note", actor="alice", target=None, details={"v": 1}, ts=desk.tick()
        )

    # -- writers that die

    def kill_decision(self, process: int, session: str, cut: float) -> str:
        """Decide a call and die while its line is written; return what is left of that.

        Nothing happens to a session without an open turn: that takes several writes.
        """
        held = self.place(session)
        if not held.turn or not self._announced(process):
            return "nothing"
        call, event = self._fresh(), [""]

        def write() -> None:
            event[0] = self._at(process, session).say(call, "allowed", args=call)

        left = self._kill(process, write, self._own(held), cut)
        if left in ("all", "unfed"):
            self._decided(Call(session, call, "look", call, "", "", ""), "allowed", event[0])
        return left

    def kill_stop(self, process: int, session: str, cut: float) -> str:
        """Close a turn and die while that is written; return what is left of it."""
        held = self.place(session)
        if not held.turn:
            return "nothing"
        left = self._kill(process, self._at(process, session).stop, self.root / SPINE, cut)
        if left in ("torn", "unfed"):
            self.file(session).with_suffix(".turn").unlink(missing_ok=True)
        held.turn = held.turn and left not in ("all", "unfed")
        return left

    def kill_audit(self, process: int, cut: float) -> str:
        """Write an audit entry and die; return what is left of it."""
        return self._kill(process, lambda: self.audit(process), self.root / SPINE, cut)

    def _announced(self, process: int) -> bool:
        name = digest(SETTINGS[process][1])[7:]
        return (self.root / "policies" / f"{name}.json").exists()

    def _kill(self, process: int, write: Callable[[], None], path: Path, cut: float) -> str:
        """Let the write of one line to a file end early, and its process with it.

        Returns:
            ``torn``; ``unfed`` if but the line feed was written; ``all`` if it took several
            lines or files, and came through; ``nothing`` if a file ends in a torn line.
        """
        spine = self.root / SPINE
        before = {one: _bytes(one) for one in (spine, path)}
        if not all(data[-1:] in (b"", b"\n") for data in before.values()):
            return "nothing"
        write()
        added = _bytes(path)[len(before[path]) :]
        if added.count(b"\n") != 1 or (path != spine and _bytes(spine) != before[spine]):
            return "all"
        kept = max(1, min(len(added) - 1, round(cut * len(added))))
        os.truncate(path, len(before[path]) + kept)
        self.desks[process] = self._process(process)
        return "unfed" if kept == len(added) - 1 else "torn"


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""
