"""MCP tools: what a policy says of them, what nobody says, and the code they run."""

import json

import pytest

from toolgate.errors import PolicyError
from toolgate.gate.catalog.load import shipped
from toolgate.gate.engine import Gate
from toolgate.gate.policy.compile import compile_policy
from toolgate.gate.policy.model import Policy

from .conftest import call

TOKEN = "ghp_7aZbQ9wKpL2mNxV4rTs8uYc1dEfGhJkM3nP5q"
DESCRIBED = {
    "mcp__tickets__get_*": ["read"],
    "mcp__tickets__create": ["write"],
    "mcp__chat__post": ["send"],
    "mcp__shop__buy": ["pay"],
    "mcp__box__sh": {"code": {"cmd": "shell"}},
    "mcp__box__py": {"code": {"source": "python"}},
    "mcp__db__ask": {"code": {"q": "sql"}},
    "mcp__files__put": {"effects": [], "paths": {"where": "write"}},
    "mcp__web__load": {"urls": {"address": "fetch"}},
    "mcp__web__give": {"urls": {"address": "send"}},
}


@pytest.fixture(scope="module")
def described(gate):
    body = json.loads(gate.policy_bytes)
    policy = {
        "version": 1,
        "name": "described",
        "names": body["names"],
        "facts": body["facts"],
        "rules": body["rules"],
        "mcp": DESCRIBED,
    }
    catalog = shipped()
    return Gate(Policy(compile_policy(json.dumps(policy).encode(), catalog.digest)), catalog)


CASES = [
    ("mcp__tickets__get_one", {"id": 1}, "allow", None),
    ("mcp__tickets__create", {"title": "x"}, "ask", "infrastructure"),
    ("mcp__chat__post", {"text": "x"}, "ask", "speaks-for-you"),
    ("mcp__shop__buy", {"item": 1}, "ask", "speaks-for-you"),
    ("mcp__box__sh", {"cmd": "git status"}, "allow", None),
    ("mcp__box__sh", {"cmd": "rm -rf /"}, "deny", "delete-whole-tree"),
    ("mcp__box__sh", {}, "ask", "unread-code"),
    ("mcp__box__sh", {"cmd": ["ls"]}, "ask", "unread-code"),
    ("mcp__box__py", {"source": "print(1)"}, "allow", None),
    ("mcp__box__py", {"source": "import shutil; shutil.rmtree('/')"}, "deny", "delete-whole-tree"),
    ("mcp__db__ask", {"q": "SELECT 1"}, "allow", None),
    ("mcp__db__ask", {"q": "DROP TABLE users"}, "ask", "infrastructure"),
    ("mcp__files__put", {"where": "src/a.txt"}, "allow", None),
    ("mcp__files__put", {"where": "/etc/passwd"}, "ask", "write-elsewhere"),
    ("mcp__files__put", {"where": ["src/a", "/etc/x"]}, "ask", "write-elsewhere"),
    ("mcp__web__load", {"address": "https://docs.example/"}, "allow", None),
    ("mcp__web__give", {"address": "https://docs.example/"}, "ask", "send-out"),
    ("mcp__web__give", {}, "ask", "send-out"),
    ("mcp__tickets__get_one", {"query": TOKEN}, "allow", None),
    ("mcp__files__put", {"where": "src/a", "note": {"a": [TOKEN]}}, "ask", "secret"),
    # nobody described these
    ("mcp__other__frobnicate", {}, "ask", "default"),
    ("mcp__other__run_command", {"command": "rm -rf /"}, "deny", "delete-whole-tree"),
    ("mcp__other__run_command", {"command": "ls"}, "ask", "default"),
    ("mcp__other__execute_python", {"code": "import os; os.system('rm -rf /')"}, "deny", None),
    (
        "mcp__ide__executeCode",
        {"code": "require('fs').rmSync('/', {recursive: true})", "language": "javascript"},
        "deny",
        None,
    ),
    ("mcp__other__eval", {"code": "1", "language": "cobol"}, "ask", "default"),
    ("mcp__files__write_file", {"path": ".claude/settings.json"}, "deny", "tamper-with-gate"),
]


@pytest.mark.parametrize(("tool", "given", "state", "rule"), CASES)
def test_decision(described, tool, given, state, rule):
    decision = described.decide(call(tool=tool, tool_input=given))
    assert decision.state == state, decision.sentence
    if rule:
        assert decision.rule == rule


@pytest.mark.parametrize("tool", ["mcp__other__get_x", "mcp__other__read_only_safe_list"])
def test_a_name_never_makes_a_tool_harmless(described, tool):
    assert described.decide(call(tool=tool, tool_input={"readOnlyHint": True})).state == "ask"


FAULTS = [
    ({"mcp__a__b": {}}, "mcp: mcp__a__b: nothing is said of it"),
    ({"mcp__a__b": {"kode": {}}}, "mcp: mcp__a__b: unknown key kode"),
    ({"mcp__a__b": {"code": {"x": "cobol"}}}, "code: x is 'cobol'; expected one of shell"),
    ({"mcp__a__b": {"paths": ["x"]}}, "paths is not a mapping from field to read"),
    ({"mcp__a__b": {"urls": {"u": "post"}}}, "urls: u is 'post'; expected one of fetch, send"),
    ({"mcp__a__b": ["reed"]}, "unknown effect type reed"),
    ({"mcp__a__b": "read"}, "mcp: mcp__a__b is not a list of texts"),
    ({"mcp__a__b": {"effects": ["reed"]}}, "effects: unknown effect type reed"),
]


@pytest.mark.parametrize(("mcp", "said"), FAULTS)
def test_faults_are_named(mcp, said):
    body = {"version": 1, "name": "x", "mcp": mcp}
    with pytest.raises(PolicyError) as caught:
        compile_policy(json.dumps(body).encode(), "sha256:" + "0" * 64)
    assert said in str(caught.value)
