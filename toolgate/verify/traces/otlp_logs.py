"""OTLP/JSON logs: the events of Claude Code and Codex about tool calls.

``tool_result`` says that a call ran and how it ended, ``tool_decision`` how it was
let through or stopped. Arguments and outputs stand in some of them: they are
hashed, or not read.
"""

from typing import Any

from toolgate.verify.traces.lines import digest_or_none, microseconds
from toolgate.verify.traces.otlp import (
    CALL_IDS,
    SESSION_IDS,
    attributes_of,
    is_flag,
    nanoseconds_as_us,
    person_of,
    records,
    service_of,
    text_of,
)
from toolgate.verify.traces.reader import Reader
from toolgate.verify.traces.rollout import hook_form
from toolgate.verify.traces.span import ERROR, OK, Answer, Span

_ACCEPTS = ("accept", "approved")
_NOBODY = "timed_out"
_REJECTS = frozenset(("reject", "denied", "abort", _NOBODY))
_SILENT = frozenset(
    (
        "api_error",
        "api_refusal",
        "api_request",
        "api_request_body",
        "api_response_body",
        "api_retries_exhausted",
        "assistant_response",
        "at_mention",
        "auth",
        "compaction",
        "conversation_starts",
        "feedback_survey",
        "hook_execution_complete",
        "hook_execution_start",
        "hook_registered",
        "internal_error",
        "mcp_server_connection",
        "permission_mode_changed",
        "retention_sweep",
        "sandbox_outcome",
        "skill_activated",
        "sse_event",
        "subagent_completed",
        "turn_ttft",
        "user_prompt",
        "websocket_event",
    )
)
"""Events that are about no call of a tool."""


class OtlpLogs(Reader):
    """Reads the events about tool calls of OTLP/JSON log documents."""

    format = "otlp-logs"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._found: list[Span] = []
        self._sequences: dict[str, set[int]] = {}

    @staticmethod
    def claims(row: dict[str, Any]) -> bool:
        """Say whether an object is a document of logs."""
        return "resourceLogs" in row

    def take(self, number: int, row: dict[str, Any]) -> None:
        """Take a document."""
        for resource, record in records(self, row, "resourceLogs", "scopeLogs", "logRecords"):
            attributes = attributes_of(record)
            vendor, name = _event(record, attributes)
            session = text_of(attributes, *SESSION_IDS)
            self._count(session, attributes)
            if name == "tool_result":
                service_of(self, resource)
                self._found.append(self._call(record, attributes, vendor, session))
            elif name == "tool_decision":
                service_of(self, resource)
                self._answer(record, attributes, resource, session)
            elif name not in _SILENT:
                self.pass_over(name)

    def _count(self, session: str | None, attributes: dict[str, Any]) -> None:
        """Keep the number of an event: a session counts its events, so that gaps show."""
        value = attributes.get("event.sequence")
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 17:
            value = int(value)
        if session is not None and type(value) is int and 0 <= value < 2**53:
            self._sequences.setdefault(session, set()).add(value)

    def _call(
        self, record: dict[str, Any], attributes: dict[str, Any], vendor: str, session: str | None
    ) -> Span:
        call = text_of(attributes, *CALL_IDS)
        tool, args, hooked = text_of(attributes, "tool_name"), None, True
        if vendor == "codex":
            tool, args, hooked = hook_form(tool, attributes.get("arguments"))
        failed = is_flag(attributes.get("success"), False)
        return Span(
            where=f"{self.name} tool_result {call}",
            session=session,
            call=call,
            tool=tool,
            status=ERROR if failed else OK,
            ts=_time(record, attributes),
            args_digest=args,
            format=self.format,
            id=None
            if call is None
            else repr((session, call, text_of(attributes, "event.sequence"))),
            end_digest=digest_or_none(record),
            hooked=hooked,
        )

    def _answer(
        self,
        record: dict[str, Any],
        attributes: dict[str, Any],
        resource: dict[str, Any],
        session: str | None,
    ) -> None:
        call = text_of(attributes, *CALL_IDS)
        said = (text_of(attributes, "decision") or "").lower()
        accepted = said.startswith(_ACCEPTS)
        if call is None or not (accepted or said in _REJECTS):
            self.pass_over("tool_decision without call or decision")
            return
        self.answers.append(
            Answer(
                where=f"{self.name} tool_decision {call}",
                session=session,
                call=call,
                accepted=accepted,
                source=said if said == _NOBODY else text_of(attributes, "source") or "",
                ts=_time(record, attributes),
                person=person_of(attributes, resource),
            )
        )

    def calls(self) -> list[Span]:
        """Return the calls that ran, and note the sessions whose events have gaps."""
        for session, held in self._sequences.items():
            lost = max(held) - min(held) + 1 - len(held)
            if lost:
                self.lose(f"{self.name} lacks {lost} events between others", session)
        self._sequences = {}
        return self._found


def _event(record: dict[str, Any], attributes: dict[str, Any]) -> tuple[str, str]:
    """Return an event's vendor and its name without it."""
    name = text_of(attributes, "event.name") or record.get("eventName")
    if not isinstance(name, str) or not name:
        return "", ""
    vendor, dot, rest = name.partition(".")
    return (vendor, rest) if dot and vendor in ("codex", "claude_code") else ("", name)


def _time(record: dict[str, Any], attributes: dict[str, Any]) -> int | None:
    said = microseconds(attributes.get("event.timestamp"))
    return nanoseconds_as_us(record.get("timeUnixNano")) if said is None else said
