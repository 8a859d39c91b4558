"""One tool call as a trace shows it, and everything else a trace says about calls."""

from collections.abc import Iterable
from typing import NamedTuple

OK, ERROR, CANCELLED, REFUSED, STOPPED = "ok", "error", "cancelled", "refused", "stopped"


class Span(NamedTuple):
    """One tool call as a trace shows it.

    Args:
        where: file and line, or trace and span id.
        session: the session id, if the trace says one.
        call: the call id, if it says one.
        tool: the tool's name, if it says one.
        status: how it ended. ``ok``; ``error`` for one that failed or that the host
            blocked (formats that tell the two apart say ``refused``); ``cancelled`` for
            one that was interrupted while it ran; ``refused`` for one that did not run;
            ``stopped`` for one that its user refused or interrupted, which of the two
            being unknown; None when the trace does not say.
        ts: when it began, microseconds UTC.
        args_digest: digest of the input the trace holds.
        result_digest: digest of the result, where a span carries it.
        decision_digest: the decision it ran on, where a span carries it.
        format: name of the format it was read from.
        id: what the format tells this record from others by, if it has such an id.
        end_digest: digest of what the trace holds about the end of the call.
        hooked: whether the host asks its hooks about such a call at all.
    """

    where: str
    session: str | None
    call: str | None
    tool: str | None
    status: str | None = None
    ts: int | None = None
    args_digest: str | None = None
    result_digest: str | None = None
    decision_digest: str | None = None
    format: str = ""
    id: str | None = None
    end_digest: str | None = None
    hooked: bool = True


class Answer(NamedTuple):
    """What a host's telemetry says was answered when a call asked for permission.

    Args:
        where: the record.
        session: the session id, if it says one.
        call: the call id.
        accepted: whether the call was let through.
        source: who answered, in the host's word.
        ts: when, microseconds UTC.
        person: the user's name or id, if it says one.
    """

    where: str
    session: str | None
    call: str
    accepted: bool
    source: str
    ts: int | None = None
    person: str | None = None

    @property
    def by_user(self) -> bool:
        """Say whether a person answered, and not a rule, a mode or a hook."""
        return self.source.lower().startswith("user")


class Loss(NamedTuple):
    """Something a trace says about itself, or shows, that makes it less than the whole.

    Args:
        format: the format it was read from.
        session: the session it is about; None for all that this format shows.
        why: one clause for people.
    """

    format: str
    session: str | None
    why: str


class Source(NamedTuple):
    """What was read from one file in one format.

    Args:
        name: the file.
        format: name and version of the parser, ``claude-transcript/1``.
        producers: the programs that wrote it and their versions, as they say.
        calls: how many calls it shows.
        answers: how many answers to permission prompts it shows.
        repeated: records that are exact copies of others and count once.
        unknown: lines and records that are not understood, by their type.
    """

    name: str
    format: str
    producers: list[str]
    calls: int
    answers: int
    repeated: int
    unknown: dict[str, int]


class Trace(NamedTuple):
    """Everything the trace files of one verification say.

    Args:
        calls: the tool calls.
        answers: answers to permission prompts.
        losses: why it may not be the whole.
        sources: what was read, file by file.
    """

    calls: tuple[Span, ...] = ()
    answers: tuple[Answer, ...] = ()
    losses: tuple[Loss, ...] = ()
    sources: tuple[Source, ...] = ()

    @classmethod
    def of(cls, spans: "Trace | Iterable[Span]") -> "Trace":
        """Return a trace, or the trace that consists of some calls."""
        return spans if isinstance(spans, Trace) else cls(tuple(spans))
