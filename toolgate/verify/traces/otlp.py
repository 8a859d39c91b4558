"""OTLP/JSON traces: the spans of tool executions.

Two conventions are read: ``claude_code.tool.execution`` spans, whose tool's name
stands on the ``claude_code.tool`` span of the same call, and spans whose
``gen_ai.operation.name`` is ``execute_tool``. A span may carry
``toolgate.decision_digest``, ``toolgate.args_digest`` and
``toolgate.result_digest``, which makes the trace an independent copy of them.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from toolgate.verify.traces.span import ERROR, OK, Span

EXECUTION = "claude_code.tool.execution"
_TOOL = "claude_code.tool"


def spans_of(documents: Iterable[Any], name: str) -> list[Span]:
    """Return the tool executions of some OTLP/JSON documents, each span once.

    Args:
        documents: parsed export requests (objects with ``resourceSpans``).
        name: what the file is called in findings.
    """
    tools: dict[str, str] = {}
    found: dict[tuple[str, str], Span] = {}
    for span in _spans(documents):
        attributes = _attributes(span)
        call = _text(attributes, "tool_use_id", "gen_ai.tool.call.id")
        if span.get("name") == _TOOL and call is not None:
            tool = _text(attributes, "tool_name", "gen_ai.tool.name")
            if tool is not None:
                tools[call] = tool
        execution = span.get("name") == EXECUTION
        if execution or attributes.get("gen_ai.operation.name") == "execute_tool":
            ids = (str(span.get("traceId")), str(span.get("spanId")))
            found.setdefault(ids, _execution(span, attributes, call, f"{name} span {ids[1]}"))
    return [
        span._replace(tool=tools[span.call]) if span.tool is None and span.call in tools else span
        for span in found.values()
    ]


def _execution(
    span: dict[str, Any], attributes: dict[str, Any], call: str | None, where: str
) -> Span:
    return Span(
        where=where,
        session=_text(attributes, "session.id", "gen_ai.conversation.id"),
        call=call,
        tool=_text(attributes, "gen_ai.tool.name", "tool_name"),
        status=_status(span, attributes),
        ts=_microseconds(span.get("startTimeUnixNano")),
        args_digest=_text(attributes, "toolgate.args_digest"),
        result_digest=_text(attributes, "toolgate.result_digest"),
        decision_digest=_text(attributes, "toolgate.decision_digest"),
    )


def _spans(documents: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for document in documents:
        for resource in _objects(document, "resourceSpans"):
            for scope in _objects(resource, "scopeSpans"):
                yield from _objects(scope, "spans")


def _objects(value: Any, key: str) -> list[dict[str, Any]]:
    items = value.get(key) if isinstance(value, dict) else None
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _attributes(span: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for item in _objects(span, "attributes"):
        key, value = item.get("key"), item.get("value")
        if isinstance(key, str) and isinstance(value, dict) and len(value) == 1:
            found[key] = next(iter(value.values()))
    return found


def _text(attributes: dict[str, Any], *names: str) -> str | None:
    for name in names:
        value = attributes.get(name)
        if isinstance(value, str) and value:
            return value
    return None


def _status(span: dict[str, Any], attributes: dict[str, Any]) -> str:
    success = attributes.get("success")
    if success in ("true", True):
        return OK
    status = span.get("status")
    code = status.get("code") if isinstance(status, dict) else None
    failed = success in ("false", False) or code in (2, "STATUS_CODE_ERROR")
    return ERROR if failed or "error.type" in attributes else OK


def _microseconds(nanoseconds: Any) -> int | None:
    if isinstance(nanoseconds, str) and nanoseconds.isdecimal() and len(nanoseconds) < 20:
        return int(nanoseconds) // 1000
    return nanoseconds // 1000 if type(nanoseconds) is int else None
