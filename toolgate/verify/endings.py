"""What a trace knows of calls and the ledger does not: how they ended, what their user said."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from toolgate.canonical import digest_of
from toolgate.verify.traces.span import CANCELLED, ERROR, OK, REFUSED, STOPPED, Span

TERMINAL: Mapping[str, str] = {
    OK: "ok",
    ERROR: "error",
    CANCELLED: "cancelled",
    STOPPED: "cancelled",  # it may have run in part, and a refusal would deny that
    REFUSED: "refused",
}
"""The terminal state a status of a trace is recorded as."""

AGREES: Mapping[str, frozenset[str]] = {
    "ok": frozenset((OK,)),
    "error": frozenset((ERROR, CANCELLED, STOPPED)),
    "timeout": frozenset((ERROR, CANCELLED, STOPPED)),
    "cancelled": frozenset((ERROR, CANCELLED, STOPPED, REFUSED)),
    "refused": frozenset((ERROR, STOPPED, REFUSED)),
    "unresolved": frozenset((OK, ERROR, CANCELLED, STOPPED, REFUSED)),
}
"""Which status of a trace agrees with which terminal state; an unknown one agrees with all."""

_TRANSCRIPTS = ("claude-transcript", "codex-rollout")


class Ending(NamedTuple):
    """The end of one call, what its user answered to an ask, or a call nobody decided.

    Args:
        session: the session id.
        call: the call id, if there is one.
        tool: the tool's name.
        decided: the decision_digest it ended or answers; None for a call nobody decided.
        args_digest: digest of the arguments that ran.
        result_digest: digest of what the trace holds as its result; None for ``refused``.
        terminal_state: how it ended; None where only the answer is known.
        source: ``transcript`` or ``telemetry``.
        join: ``id`` or ``content``.
        approved: what the user answered to the ask, as telemetry says; None if it does not.
        principal: who that was, if it says so.
    """

    session: str
    call: str | None
    tool: str
    decided: str | None
    args_digest: str
    result_digest: str | None
    terminal_state: str | None
    source: str
    join: str
    approved: bool | None = None
    principal: str | None = None


def ending_of(spans: Sequence[Span], session: str, tool: str, args_digest: str) -> Ending | None:
    """Return how the spans of one call say that it ended; None where they do not, or disagree.

    Args:
        spans: what the formats of a trace show of it.
        session: the session it ran in.
        tool: the tool's name.
        args_digest: what was decided, for spans that hold no arguments.
    """
    shown = [span for span in spans if span.status is not None]
    shown.sort(key=lambda span: span.format not in _TRANSCRIPTS)
    for span in shown:
        state = TERMINAL[span.status or ""]
        if all(other.status in AGREES[state] for other in shown):
            return Ending(
                session=session,
                call=span.call,
                tool=tool,
                decided=None,
                args_digest=span.args_digest or args_digest,
                result_digest=None if state == "refused" else _digest(span),
                terminal_state=state,
                source="transcript" if span.format in _TRANSCRIPTS else "telemetry",
                join="content" if span.call is None else "id",
            )
    return None


def answer_only(session: str, call: str, tool: str, decided: str, args_digest: str) -> Ending:
    """Return what stands for an ask of which the answer is known and no end.

    Args:
        session: its session.
        call: the call id.
        tool: the tool's name.
        decided: the ask's decision_digest.
        args_digest: what was decided.
    """
    return Ending(session, call, tool, decided, args_digest, None, None, "telemetry", "id")


def unmatched(spans: Iterable[Span]) -> list[Ending]:
    """Return the calls that ran and that nobody decided, each once."""
    found: dict[tuple[str, str], Ending] = {}
    for span in spans:
        ran = span.status in (OK, ERROR, CANCELLED)
        name = span.call or span.args_digest
        if not ran or span.session is None or name is None:
            continue
        ending = ending_of([span], span.session, span.tool or "unknown", digest_of(None))
        if ending is not None:
            found.setdefault((span.session, name), ending)
    return list(found.values())


def _digest(span: Span) -> str:
    """Return the digest of a call's result, or of all that is known of its end."""
    known = span.result_digest or span.end_digest
    return known or digest_of({"format": span.format, "id": span.id, "status": span.status})
