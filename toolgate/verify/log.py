"""Layer 2, log completeness: nothing between the first entry and the head is missing.

The spine is one chain. It opens and closes every session and turn, and each
turn's close commits to the entries of that turn.
"""

from msgspec import UNSET

from toolgate.verify.anchors import NOTHING, Anchors
from toolgate.verify.findings import MOST_OF_A_CODE, Found, Seen, finding
from toolgate.verify.heads import Heads
from toolgate.verify.read import Bad, Line
from toolgate.verify.shapes import (
    Decision,
    Entry,
    Other,
    Outcome,
    Recovery,
    SessionClose,
    SessionOpen,
    TurnClose,
    TurnOpen,
)
from toolgate.verify.turns import Close, Graph, Session, Turn

JUDGED = "judge.asked"
"""The audit entry that says what a judge answered, on which a decision may rest."""

_GENESIS = "sha256:" + "0" * 64
_IN_FILE = frozenset(("decision", "outcome", "recovery"))


class Log:
    """The second layer.

    Args:
        expect_head: number and digest of a spine entry somebody outside kept.
        anchors: checkpoints and keys somebody outside kept.

    Attributes:
        head: number and digest of the last spine entry read.
        heads: the log of the sessions' ends.
        holds_pin: whether the entry that was kept outside is one of them.
    """

    def __init__(
        self,
        expect_head: tuple[int, str] | None = None,
        anchors: Anchors = NOTHING,
        most: int = MOST_OF_A_CODE,
    ) -> None:
        self.seen = Found(most)
        self.head = self._prior = (0, _GENESIS)
        self.heads = Heads(anchors, self._add)
        self.holds_pin = False
        self._expected = expect_head
        self._before = ""
        self._sessions: dict[str, Session] = {}
        self._approvals: dict[str, int] = {}
        self._judged: dict[str, str | None] = {}
        self._sealed = False
        self._file = ""

    def bad(self, run: Bad, session: str | None) -> None:
        """Note a run of lines that are no entries."""
        self._sealed = run.covered
        if not run.torn:
            return
        held = None if session is None else self._sessions.get(session)
        if held is not None and held.linear:
            # No writer of such a session ever writes here, so none was interrupted.
            message = f"{run.file} holds bytes; its session's entries lie on the spine"
            self._add("log.shape", f"{run.file}:{run.last}", message, session)
            return
        message = f"{run.file} ends in a torn line; the next append or a recovery seals it"
        self._add("log.fragment", f"{run.file}:{run.last}", message, session)

    def line(self, line: Line, stream: str | None) -> None:
        """Check one entry; ``stream`` is the session whose file it lies in, None on the spine."""
        entry = line.entry
        if type(entry) is Recovery and not self._sealed:
            message = f"{line.where}: no fragment of {entry.ev.length} bytes stands before it"
            self._add("log.false_recovery", line.digest, message, entry.session, entry.turn)
        self._sealed = False
        if stream is None:
            self._spine_file(line, entry)
            self._chain(line, entry)
            self._spine(line, entry)
        else:
            self._in_file(line, entry, stream)

    # -- the chain

    def _spine_file(self, line: Line, entry: Entry) -> None:
        """Hold a spine file to its name, which is the number of its first entry."""
        if line.file == self._file:
            return
        self._file = line.file
        follows = isinstance(entry.seq, int) and entry.seq == self.head[0] + 1
        if follows and line.file != f"spine-{entry.seq:012d}.jsonl":
            message = f"{line.file} begins with entry {entry.seq}; its name says another"
            self._add("log.spine_broken", line.digest, message, None)

    def _chain(self, line: Line, entry: Entry) -> None:
        seq, prev = entry.seq, entry.prev_digest
        number, head = self.head
        if prev != head or seq != number + 1:
            code = "log.fork" if prev == self._before else "log.spine_broken"
            message = (
                f"{line.where}: entry {seq} follows {prev}; expected entry {number + 1} "
                f"behind {head}"
            )
            self._add(code, line.digest, message, None)
        self._before = str(prev)
        self._prior = self.head
        self.head = (seq if isinstance(seq, int) else number + 1, line.digest)
        self.holds_pin = self.holds_pin or self.head == self._expected
        if self.heads.names_entries:
            self.heads.entry(*self.head)

    def _spine(self, line: Line, entry: Entry) -> None:
        if type(entry) is Other:
            if entry.kind == "approval":
                self._approvals[line.digest] = entry.ts
            elif entry.kind == "audit" and entry.ev["action"] == JUDGED:
                self._judged[line.digest] = entry.session
            else:
                self.heads.other(line, entry, self._prior)
        elif type(entry) is SessionOpen:
            self._session_open(line, entry)
        elif type(entry) is TurnOpen:
            self._turn_open(line, entry)
        elif type(entry) is TurnClose:
            self._turn_close(line, entry)
        elif type(entry) is SessionClose:
            self._session_close(line, entry)
        elif type(entry) is Decision or type(entry) is Outcome:
            self._call(line, entry)
        elif entry.session is not None:
            message = f"{line.where}: seals the spine; it names session {entry.session!r}"
            self._add("log.shape", line.digest, message, entry.session)

    def _session_open(self, line: Line, entry: SessionOpen) -> None:
        held = self._sessions.get(entry.session or "")
        if held is None:
            graph = Graph(entry.session or "", self.seen, self._approvals, self._judged)
            held = self._sessions[entry.session or ""] = Session(graph)
        expected = [held.closed[0]] if held.closed else []
        if held.opened or entry.ev.part != held.part + 1 or entry.parents != expected:
            message = (
                f"{line.where}: part {entry.ev.part} names {entry.parents}; expected part "
                f"{held.part + 1} behind {expected}"
            )
            self._add("log.session_link", line.digest, message, entry.session)
        self._clock(line, held.closed)
        linear = entry.ev.shape == "linear"
        if held.part and linear is not held.linear:
            message = f"{line.where}: shape is {entry.ev.shape}; the session began with another"
            self._add("log.shape", line.digest, message, entry.session)
        elif held.part and entry.ev.executes is not held.executes:
            message = f"{line.where}: executes is {entry.ev.executes}; it began with the opposite"
            self._add("log.session_link", line.digest, message, entry.session)
        elif not held.part:
            held.linear = linear
        held.opened = (line.digest, entry.ts)
        held.part = entry.ev.part
        held.executes = entry.ev.executes

    def _turn_open(self, line: Line, entry: TurnOpen) -> None:
        held = self._open_session(line, entry)
        if held is None:
            return
        if held.turn is not None:
            message = f"{line.where}: turn {held.turn.number} was not closed before this one"
            self._add("log.turn_not_closed", held.turn.digest, message, entry.session)
            self._end_turn(held)
        number = entry.turn or 0
        last = held.turns[-1].number if held.turns else 0
        part = held.keys.get(entry.ev.key, 0) + 1
        if number != last + 1 or entry.ev.part != part:
            message = (
                f"{line.where}: turn {number}, part {entry.ev.part} of its key; "
                f"expected turn {last + 1}, part {part}"
            )
            self._add("log.turn_gap", line.digest, message, entry.session)
        self._parent(line, held.opened)
        held.keys[entry.ev.key] = max(part, entry.ev.part)
        turn = Turn(number, line.digest, entry.ts)
        held.begin_turn(turn)
        if held.linear:
            held.graph.begin(turn)

    def _turn_close(self, line: Line, entry: TurnClose) -> None:
        held = self._open_session(line, entry)
        if held is None:
            return
        turn = held.turn
        if turn is None or entry.turn != turn.number:
            message = f"{line.where}: closes turn {entry.turn}, which is not open"
            self._add("log.not_open", line.digest, message, entry.session, entry.turn)
            return
        self._parent(line, (turn.digest, turn.ts))
        self._head_digest(line, entry)
        turn.close = Close(line.digest, entry.ev.root, entry.ev.count)
        self._end_turn(held)

    def _session_close(self, line: Line, entry: SessionClose) -> None:
        self.heads.close(entry.seq, line.digest)
        held = self._open_session(line, entry)
        if held is None:
            return
        if held.turn is not None:
            message = f"{line.where}: turn {held.turn.number} was not closed before its session"
            self._add("log.turn_not_closed", held.turn.digest, message, entry.session)
            self._end_turn(held)
        self._parent(line, held.opened)
        self._head_digest(line, entry)
        held.opened, held.closed = None, (line.digest, entry.ts)

    def _call(self, line: Line, entry: Decision | Outcome) -> None:
        """Take a decision or outcome that lies on the spine."""
        held = self._sessions.get(entry.session or "")
        if held is None:
            message = f"{line.where}: session {entry.session!r} was never opened"
            self._add("log.session_unknown", line.digest, message, entry.session)
        elif type(entry) is Outcome and entry.turn is None:
            held.graph.late(line, entry, held.turns[-1].number if held.turns else 0)
        elif not held.linear:
            message = f"{line.where}: lies on the spine; its session's entries have a file"
            self._add("log.shape", line.digest, message, entry.session, entry.turn)
        elif held.turn is None or held.turn.number != entry.turn:
            message = f"{line.where}: belongs to turn {entry.turn}, which is not open"
            self._add("log.not_open", line.digest, message, entry.session, entry.turn)
        else:
            held.graph.place(line)

    def _end_turn(self, held: Session) -> None:
        held.turn = None
        if held.linear:
            held.graph.end()

    def segment(self, where: str, message: str, session: str | None) -> None:
        """Note that a sealed segment is not what its manifest says."""
        self._add("log.segment", where, message, session)

    # -- a session's file

    def begin_session(self, session: str, name: str | None, *, known: bool) -> None:
        """Turn to a session's file.

        Args:
            session: the session id, or the file's name where no session has that name.
            name: the file's name; None when it is not there.
            known: whether the spine opens a session of that name.
        """
        self._sealed = False
        if not known:
            message = f"sessions/{name}.jsonl has entries; the spine opens no session of that name"
            self._add("log.session_unknown", f"sessions/{name}.jsonl", message, session)
            return
        held = self._sessions[session]
        expected = [turn for turn in held.turns if turn.close and turn.close.entries]
        if name is None and expected and not held.linear:
            message = f"the file of session {session} is not there; its turns had entries"
            self._add("log.file_missing", held.turns[0].digest, message, session)

    def _in_file(self, line: Line, entry: Entry, session: str) -> None:
        held = self._sessions.get(session)
        if entry.session != session:
            if held is not None:
                message = (
                    f"{line.where}: belongs to session {entry.session!r}; expected {session!r}"
                )
                self._add("log.session_mismatch", line.digest, message, session, entry.turn)
            return
        if held is None:
            return
        if held.linear or entry.kind not in _IN_FILE:
            message = f"{line.where}: lies in a session's file; it belongs on the spine"
            self._add("log.shape", line.digest, message, session, entry.turn)
            return
        if entry.seq is not UNSET:
            message = f"{line.where}: has a place in the chain; it lies in a session's file"
            self._add("log.shape", line.digest, message, session, entry.turn)
        number = entry.turn or 0
        now = held.graph.turn
        same = now is not None and number == now.number
        if same or self._to_turn(line, held, number, session):
            held.graph.place(line)

    def _to_turn(self, line: Line, held: Session, number: int, session: str) -> bool:
        """End the turn whose entries were read and begin the one of this entry."""
        now = held.graph.turn
        if now is not None and number < now.number:
            message = f"{line.where}: belongs to turn {number}; turn {now.number} had begun"
            self._add("log.turn_order", line.digest, message, session, number)
            return False
        at = held.place_of(number)
        if at is None:
            message = f"{line.where}: belongs to turn {number}, which was never opened"
            self._add("log.not_open", line.digest, message, session, number)
            return False
        self._pass_over(held, at)
        held.graph.begin(held.turns[at])
        return True

    def _pass_over(self, held: Session, before: int) -> None:
        """End the turn being read, and hold the turns without entries to that."""
        now = held.graph.turn
        first = 0 if now is None else (held.place_of(now.number) or 0) + 1
        held.graph.end()
        for turn in held.turns[first:before]:
            held.graph.begin(turn)
            held.graph.end()

    def end_session(self, session: str) -> None:
        """Settle a session, now that its file was read."""
        held = self._sessions.pop(session, None)
        if held is None:
            return
        if not held.linear:
            self._pass_over(held, len(held.turns))
        held.graph.finish(executes=held.executes, closed=held.opened is None)
        if held.turn is not None:
            message = f"turn {held.turn.number} of session {session} is open"
            self._add("log.turn_open", held.turn.digest, message, session, held.turn.number)
        if held.opened is not None:
            message = f"session {session} is open"
            self._add("log.session_open", held.opened[0], message, session)

    # -- sessions that other processes read

    def begin(self) -> None:
        """Go on as one of them, which reports only what it finds itself."""
        self.seen.begin()

    def leave(self, session: str) -> None:
        """Leave a session to another process."""
        self._sessions.pop(session, None)

    @property
    def covered(self) -> int:
        """Return the number of the last spine entry that something kept outside binds."""
        pinned = self._expected[0] if self._expected is not None and self.holds_pin else 0
        return max(pinned, self.heads.covered)

    def finish(self) -> None:
        """Compare the head with the pin, and the log with the checkpoints that were kept."""
        self.heads.finish(self.head)
        if not self.holds_pin and self._expected is not None:
            seq, digest = self._expected
            message = (
                f"the pin is entry {seq} with digest {digest}; the spine ends at entry "
                f"{self.head[0]} and does not hold it"
            )
            self._add("log.head", digest, message, None)

    # -- what several checks share

    def _open_session(
        self, line: Line, entry: TurnOpen | TurnClose | SessionClose
    ) -> Session | None:
        held = self._sessions.get(entry.session or "")
        if held is None or held.opened is None:
            message = f"{line.where}: session {entry.session!r} is not open"
            self._add("log.not_open", line.digest, message, entry.session, entry.turn)
            return None
        return held

    def _parent(self, line: Line, expected: tuple[str, int] | None) -> None:
        entry = line.entry
        if expected is not None and entry.parents != [expected[0]]:
            message = f"{line.where}: names {entry.parents}; expected {expected[0]}"
            self._add("log.parent_unknown", line.digest, message, entry.session, entry.turn)
        self._clock(line, expected)

    def _clock(self, line: Line, earlier: tuple[str, int] | None) -> None:
        entry = line.entry
        if earlier is not None and entry.ts < earlier[1]:
            message = f"{line.where}: ts is {entry.ts}; the entry it names has {earlier[1]}"
            self._add("log.clock_backwards", line.digest, message, entry.session, entry.turn)

    def _head_digest(self, line: Line, entry: TurnClose | SessionClose) -> None:
        if entry.ev.ledger_head_digest != entry.prev_digest:
            message = (
                f"{line.where}: records head {entry.ev.ledger_head_digest}; "
                f"the chain names {entry.prev_digest}"
            )
            self._add("log.head_digest", line.digest, message, entry.session, entry.turn)

    def _add(
        self,
        code: str,
        entry: str,
        message: str,
        session: str | None = None,
        turn: int | None = None,
    ) -> None:
        self.seen.append(Seen(finding(code, entry, message), session, turn))
