"""The hook for Claude Code: exact bytes, life cycle, bad input, failures inside."""

import json
import resource
import subprocess

import pytest

from toolgate.canonical import digest, digest_of
from toolgate.verify import verify

DECISIONS = [("ls", "allow"), ("git reset --hard", "ask"), ("rm -rf /", "deny")]


@pytest.mark.parametrize(("command", "expected"), DECISIONS)
def test_answer_is_one_complete_json_object(send, event, command, expected):
    answer = send(event(command=command))
    assert answer.code == 0
    assert answer.message == ""
    body = json.loads(answer.output)
    assert answer.output.startswith(b'{"hookSpecificOutput":{"hookEventName":"PreToolUse",')
    assert answer.output.endswith(b"}}\n")
    assert list(body["hookSpecificOutput"]) == [
        "hookEventName",
        "permissionDecision",
        "permissionDecisionReason",
    ]
    assert answer.decision == expected
    assert answer.reason.startswith("toolgate: ")


def test_exact_bytes_of_a_deny(send, event):
    assert send(event(command="rm -rf /")).output == (
        b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
        b'"permissionDecisionReason":"toolgate: Denied: rm: fs.delete / (system); it deletes a '
        b"whole root, home or workspace; name the files that should go (rule "
        b'delete-whole-tree)."}}\n'
    )


def test_decision_is_recorded_with_its_rule(send, event, entries):
    send(event(command="rm -rf /"))
    decision = next(entry for entry in entries() if entry["kind"] == "decision")
    assert decision["ev"]["decision_state"] == "denied"
    assert decision["rule"] == "delete-whole-tree"
    assert decision["intent"]["call"] == "toolu_1"
    assert decision["host"] == "claude-code"
    assert decision["mode"] == "default"


def test_life_cycle_leaves_a_closed_session(send, event, entries, ledger):
    prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt_id": "p1"}
    for payload in (
        {"hook_event_name": "SessionStart", "session_id": "s1", "source": "startup"},
        {**prompt, "prompt": "list the files"},
        event(),
        event("PostToolUse", tool_response={"stdout": "a", "interrupted": False}),
        event(command="pytest", call="toolu_2"),
        event("PostToolUseFailure", command="pytest", call="toolu_2", error="Exit code 1"),
        event(command="curl https://docs.example", call="toolu_3"),
        event("PermissionDenied", command="curl https://docs.example", call="toolu_3", reason="x"),
        {"hook_event_name": "Stop", "session_id": "s1", "prompt_id": "p1"},
        {"hook_event_name": "SessionEnd", "session_id": "s1", "reason": "exit"},
    ):
        answer = send(payload)
        assert (answer.code, answer.message) == (0, "")
    kinds = [entry["kind"] for entry in entries()]
    assert kinds.count("decision") == kinds.count("outcome") == 3
    assert kinds.count("turn_open") == kinds.count("turn_close") == 1
    assert kinds.count("session_close") == 1
    states = [e["ev"]["terminal_state"] for e in entries() if e["kind"] == "outcome"]
    assert states == ["ok", "error", "refused"]
    report = verify(str(ledger))
    assert report.verdict == "CONDITIONAL", report.findings
    assert report.findings == []


@pytest.mark.parametrize(
    ("state", "more"),
    [
        ("cancelled", {"error": "stopped", "is_interrupt": True}),
        ("timeout", {"error": "Command timed out after 2m"}),
        ("error", {"error": "Exit code 2"}),
    ],
)
def test_failures_end_in_their_own_state(send, event, entries, state, more):
    send(event())
    send(event("PostToolUseFailure", **more))
    outcome = next(entry for entry in entries() if entry["kind"] == "outcome")
    assert outcome["ev"]["terminal_state"] == state


BAD = {
    "empty": (b"", "empty"),
    "blank": (b"  \n", "empty"),
    "not JSON": (b"{not json", "not JSON"),
    "array": (b"[]", "expected a JSON object"),
    "duplicate key": (b'{"session_id":"a","session_id":"b"}', "duplicate key"),
    "NaN": (b'{"x":NaN}', "NaN"),
    "infinity": (b'{"x":1e400}', "infinity"),
    "not UTF-8": (b'{"x":"\xff"}', "not UTF-8"),
    "byte order mark": (b'\xef\xbb\xbf{"x":1}', "byte order mark"),
    "lone surrogate": (b'{"x":"\\ud800"}', "lone surrogate"),
    "large integer": (b'{"x":9007199254740993}', "2^53"),
    "deep": (b'{"x":' + b"[" * 5_000 + b"]" * 5_000 + b"}", "nested deeper"),
    "no event": (b'{"session_id":"s"}', "hook_event_name"),
    "no session": (b'{"hook_event_name":"PreToolUse"}', "session_id"),
    "no tool": (
        b'{"hook_event_name":"PreToolUse","session_id":"s","tool_input":{}}',
        "tool_name",
    ),
    "no input": (
        b'{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash"}',
        "tool_input",
    ),
    "cwd is a number": (
        b'{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash",'
        b'"tool_input":{"command":"ls"},"cwd":1}',
        "cwd",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_denied_recorded_and_explained(send, entries, name):
    payload, said = BAD[name]
    answer = send(payload)
    assert (answer.code, answer.decision) == (0, "deny")
    assert said in answer.reason
    assert "Traceback" not in answer.message
    refused = [e for e in entries() if e["kind"] == "audit"]
    assert [entry["ev"]["action"] for entry in refused] == ["input.refused"]


NAMED = {
    "half a character": (
        b'{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash",'
        b'"tool_use_id":"c1","tool_input":{"command":"\\ud800"}}',
        {"session": "s", "call": "c1", "tool": "Bash", "args_digest": None},
    ),
    "cwd is a number": (
        b'{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash",'
        b'"tool_use_id":"c1","tool_input":{"command":"ls"},"cwd":1}',
        {
            "session": "s",
            "call": "c1",
            "tool": "Bash",
            "args_digest": digest_of({"command": "ls"}),
        },
    ),
    "names of other types": (
        b'{"hook_event_name":"PreToolUse","session_id":["s"],"tool_name":7,'
        b'"tool_use_id":"\\udfff","tool_input":[1]}',
        {"session": None, "call": None, "tool": None, "args_digest": None},
    ),
    "too long": (
        b'{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash",'
        b'"tool_use_id":"c1","tool_input":{"command":"' + b"x" * 5_000_000 + b'"}}',
        {
            "session": "s",
            "call": "c1",
            "tool": "Bash",
            "args_digest": digest_of({"command": "x" * 5_000_000}),
        },
    ),
    "another event": (
        b'{"hook_event_name":"Other","session_id":"s","tool_use_id":"c1","n":1e999}',
        {"session": None, "call": None, "tool": None, "args_digest": None},
    ),
    "too deep": (
        b'{"hook_event_name":"PreToolUse","tool_use_id":"c1","tool_input":'
        + b'{"a":' * 100_000
        + b"1"
        + b"}" * 100_001,
        {"session": None, "call": None, "tool": None, "args_digest": None},
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_refused_call_is_named_as_far_as_it_can_be(send, entries, name):
    """So that a transcript which lists it does not show a call nobody answered."""
    payload, named = NAMED[name]
    assert send(payload).decision == "deny"
    (refused,) = [entry for entry in entries() if entry["kind"] == "audit"]
    details = refused["ev"]["details"]
    assert {key: details[key] for key in named} == named
    assert details["digest"] == digest(payload)


@pytest.mark.parametrize(
    "command",
    ["x" * 70_000, "$(" * 10_000, "echo \x00"],
    ids=["long", "nested", "nul"],
)
def test_commands_that_are_not_read_are_denied(send, event, command):
    assert send(event(command=command)).decision == "deny"


def test_ten_megabytes_are_denied(send, event, entries):
    answer = send(event(command="x" * 10_000_000))
    assert answer.decision == "deny"
    assert "at most" in answer.reason


def test_unknown_tool_asks(send, event):
    assert send(event(tool_name="Frobnicate", tool_input={})).decision == "ask"


def test_missing_command_is_denied_and_recorded(send, event, entries):
    assert send(event(tool_input={})).decision == "deny"
    assert [e["rule"] for e in entries() if e["kind"] == "decision"] == ["input"]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (None, "cannot be read"),
        (b"version: 1\nname: x\nrules: [{rule: a}]\n", "decide"),
        (b"version: 2\nname: x\n", "version"),
        (b"{", "not a compiled policy"),
        (b"a: [", "line 1"),
        (b"name: \xff", "UTF-8"),
    ],
)
def test_a_policy_that_cannot_be_used_denies(send, event, tmp_path, policy, said):
    file = tmp_path / "policy.yaml"
    if policy is not None:
        file.write_bytes(policy)
    answer = send(event(), TOOLGATE_POLICY_FILE=str(file))
    assert answer.decision == "deny"
    assert said in answer.reason


def test_a_policy_of_the_project_is_not_read(send, event, tmp_path):
    (tmp_path / "policy.yaml").write_text("version: 1\nname: x\nrules: []\n")
    assert send(event(cwd=str(tmp_path))).decision == "allow"


def test_a_user_policy_is_compiled_once_and_used(send, event, tmp_path):
    file = tmp_path / "policy.yaml"
    file.write_text(
        "version: 1\nname: own\nrules:\n"
        "  - {rule: no-ls, decide: deny, because: not here, effects: [{program: [ls]}]}\n"
    )
    environment = {"TOOLGATE_POLICY_FILE": str(file), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert "no-ls" in send(event(), **environment).reason
    kept = list((tmp_path / "cache").rglob("*.json"))
    assert len(kept) == 1
    kept[0].write_bytes(b"{}")  # a cache that lies is a policy that cannot be used
    assert send(event(call="toolu_2"), **environment).decision == "deny"


def test_a_ledger_that_cannot_be_written_denies(send, event, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    answer = send(event(), TOOLGATE_LEDGER=str(blocked / "ledger"))
    assert answer.decision == "deny"
    assert "recorded" in answer.reason or "ledger" in answer.reason
    assert "Traceback" not in answer.message


def test_a_full_disk_denies(event, ledger, hook_command):
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    done = subprocess.run(
        hook_command,
        input=json.dumps(event()).encode(),
        capture_output=True,
        env={"HOME": "/home/dev", "TOOLGATE_LEDGER": str(ledger)},
        preexec_fn=small_files,
        check=False,
    )
    body = json.loads(done.stdout)["hookSpecificOutput"]
    assert (done.returncode, body["permissionDecision"]) == (0, "deny")


def test_an_outcome_that_cannot_be_recorded_is_said_aloud(send, event, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    answer = send(event("PostToolUse", tool_response={}), TOOLGATE_LEDGER=str(blocked / "l"))
    assert answer.code == 1
    assert answer.output == b""
    assert "was not recorded" in answer.message


def test_a_repeated_event_keeps_its_intent(send, event, entries):
    send(event())
    send(event())
    decisions = [entry for entry in entries() if entry["kind"] == "decision"]
    assert len(decisions) == 2
    assert decisions[0]["ev"]["action_ref"] == decisions[1]["ev"]["action_ref"]


def _with_descriptors(hook_command, payload, ledger, redirect):
    """Run the hook through a shell that changes its descriptors."""
    line = " ".join(f"'{word}'" for word in hook_command)
    return subprocess.run(
        ["/bin/sh", "-c", f"{line} {redirect}"],
        input=json.dumps(payload).encode(),
        capture_output=True,
        env={"HOME": "/home/dev", "TOOLGATE_LEDGER": str(ledger)},
        check=False,
    )


@pytest.mark.parametrize("redirect", ["2>&-", "2>/dev/full"])
def test_a_deny_needs_no_standard_error(hook_command, event, ledger, redirect):
    done = _with_descriptors(hook_command, event(tool_input=[]), ledger, redirect)
    body = json.loads(done.stdout)["hookSpecificOutput"]
    assert (done.returncode, body["permissionDecision"]) == (0, "deny")


@pytest.mark.parametrize("redirect", [">&-", ">/dev/full"])
def test_an_answer_that_cannot_go_out_blocks(hook_command, event, ledger, redirect):
    assert _with_descriptors(hook_command, event(), ledger, redirect).returncode == 2


def test_a_broken_installation_denies(event, tmp_path, hook_command):
    folder = tmp_path / "toolgate" / "hook"
    folder.mkdir(parents=True)
    with open(hook_command[-1]) as source:
        (folder / "main.py").write_text(source.read())
    done = subprocess.run(
        [*hook_command[:-1], str(folder / "main.py")],
        input=json.dumps(event()).encode(),
        capture_output=True,
        check=False,
    )
    body = json.loads(done.stdout)["hookSpecificOutput"]
    assert (done.returncode, body["permissionDecision"]) == (0, "deny")
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "result",
    [b'{"stdout":"\\ud800"}', b'{"n":9007199254740993}', b'{"stdout":"' + b"x" * 5_000_000 + b'"}'],
    ids=["surrogate", "large integer", "five megabytes"],
)
def test_a_result_that_is_no_proper_json_is_recorded(send, event, entries, result):
    send(event())
    payload = json.dumps(event("PostToolUse")).encode()
    answer = send(payload[:-1] + b',"tool_response":' + result + b"}")
    assert (answer.code, answer.output, answer.message) == (0, b"", "")
    outcome = next(entry for entry in entries() if entry["kind"] == "outcome")
    assert outcome["ev"]["terminal_state"] == "ok"


@pytest.mark.parametrize("place", ["ledger", "~/ledger"])
def test_a_ledger_at_no_absolute_path_denies(send, event, place):
    answer = send(event(), TOOLGATE_LEDGER=place)
    assert answer.decision == "deny"
    assert "absolute" in answer.reason


@pytest.mark.parametrize("cwd", ["//home//dev/app", "/home/dev/app/", "/home/dev/./app"])
def test_a_directory_is_normalized(send, event, cwd):
    assert send(event(command="touch notes.txt", cwd=cwd)).decision == "allow"


def test_a_relative_directory_counts_as_unknown(send, event):
    assert send(event(command="rm -rf build", cwd="..")).decision == "ask"


def test_the_gate_protects_itself(send, event, ledger, hook_command):
    package = hook_command[-1].rsplit("/hook/", 1)[0]
    for command in (
        f"rm {hook_command[-1]}",
        f"rm -rf {package}",
        f"mv {package} /tmp/x",
        f"rm {ledger}.salt",
        f"rm -rf {ledger}",
        f"echo x > {ledger}/spine-000000000001.jsonl",
    ):
        assert send(event(command=command, call=command)).decision == "deny", command


def test_words_that_grow_without_end_are_bounded(send, event):
    command = "x=aaaaaaaa; " + 'x="$x$x$x$x$x$x$x$x"; ' * 14 + "rm -rf $x"
    assert send(event(command=command)).decision in ("ask", "deny")
