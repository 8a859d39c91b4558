"""``toolgate explain --judge``: the exact request, sent only when that is asked for."""

import json

import pytest
from click.testing import CliRunner
from judges import Server

from toolgate.cli import cli

KEY = "sk-judge-0123456789abcdef"
QUIET = {
    "destructive": {"noul": 0.1},
    "off_task": {"noul": 0.1},
    "authorized": {"noul": 0.9},
}


@pytest.fixture
def server():
    made = Server()
    made.script = made.reply({"answers": QUIET})
    yield made
    made.close()


@pytest.fixture
def explain(server, tmp_path, monkeypatch):
    """Explain a push under a policy whose judge is the server; returns what is printed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("JUDGE_KEY", KEY)
    policy = {
        "version": 1,
        "name": "judged",
        "rules": [
            {
                "rule": "push",
                "decide": "ask",
                "axis": "destructive",
                "because": "others see it",
                "effects": [{"type": ["vcs.publish"]}],
            }
        ],
        "judge": {
            "backend": "local",
            "shape": "decisions",
            "model": "jev-1.13.0",
            "url": server.url,
            "key": {"environment": "JUDGE_KEY"},
            "axes": list(QUIET),
        },
    }

    def run(*arguments, **more):
        file = tmp_path / "policy.yaml"
        file.write_text("# JSON is YAML\n" + json.dumps({**policy, **more}))
        given = ["explain", "--input", "git push", "--cwd", "/home/dev/app", "--policy", str(file)]
        done = CliRunner().invoke(cli, [*given, *arguments])
        assert KEY not in done.output
        return done

    return run


PROMPT = ("--prompt", "push it, TOKEN=abc123")


def test_the_request_is_shown_and_not_sent(explain, server):
    done = explain(*PROMPT, "--judge")
    assert done.exit_code == 0
    assert server.heard == []
    assert "authorization: Bearer [the key in variable JUDGE_KEY]" in done.output
    assert "abc123" not in done.output.split("POST ")[1]
    assert "\n  asked\n" in done.output


def test_what_is_shown_is_what_is_sent_byte_for_byte(explain, server):
    shown = json.loads(explain(*PROMPT, "--judge", "--json").output)["judge"]
    said = json.loads(explain(*PROMPT, "--ask-judge", "--json").output)
    (heard,) = server.heard
    assert shown["body"].encode() == heard.body
    assert shown["request"] == said["judge"]["said"]["request"]
    sent = {name: value for name, value in heard.headers.items() if name in shown["headers"]}
    assert sent.pop("authorization") == f"Bearer {KEY}"
    assert sent == {k: v for k, v in shown["headers"].items() if k != "authorization"}
    assert (said["state"], said["rule"]) == ("allow", "push")
    assert said["judge"]["said"]["readings"]["authorized"] == 0.9


def test_what_it_said_is_shown_with_the_decision_it_makes(explain):
    output = explain(*PROMPT, "--ask-judge").output
    assert output.startswith("allow: ")
    assert "  authorized           0.9000\n" in output
    assert "Judge: jev-1.13.0 (local)." in " ".join(output.split())


def test_without_a_task_it_is_not_asked_even_so(explain, server):
    output = explain("--ask-judge").output
    assert "not asked: nothing is known of what the user asked for" in output
    assert server.heard == []


def test_a_policy_without_a_judge_is_wrong_usage(explain):
    done = explain("--judge", judge=None)
    assert done.exit_code == 2
    assert "names no judge" in done.output
