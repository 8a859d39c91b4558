"""Tools that are no shell: files, searches, web, MCP, unknown ones."""

import pytest

CASES = [
    ("Read", {"file_path": "/home/dev/app/src/x.py"}, "allow"),
    ("Read", {"file_path": "/home/dev/app/.env"}, "ask"),
    ("Read", {"file_path": "/home/dev/.ssh/id_ed25519"}, "ask"),
    ("Write", {"file_path": "/home/dev/app/docs/a.md", "content": "run rm -rf / never"}, "allow"),
    ("Write", {"file_path": "/home/dev/.bashrc", "content": "x"}, "ask"),
    ("Write", {"file_path": "/home/dev/app/.claude/settings.json", "content": "{}"}, "deny"),
    ("Write", {"file_path": "/home/dev/app/.git/hooks/pre-push", "content": "x"}, "ask"),
    ("Edit", {"file_path": "/home/dev/app/a.py", "old_string": "a", "new_string": "b"}, "allow"),
    ("Edit", {"file_path": "/etc/hosts", "old_string": "a", "new_string": "b"}, "ask"),
    ("MultiEdit", {"file_path": "/home/dev/app/a.py", "edits": []}, "allow"),
    ("NotebookEdit", {"notebook_path": "/home/dev/app/n.ipynb", "new_source": "x"}, "allow"),
    ("Glob", {"pattern": "**/*.py"}, "allow"),
    ("Grep", {"pattern": "rm -rf /", "path": "/home/dev/app"}, "allow"),
    ("Grep", {"pattern": "KEY", "path": "/home/dev/app/.env"}, "ask"),
    ("WebFetch", {"url": "https://docs.example/x", "prompt": "summarize"}, "allow"),
    ("WebSearch", {"query": "how to undo git reset --hard"}, "allow"),
    ("TodoWrite", {"todos": []}, "allow"),
    ("mcp__unknown__frobnicate", {"x": 1}, "ask"),
    ("mcp__files__write_file", {"path": ".claude/settings.json", "content": ""}, "deny"),
    ("SomethingNew", {}, "ask"),
]


@pytest.mark.parametrize(("tool", "tool_input", "expected"), CASES)
def test_tool_decision(decide, tool, tool_input, expected):
    decision = decide(tool=tool, tool_input=tool_input)
    assert decision.state == expected, decision.sentence


@pytest.mark.parametrize(
    ("tool", "tool_input", "field"),
    [
        ("Read", {}, "file_path"),
        ("Write", {"file_path": 3}, "file_path"),
        ("Bash", {}, "command"),
        ("Bash", {"command": ""}, "command"),
        ("WebFetch", {"prompt": 1}, "url"),
    ],
)
def test_a_missing_field_denies_and_is_named(decide, tool, tool_input, field):
    decision = decide(tool=tool, tool_input=tool_input)
    assert (decision.state, decision.rule) == ("deny", "input")
    assert field in decision.sentence


def test_a_private_key_in_content_is_a_secret_that_is_kept(decide):
    text = "-----BEGIN PRIVATE KEY-----\nEXAMPLE-ONLY\n"
    decision = decide(
        tool="Write", tool_input={"file_path": "/home/dev/app/a.txt", "content": text}
    )
    assert decision.rule == "secret"
