"""Traces of other systems, in the shapes those systems write."""

import json

import pytest

from toolgate.canonical import digest_of
from toolgate.errors import UnavailableError
from toolgate.verify.traces.load import load_trace


def load_spans(paths):
    return list(load_trace(paths).calls)


SESSION = "3f2b8c1e-0000-4000-8000-000000000001"


def use(call, command="ls", *, session=SESSION, ts="2026-11-29T10:00:03.000Z", **more):
    block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
    message = {"id": f"msg_{call}", "role": "assistant", "content": [block]}
    return {
        "type": "assistant",
        "uuid": f"a-{call}",
        "sessionId": session,
        "isSidechain": False,
        "timestamp": ts,
        "message": message,
        **more,
    }


def result(call, *, error=False):
    block = {"type": "tool_result", "tool_use_id": call, "content": "x", "is_error": error}
    return {"type": "user", "sessionId": SESSION, "message": {"role": "user", "content": [block]}}


def transcript(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_transcript(tmp_path):
    path = transcript(
        tmp_path / "t.jsonl",
        {"type": "user", "sessionId": SESSION, "message": {"role": "user", "content": "do it"}},
        {"type": "summary", "summary": "x"},
        use("toolu_1"),
        result("toolu_1"),
        use("toolu_2", "rm x"),
        result("toolu_2", error=True),
        use("toolu_3"),
    )
    spans = load_spans([path])
    assert [(span.call, span.status) for span in spans] == [
        ("toolu_1", "ok"),
        ("toolu_2", "error"),
        ("toolu_3", None),
    ]
    first = spans[0]
    assert first.where == "t.jsonl:3"
    assert first.session == SESSION
    assert first.tool == "Bash"
    assert first.ts == 1_795_946_403_000_000
    assert first.args_digest == digest_of({"command": "ls"})


def test_transcript_copies_are_one_call(tmp_path):
    path = transcript(tmp_path / "t.jsonl", use("toolu_1"), use("toolu_1"), use("toolu_1", "other"))
    assert len(load_spans([path])) == 2


def test_transcript_lines_that_are_not_understood_are_passed_over(tmp_path):
    path = tmp_path / "t.jsonl"
    rows = [b"garbage", b"[]", b"", b'{"type":"assistant","message":[]}', b"\xff"]
    rows += [b'{"type":"assistant","message":{"content":[1,{"type":"tool_use","id":5}]}}']
    rows += [json.dumps(use("toolu_1", ts="yesterday")).encode()]
    path.write_bytes(b"\n".join(rows))
    assert [(span.call, span.ts) for span in load_spans([str(path)])] == [("toolu_1", None)]


def attribute(key, value):
    return {"key": key, "value": value}


def otlp(*spans):
    scope = {"scope": {"name": "com.anthropic.claude_code.tracing"}, "spans": list(spans)}
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [scope]}]}


def span(name, number, *attributes, status=None):
    return {
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
        "spanId": f"{number:016x}",
        "name": name,
        "kind": 1,
        "startTimeUnixNano": "1796025602900000000",
        "endTimeUnixNano": "1796025603110000000",
        "attributes": list(attributes),
        "status": status or {},
    }


def claude(number, call, success):
    return [
        span(
            "claude_code.tool",
            number,
            attribute("session.id", {"stringValue": SESSION}),
            attribute("tool_name", {"stringValue": "Bash"}),
            attribute("tool_use_id", {"stringValue": call}),
        ),
        span(
            "claude_code.tool.execution",
            number + 1,
            attribute("session.id", {"stringValue": SESSION}),
            attribute("tool_use_id", {"stringValue": call}),
            attribute("success", {"stringValue": success}),
            attribute("duration_ms", {"intValue": "210"}),
        ),
    ]


def test_claude_code_spans(tmp_path):
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(otlp(*claude(1, "toolu_1", "true"), *claude(3, "toolu_2", "false"))))
    spans = load_spans([str(path)])
    assert [(one.call, one.tool, one.status, one.session) for one in spans] == [
        ("toolu_1", "Bash", "ok", SESSION),
        ("toolu_2", "Bash", "error", SESSION),
    ]
    assert spans[0].ts == 1_796_025_602_900_000
    assert spans[0].args_digest is None


def test_gen_ai_spans(tmp_path):
    names = ("gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.tool.call.id")
    values = ("execute_tool", "get_weather", "call_abc")
    attributes = [
        attribute(name, {"stringValue": value}) for name, value in zip(names, values, strict=True)
    ]
    attributes.append(attribute("toolgate.args_digest", {"stringValue": "sha256:aa"}))
    fine = span("execute_tool get_weather", 1, *attributes)
    failed = span("execute_tool get_weather", 2, *attributes, status={"code": 2})
    path = tmp_path / "spans.jsonl"
    path.write_text(json.dumps(otlp(fine)) + "\n" + json.dumps(otlp(failed, fine)) + "\n")
    spans = load_spans([str(path)])
    assert [(one.call, one.tool, one.status) for one in spans] == [
        ("call_abc", "get_weather", "ok"),
        ("call_abc", "get_weather", "error"),
    ]
    assert spans[0].session is None
    assert spans[0].args_digest == "sha256:aa"


@pytest.mark.parametrize(
    "document",
    [
        {"resourceSpans": None},
        {"resourceSpans": [1, {"scopeSpans": [{"spans": [{"attributes": [{"key": 1}]}]}]}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "claude_code.tool.execution"}]}]}]},
    ],
)
def test_odd_otlp_is_no_error(tmp_path, document):
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(document))
    assert all(one.call is None for one in load_spans([str(path)]))


@pytest.mark.parametrize("data", [b"", b"hello", b"[]", b'{"a":1}'])
def test_file_of_no_known_kind(tmp_path, data):
    path = tmp_path / "x"
    path.write_bytes(data)
    with pytest.raises(
        UnavailableError, match="expected OTLP/JSON, a Claude Code transcript or a Codex rollout"
    ):
        load_spans([str(path)])


def test_file_that_is_not_there(tmp_path):
    with pytest.raises(UnavailableError, match="No such file"):
        load_spans([str(tmp_path / "none")])
