"""Running the hook as a host does: one process an event, bytes in, bytes out."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import toolgate.hook.main

MAIN = Path(toolgate.hook.main.__file__)
INTERPRETER = os.path.realpath(sys.executable)
CWD = "/home/dev/app"


class Answer(NamedTuple):
    code: int
    output: bytes
    message: str

    @property
    def decision(self) -> str:
        return json.loads(self.output)["hookSpecificOutput"]["permissionDecision"]

    @property
    def reason(self) -> str:
        return json.loads(self.output)["hookSpecificOutput"]["permissionDecisionReason"]


@pytest.fixture
def ledger(tmp_path) -> Path:
    return tmp_path / "ledger"


@pytest.fixture
def hook_command() -> list[str]:
    return [INTERPRETER, "-I", "-S", "-E", str(MAIN)]


@pytest.fixture
def send(ledger):
    """Send one payload (bytes or an object) to a fresh hook process."""

    def run(payload, *arguments: str, **environment: str) -> Answer:
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        done = subprocess.run(
            [INTERPRETER, "-I", "-S", "-E", *arguments, str(MAIN)],
            input=data,
            capture_output=True,
            env={"HOME": "/home/dev", "TOOLGATE_LEDGER": str(ledger), **environment},
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr.decode())

    return run


def event(name="PreToolUse", *, command="ls", call="toolu_1", **more) -> dict:
    return {
        "session_id": "s1",
        "prompt_id": "p1",
        "cwd": CWD,
        "permission_mode": "default",
        "hook_event_name": name,
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_use_id": call,
        **more,
    }


@pytest.fixture(name="event")
def event_factory():
    return event


@pytest.fixture
def entries(ledger):
    """Return every entry of the ledger, spine first."""

    def read() -> list[dict]:
        files = sorted(ledger.glob("spine-*.jsonl")) + sorted(ledger.glob("sessions/*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]

    return read
