"""Layer 3, execution completeness: what ran is what was allowed, and the other way round.

Two witnesses. The ledger's own outcomes say which decided calls ran; a trace,
where one is given, was written by another system and says which calls it saw.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from toolgate.verify.against_trace import RAN, AgainstTrace, Decided, ran_wrongly
from toolgate.verify.endings import Ending
from toolgate.verify.findings import MOST_OF_A_CODE, Found, Seen, finding
from toolgate.verify.listed import Listed
from toolgate.verify.read import Line
from toolgate.verify.shapes import Decision, Entry, Other, Outcome, SessionOpen
from toolgate.verify.traces.span import Span, Trace

NO_OUTCOME = "none"
SIGNATURE, TELEMETRY, INFERRED = "signature", "telemetry", "inferred"
_SUMS = ("decisions", "outcomes", "calls", "replaced", "answered", "by_content", "_differ")
"""Attributes of ``Execution`` that several processes add up."""


class Ask(NamedTuple):
    """An ask that nothing followed: the user said no, or never answered.

    Args:
        entry: its entry digest.
        session: the session id.
        tool: the tool's name.
        call: the call id.
    """

    entry: str
    session: str
    tool: str
    call: str


class _Session:
    """The decisions of a session, by decision_digest and by entry.

    ``outcomes`` are those that wait for their decision, and what came behind them.
    """

    __slots__ = ("answered", "calls", "differ", "entries", "executes", "outcomes")

    def __init__(self) -> None:
        self.executes = True
        self.differ: dict[str, list[str]] = defaultdict(list)
        self.calls: dict[str, Decided] = {}
        self.entries: dict[str, str] = {}
        self.answered: set[str] = set()
        self.outcomes: list[tuple[str, str, str | None]] = []


class Execution:
    """The third layer. It counts as well, since it knows how each call ended.

    Args:
        spans: a trace, or its tool calls; None when no trace was given.
        most: how many findings of a code, and how many asks and calls of each other list,
            are listed; the others are counted.
        all_endings: whether what only the trace knows is listed in full.

    Attributes:
        asks: asks that nothing followed.
        decisions: decisions by state.
        outcomes: outcomes by terminal state.
        calls: calls by what they were first told and how they ended (``none``: no outcome).
        replaced: decisions a later one replaced, which count as no call of their own.
        answered: asks that were let through, by how: ``signature`` or ``telemetry`` (of an
            approval, or in the trace), ``inferred`` from their execution alone.
        by_content: outcomes that found their decision by tool and arguments.
    """

    def __init__(
        self,
        spans: Trace | Sequence[Span] | None = None,
        most: int = MOST_OF_A_CODE,
        *,
        all_endings: bool = False,
    ) -> None:
        self.seen = Found(most)
        self.asks = Listed[Ask](most)
        self.decisions: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.calls: Counter[tuple[str, str]] = Counter()
        self.replaced = 0
        self.answered: Counter[str] = Counter()
        self.by_content = 0
        self._differ: set[tuple[str, str]] = set()
        self._approvals: dict[str, str] = {}
        self._stated: set[tuple[str | None, str | None]] = set()
        self._refused: dict[tuple[str | None, str], list[str]] = defaultdict(list)
        self._sessions: dict[str, _Session] = defaultdict(_Session)
        self._against = None
        if spans is not None:
            most_endings = None if all_endings else most
            self._against = AgainstTrace(Trace.of(spans), self._add, most_endings)

    def decision(self, line: Line, entry: Decision, stream: str | None) -> None:
        """Take a decision.

        Args:
            line: the entry and its place.
            entry: what it says.
            stream: the session whose file it lies in, None on the spine.
        """
        session, ev, intent = entry.session, entry.ev, entry.intent
        if stream is not None and stream != session:
            return
        held = self._sessions[session]
        state, again = ev.decision_state, held.calls.get(line.event)
        call = held.calls[line.event] = Decided(
            line.digest,
            line.event,
            state,
            ev.args_digest,
            intent.call,
            intent.action_type,
            intent.agent_id,
            entry.turn,
            state,
        )
        if again is not None:  # the same entry twice, or elsewhere
            call.terminal, call.result = again.terminal, again.result
        held.entries[line.digest] = line.event
        self.decisions[state] += 1
        answers = False
        for event in entry.basis:
            held.answered.add(event)
            if event in held.calls:
                call.told, answers = held.calls[event].told, True
        if answers:
            call.by = self._evidence(entry)
        for parent in entry.parents:
            replaced = held.entries.get(parent)
            if replaced is not None and replaced not in held.answered:
                held.calls[replaced].replaced = True

    def _evidence(self, entry: Decision) -> str:
        """Return what the approvals are that a decision on an ask rests on."""
        evidence = {self._approvals[one] for one in entry.basis if one in self._approvals}
        return SIGNATURE if SIGNATURE in evidence else TELEMETRY if evidence else INFERRED

    @property
    def inferred(self) -> int:
        """Return how many asks are known to be answered by their execution only."""
        return self.answered[INFERRED]

    @property
    def joins(self) -> dict[str, int]:
        """Return the calls of the trace by how they were joined."""
        return {} if self._against is None else dict(self._against.joins)

    @property
    def endings(self) -> list[Ending]:
        """Return the ends and answers that the trace shows and the ledger does not know."""
        return [] if self._against is None else list(self._against.endings)

    @property
    def unmatched(self) -> list[Ending]:
        """Return the calls of the trace that ran and that nobody decided."""
        return [] if self._against is None else list(self._against.unmatched)

    @property
    def unlisted(self) -> dict[str, int]:
        """Return how many asks, ends, answers and unmatched calls are counted only."""
        counts = Counter(asks=self.asks.more)
        if self._against is not None:
            counts.update(self._against.unlisted)
        return {name: count for name, count in sorted(counts.items()) if count}

    @property
    def differ(self) -> set[tuple[str, str]]:
        """Return the calls that ran with other arguments than decided, by session and id."""
        return self._differ if self._against is None else self._differ | self._against.differ

    def outcome(self, line: Line, entry: Outcome, stream: str | None) -> None:
        """Take an outcome; arguments as in ``decision``."""
        session, ev = entry.session, entry.ev
        if stream is None or stream == session:
            self.outcomes[ev.terminal_state] += 1
            self.by_content += entry.join == "content"
            held = self._sessions[session]
            call = held.calls.get(ev.decision_digest)
            if call is None or held.outcomes:
                # Outcomes count in their order: behind one that waits, all of them wait.
                held.outcomes.append((ev.decision_digest, ev.terminal_state, ev.result_digest))
            else:
                call.end(ev.terminal_state, ev.result_digest)

    def other(self, line: Line, entry: Entry, stream: str | None) -> None:
        """Take an entry of another kind; arguments as in ``decision``."""
        if stream is not None:
            return  # what belongs on the spine says nothing elsewhere
        if type(entry) is SessionOpen:
            self._sessions[entry.session].executes = entry.ev.executes
        elif type(entry) is Other and entry.kind == "approval":
            self._approvals[line.digest] = entry.ev["evidence"]
        elif type(entry) is Other and entry.kind == "audit":
            if entry.ev["action"] == "execution.unmatched":
                self._unmatched(line, entry)
            elif entry.ev["action"] == "execution.args_differ":
                self._args_differ(line, entry)
            elif entry.ev["action"] == "input.refused":
                self._refuse(line, entry)

    def _refuse(self, line: Line, entry: Other) -> None:
        """Keep a call that could not be read and was answered deny: a trace may list it."""
        details = entry.ev["details"]
        session, *names = (details.get(name) for name in ("session", "call", "args_digest"))
        for name in names:
            for whose in (session, None):
                if isinstance(name, str) and name and (whose is None or isinstance(whose, str)):
                    self._refused[whose, name].append(line.digest)

    def _unmatched(self, line: Line, entry: Other) -> None:
        details = entry.ev["details"]
        tool, call = details.get("tool"), details.get("call")
        known = call if isinstance(call, str) else details.get("args_digest")
        self._stated.add((entry.session, known if isinstance(known, str) else None))
        which = f"call {call}" if isinstance(call, str) else "a call without id"
        message = f"{tool} ran as {which}; no decision was waiting for it"
        self._add("execution.unmatched", line.digest, message, entry.session)

    def _args_differ(self, line: Line, entry: Other) -> None:
        """Report a difference the writer saw, and keep it: a trace will show the same one."""
        details, session = entry.ev["details"], entry.session or ""
        call, ran = str(details.get("call")), str(details.get("args_digest"))
        message = f"{details.get('tool')} call {call} ran with {ran}, not {details.get('decided')}"
        self._add("execution.args_differ", line.digest, message, entry.session)
        self._sessions[session].differ[call].append(ran)
        self._differ.add((session, call))

    def end_session(self, session: str) -> None:
        """Judge a session, now that all of it was read."""
        held = self._sessions.pop(session, None)
        if held is None:
            return
        for event, terminal, result in held.outcomes:
            call = held.calls.get(event)
            if call is not None:
                call.end(terminal, result)
        reported: set[str] = set()
        for call in held.calls.values():
            if call.replaced:
                self.replaced += 1
            elif call.event not in held.answered:
                self.calls[call.told, call.terminal or NO_OUTCOME] += 1
                if call.by:
                    self.answered[self._how(session, call)] += 1
            if call.state != "allowed" or not held.executes:
                self._ledger_side(session, held, call, reported)
        if self._against is not None:
            standing = [
                call
                for call in held.calls.values()
                if not call.replaced and call.event not in held.answered
            ]
            self._against.session(
                session,
                standing,
                executes=held.executes,
                differ=held.differ,
                reported=reported,
            )

    def _how(self, session: str, call: Decided) -> str:
        """Say how the ask behind a call was answered; a trace may know more than the ledger."""
        seen = self._against is not None and self._against.answers.approved(session, call.call)
        return TELEMETRY if seen and call.by == INFERRED else call.by

    def _ledger_side(self, session: str, held: _Session, call: Decided, reported: set[str]) -> None:
        """Judge a call that must not have run."""
        wrong = ran_wrongly(call, executes=held.executes) if call.terminal in RAN else None
        if wrong is not None:
            code, why = wrong
            message = f"{why}: its outcome says {call.terminal}"
            self._add(code, call.entry, message, session, call.turn)
            reported.add(call.event)
        elif call.state == "asked" and not call.replaced and call.event not in held.answered:
            self.asks.append(Ask(call.entry, session, call.tool, call.call))

    # -- sessions that other processes read

    def begin(self) -> None:
        """Go on as one of them, which reports and counts only what it finds itself."""
        self.seen.begin()
        self.asks.begin()
        for name in _SUMS:
            setattr(self, name, type(getattr(self, name))())

    def sums(self) -> dict[str, Any]:
        """Return what this process counted."""
        return {name: getattr(self, name) for name in _SUMS}

    def take(self, sums: dict[str, Any]) -> None:
        """Add what another process counted."""
        for name, value in sums.items():
            held = getattr(self, name)
            if isinstance(held, int):
                setattr(self, name, held + value)
            else:
                held.update(value)

    def leave(self, session: str) -> None:
        """Leave a session to another process."""
        self._sessions.pop(session, None)

    def finish(self) -> None:
        """Report the spans no decision was made for."""
        for session in list(self._sessions):
            self.end_session(session)
        if self._against is not None:
            self._against.finish(self._stated, self._refused)

    def _add(
        self, code: str, entry: str, message: str, session: str | None, turn: int | None = None
    ) -> None:
        self.seen.append(Seen(finding(code, entry, message), session, turn))
