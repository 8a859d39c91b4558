"""OTLP/JSON traces: the spans of tool executions.

Two conventions are read: ``claude_code.tool.execution`` spans, whose tool's name
and whose permission prompt stand on other spans of the same call, and spans whose
``gen_ai.operation.name`` is ``execute_tool``. A span may carry
``toolgate.decision_digest``, ``toolgate.args_digest`` and
``toolgate.result_digest``, which makes the trace an independent copy of them.

Source: opentelemetry-proto, JSON encoding; OpenTelemetry semantic conventions for
generative AI; W3C tracestate with the ``ot`` member's ``th`` and ``p`` values.
"""

import re
from collections.abc import Iterator
from typing import Any

from toolgate.verify.traces.lines import decoded, digest_or_none, text_or_none
from toolgate.verify.traces.reader import Reader
from toolgate.verify.traces.span import ERROR, OK, Answer, Span

EXECUTION = "claude_code.tool.execution"
_TOOL = "claude_code.tool"
_PROMPT = "claude_code.tool.blocked_on_user"
_OURS = (_TOOL, _PROMPT, EXECUTION)
_DROPPED = re.compile(r"dropped[A-Z][A-Za-z]{0,40}Count")
_THRESHOLD = re.compile(r"[;=](th:(?!0{1,14}(?:[;,]|$))[0-9a-f]{1,14}|p:[1-9][0-9]?)(?:[;,]|$)")


class OtlpTraces(Reader):
    """Reads the tool executions of OTLP/JSON trace documents."""

    format = "otlp-traces"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._tools: dict[str, str] = {}
        self._owners: dict[str, tuple[str | None, str]] = {}
        self._prompts: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = []
        self._found: list[Span] = []

    @staticmethod
    def claims(row: dict[str, Any]) -> bool:
        """Say whether an object is a document of traces."""
        return "resourceSpans" in row

    def take(self, number: int, row: dict[str, Any]) -> None:
        """Take a document."""
        for resource, span in records(self, row, "resourceSpans", "scopeSpans", "spans"):
            attributes = attributes_of(span)
            name = span.get("name")
            call = text_of(attributes, *CALL_IDS)
            if name == _TOOL and call is not None:
                tool = text_of(attributes, "tool_name", "gen_ai.tool.name")
                if tool is not None:
                    self._tools[call] = tool
                session = text_of(attributes, *SESSION_IDS)
                self._owners[text_or_none(span.get("spanId")) or ""] = session, call
            elif name == _PROMPT:
                self._prompts.append((span, attributes, resource))
            of_genai = attributes.get("gen_ai.operation.name") == "execute_tool"
            if name == EXECUTION or (of_genai and name not in _OURS):
                self._whole(span, attributes)
                service_of(self, resource)
                self._found.append(self._execution(span, attributes, call))

    def _whole(self, span: dict[str, Any], attributes: dict[str, Any]) -> None:
        """Note what a span says about spans that were left out."""
        session = text_of(attributes, *SESSION_IDS)
        state = span.get("traceState")
        sampled = _THRESHOLD.search(state[:512]) if isinstance(state, str) else None
        if sampled is not None:
            self.lose(f"{self.name} was sampled ({sampled[1]})", session)
        for key, value in span.items():
            if _is_dropped(key, value):
                self.lose(f"{self.name} has a span with {key} {value}", session)

    def _execution(
        self, span: dict[str, Any], attributes: dict[str, Any], call: str | None
    ) -> Span:
        trace_id, span_id = (text_or_none(span.get(name)) for name in ("traceId", "spanId"))
        ident = None
        if trace_id is not None and span_id is not None:
            ident = repr((trace_id.lower(), span_id.lower()))
        arguments = decoded(attributes.get("gen_ai.tool.call.arguments"))
        args = digest_or_none(arguments) if isinstance(arguments, dict) else None
        return Span(
            where=f"{self.name} span {span_id}",
            session=text_of(attributes, *SESSION_IDS),
            call=call,
            tool=text_of(attributes, "gen_ai.tool.name", "tool_name"),
            status=_status(span, attributes),
            ts=nanoseconds_as_us(span.get("startTimeUnixNano")),
            args_digest=text_of(attributes, "toolgate.args_digest") or args,
            result_digest=text_of(attributes, "toolgate.result_digest"),
            decision_digest=text_of(attributes, "toolgate.decision_digest"),
            format=self.format,
            id=ident,
            end_digest=digest_or_none(span),
        )

    def calls(self) -> list[Span]:
        """Return the executions, and keep the answers that belong to them."""
        for span, attributes, resource in self._prompts:
            owner = self._owners.get(text_or_none(span.get("parentSpanId")) or "")
            said = attributes.get("decision")
            if owner is not None and said in ("accept", "reject"):
                self.answers.append(
                    Answer(
                        where=f"{self.name} span {text_or_none(span.get('spanId'))}",
                        session=owner[0],
                        call=owner[1],
                        accepted=said == "accept",
                        source=text_of(attributes, "source") or "",
                        ts=nanoseconds_as_us(span.get("endTimeUnixNano")),
                        person=person_of(attributes, resource),
                    )
                )
        self._prompts = []
        return [self._named(span) for span in self._found]

    def _named(self, span: Span) -> Span:
        if span.tool is None and span.call in self._tools:
            return span._replace(tool=self._tools[span.call])
        return span


CALL_IDS = ("tool_use_id", "gen_ai.tool.call.id", "gen_ai.tool.call_id", "call_id")
SESSION_IDS = ("session.id", "gen_ai.conversation.id", "conversation.id")
PEOPLE = ("user.email", "enduser.id", "user.account_uuid", "user.account_id", "user.id")
"""Who uses the host, what says it best first; ``user.id`` may be no more than an installation."""
_LONGEST_NAME = 256


def records(
    reader: Reader, document: dict[str, Any], resources: str, scopes: str, items: str
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each record of a document with its resource; note what was dropped around them."""
    for resource in _objects(document, resources):
        for scope in _objects(resource, scopes):
            for holder in (resource, scope):
                for key, value in holder.items():
                    if _is_dropped(key, value):
                        reader.lose(f"{reader.name} says {key} {value}")
            for item in _objects(scope, items):
                yield resource, item


def service_of(reader: Reader, resource: dict[str, Any]) -> None:
    """Note which program a resource says it is."""
    attributes = _of_resource(resource)
    program = text_of(attributes, "service.name")
    if program is not None:
        reader.written_by(program, text_of(attributes, "service.version") or "")


def person_of(attributes: dict[str, Any], resource: dict[str, Any]) -> str | None:
    """Return the user that a record or its resource names; None if it names none."""
    for held in (attributes, _of_resource(resource)):
        person = text_of(held, *PEOPLE)
        if person is not None and len(person) <= _LONGEST_NAME and person.isprintable():
            return person
    return None


def _of_resource(resource: dict[str, Any]) -> dict[str, Any]:
    inner = resource.get("resource")
    return attributes_of(inner) if isinstance(inner, dict) else {}


def _is_dropped(key: object, value: object) -> bool:
    if not isinstance(key, str) or not _DROPPED.fullmatch(key):
        return False
    if isinstance(value, str):  # a 64-bit integer of OTLP/JSON
        return value.isascii() and value.isdecimal() and len(value) < 20 and value.strip("0") != ""
    return type(value) is int and value > 0


def _objects(value: Any, key: str) -> list[dict[str, Any]]:
    items = value.get(key) if isinstance(value, dict) else None
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def attributes_of(holder: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a span, record or resource by name."""
    found: dict[str, Any] = {}
    for item in _objects(holder, "attributes"):
        key, value = item.get("key"), item.get("value")
        if isinstance(key, str) and isinstance(value, dict) and len(value) == 1:
            found[key] = next(iter(value.values()))
    return found


def text_of(attributes: dict[str, Any], *names: str) -> str | None:
    """Return the first of some attributes that is text and not empty."""
    for name in names:
        value = attributes.get(name)
        if isinstance(value, str) and value:
            return value
    return None


def is_flag(value: object, wanted: bool) -> bool:
    """Say whether an attribute is a truth value, as itself or in words; a number is none."""
    return value is wanted or value == str(wanted).lower()


def _status(span: dict[str, Any], attributes: dict[str, Any]) -> str:
    if is_flag(attributes.get("success"), True):
        return OK
    status = span.get("status")
    code = status.get("code") if isinstance(status, dict) else None
    failed = is_flag(attributes.get("success"), False) or code in (2, "STATUS_CODE_ERROR")
    return ERROR if failed or "error.type" in attributes else OK


def nanoseconds_as_us(value: object) -> int | None:
    """Return an OTLP time in microseconds; None when it is none."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
        return int(value) // 1000
    return value // 1000 if type(value) is int and 0 <= value < 10**19 else None
