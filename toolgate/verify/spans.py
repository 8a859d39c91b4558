"""How decided calls and the calls of a trace find each other.

By the host's call id where both have one. Where the host has none, by session,
tool and arguments, in order: the first call decided is the first one shown.
"""

from collections import defaultdict, deque
from typing import NamedTuple

from toolgate.verify.traces.span import Answer, Span, Trace

BY_ID, BY_CONTENT = "id", "content"
MADE = "made-"
"""What a call id begins with that the writer made, because the host has none."""

_OWN, _COPY = 1, 2


class Match(NamedTuple):
    """What a trace shows of one decided call.

    Args:
        spans: its spans, at most one of a format.
        again: a second span of a format that shows the same call, if there is one.
        join: ``id`` or ``content``.
    """

    spans: list[Span]
    again: Span | None
    join: str


class Spans:
    """The calls of a trace, each taken by at most one decision.

    Args:
        trace: what the trace files say.
    """

    def __init__(self, trace: Trace) -> None:
        self._spans = trace.calls
        self._taken = bytearray(len(trace.calls))
        self._by_call: dict[tuple[str, str | None], list[int]] = defaultdict(list)
        self._copies: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._by_content: dict[tuple[str | None, str | None, str, str], deque[int]] = {}
        self._formats: dict[str, dict[str, None]] = defaultdict(dict)
        for at, span in enumerate(trace.calls):
            if span.call is not None:
                self._by_call[span.call, span.session].append(at)
            if span.call is not None and span.args_digest is not None:
                self._copies[span.call, span.args_digest].append(at)
            if span.args_digest is not None:
                key = (span.session, span.tool, span.args_digest, span.format)
                self._by_content.setdefault(key, deque()).append(at)
            if span.session is not None:
                self._formats[span.session][span.format] = None
        self._all_formats = dict.fromkeys(span.format for span in trace.calls)

    def formats_of(self, session: str) -> list[str]:
        """Return the formats in which the trace names a session."""
        return list(self._formats.get(session, ()))

    def take(self, session: str, call: str, tool: str, arguments: list[str]) -> Match | None:
        """Take the spans that show a decided call; None when there are none.

        Args:
            session: the session it was decided in.
            call: its id.
            tool: its tool.
            arguments: the digest that was decided, then those known to have run.
        """
        found: dict[str, Span] = {}
        again: Span | None = None
        for whose in (session, None):
            for at in self._by_call.pop((call, whose), ()):
                span = self._spans[at]
                self._taken[at] = _OWN
                if span.format in found:
                    again = again or span
                else:
                    found[span.format] = span
        for digest in arguments:
            # A resumed session repeats what an earlier one did under its own name.
            for at in self._copies.pop((call, digest), ()):
                self._taken[at] = self._taken[at] or _COPY
        if found:
            return Match(list(found.values()), again, BY_ID)
        for digest in arguments:
            shown = self._by_arguments(session, tool, digest, made=call.startswith(MADE))
            if shown:
                return Match(shown, None, BY_CONTENT)
        return None

    def _by_arguments(self, session: str, tool: str, digest: str, *, made: bool) -> list[Span]:
        """Take the first span of each format with these arguments.

        One that has an id of its own is another call, unless the host's hooks know
        no ids and the decided one was made by the writer.
        """
        found: list[Span] = []
        for format_ in self._all_formats:
            for key in ((session, tool), (session, None), (None, tool), (None, None)):
                at = self._first((*key, digest, format_), made=made)
                if at is not None:
                    self._taken[at] = _OWN
                    found.append(self._spans[at])
                    break
        return found

    def _first(self, key: tuple[str | None, str | None, str, str], *, made: bool) -> int | None:
        waiting = self._by_content.get(key)
        while waiting:
            at = waiting[0]
            if self._taken[at] or (self._spans[at].call is not None and not made):
                waiting.popleft()
                continue
            return waiting.popleft()
        return None

    def left(self) -> list[Span]:
        """Return the spans nobody took, without those no hook is ever asked about."""
        return [
            span
            for span, taken in zip(self._spans, self._taken, strict=True)
            if not taken and span.hooked
        ]


class Answers:
    """What a trace's telemetry says about permission prompts, the last word on each call.

    Args:
        answers: the answers, in the order they were read.
    """

    def __init__(self, answers: tuple[Answer, ...]) -> None:
        self._by_call: dict[tuple[str | None, str], Answer] = {}
        for answer in answers:
            before = self._by_call.get((answer.session, answer.call))
            if before is None or (answer.ts or 0) >= (before.ts or 0):
                self._by_call[answer.session, answer.call] = answer

    def on(self, session: str, call: str) -> Answer | None:
        """Return the answer on a call."""
        return self._by_call.get((session, call)) or self._by_call.get((None, call))

    def approved(self, session: str, call: str) -> bool:
        """Say whether a person let a call through."""
        answer = self.on(session, call)
        return answer is not None and answer.accepted and answer.by_user
