"""A session's turns as layer 2 sees them: parents, frontier, one outcome a decision."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from msgspec import Struct, field

from toolgate.ledger.turn_dag import MAX_TURN_ENTRIES
from toolgate.verify.findings import Found, Seen, finding
from toolgate.verify.read import Line
from toolgate.verify.shapes import Decision, Outcome


class Close(Struct, frozen=True, gc=False):
    """What a turn_close says its turn holds."""

    entry: str
    root: str
    entries: int


class Turn(Struct, gc=False):
    """A turn of a session.

    Args:
        number: its place among the session's turns, from 1.
        digest: its turn_open entry.
        ts: when it was opened, microseconds UTC.
        close: what its turn_close says.
    """

    number: int
    digest: str
    ts: int
    close: Close | None = None


class _Node(Struct, gc=False):
    """An entry others may name.

    Args:
        ts: its time.
        turn: its turn, None on the spine.
        decides: the decision_digest, if it is a decision.
        answers: the decision_digest it commits to, if it is an outcome.
    """

    ts: int
    turn: int | None
    decides: str | None
    answers: str | None


class _Call(_Node, gc=False):
    """A decision and what was reported on it.

    Args:
        entry: its entry digest.
        state: what was decided.
        tool: the tool's name.
        call: the call id.
        replaced: whether a later decision replaces or answers it.
        outcomes: state, entry digest and parents of each outcome; no parents where the
            decision is the only one.
    """

    entry: str
    state: str
    tool: str
    call: str
    replaced: bool = False
    outcomes: list[tuple[str, str, Sequence[str]]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Return the call for people."""
        return f"{self.tool} call {self.call}"


class Graph:
    """The entries of one session's turns, in the order they were written.

    Args:
        session: the session id.
        seen: where findings go.
        approvals: approval entries and their times, which a decision may name.
        judged: entries that say what a judge answered, and their sessions; a decision may
            rest on those of its own.
    """

    # Of the turn that is being read: its entries, their digests, and what they name.
    _count: int
    _own: set[str]
    _named: set[str]

    def __init__(
        self,
        session: str,
        seen: Found,
        approvals: Mapping[str, int],
        judged: Mapping[str, str | None],
    ) -> None:
        self.turn: Turn | None = None
        self._approvals = approvals
        self._judged = judged
        self._session = session
        self._seen = seen
        self._nodes: dict[str, _Node] = {}
        self._openings: set[str] = set()
        self._calls: dict[str, _Call] = {}
        self._late: list[tuple[Line, Outcome, int]] = []
        self._ended_late: dict[str, int] = {}

    def begin(self, turn: Turn) -> None:
        """Start a turn; the one before it was ended."""
        self.turn = turn
        self._openings.add(turn.digest)
        self._count = 0
        self._own = set()
        self._named = set()

    def end(self) -> None:
        """Compare the turn's entries with what its close says, if it has one."""
        turn, self.turn = self.turn, None
        if turn is None:
            return
        if self._count > MAX_TURN_ENTRIES:
            self._add(
                "log.turn_limit",
                turn.digest,
                f"turn {turn.number} holds {self._count} entries; at most {MAX_TURN_ENTRIES} may",
                turn.number,
            )
        if turn.close is not None:
            self._compare(turn, turn.close)

    def _compare(self, turn: Turn, close: Close) -> None:
        number = turn.number
        if self._count != close.entries:
            message = f"turn {number} holds {self._count} entries; its close says {close.entries}"
            self._add("log.count", close.entry, message, number)
        root = frontier_root(self._own - self._named)
        if root != close.root:
            message = f"turn {number} has the frontier root {root}; its close says {close.root}"
            self._add("log.root", close.entry, message, number)

    def late(self, line: Line, entry: Outcome, opened: int) -> None:
        """Keep an outcome that came after its turn until the session was read.

        Args:
            line: the entry and its place.
            entry: what it says.
            opened: number of the last turn that was opened before it.
        """
        self._nodes[line.digest] = _Node(entry.ts, None, None, entry.ev.decision_digest)
        self._late.append((line, entry, opened))
        if entry.ev.terminal_state != "unresolved":
            self._ended_late.setdefault(entry.ev.decision_digest, opened)

    def place(self, line: Line) -> None:
        """Take an entry of the turn."""
        turn = self.turn
        assert turn is not None
        self._count += 1
        digest, entry = line.digest, line.entry
        if digest in self._nodes:
            self._add(
                "log.duplicate_entry", digest, f"{line.where}: stands here again", turn.number
            )
            return
        if type(entry) is Decision:
            event, intent = line.event, entry.intent
            plain = not entry.facts and not entry.basis
            if not plain or entry.parents != [turn.digest] or entry.ts < turn.ts:
                self._decision(line, entry, turn)
                self._named.update(entry.parents)
            node: _Node
            node = self._calls[event] = _Call(
                entry.ts,
                turn.number,
                event,
                None,
                digest,
                entry.ev.decision_state,
                intent.action_type,
                intent.call,
            )
        elif type(entry) is Outcome:
            call = self._calls.get(entry.ev.decision_digest)
            # The usual outcome names its decision alone; what it says is kept in few bytes.
            if call is not None and entry.parents == [call.entry]:
                if entry.ts < call.ts:
                    self._clock(line, call.ts)
                call.outcomes.append((entry.ev.terminal_state, digest, ()))
                self._named.add(call.entry)
                answers = call.decides
            else:
                self._outcome(line, entry)
                self._named.update(entry.parents)
                answers = entry.ev.decision_digest
            node = _Node(entry.ts, turn.number, None, answers)
        else:
            if entry.parents != [turn.digest]:
                self._sort_out(line, [one for one in entry.parents if one != turn.digest])
            self._named.update(entry.parents)
            node = _Node(entry.ts, turn.number, None, None)
        self._nodes[digest] = node
        self._own.add(digest)

    def _decision(self, line: Line, entry: Decision, turn: Turn) -> None:
        """Check a decision that is not simply the first about a call, resting on nothing."""
        if entry.parents == [turn.digest]:
            if entry.ts < turn.ts:
                self._clock(line, turn.ts)
        else:
            self._second_decision(line, entry, turn)
        for item in entry.basis:
            given = self._approvals.get(item)
            if given is not None and entry.ts < given and item not in entry.parents:
                self._clock(line, given)
        for fact in entry.facts:
            known = fact.entry in self._nodes or fact.entry in self._openings
            if not known and self._judged.get(fact.entry) != self._session:
                message = (
                    f"{line.where}: fact {fact.code} rests on {fact.entry}, not an earlier entry"
                )
                self._add("log.fact_unknown", line.digest, message, None)

    def _second_decision(self, line: Line, entry: Decision, turn: Turn) -> None:
        """Check a decision that replaces or answers an earlier one."""
        strange: list[str] = []
        at_home = False
        for parent in entry.parents:
            if parent == turn.digest:
                at_home = True
                continue
            if parent in self._approvals:
                if entry.ts < self._approvals[parent]:
                    self._clock(line, self._approvals[parent])
                continue
            node = self._nodes.get(parent)
            if node is None or node.decides is None:
                strange.append(parent)
                continue
            at_home = at_home or node.turn == turn.number
            if self._has_ended(node.decides, turn):
                strange.append(parent)
            self._calls[node.decides].replaced = True
            if entry.ts < node.ts:
                self._clock(line, node.ts)
        if strange or not at_home:
            self._sort_out(line, strange)

    def _has_ended(self, event: str, turn: Turn) -> bool:
        """Say whether a decision has an outcome that stands before what comes now, in a turn."""
        if any(state != "unresolved" for state, _, _ in self._calls[event].outcomes):
            return True
        return self._ended_late.get(event, turn.number) < turn.number

    def _outcome(self, line: Line, entry: Outcome, opened: int | None = None) -> None:
        """Check an outcome's parents: its decision, and an outcome it replaces."""
        ev = entry.ev
        call = self._calls.get(ev.decision_digest)
        strange: list[str] = []
        unknown: list[str] = []
        found = False
        for parent in entry.parents:
            node = self._nodes.get(parent)
            if node is None or (opened is not None and (node.turn or 0) > opened):
                unknown.append(parent)
                continue
            if call is not None and parent == call.entry:
                found = True
            elif call is not None and node.answers != ev.decision_digest:
                strange.append(parent)
            if entry.ts < node.ts:
                self._clock(line, node.ts)
        if call is not None:
            call.outcomes.append((ev.terminal_state, line.digest, entry.parents))
        if unknown or strange:
            self._stranger(line, strange, unknown)
        elif not found and call is not None:
            message = f"{line.where}: parents lack {call.entry}, the decision it commits to"
            self._add("log.outcome_parent", line.digest, message, entry.turn)

    def finish(self, *, executes: bool, closed: bool) -> None:
        """Judge what every decision has for an outcome, now that the session was read."""
        for line, entry, opened in self._late:
            self._outcome(line, entry, opened)
        for call in self._calls.values():
            if len(call.outcomes) != 1 or call.outcomes[0][0] == "unresolved":
                self._settle(call, executes=executes, closed=closed)

    def _settle(self, call: _Call, *, executes: bool, closed: bool) -> None:
        final = [one for one in call.outcomes if one[0] != "unresolved"]
        unresolved = [one for one in call.outcomes if one[0] == "unresolved"]
        twice = len(final) > 1 or len(unresolved) > 1
        if final and unresolved and not twice:
            twice = unresolved[0][1] not in final[0][2]
        if twice:
            message = f"{call.name} has {len(call.outcomes)} outcomes; one may stand"
            self._add("log.two_outcomes", call.entry, message, call.turn)
        if call.state != "allowed" or call.replaced or final or not executes:
            return
        if unresolved or closed:
            why = "its session closed it as unresolved" if unresolved else "it has no outcome"
            message = f"{call.name} was allowed in turn {call.turn}; {why}"
            self._add("log.orphan_allow", call.entry, message, call.turn)

    def _sort_out(self, line: Line, parents: list[str]) -> None:
        """Report parents an entry may not name, by whether they are entries before it."""
        self._stranger(line, parents, [one for one in parents if one not in self._nodes])

    def _stranger(self, line: Line, parents: list[str], unknown: list[str]) -> None:
        turn = line.entry.turn
        if unknown:
            message = f"{line.where}: names {unknown[0]}, which is no entry before it"
            self._add("log.parent_unknown", line.digest, message, turn)
        else:
            what = parents[0] if parents else "nothing of its own turn"
            message = f"{line.where}: names {what}, which is no cause of it"
            self._add("log.parent_foreign", line.digest, message, turn)

    def _clock(self, line: Line, earlier: int) -> None:
        message = f"{line.where}: ts is {line.entry.ts}; the entry it names has {earlier}"
        self._add("log.clock_backwards", line.digest, message, line.entry.turn)

    def _add(self, code: str, entry: str, message: str, turn: int | None) -> None:
        self._seen.append(Seen(finding(code, entry, message), self._session, turn))


class Session:
    """A session as the spine tells it; ``places`` is None while turns count up from 1."""

    __slots__ = (
        "closed",
        "executes",
        "graph",
        "keys",
        "linear",
        "opened",
        "part",
        "places",
        "turn",
        "turns",
    )

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.opened: tuple[str, int] | None = None
        self.closed: tuple[str, int] | None = None
        self.part = 0
        self.linear = False
        self.executes = True
        self.turns: list[Turn] = []
        self.turn: Turn | None = None
        self.keys: dict[str, int] = {}
        self.places: dict[int, int] | None = None

    def begin_turn(self, turn: Turn) -> None:
        """Take a turn that was opened."""
        self.turn = turn
        at = len(self.turns)
        if self.places is None and turn.number != at + 1:
            self.places = {number: number - 1 for number in range(1, at + 1)}
        if self.places is not None:
            self.places.setdefault(turn.number, at)
        self.turns.append(turn)

    def place_of(self, number: int) -> int | None:
        """Return where a turn stands among those that were opened; None if it was not."""
        if self.places is not None:
            return self.places.get(number)
        return number - 1 if 0 < number <= len(self.turns) else None


def frontier_root(digests: Iterable[str]) -> str:
    """Return the root over a turn's frontier, as ``sha256:<hex>``.

    Level by level, an odd node going up as it is: the same tree as the split at the
    largest power of two, in half the time of ``merkle.tree_root``, which takes a stream.

    Args:
        digests: entry digests, each once, in any order.

    Source: RFC 6962, section 2.1.
    """
    level = [sha256(bytes.fromhex("00" + digest[7:])).digest() for digest in sorted(digests)]
    level = level or [sha256(b"").digest()]
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [sha256(b"\x01" + left + right).digest() for left, right in pairs] + odd
    return "sha256:" + level[0].hex()
