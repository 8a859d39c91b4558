"""One tool call as a trace shows it."""

from typing import NamedTuple

OK, ERROR = "ok", "error"


class Span(NamedTuple):
    """One tool call as a trace shows it.

    Args:
        where: file and line, or trace and span id.
        session: the session id, if the trace says one.
        call: the call id, if it says one.
        tool: the tool's name, if it says one.
        status: ``ok``; ``error`` for one that failed or was refused; None when unknown.
        ts: when it began, microseconds UTC.
        args_digest: digest of the input the trace holds.
        result_digest: digest of the result, where a span carries it.
        decision_digest: the decision it ran on, where a span carries it.
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
