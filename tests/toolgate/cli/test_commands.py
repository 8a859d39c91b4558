"""The toolgate command: help, simulate, explain, policy, hook; messages instead of tracebacks."""

import json
import subprocess
import sys

import pytest

COMMANDS = [
    [],
    ["approve"],
    ["catalog"],
    ["catalog", "coverage"],
    ["catalog", "lint"],
    ["catalog", "show"],
    ["explain"],
    ["hook"],
    ["hook", "settings"],
    ["key"],
    ["key", "rotate"],
    ["ledger"],
    ["ledger", "verify"],
    ["policy"],
    ["policy", "check"],
    ["policy", "compile"],
    ["policy", "diff"],
    ["policy", "explain"],
    ["policy", "hold"],
    ["policy", "import"],
    ["policy", "init"],
    ["policy", "show"],
    ["policy", "sign"],
    ["policy", "test"],
    ["refuse"],
    ["simulate"],
]


def run(*arguments, **kwargs):
    command = [sys.executable, "-m", "toolgate", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **kwargs)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_of_every_command_is_light(command, tmp_path):
    probe = (
        "import sys; from toolgate.cli import cli\n"
        f"try: cli({[*command, '--help']!r})\n"
        "except SystemExit: pass\n"
        "heavy = {'rich', 'yaml', 'msgspec', 'orjson', 'tree_sitter', 'duckdb', 'scipy'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stderr.strip() == "[]"
    assert "Usage:" in done.stdout


ROWS = [
    {"id": "a", "tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": "/w"},
    {"id": "b", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}, "cwd": "/w"},
    {"id": "c", "tool_name": "Bash", "tool_input": {"command": "git reset --hard"}},
    {"id": "d", "tool_name": "Bash", "tool_input": {"command": "x"}, "truncated": True},
    {
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "tool_name": "Read",
        "tool_input": {"file_path": "/w/.env"},
        "tool_use_id": "e",
    },
    {"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Read", "tool_input": {}},
    {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "hi"}},
    {
        "type": "assistant",
        "sessionId": "s",
        "cwd": "/w",
        "message": {
            "content": [
                {"type": "text", "text": "x"},
                {"type": "tool_use", "id": "f", "name": "Bash", "input": {"command": "cd sub"}},
            ]
        },
    },
]


@pytest.fixture
def log(tmp_path):
    file = tmp_path / "log.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return file


def test_simulate_reads_all_three_forms(log):
    done = run("simulate", "--jsonl", log)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["id"], line["decision"]) for line in lines] == [
        ("a", "allow"),
        ("b", "deny"),
        ("c", "ask"),
        ("e", "ask"),
        ("f", "allow"),
    ]
    assert list(lines[0]) == [
        "id",
        "session_id",
        "tool",
        "decision",
        "rule",
        "axis",
        "proof",
        "facts",
    ]


def test_simulate_counts_and_lists_every_deny(log):
    body = json.loads(run("simulate", "--json", log).stdout)
    assert body["calls"] == {"allow": 2, "deny": 1, "ask": 2}
    assert body["shell_calls"] == {"allow": 2, "deny": 1, "ask": 1}
    assert [row["id"] for row in body["denied"]] == ["b"]
    assert sum(body["skipped"].values()) == 3
    text = run("simulate", log).stdout
    assert "denied: 1" in text
    assert "cut off in its source" in text


def test_a_session_that_names_no_directory_keeps_the_one_it_changed_to(tmp_path):
    file = tmp_path / "log.jsonl"
    calls = ["cd /srv/app && ls", "rm notes.txt"]
    file.write_text(
        "".join(
            json.dumps({"tool_name": "Bash", "tool_input": {"command": c}, "session_id": "s"})
            + "\n"
            for c in calls
        )
    )
    lines = [json.loads(line) for line in run("simulate", "--jsonl", file).stdout.splitlines()]
    assert lines[1]["decision"] == "allow"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "log.jsonl:1"),
        ("[]", "log.jsonl:1"),
        ('{"a":1}', "expected tool_name"),
        (None, "cannot be read"),
    ],
)
def test_simulate_says_what_is_wrong_and_where(tmp_path, content, said):
    file = tmp_path / "log.jsonl"
    if content is not None:
        file.write_text(content)
    done = run("simulate", file)
    assert done.returncode in (2, 3)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_explain_shows_effects_rules_and_decision():
    done = run(
        "explain", "--tool", "Bash", "--input", "cat .env", "--cwd", "/w", "--home", "/home/x"
    )
    assert "secret.read" in done.stdout
    assert "rule     secret (secret_exposure)" in done.stdout
    body = json.loads(run("explain", "--input", "cat .env", "--cwd", "/w", "--json").stdout)
    assert (body["state"], body["rule"]) == ("ask", "secret")


def test_explain_takes_the_input_of_other_tools_as_json():
    text = json.dumps({"file_path": "/etc/passwd", "content": "x"})
    assert "write-elsewhere" in run("explain", "--tool", "Write", "--input", text).stdout
    done = run("explain", "--tool", "Write", "--input", "no json")
    assert done.returncode == 2
    assert "expected a JSON object" in done.stderr


def test_the_shipped_policy_checks_itself(tmp_path):
    file = tmp_path / "p.yaml"
    file.write_text(run("policy", "show").stdout)
    done = run("policy", "check", file)
    assert done.returncode == 0, done.stderr
    out = tmp_path / "p.json"
    compiled = run("policy", "compile", file, "--output", out)
    assert compiled.stdout.strip() in done.stdout
    from toolgate.canonical import digest
    from toolgate.gate.open import default_gate

    assert digest(out.read_bytes()) == default_gate().policy_digest


def test_hook_settings_name_files_that_exist():
    body = json.loads(run("hook", "settings").stdout)
    command = body["hooks"]["PreToolUse"][0]["hooks"][0]
    assert command["args"][:3] == ["-I", "-S", "-E"]
    from pathlib import Path

    assert Path(command["command"]).is_file()
    assert Path(command["args"][3]).is_file()
    assert set(body["hooks"]) >= {"PreToolUse", "PostToolUse", "Stop", "SessionEnd"}
