"""What each reader makes of its format, and what all of them make of any bytes."""

import json
import time
import tracemalloc

import ledgers
import pytest
import vendors
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolgate.canonical import digest_of
from toolgate.errors import UnavailableError
from toolgate.verify import verify
from toolgate.verify.traces.lines import MAX_DOCUMENT_BYTES, MAX_LINE_BYTES, MOST_MARKS
from toolgate.verify.traces.load import EXPECTED, load_trace

SESSION = "019a0000-0000-7000-8000-000000000001"


def line(kind, **payload):
    return {"timestamp": "2026-11-29T10:00:01.000Z", "type": kind, "payload": payload}


def item(kind, **payload):
    return line("response_item", type=kind, **payload)


def called(call, name="exec_command", **arguments):
    return item("function_call", name=name, call_id=call, arguments=json.dumps(arguments))


def given_back(call, output):
    return item("function_call_output", call_id=call, output=output)


def rollout(path, *rows, session=SESSION):
    rows = [line("session_meta", id=session, cli_version="0.171.0"), *rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load_trace([str(path)])


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ("fine", "ok"),
        ({"content": "x", "success": False}, "error"),
        ({"content": "x", "success": True}, "ok"),
        (
            [{"type": "input_text", "text": "Exit code: 3\nWall time: 1 seconds\nOutput:\n"}],
            "error",
        ),
        ("Exit code: 0\nWall time: 1 seconds\nOutput:\nExit code: 3", "ok"),
        ("Chunk ID: x\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\n", "error"),
        (json.dumps({"output": "x", "metadata": {"exit_code": 1}}), "error"),
        (json.dumps({"output": "x", "metadata": {"exit_code": 0}}), "ok"),
        ("exec command rejected by user", "refused"),
        ("patch rejected by user", "refused"),
        ("Command blocked by PreToolUse hook: no. Command: ls", "refused"),
        ("aborted by user after 5.0s", "stopped"),
        ("Wall time: 5.0 seconds\naborted by user", "stopped"),
        (None, "ok"),
    ],
)
def test_rollout_endings(tmp_path, output, status):
    trace = rollout(tmp_path / "r.jsonl", called("c1", cmd="ls"), given_back("c1", output))
    assert [(span.call, span.status) for span in trace.calls] == [("c1", status)]


@pytest.mark.parametrize(
    ("row", "tool", "args"),
    [
        (called("c", cmd="ls", workdir="/x"), "Bash", {"command": "ls"}),
        (called("c", "shell_command", command="ls"), "Bash", {"command": "ls"}),
        (called("c", "shell", command=["bash", "-lc", "ls"]), "Bash", None),
        (called("c", "apply_patch", input="*** P"), "apply_patch", {"command": "*** P"}),
        (called("c", "mcp__a__b", x=1), "mcp__a__b", {"x": 1}),
        (
            item("custom_tool_call", name="apply_patch", call_id="c", input="*** P"),
            "apply_patch",
            {"command": "*** P"},
        ),
        (item("local_shell_call", call_id="c", action={"command": ["ls"]}), "Bash", None),
        (item("function_call", name="f", call_id="c", arguments="{"), "f", None),
    ],
)
def test_rollout_shows_calls_as_a_hook_sees_them(tmp_path, row, tool, args):
    (span,) = rollout(tmp_path / "r.jsonl", row).calls
    assert (span.session, span.call, span.tool, span.status) == (SESSION, "c", tool, None)
    assert span.args_digest == (None if args is None else digest_of(args))
    assert span.hooked


@pytest.mark.parametrize(
    "row",
    [called("c", "write_stdin", chars="y"), item("custom_tool_call", name="exec", call_id="c")],
)
def test_rollout_calls_no_hook_is_asked_about(tmp_path, row):
    assert [span.hooked for span in rollout(tmp_path / "r.jsonl", row).calls] == [False]


def test_forked_rollout_belongs_to_its_first_session(tmp_path):
    copied = [line("session_meta", id="older"), called("c", cmd="ls"), given_back("c", "x")]
    trace = rollout(tmp_path / "r.jsonl", *copied, item("message"), item("brand_new"))
    assert [span.session for span in trace.calls] == [SESSION]
    (source,) = trace.sources
    assert source.format == "codex-rollout/1"
    assert source.producers == ["codex 0.171.0"]
    assert source.unknown == {"brand_new": 1}


@pytest.mark.parametrize(
    ("decision", "accepted"),
    [("approved", True), ("approved_for_session", True), ("denied", False), ("abort", False)],
)
def test_codex_events(tmp_path, decision, accepted):
    said = {"conversation.id": SESSION, "call_id": "c", "tool_name": "shell_command"}
    arguments = json.dumps({"command": "ls"})
    rows = [
        {"event.name": "codex.tool_decision", **said, "decision": decision, "source": "User"},
        {"event.name": "codex.tool_result", **said, "arguments": arguments, "success": "false"},
        {"event.name": "codex.brand_new", **said},
    ]
    made = [
        {
            "attributes": [
                {"key": key, "value": {"stringValue": value}} for key, value in row.items()
            ]
        }
        for row in rows
    ]
    path = tmp_path / "logs.json"
    path.write_text(json.dumps(vendors.logs(*made), indent=1))
    trace = load_trace([str(path)])
    (span,), (answer,) = trace.calls, trace.answers
    assert (span.session, span.call, span.tool, span.status) == (SESSION, "c", "Bash", "error")
    assert span.args_digest == digest_of({"command": "ls"})
    assert (answer.call, answer.accepted, answer.by_user) == ("c", accepted, True)
    assert trace.sources[0].unknown == {"brand_new": 1}


def test_prompt_spans_are_answers_on_the_call_of_their_parent(tmp_path):
    tool = {"name": "claude_code.tool", "spanId": "a", "attributes": [_text("tool_use_id", "t1")]}
    tool["attributes"] += [_text("session.id", "s"), _text("gen_ai.operation.name", "execute_tool")]
    prompt = {
        "name": "claude_code.tool.blocked_on_user",
        "spanId": "b",
        "parentSpanId": "a",
        "attributes": [_text("decision", "reject"), _text("source", "user_reject")],
    }
    path = tmp_path / "t.json"
    path.write_text(json.dumps(vendors.otlp(prompt, tool)))
    trace = load_trace([str(path)])
    assert trace.calls == ()  # the span around prompt and execution is no execution
    assert [(one.session, one.call, one.accepted) for one in trace.answers] == [("s", "t1", False)]


def _text(key, value):
    return {"key": key, "value": {"stringValue": value}}


def test_unknown_lines_are_counted_and_named(tmp_path):
    path = tmp_path / "t.jsonl"
    rows = [{"type": "brand-new", "sessionId": "s"}, {"type": "summary"}, {"kind": "other"}]
    rows += [vendors.use("a", "s"), {"type": "assistant", "message": 5}]
    data = "".join(json.dumps(row) + "\n" for row in rows) + "garbage\n"
    path.write_text(data)
    trace = load_trace([str(path)])
    (source,) = trace.sources
    assert source.format == "claude-transcript/1"
    assert source.unknown == {
        "brand-new": 1,
        "(no type)": 1,
        "assistant without content": 1,
        "(no JSON object)": 1,
    }
    assert [loss.why for loss in trace.losses] == ["t.jsonl has a line that is no JSON object (6)"]


def test_several_formats_in_one_file(tmp_path):
    path = tmp_path / "t.jsonl"
    rows = [vendors.use("a", "s"), vendors.otlp(vendors.span("a", "s", 1))]
    rows += [vendors.answer("a", "accept", "user_temporary")]
    path.write_text("\n".join(map(json.dumps, rows)))
    formats = [source.format for source in load_trace([str(path)]).sources]
    assert formats == ["claude-transcript/1", "otlp-traces/1", "otlp-logs/1"]


def test_an_older_copy_lacks_the_end_of_a_call(tmp_path):
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    old.write_text(json.dumps(vendors.use("a", "s")) + "\n")
    rows = [vendors.use("a", "s"), vendors.end("a", "s", "error")]
    new.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for order in ([old, new], [new, old], [new, new]):
        assert [span.status for span in load_trace([str(one) for one in order]).calls] == ["error"]


def test_host_telemetry_answers_an_inferred_ask(tmp_path):
    ledgers.build(tmp_path / "ledger")
    kit = ledgers.Kit(tmp_path / "ledger")
    plain = vendors.transcript(kit)
    for source, how in [("user_temporary", "telemetry"), ("config", "inferred")]:
        trace = vendors.told(kit, plain, [vendors.answer("a2", "accept", source)])
        report = verify(str(kit.root), spans=trace, expect_head=kit.head)
        assert report.findings == []
        assert report.answered == {how: 1}
        assert report.verdict == ("PASS" if how == "telemetry" else "CONDITIONAL")
        assert report.as_json()["asks"]["answered"] == {how: 1}


def test_report_says_how_calls_were_joined(tmp_path):
    ledgers.build(tmp_path / "ledger")
    kit = ledgers.Kit(tmp_path / "ledger")
    by_id = verify(str(kit.root), spans=vendors.told(kit, vendors.transcript(kit)))
    assert by_id.joins == {"id": len(vendors.decided(kit))}
    trace = vendors.told(kit, [vendors.otlp(*vendors.spans(kit, ids=False))])
    by_content = verify(str(kit.root), spans=trace)
    assert set(by_content.joins) == {"content"}
    assert [source["format"] for source in by_content.as_json()["traces"]] == ["otlp-traces/1"]


SEEDS = [
    json.dumps(row).encode()
    for row in (
        vendors.use("a", "s"),
        vendors.end("a", "s", "rejected"),
        vendors.otlp(vendors.span("a", "s", 1, traceState="ot=th:8")),
        vendors.logs(vendors.event("tool_decision", "a", "s", 1, decision="accept")),
        line("session_meta", id="s"),
        called("c", cmd="ls"),
        given_back("c", [{"text": "Exit code: 1"}]),
    )
]
WORDS = ["type", "message", "content", "payload", "resourceSpans", "attributes", "key", "value"]
WORDS += [
    "toolUseResult",
    "status",
    "output",
    "name",
    "arguments",
    "stringValue",
    "traceState",
    "id",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(WORDS),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(WORDS) | st.text(), inner),
)


def read(path, data):
    path.write_bytes(data)
    try:
        return load_trace([str(path)])
    except UnavailableError as error:
        assert str(error) == f"cannot read the trace {path}: {EXPECTED}"
        return None


QUIET = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@QUIET
@given(st.binary())
def test_any_bytes(tmp_path, data):
    read(tmp_path / "x", data)


@QUIET
@given(st.lists(st.sampled_from(SEEDS), min_size=1), st.data())
def test_damaged_traces(tmp_path, lines, data):
    whole = bytearray(b"\n".join(lines))
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at] = data.draw(st.integers(0, 255))
    trace = read(tmp_path / "x", bytes(whole))
    if trace is not None:
        ledgers_report(tmp_path, trace)


def ledgers_report(tmp_path, trace):
    root = tmp_path / "ledger"
    if not root.exists():
        ledgers.build(root)
    for found in verify(str(root), spans=trace).findings:
        assert found.message.isprintable()


@QUIET
@given(st.sampled_from(SEEDS), VALUES, st.sampled_from(WORDS))
def test_any_value_in_any_place(tmp_path, seed, value, word):
    row = json.loads(seed)

    def put(node):
        if isinstance(node, dict):
            return {key: value if key == word else put(child) for key, child in node.items()}
        return [put(child) for child in node] if isinstance(node, list) else node

    read(tmp_path / "x", json.dumps(put(row)).encode())


def nested(seed, word):
    """Return a trace with a deep value in the place of one field, which no reader may recurse."""
    row = json.dumps(seed).replace(f'"{word}": "', f'"{word}": @"', 1)
    head, _, rest = row.partition("@")
    tail = rest[rest.index('"', 1) + 1 :]
    return (head + "[" * 900 + "]" * 900 + tail).encode()


@pytest.mark.parametrize("word", ["traceId", "spanId", "name", "traceState", "startTimeUnixNano"])
def test_deep_values_in_a_span(tmp_path, word):
    made = vendors.span("a", "s", 1, traceState="ot=th:8")
    assert nested(vendors.otlp(made), word).count(b"[") > 900
    assert read(tmp_path / "x", nested(vendors.otlp(made), word)) is not None


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 5])
def test_deep_values_in_an_event(tmp_path, number):
    record = vendors.event("tool_result", "a", "s", 1, success="true")
    deep = []
    for _ in range(900):
        deep = [deep]
    record["attributes"][number]["value"] = {"arrayValue": deep}
    assert read(tmp_path / "x", json.dumps(vendors.logs(record)).encode()) is not None


@pytest.mark.parametrize(
    "bomb",
    [
        b'{"type":"assistant","message":' + b"[" * 200_000,
        b'{"resourceSpans":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001,
        b'{"type":"user","message":{"content":' + b"[" * 3000 + b"]" * 3000 + b"}}",
        b'{"type":"user","sessionId":' + b"9" * 50_000 + b"}",
        b"{" * 500_000,
        b"\n" * 500_000,
    ],
)
def test_bombs_end_quickly(tmp_path, bomb):
    began = time.process_time()
    read(tmp_path / "x", bomb)
    assert time.process_time() - began < 5


def test_a_line_that_is_too_long_is_passed_over(tmp_path):
    path = tmp_path / "t.jsonl"
    with path.open("wb") as file:
        file.write(json.dumps(vendors.use("a", "s")).encode() + b"\n")
        file.write(b'{"type":"user","x":"' + b"x" * MAX_LINE_BYTES + b'"}\n')
        file.write(json.dumps(vendors.use("b", "s")).encode() + b"\n")
    trace = load_trace([str(path)])
    assert [span.call for span in trace.calls] == ["a", "b"]
    assert trace.losses


def test_an_object_of_too_many_values_is_none(tmp_path):
    path = tmp_path / "t.json"
    path.write_bytes(vendors.crowded("a", "s", MOST_MARKS))
    assert [span.call for span in load_trace([str(path)]).calls] == ["a"]
    path.write_bytes(vendors.crowded("a", "s", MOST_MARKS + 1))
    tracemalloc.start()
    with pytest.raises(UnavailableError, match="expected OTLP/JSON"):
        load_trace([str(path)])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < MAX_DOCUMENT_BYTES + 4 * path.stat().st_size


def test_reading_takes_linear_time(tmp_path):
    def seconds(count):
        path = tmp_path / f"{count}.jsonl"
        rows = [[vendors.use(f"c{n}", "s"), vendors.end(f"c{n}", "s", "ok")] for n in range(count)]
        path.write_text("".join(json.dumps(row) + "\n" for pair in rows for row in pair))
        began = time.process_time()
        load_trace([str(path)])
        return time.process_time() - began

    seconds(100)
    assert min(seconds(8000) for _ in range(3)) < 3 * min(seconds(4000) for _ in range(3))
