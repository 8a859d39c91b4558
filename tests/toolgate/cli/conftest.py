"""A person at a terminal and an agent behind the hook, in one process and with one clock each."""

import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from approved import key

import toolgate.cli
from toolgate.canonical import digest_of
from toolgate.hook.answer import answer
from toolgate.ledger.append import Ledger

CODE = re.compile(r"allow-once ([A-Z2-7]{4}-[A-Z2-7]{4})")
PUSH = "git push origin main"
BASE_POLICY: dict[str, Any] = {
    "version": 1,
    "name": "team",
    "default": "ask",
    "unattended": {"modes": ["bypassPermissions"], "ask": "deny"},
    "classes": [
        {"name": "publish", "effects": [{"type": ["vcs.publish"]}]},
        {"name": "write", "effects": [{"type": ["fs.write", "fs.delete"]}]},
    ],
    "rules": [
        {
            "rule": "push",
            "decide": "ask",
            "because": "others see it",
            "effects": [{"type": ["vcs.publish"]}],
        },
        {
            "rule": "force",
            "decide": "deny",
            "because": "it overwrites",
            "effects": [{"type": ["vcs.publish"], "how": ["force"]}],
        },
        {
            "rule": "gate",
            "decide": "deny",
            "because": "a person does that",
            "effects": [{"type": ["gate.tamper"]}],
        },
    ],
}


class Answer(NamedTuple):
    """What the hook answered."""

    state: str
    reason: str

    @property
    def code(self) -> str:
        """Return the code the sentence names."""
        found = CODE.search(self.reason)
        assert found, self.reason
        return found[1]


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


class Counter:
    """A home with keys and a policy, a ledger, the agent's hook and the person's commands.

    Args:
        home: the home directory.
        monkeypatch, capsys: pytest's.
        ledger: where decisions are kept; a directory of the home by default.
        policy: what the policy says beside the usual.
    """

    def __init__(
        self, home: Path, monkeypatch: Any, capsys: Any, ledger: str = "", **policy: Any
    ) -> None:
        self.home = home
        self.ledger = ledger or str(home / "ledger")
        self.capsys = capsys
        self.patch = monkeypatch
        self.ts = 1_800_000_000_000_000
        keys = home / ".config" / "toolgate" / "keys"
        keys.mkdir(parents=True)
        for name in ("ann", "bob", "mallory"):
            key(name).save(str(keys / f"{name}.pem"))
        self.policy(**policy)
        for name, value in self.environ.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
        monkeypatch.setattr("time.time_ns", lambda: self.ts * 1000)

    @property
    def environ(self) -> dict[str, str]:
        """Return the environment of both."""
        return {
            "HOME": str(self.home),
            "TOOLGATE_LEDGER": self.ledger,
            "TOOLGATE_POLICY_FILE": str(self.home / "policy.yaml"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "XDG_STATE_HOME": str(self.home / "state"),
        }

    def policy(self, **more: Any) -> None:
        """Write the policy, in which ann has a key unless it says otherwise."""
        body = {**BASE_POLICY, "principals": {"ann": [key("ann").public]}, **more}
        # A comment makes it YAML, which JSON is.
        (self.home / "policy.yaml").write_text("# a policy\n" + json.dumps(body))

    def event(self, name: str, session: str, ts: int, **more: Any) -> tuple[bytes, str, int]:
        """Send the hook an event."""
        payload = {
            "session_id": session,
            "prompt_id": "p1",
            "cwd": more.pop("cwd", "/home/dev/app"),
            "permission_mode": more.pop("mode", "default"),
            "hook_event_name": name,
            **more,
        }
        return answer(json.dumps(payload).encode(), self.environ, ts)

    def call(
        self,
        call: str,
        command: str = PUSH,
        *,
        session: str = "s1",
        skew: int = 0,
        **more: Any,
    ) -> Answer:
        """Let the agent try a command; ``skew`` is how far its clock is ahead, microseconds."""
        self.ts += 1000
        said = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": call}
        out, message, _ = self.event("PreToolUse", session, self.ts + skew, **said, **more)
        if not out:
            return Answer("", message)
        body = json.loads(out)["hookSpecificOutput"]
        return Answer(body["permissionDecision"], body.get("permissionDecisionReason", ""))

    def ran(self, call: str, command: str = PUSH, *, session: str = "s1") -> None:
        """Report that a command ran."""
        self.ts += 1000
        said = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": call}
        self.event("PostToolUse", session, self.ts, tool_response={}, **said)

    def decided(self, session: str = "s1") -> list[dict[str, Any]]:
        """Return a session's decisions."""
        lines = (Path(self.ledger) / "sessions" / f"{session}.jsonl").read_bytes().splitlines()
        return [entry for entry in map(json.loads, lines) if entry["kind"] == "decision"]

    def writer(self) -> Ledger:
        """Return the ledger's writer, for what no hook of the host reports."""
        return Ledger(self.ledger)

    def args(self, command: str) -> str:
        """Return the digest of a command's arguments."""
        return digest_of({"command": command})

    def end(self, session: str = "s1") -> None:
        """End a session."""
        self.ts += 1000
        self.event("SessionEnd", session, self.ts)

    def run(self, *arguments: str) -> Done:
        """Run a command as the person types it."""
        self.ts += 1000
        self.patch.setattr(sys, "argv", ["toolgate", *map(str, arguments)])
        self.capsys.readouterr()
        code = 0
        try:
            toolgate.cli.main()
        except SystemExit as ending:
            code = int(ending.code or 0)
        return Done(code, *self.capsys.readouterr())

    def good(self, *arguments: str) -> str:
        """Run a command that succeeds and return what it prints."""
        done = self.run(*arguments)
        assert done.code == 0, done
        return done.out

    def fails(self, *arguments: str, code: int = 2) -> str:
        """Run a command that is refused and return the message."""
        done = self.run(*arguments)
        assert done.code == code, done
        return done.err


@pytest.fixture
def counter(tmp_path, monkeypatch, capsys):
    """Return what opens a counter; it takes what the policy says beside the usual."""

    def opened(ledger: str = "", **policy: Any) -> Counter:
        return Counter(tmp_path, monkeypatch, capsys, ledger, **policy)

    return opened
