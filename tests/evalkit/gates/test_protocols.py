"""What each host's protocol says to a hook, and what it takes for an answer."""

import json
from typing import Any

import pytest

from evalkit.errors import UsageError
from evalkit.gates.heard import MAX_REASON, NoAnswerError, Output, Shown, refuse_another
from evalkit.gates.protocols import NAMES, protocol

SHOWN = Shown(
    session="5e55",
    call="toolu_1",
    tool="Bash",
    input={"command": "rm -rf build"},
    cwd="/home/dev/app",
    mode=None,
    transcript="/home/x/transcript.jsonl",
    ts=1_700_000_000_000_000,
)


def said(name: str, body: Any = None, code: int = 0, stderr: bytes = b"") -> Output:
    out = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    return Output(code, out, stderr)


def claude(decision: str, reason: str = "why") -> dict[str, Any]:
    inner = {"hookEventName": "PreToolUse", "permissionDecision": decision}
    return {"hookSpecificOutput": {**inner, "permissionDecisionReason": reason}}


HEARD = [
    ("claude-code", said("", claude("deny")), "deny"),
    ("claude-code", said("", claude("ask")), "ask"),
    ("claude-code", said("", claude("defer")), "ask"),
    ("claude-code", said("", claude("allow"), code=1), "allow"),
    ("claude-code", said("", {"decision": "block", "reason": "old"}), "deny"),
    ("claude-code", said("", {"decision": "approve"}), "allow"),
    ("claude-code", said("", claude("allow"), code=2, stderr=b"no"), "deny"),
    ("claude-code", said(""), "no-opinion"),
    ("claude-code", said("", {"systemMessage": "hello"}), "no-opinion"),
    ("codex", said("", claude("deny")), "deny"),
    ("codex", said("", code=2, stderr=b"no"), "deny"),
    ("codex", said(""), "no-opinion"),
    ("copilot", said("", {"permissionDecision": "ask"}), "ask"),
    ("copilot", said("", code=1), "deny"),
    ("copilot", said(""), "no-opinion"),
    ("cursor", said("", {"permission": "deny", "user_message": "no"}), "deny"),
    ("cursor", said("", code=2, stderr=b"no"), "deny"),
    ("cursor", said("", {}), "no-opinion"),
    ("gemini", said("", {"decision": "block", "reason": "no"}), "deny"),
    ("gemini", said("", {"decision": "ask"}), "ask"),
    ("gemini", said("", code=2, stderr=b"no"), "deny"),
    ("gemini", said(""), "no-opinion"),
]

UNHEARD = [
    ("claude-code", said("", code=1), "exit code 1 and no decision"),
    ("claude-code", said("", b"ok!"), "printed no JSON object"),
    ("claude-code", said("", b"[1]"), "printed list"),
    ("claude-code", said("", b"[" * 100_000), "printed no JSON object"),
    ("claude-code", said("", claude("maybe")), "permissionDecision is 'maybe'; expected one of"),
    ("claude-code", said("", {"decision": 1}), "decision is 1"),
    ("codex", said("", claude("ask")), "permissionDecision is 'ask'; expected one of allow, deny"),
    ("codex", said("", claude("deny", "")), "a deny without permissionDecisionReason"),
    ("codex", said("", claude("allow")), "without updatedInput"),
    ("codex", said("", code=2), "exit code 2 without a word"),
    ("copilot", said("", {"permissionDecision": None}), "permissionDecision is None"),
    ("cursor", said("", code=3), "exit code 3"),
    ("cursor", said("", {"permission": "yes"}), "permission is 'yes'"),
    ("gemini", said("", code=1), "exit code 1"),
    ("gemini", said("", {"decision": []}), "decision is []"),
]


@pytest.mark.parametrize(("name", "output", "expected"), HEARD)
def test_answers(name: str, output: Output, expected: str):
    heard = protocol(name).hear(output)
    if expected == "no-opinion":
        assert (heard.state, heard.rule) == ("allow", "no-opinion")
    else:
        assert (heard.state, heard.rule) == (expected, "answered")


@pytest.mark.parametrize(("name", "output", "reason"), UNHEARD)
def test_what_decides_nothing_is_no_answer(name: str, output: Output, reason: str):
    with pytest.raises(NoAnswerError) as caught:
        protocol(name).hear(output)
    assert reason in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_payloads_hold_the_call_and_no_word_of_the_set(name: str):
    made = protocol(name)
    before = json.loads(made.before(SHOWN))
    text = json.dumps(before)
    assert "rm -rf build" in text
    assert "/home/dev/app" in text
    assert not {"expected", "category", "pair", "rationale"} & before.keys()
    after = made.after(SHOWN, "success")
    assert json.loads(after) != before


def test_a_shell_call_is_the_hosts_own_tool():
    assert json.loads(protocol("gemini").before(SHOWN))["tool_name"] == "run_shell_command"
    assert json.loads(protocol("copilot").before(SHOWN))["toolName"] == "bash"
    shell = json.loads(protocol("cursor").before(SHOWN))
    assert (shell["hook_event_name"], shell["command"]) == ("beforeShellExecution", "rm -rf build")
    edit = json.loads(protocol("cursor").before(SHOWN._replace(tool="Edit")))
    assert (edit["hook_event_name"], edit["tool_name"]) == ("preToolUse", "Edit")


def test_a_reason_is_cut_and_stays_one_line():
    heard = protocol("claude-code").hear(said("", claude("deny", "a\nb " * 10_000)))
    assert len(heard.reason) == MAX_REASON
    assert "\n" not in heard.reason


def test_an_unknown_protocol_is_named():
    with pytest.raises(UsageError, match="protocol 'vim': expected one of claude-code, codex"):
        protocol("vim")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"tool_use_id": "toolu_2"}, "about another call: its tool_use_id"),
        ({"hookSpecificOutput": {"session_id": "x"}}, "about another call: its session_id"),
        ({"hookSpecificOutput": {"hookEventName": "PostToolUse"}}, "another event, 'PostToolUse'"),
        ({"tool_use_id": ["toolu_1"]}, "about another call"),
    ],
)
def test_an_answer_about_another_call_is_none(answer: dict[str, object], message: str):
    payload = json.dumps(
        {"tool_use_id": "toolu_1", "session_id": "s", "hook_event_name": "PreToolUse"}
    ).encode()
    with pytest.raises(NoAnswerError, match=message):
        refuse_another(payload, json.dumps(answer).encode())


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"\xff", b'{"tool_use_id": "toolu_1"}'])
def test_an_answer_that_names_nothing_else_is_read_on(text: bytes):
    refuse_another(b'{"tool_use_id": "toolu_1", "hook_event_name": "PreToolUse"}', text)
