"""Layer 3, execution completeness: what ran is what was allowed, and the other way round.

Two witnesses. The ledger's own outcomes say which decided calls ran; a trace,
where one is given, was written by another system and says which calls it saw.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from toolgate.verify.findings import Seen, finding
from toolgate.verify.read import Line
from toolgate.verify.shapes import Decision, Entry, Other, Outcome, SessionOpen
from toolgate.verify.traces.span import ERROR, OK, Span
from toolgate.verify.words import counted

NO_OUTCOME = "none"
_NEVER = 2**63  # a span without a time cannot show where the trace ends
_SUMS = ("decisions", "outcomes", "calls", "replaced", "inferred", "differ")
"""Attributes of ``Execution`` that several processes add up."""

_RAN = ("ok", "error", "timeout", "cancelled")


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


class _Call(Struct, gc=False):
    """A decision, and what the ledger says became of it."""

    entry: str
    event: str
    state: str
    args: str
    call: str
    tool: str
    ts: int
    turn: int | None
    told: str
    inferred: bool = False
    replaced: bool = False
    terminal: str = ""
    result: str | None = None

    def end(self, terminal: str, result: str | None) -> None:
        """Take an outcome; one that says nothing does not stand against another."""
        if terminal != "unresolved" or not self.terminal:
            self.terminal, self.result = terminal, result


class _Session:
    """The decisions of a session, by decision_digest and by entry.

    ``outcomes`` are those that wait for their decision, and what came behind them.
    """

    __slots__ = ("answered", "calls", "differ", "entries", "executes", "outcomes")

    def __init__(self) -> None:
        self.executes = True
        self.differ: dict[str, list[str]] = defaultdict(list)
        self.calls: dict[str, _Call] = {}
        self.entries: dict[str, str] = {}
        self.answered: set[str] = set()
        self.outcomes: list[tuple[str, str, str | None]] = []


class Execution:
    """The third layer. It counts as well, since it knows how each call ended.

    Args:
        spans: the tool calls of a trace; None when no trace was given.

    Attributes:
        asks: asks that nothing followed.
        decisions: decisions by state.
        outcomes: outcomes by terminal state.
        calls: calls by what they were first told and how they ended (``none``: no outcome).
        replaced: decisions a later one replaced, which count as no call of their own.
        inferred: allowed decisions that rest on an ask and its execution alone.
        differ: session and id of the calls that ran with other arguments than were decided.
    """

    def __init__(self, spans: Sequence[Span] | None = None) -> None:
        self.seen: list[Seen] = []
        self.asks: list[Ask] = []
        self.decisions: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.calls: Counter[tuple[str, str]] = Counter()
        self.replaced = 0
        self.inferred = 0
        self.differ: set[tuple[str, str]] = set()
        self._traced = spans is not None
        self._sessions: dict[str, _Session] = defaultdict(_Session)
        self._spans = _Spans(spans or ())

    def decision(self, line: Line, entry: Decision, stream: str | None) -> None:
        """Take a decision.

        Args:
            line: the entry and its place.
            entry: what it says.
            stream: the session whose file it lies in, None on the spine.
        """
        session, ev, intent = entry.session or "", entry.ev, entry.intent
        if stream is not None and stream != session:
            return
        held = self._sessions[session]
        state, again = ev.decision_state, held.calls.get(line.event)
        call = held.calls[line.event] = _Call(
            line.digest,
            line.event,
            state,
            ev.args_digest,
            intent.call,
            intent.action_type,
            entry.ts,
            entry.turn,
            state,
        )
        if again is not None:  # the same entry twice, or elsewhere
            call.terminal, call.result = again.terminal, again.result
        held.entries[line.digest] = line.event
        self.decisions[state] += 1
        for event in entry.basis:
            held.answered.add(event)
            if event in held.calls and call.state == "allowed":
                call.told, call.inferred = held.calls[event].told, True
        for parent in entry.parents:
            replaced = held.entries.get(parent)
            if replaced is not None and replaced not in held.answered:
                held.calls[replaced].replaced = True

    def outcome(self, line: Line, entry: Outcome, stream: str | None) -> None:
        """Take an outcome; arguments as in ``decision``."""
        session, ev = entry.session or "", entry.ev
        if stream is None or stream == session:
            self.outcomes[ev.terminal_state] += 1
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
        if isinstance(entry, SessionOpen):
            self._sessions[entry.session or ""].executes = entry.ev.executes
        elif isinstance(entry, Other) and entry.kind == "audit":
            if entry.ev["action"] == "execution.unmatched":
                self._unmatched(line, entry)
            elif entry.ev["action"] == "execution.args_differ":
                self._args_differ(line, entry)

    def _unmatched(self, line: Line, entry: Other) -> None:
        details = entry.ev["details"]
        tool, call = details.get("tool"), details.get("call")
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
        self.differ.add((session, call))

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
                self.inferred += call.inferred
            if call.state != "allowed" or not held.executes:
                self._ledger_side(session, held, call, reported)
        if self._traced:
            self._trace_side(session, held, reported)

    def _ledger_side(self, session: str, held: _Session, call: _Call, reported: set[str]) -> None:
        """Judge a call that must not have run."""
        if call.terminal in _RAN:
            self._ran_wrongly(session, held, call, f"its outcome says {call.terminal}")
            reported.add(call.event)
        elif call.state == "asked" and not call.replaced and call.event not in held.answered:
            self.asks.append(Ask(call.entry, session, call.tool, call.call))

    def _ran_wrongly(self, session: str, held: _Session, call: _Call, how: str) -> None:
        which = f"{call.tool} call {call.call}"
        if not held.executes:
            code, why = "execution.in_run", f"{which} ran in a session that executes nothing"
        elif call.state == "denied":
            code, why = "execution.after_deny", f"{which} was denied and ran"
        elif call.state == "asked":
            code, why = "execution.ask_unanswered", f"{which} was asked about and ran unanswered"
        else:
            return
        self._add(code, call.entry, f"{why}: {how}", session, call.turn)

    # -- against a trace

    def _trace_side(self, session: str, held: _Session, reported: set[str]) -> None:
        seen_until = self._spans.last_ts(session)
        missing: list[_Call] = []
        for call in held.calls.values():
            if call.replaced or call.event in held.answered:
                continue
            spans = self._spans_of(session, held, call)
            if not spans:
                if held.executes and call.terminal in _RAN and call.state == "allowed":
                    missing.append(call)
                continue
            if len(spans) > 1:
                message = f"{spans[1].where}: shows {call.tool} call {call.call} a second time"
                self._add("execution.span_reused", call.entry, message, session, call.turn)
            if call.event not in reported:
                self._compare(session, held, call, spans[0])
        self._report_missing(session, missing, seen_until)

    def _spans_of(self, session: str, held: _Session, call: _Call) -> list[Span]:
        """Take a call's spans, by the arguments that were decided or are known to have run."""
        for args in (call.args, *held.differ.get(call.call, ())):
            spans = self._spans.take(session, call.call, call.tool, args)
            if spans:
                return spans
        return []

    def _compare(self, session: str, held: _Session, call: _Call, span: Span) -> None:
        def add(code: str, message: str) -> None:
            self._add(code, call.entry, f"{span.where}: {message}", session, call.turn)

        which = f"{call.tool} call {call.call}"
        if span.decision_digest is not None and span.decision_digest != call.event:
            add("execution.other_decision", f"{which} names decision {span.decision_digest}")
            return
        if (call.state != "allowed" and span.status == OK) or not held.executes:
            self._ran_wrongly(session, held, call, f"{span.where} shows it")
            return
        known = (None, call.args, *held.differ.get(call.call, ()))
        if span.args_digest not in known:
            add("execution.args_differ", f"{which} ran with {span.args_digest}, not {call.args}")
            self.differ.add((session, call.call))
        if call.result and span.result_digest and span.result_digest != call.result:
            add("execution.result_differs", f"{which} gave {span.result_digest}, not {call.result}")
        ended_well = call.terminal == "ok"
        if call.terminal not in ("", "unresolved") and (
            (span.status == OK and not ended_well) or (span.status == ERROR and ended_well)
        ):
            add("execution.state_differs", f"{which} ended {span.status}, not {call.terminal}")

    def _report_missing(self, session: str, missing: list[_Call], until: int | None) -> None:
        if not missing:
            return
        if until is None:
            ran = counted(len(missing), "call")
            message = f"no trace of session {session} was given; {ran} of it ran"
            self._add("execution.trace_missing", missing[0].entry, message, session)
            return
        behind = [call for call in missing if call.ts > until]
        for call in missing:
            if call.ts <= until:
                message = f"{call.tool} call {call.call} has an outcome; the trace does not show it"
                self._add("execution.no_span", call.entry, message, session, call.turn)
        if behind:
            ran = counted(len(behind), "call")
            message = f"the trace of session {session} ends before {ran} that ran"
            self._add("execution.trace_ends", behind[0].entry, message, session)

    # -- sessions that other processes read

    def begin(self) -> None:
        """Go on as one of them, which reports and counts only what it finds itself."""
        self.seen.clear()
        self.asks.clear()
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
        for span in self._spans.left():
            message = f"{span.where}: {span.tool or 'a tool'} call {span.call} has no decision"
            entry = span.where
            self._add("execution.no_decision", entry, message, span.session)

    def _add(
        self, code: str, entry: str, message: str, session: str | None, turn: int | None = None
    ) -> None:
        self.seen.append(Seen(finding(code, entry, message), session, turn))


class _Spans:
    """A trace's spans, by the call they show, each taken by at most one decision."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._taken = bytearray(len(spans))
        self._by_call: dict[str, list[int]] = defaultdict(list)
        self._by_content: dict[tuple[str | None, str | None, str], list[int]] = defaultdict(list)
        self._last: dict[str, int] = {}
        for at, span in enumerate(spans):
            if span.call is not None:
                self._by_call[span.call].append(at)
            elif span.args_digest is not None:
                self._by_content[span.session, span.tool, span.args_digest].append(at)
            if span.session is not None:
                until = _NEVER if span.ts is None else span.ts
                self._last[span.session] = max(self._last.get(span.session, until), until)

    def last_ts(self, session: str) -> int | None:
        """Return the time of a session's last span; None when it has none."""
        return self._last.get(session)

    def take(self, session: str, call: str, tool: str, args: str) -> list[Span]:
        """Take the spans that show a decided call."""
        found: list[Span] = []
        for at in self._by_call.get(call, ()):
            span = self._spans[at]
            if span.session not in (None, session):
                # A resumed session repeats what an earlier one did under its own name.
                self._taken[at] |= span.args_digest == args
            elif not self._taken[at]:
                self._taken[at] = True
                found.append(span)
        if found:
            return found
        waiting = self._by_content.get((session, tool, args))
        if waiting:
            at = waiting.pop(0)
            self._taken[at] = True
            return [self._spans[at]]
        return []

    def left(self) -> list[Span]:
        """Return the spans nobody took."""
        return [span for span, taken in zip(self._spans, self._taken, strict=True) if not taken]
