"""The hook with a judge: asked where the task is open, on record before the decision, replayed."""

import json
import shutil

import pytest
from click.testing import CliRunner
from judges import Server

from toolgate.cli import cli
from toolgate.hook.answer import answer
from toolgate.verify import verify

START = 1_800_000_000_000_000
KEY = "sk-judge-0123456789abcdef"
AXES = ["destructive", "off_task", "authorized"]
QUIET = {"destructive": {"noul": 0.1}, "off_task": {"noul": 0.1}, "authorized": {"noul": 0.9}}
POLICY = {
    "version": 1,
    "name": "judged",
    "rules": [
        {
            "rule": "work",
            "decide": "allow",
            "because": "it is daily work",
            "effects": [{"type": ["fs.write"], "scope": ["workspace"]}],
        },
        {
            "rule": "push",
            "decide": "ask",
            "axis": "destructive",
            "because": "others see it",
            "effects": [{"type": ["vcs.publish"]}],
        },
        {
            "rule": "system",
            "decide": "deny",
            "because": "it is not ours",
            "effects": [{"type": ["fs.delete"], "scope": ["system", "outside"]}],
        },
    ],
}


class Host:
    """A session of one prompt, asked in this process under a policy with a judge."""

    def __init__(self, folder, judge, prompt="ship what we have to the remote"):
        policy = folder / "policy.yaml"
        policy.write_text("# JSON is YAML\n" + json.dumps({**POLICY, "judge": judge}))
        self.root = folder / "ledger"
        self.ts = START
        self.environ = {
            "HOME": "/home/dev",
            "TOOLGATE_LEDGER": str(self.root),
            "TOOLGATE_POLICY_FILE": str(policy),
            "TOOLGATE_VAULT": "on",
            "JUDGE_KEY": KEY,
        }
        self.send(hook_event_name="UserPromptSubmit", prompt=prompt)

    def send(self, **more):
        self.ts += 1000
        event = {
            "session_id": "s1",
            "prompt_id": "p1",
            "cwd": "/home/dev/app",
            "permission_mode": "default",
            **more,
        }
        output, message, _ = answer(json.dumps(event).encode(), self.environ, self.ts)
        assert KEY not in output.decode() + message
        return json.loads(output)["hookSpecificOutput"] if output else {}

    def ask(self, command, call="c1"):
        made = self.send(
            hook_event_name="PreToolUse",
            tool_name="Bash",
            tool_use_id=call,
            tool_input={"command": command},
        )
        return made["permissionDecision"], made["permissionDecisionReason"]

    def entries(self):
        files = [*sorted(self.root.glob("spine-*.jsonl")), *self.root.glob("sessions/*.jsonl")]
        return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]

    def judgements(self):
        return [
            one["ev"]
            for one in self.entries()
            if one["kind"] == "audit" and one["ev"]["action"] == "judge.asked"
        ]

    def show(self, call):
        done = CliRunner().invoke(cli, ["ledger", "show", call, "--ledger", str(self.root)])
        assert done.exit_code == 0
        return done.output

    def replay(self):
        done = CliRunner().invoke(cli, ["replay", str(self.root), "--json"])
        report = json.loads(done.output)
        reasons = [one["reason"] for one in report["decisions"]]
        return {name: count for name, count in report["counts"].items() if count}, reasons


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "toolgate" / "judge"


@pytest.fixture
def server():
    made = Server()
    made.script = made.reply({"answers": QUIET})
    yield made
    made.close()


@pytest.fixture
def host(server, tmp_path):
    return Host(
        tmp_path,
        {
            "backend": "local",
            "shape": "decisions",
            "model": "jev-1.13.0",
            "url": server.url,
            "key": {"environment": "JUDGE_KEY"},
            "axes": AXES,
            "deadline_ms": 3000,
        },
    )


def test_what_the_user_asked_for_is_allowed_and_on_record(host, server):
    state, reason = host.ask("git push")
    assert state == "allow"
    assert "Judge: jev-1.13.0 (local)." in reason
    (said,) = host.judgements()
    assert said["details"]["readings"] == {
        "authorized": "0.9",
        "destructive": "0.1",
        "off_task": "0.1",
    }
    (decision,) = [one for one in host.entries() if one["kind"] == "decision"]
    assert [fact["code"] for fact in decision["facts"]] == ["judge"]
    assert "log.fact_unknown" not in {one.code for one in verify(str(host.root)).findings}
    sent = server.heard[0].json["state"]
    assert sent["user_prompts"]["latest"] == "ship what we have to the remote"
    assert "git push" not in json.dumps(host.entries())


def test_a_judge_that_is_not_asked_leaves_no_trace(host, server):
    assert host.ask("ls")[0] == "allow"
    assert host.ask("rm -rf /etc", "c2")[0] == "deny"
    assert server.heard == []
    assert host.judgements() == []
    assert all(one["facts"] == [] for one in host.entries() if one["kind"] == "decision")


def test_a_server_that_fails_asks_and_says_why(host, server):
    server.script = server.reply(f"key {KEY}".encode(), f"500 {KEY}")
    state, reason = host.ask("touch a.txt")
    assert state == "ask"
    assert "gave no usable answer (status-500: the judge's server answered 500)" in reason
    assert host.judgements()[0]["details"]["fault"] == "status-500"
    assert KEY not in json.dumps(host.entries())


def test_a_deny_of_the_judge(host, server):
    server.script = server.reply({"answers": {"destructive": {"noul": 0.9}}})
    state, reason = host.ask("touch a.txt")
    assert state == "deny"
    assert "did not answer off_task (missing)" in reason


def test_replay_reads_the_kept_answer_and_asks_nobody(host, server, cache):
    host.ask("git push")
    host.ask("touch a.txt", "c2")
    server.script = server.reply(b"", "503 Busy")
    host.ask("touch b.txt", "c3")
    asked = len(server.heard)
    assert host.replay() == ({"same": 3}, [])
    assert len(server.heard) == asked
    shutil.rmtree(cache)
    assert host.replay() == (
        {"same": 1, "not_replayable": 2},
        ["its judge's answer is no longer kept"] * 2,
    )


def test_replay_by_a_build_that_would_ask_otherwise(host, monkeypatch):
    host.ask("git push")
    monkeypatch.setattr("toolgate.gate.judge.request.FRAMING", "Judge kindly.")
    assert host.replay() == (
        {"not_replayable": 1},
        ["this build would ask its judge something else"],
    )


def test_an_answer_that_was_changed_is_none(host, cache):
    host.ask("git push")
    (file,) = cache.iterdir()
    file.write_bytes(file.read_bytes().replace(b"0.9", b"0.1"))
    assert host.replay()[0] == {"not_replayable": 1}


def test_a_call_that_would_change_a_kept_answer_is_denied(host, cache):
    state, _ = host.ask(f"echo x > {cache}/a.json")
    assert state != "allow"
    (decision,) = [one for one in host.entries() if one["kind"] == "decision"]
    assert "gate.tamper" in {one["type"] for one in decision["effects"]}


def test_an_unpinned_model_is_marked_in_sentence_and_ledger(server, tmp_path):
    judge = {
        "backend": "local",
        "shape": "decisions",
        "model": "jev-latest",
        "url": server.url,
        "axes": AXES,
    }
    host = Host(tmp_path, judge)
    assert "(local, UNPINNED)" in host.ask("git push")[1]
    assert host.judgements()[0]["details"]["pinned"] is False
    shown = " ".join(host.show("c1").split())
    assert "judge model jev-latest (local, UNPINNED: its name may mean another model" in shown
    assert "- authorized 0.9" in shown


def test_the_story_of_a_call_says_what_its_judge_left_open(host, server):
    server.script = server.reply({"answers": {"destructive": {"noul": 0.9}}})
    host.ask("touch a.txt")
    shown = host.show("c1")
    assert "judge         model jev-1.13.0 (local)\n" in shown
    assert "- off_task: no answer (missing)" in shown
    server.script = server.reply(b"", "500 Oh")
    host.ask("touch b.txt", "c2")
    assert "- it gave no usable answer (status-500)" in host.show("c2")
    host.ask("ls", "c3")
    assert "judge" not in host.show("c3").split("2. Under whose")[0]


def test_a_mock_says_so_in_every_decision(tmp_path):
    says = {"destructive": 0.1, "off_task": 0.1, "authorized": 0.9}
    host = Host(tmp_path, {"backend": "mock", "model": "mock-1", "axes": AXES, "says": says})
    for number, command in enumerate(("git push", "touch a.txt")):
        state, reason = host.ask(command, f"c{number}")
        assert state == "allow"
        assert "Judge mock-1 is a mock: its answers are made up." in reason
    assert host.replay() == ({"same": 2}, [])
