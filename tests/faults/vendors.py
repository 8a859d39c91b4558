"""Traces of a kit's ledger in the words of other systems, as files that they would write."""

import json
from typing import Any

from toolgate.verify.traces.load import load_trace
from toolgate.verify.traces.span import Trace

ENDS = {"a1": "error", "a3": "blocked", "a4": "rejected", "a8": "rejected"}
"""How the calls of the kit's sessions ended; every other one ended well."""

SESSIONS = ("alpha", "Beta_2", "gamma")
_START = 1_800_000_000
_REJECTION = "The user doesn't want to proceed with this tool use. The tool use was rejected."
_ENDINGS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ok": ({"content": "x"}, {"toolUseResult": {"stdout": "x", "interrupted": False}}),
    "error": (
        {"content": "Exit code 1", "is_error": True},
        {"toolUseResult": "Error: Exit code 1"},
    ),
    "interrupted": (
        {"content": "x", "is_error": True},
        {"toolUseResult": {"stdout": "x", "interrupted": True}},
    ),
    "blocked": (
        {"content": "PreToolUse:Bash hook error: toolgate: Denied", "is_error": True},
        {"toolUseResult": "Error: PreToolUse:Bash hook error"},
    ),
    "rejected": (
        {"content": _REJECTION, "is_error": True},
        {"toolUseResult": "User rejected tool use", "toolDenialKind": "user-rejected"},
    ),
    "rejected or stopped": (
        {"content": _REJECTION, "is_error": True},
        {"toolUseResult": "User rejected tool use"},
    ),
    "launched": (
        {"content": "Command running in background with ID: b1"},
        {"toolUseResult": {"stdout": "", "interrupted": False, "backgroundTaskId": "b1"}},
    ),
    "not accepted": (
        {"content": "<tool_use_error>InputValidationError: command", "is_error": True},
        {"toolUseResult": "InputValidationError: command"},
    ),
    "said to be not accepted": (
        {"content": "<tool_use_error>InputValidationError: command", "is_error": True},
        {"toolUseResult": "Error: <tool_use_error>InputValidationError: command"},
    ),
}


def use(call: str, session: str, command: str | None = None, **more: Any) -> dict[str, Any]:
    """Return the transcript line of a call."""
    tool_input = {"command": f"ls {call}" if command is None else command}
    block = {"type": "tool_use", "id": call, "name": "Bash", "input": tool_input}
    return {
        "type": "assistant",
        "sessionId": session,
        "isSidechain": False,
        "version": "2.1.332",
        "timestamp": "2027-01-15T08:00:00.000Z",
        "message": {"role": "assistant", "content": [block]},
        **more,
    }


def end(call: str, session: str, how: str) -> dict[str, Any]:
    """Return the transcript line of a call's result."""
    block, beside = _ENDINGS[how]
    held = {"type": "tool_result", "tool_use_id": call, **block}
    return {
        "type": "user",
        "sessionId": session,
        "timestamp": "2027-01-15T08:00:01.000Z",
        "message": {"role": "user", "content": [held]},
        **beside,
    }


def decided(kit: Any) -> list[tuple[str, str]]:
    """Return session and call of everything decided in a kit, in order, each once."""
    found: dict[tuple[str, str], None] = {}
    for _, row in kit.rows():
        if row.body["kind"] == "decision" and row.body["session"] in SESSIONS:
            found[row.body["session"], row.body["intent"]["call"]] = None
    return sorted(found, key=lambda pair: (SESSIONS.index(pair[0]), list(found).index(pair)))


def transcript(kit: Any, **ends: str) -> list[dict[str, Any]]:
    """Return the transcript of a kit's sessions; ``ends`` says which calls ended otherwise."""
    rows: list[dict[str, Any]] = []
    for session, call in decided(kit):
        how = ends.get(call, ENDS.get(call, "ok"))
        rows += [use(call, session), end(call, session, how)]
    return rows


def without(rows: list[dict[str, Any]], *calls: str) -> list[dict[str, Any]]:
    """Return the lines that are about other calls."""
    return [row for row in rows if _call_of(row) not in calls]


def _call_of(row: dict[str, Any]) -> Any:
    block = row["message"]["content"][0]
    return block.get("id") or block.get("tool_use_id")


def span(
    call: str | None, session: str | None, number: int, *, ok: bool = True, **more: Any
) -> dict[str, Any]:
    """Return an OTLP span of a call's execution."""
    said = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Bash"}
    said |= {"gen_ai.conversation.id": session} if session else {}
    said |= {"gen_ai.tool.call.id": call} if call else {}
    said |= more.pop("attributes", {})
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in said.items()]
    return {
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
        "spanId": f"{number:016x}",
        "name": "execute_tool Bash",
        "kind": 1,
        "startTimeUnixNano": f"{_START + number}000000000",
        "attributes": attributes,
        "status": {} if ok else {"code": 2},
        **more,
    }


def spans(kit: Any, *, ids: bool = True, seconds: int = 0, **more: Any) -> list[dict[str, Any]]:
    """Return the spans of the calls of a kit that ran."""
    found = []
    for number, (session, call) in enumerate(decided(kit), 1):
        how = ENDS.get(call, "ok")
        if how not in ("blocked", "rejected"):
            arguments = json.dumps({"command": f"ls {call}"})
            said = {} if ids else {"attributes": {"gen_ai.tool.call.arguments": arguments}}
            at = number + seconds
            made = span(call if ids else None, session, at, ok=how == "ok", **said, **more)
            found.append(made)
    return found


def otlp(*made: dict[str, Any], **beside: Any) -> dict[str, Any]:
    """Return a document of OTLP/JSON traces."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(made), **beside}]}]}


def crowded(call: str, session: str, marks: int) -> bytes:
    """Return a document that shows a call and has so many braces, brackets and commas."""
    spans = json.dumps(otlp(span(call, session, 1))).encode()
    head, tail = spans[:-1] + b',"x":[', b"1]}"
    left = marks - sum(map((head + tail).count, (b"{", b"[", b",")))
    return head + b"{}," * (left // 2) + b"1," * (left % 2) + tail


def event(name: str, call: str, session: str, number: int, **said: str) -> dict[str, Any]:
    """Return an OTLP log record of Claude Code."""
    held = {
        "event.name": name,
        "event.sequence": str(number),
        "session.id": session,
        "tool_use_id": call,
        "tool_name": "Bash",
        **said,
    }
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in held.items()]
    return {"timeUnixNano": f"{_START + number}000000000", "attributes": attributes}


def answer(
    call: str, said: str, source: str, *, session: str = "alpha", **more: str
) -> dict[str, Any]:
    """Return a document of OTLP/JSON logs that holds one answer to a prompt."""
    return logs(event("tool_decision", call, session, 1, decision=said, source=source, **more))


def logs(*made: dict[str, Any]) -> dict[str, Any]:
    """Return a document of OTLP/JSON logs."""
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": list(made)}]}]}


def tell(kit: Any, *files: list[dict[str, Any]], tail: bytes = b"") -> None:
    """Give a kit's verification some trace files."""
    for number, rows in enumerate(files):
        data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        kit.traces[f"trace-{number}.jsonl"] = data + tail


def told(kit: Any, *files: list[dict[str, Any]]) -> Trace:
    """Write trace files beside a kit's ledger and read them."""
    tell(kit, *files)
    paths = [kit.root.parent / name for name in kit.traces]
    for path in paths:
        path.write_bytes(kit.traces[path.name])
    return load_trace([str(path) for path in paths])
