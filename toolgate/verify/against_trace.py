"""What a trace must agree on with the ledger, call by call.

A trace is compared with what the ledger says at the end of a session. Its clock
is not: where it ends is told by the last decided call it shows.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from toolgate.verify.endings import AGREES, Ending, answer_only, ending_of, unmatched
from toolgate.verify.listed import Listed
from toolgate.verify.spans import BY_CONTENT, Answers, Match, Spans
from toolgate.verify.traces.span import CANCELLED, OK, REFUSED, Span, Trace
from toolgate.verify.words import counted

RAN = ("ok", "error", "timeout", "cancelled")
"""Terminal states of a call that ran, at least in part."""

_MAIN = "main"
_COMPLETED = ("ok", "error", "timeout")
_SHOWN_RAN = (OK, CANCELLED)


class Decided(Struct, gc=False):
    """A decision, and what the ledger says became of the call."""

    entry: str
    event: str
    state: str
    args: str
    call: str
    tool: str
    agent: str
    turn: int | None
    told: str
    by: str = ""  # how the ask it answers was answered
    replaced: bool = False
    terminal: str = ""
    result: str | None = None

    def end(self, terminal: str, result: str | None) -> None:
        """Take an outcome; one that says nothing does not stand against another."""
        if terminal != "unresolved" or not self.terminal:
            self.terminal, self.result = terminal, result


Add = Callable[[str, str, str, str | None, int | None], None]
"""Takes a finding: code, entry, message, session, turn."""


def ran_wrongly(call: Decided, *, executes: bool) -> tuple[str, str] | None:
    """Return code and sentence for a call that ran and should not have; None if it may."""
    which = f"{call.tool} call {call.call}"
    if not executes:
        return "execution.in_run", f"{which} ran in a session that executes nothing"
    if call.state == "denied":
        return "execution.after_deny", f"{which} was denied and ran"
    if call.state == "asked":
        return "execution.ask_unanswered", f"{which} was asked about and ran unanswered"
    return None


class AgainstTrace:
    """Compares sessions with a trace.

    Args:
        trace: what the trace files say.
        add: where findings go.
        most: how many endings, and how many unmatched calls, are listed; None for all.

    Attributes:
        answers: what the trace says about permission prompts.
        joins: joined calls by how they were joined.
        differ: session and id of the calls that ran with other arguments than were decided.
        endings: calls whose end, or whose user's answer, is shown and the ledger does not know.
        unmatched: calls of known sessions that ran and that nobody decided.
        unlisted: how many ends, answers and unmatched calls are not among them.
    """

    def __init__(self, trace: Trace, add: Add, most: int | None) -> None:
        self.answers = Answers(trace.answers)
        self.joins: Counter[str] = Counter()
        self.differ: set[tuple[str, str]] = set()
        self.endings = Listed[Ending](most)
        self.unmatched = Listed[Ending](most)
        self.unlisted: Counter[str] = Counter()
        self._known: set[str] = set()
        self._spans = Spans(trace)
        self._lossy = dict.fromkeys(loss.format for loss in trace.losses)
        self._losses: dict[tuple[str, str | None], str] = {}
        for loss in trace.losses:
            self._losses.setdefault((loss.format, loss.session), loss.why)
        self._add = add

    def session(
        self,
        session: str,
        calls: Iterable[Decided],
        *,
        executes: bool,
        differ: Mapping[str, Sequence[str]],
        reported: Collection[str],
    ) -> None:
        """Compare a session that was read to its end.

        Args:
            session: its id.
            calls: the decisions that stand, in the order they were made.
            executes: whether its calls run.
            differ: by call id, digests of other arguments the ledger says it ran with.
            reported: decisions of which it is known that they ran wrongly.
        """
        chains: dict[str, list[tuple[Decided, bool]]] = defaultdict(list)
        first: Decided | None = None
        self._known.add(session)
        for call in calls:
            first = first or call
            arguments = [call.args, *differ.get(call.call, ())]
            match = self._spans.take(session, call.call, call.tool, arguments)
            if match is not None:
                self.joins[match.join] += 1
                self._compare(session, call, match, arguments, executes, call.event in reported)
            if executes:
                self._keep_ending(session, call, match)
            self._rejected(session, call, match)
            expected = executes and call.state == "allowed" and call.terminal in RAN
            if expected or match is not None:
                chains[call.agent].append((call, match is not None))
        lost = self._lost(session)
        if lost is not None and first is not None:
            self._not_whole(session, first, chains, lost)
            return
        for agent, shown in chains.items():
            self._report_missing(session, agent, shown)

    def _compare(
        self,
        session: str,
        call: Decided,
        match: Match,
        arguments: Sequence[str],
        executes: bool,
        reported: bool,
    ) -> None:
        which = f"{call.tool} call {call.call}"
        how = " (matched by content)" if match.join == BY_CONTENT else ""

        def add(code: str, span: Span, message: str) -> None:
            self._add(code, call.entry, f"{span.where}: {message}{how}", session, call.turn)

        if match.again is not None:
            add("execution.span_reused", match.again, f"shows {which} a second time")
        if reported:
            return
        said: set[str] = set()
        for span in match.spans:
            if span.decision_digest is not None and span.decision_digest != call.event:
                names = f"{which} names decision {span.decision_digest}"
                add("execution.other_decision", span, names)
                continue
            wrong = ran_wrongly(call, executes=executes)
            ran = span.status in _SHOWN_RAN if executes else span.status != REFUSED
            if wrong is not None and ran:
                if wrong[0] not in said:
                    said.add(wrong[0])
                    add(wrong[0], span, f"shows that {wrong[1]}")
                continue
            self._compare_content(session, call, span, arguments, add)

    def _compare_content(
        self,
        session: str,
        call: Decided,
        span: Span,
        arguments: Sequence[str],
        add: Callable[[str, Span, str], None],
    ) -> None:
        which = f"{call.tool} call {call.call}"
        if span.args_digest is not None and span.args_digest not in arguments:
            ran = f"{which} ran with {span.args_digest}, not {call.args}"
            add("execution.args_differ", span, ran)
            self.differ.add((session, call.call))
        if call.result and span.result_digest and span.result_digest != call.result:
            gave = f"{which} gave {span.result_digest}, not {call.result}"
            add("execution.result_differs", span, gave)
        if call.terminal and span.status is not None and span.status not in AGREES[call.terminal]:
            ended = f"{which} ended {span.status}, not {call.terminal}"
            add("execution.state_differs", span, ended)

    def _keep_ending(self, session: str, call: Decided, match: Match | None) -> None:
        """Keep the end of a call the ledger has none for, and the answer to an open ask."""
        if call.terminal not in ("", "unresolved") or call.state == "denied":
            return
        ending = None
        if match is not None:
            ending = ending_of(match.spans, session, call.tool, call.args)
        if match is not None and ending is not None:
            ending = ending._replace(call=call.call, decided=call.event, join=match.join)
        if call.state == "asked":
            ran = match is not None and any(span.status in _SHOWN_RAN for span in match.spans)
            ending = self._answered(session, call, ending, ran=ran)
        if ending is not None and not self.endings.append(ending):
            self.unlisted["ends"] += ending.terminal_state is not None
            self.unlisted["answers"] += ending.approved is not None

    def _answered(
        self, session: str, call: Decided, ending: Ending | None, *, ran: bool
    ) -> Ending | None:
        """Return the end of a call that was asked about, with its user's answer; None for none.

        An ask that failed may have been refused, so without its user's answer it takes
        another that let it through.
        """
        said = self.answers.on(session, call.call)
        if said is None or not said.by_user:
            passed = said is not None and said.accepted
            shown = ending is not None and ending.terminal_state != "refused"
            return ending if ran or (passed and shown) else None
        if not said.accepted and ran and ending is None:
            return None  # it ran, in which way is not agreed: no end and no refusal
        if ending is None or not (said.accepted or ran):
            ending = answer_only(session, call.call, call.tool, call.event, call.args)
        return ending._replace(approved=said.accepted, principal=said.person)

    def _rejected(self, session: str, call: Decided, match: Match | None) -> None:
        """Report a call that ran although the host says it was rejected."""
        answer = self.answers.on(session, call.call)
        if answer is None or answer.accepted:
            return
        shown = match is not None and any(span.status in _SHOWN_RAN for span in match.spans)
        if shown or call.terminal in _COMPLETED:
            how = f"its outcome says {call.terminal}" if call.terminal else "the trace shows it"
            message = (
                f"{answer.where}: {call.tool} call {call.call} was rejected"
                f" ({answer.source or 'by whom is not said'}) and ran: {how}"
            )
            self._add("execution.rejected", call.entry, message, session, call.turn)

    # -- what a trace does not show

    def _lost(self, session: str) -> str | None:
        """Return why no format shows all of a session; None when one of them may."""
        formats = self._spans.formats_of(session) or list(self._lossy)
        reasons: list[str] = []
        for format_ in formats:
            why = self._losses.get((format_, None)) or self._losses.get((format_, session))
            if why is None:
                return None
            reasons.append(why)
        return reasons[0] if reasons else None

    def _not_whole(
        self,
        session: str,
        first: Decided,
        chains: Mapping[str, list[tuple[Decided, bool]]],
        why: str,
    ) -> None:
        missing = [call for chain in chains.values() for call, shown in chain if not shown]
        message = f"the trace of session {session} is not whole: {why}"
        if missing:
            message += f"; it does not show {counted(len(missing), 'call')} that ran"
        entry = (missing or [first])[0].entry
        self._add("execution.trace_ends", entry, message, session, None)

    def _report_missing(
        self, session: str, agent: str, calls: Sequence[tuple[Decided, bool]]
    ) -> None:
        """Report the calls of one agent that ran and are not shown.

        What lies before a call that is shown is missing; behind the last one the
        trace ends. A subagent's calls may lie in a file that was not given.
        """
        last = max((at for at, (_, shown) in enumerate(calls) if shown), default=-1)
        behind = [call for call, shown in calls[last + 1 :] if not shown]
        for call, shown in calls[: last + 1]:
            if not shown:
                message = f"{call.tool} call {call.call} has an outcome; the trace does not show it"
                self._add("execution.no_span", call.entry, message, session, call.turn)
        if not behind:
            return
        ran = counted(len(behind), "call")
        if last < 0:
            whose = "" if agent == _MAIN else f" of agent {agent}"
            message = f"no trace{whose} of session {session} was given; {ran} of it ran"
            self._add("execution.trace_missing", behind[0].entry, message, session, None)
        else:
            message = f"the trace of session {session} ends before {ran} that ran"
            self._add("execution.trace_ends", behind[0].entry, message, session, None)

    def finish(
        self,
        stated: Collection[tuple[str | None, str | None]],
        refused: Mapping[tuple[str | None, str], Sequence[str]],
    ) -> None:
        """Report the spans no decision was made for.

        Args:
            stated: session and call, or arguments where there is no id, of the calls that
                the ledger itself reports as unmatched.
            refused: entries that say a call was refused because it could not be read, by
                what ``stated`` holds; session None where a span may name none.
        """
        left = [
            span
            for span in self._spans.left()
            if (span.session, span.call or span.args_digest) not in stated
        ]
        left = self._not_refused(left, refused)
        for ending in unmatched(span for span in left if span.session in self._known):
            self.unlisted["unmatched"] += not self.unmatched.append(ending)
        for span in left:
            call = "without id" if span.call is None else span.call
            message = f"{span.where}: {span.tool or 'a tool'} call {call} has no decision"
            self._add("execution.no_decision", span.where, message, span.session, None)

    def _not_refused(
        self, spans: list[Span], refused: Mapping[tuple[str | None, str], Sequence[str]]
    ) -> list[Span]:
        """Return the spans that show no call refused unread; report those of them that ran.

        A refusal is of one call, which each format shows once.
        """
        taken: set[tuple[str, str]] = set()
        told: set[str] = set()
        left: list[Span] = []
        for span in spans:
            known = refused.get((span.session, span.call or span.args_digest or ""), ())
            entry = next((one for one in known if (one, span.format) not in taken), None)
            if entry is None:
                left.append(span)
                continue
            taken.add((entry, span.format))
            if span.status in _SHOWN_RAN and entry not in told:
                told.add(entry)
                which = f"{span.tool or 'a tool'} call {span.call or 'without id'}"
                message = f"{which} was refused unread and ran: {span.where} says {span.status}"
                self._add("execution.after_deny", entry, message, None, None)
        return left
