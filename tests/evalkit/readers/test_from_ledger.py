"""Drawing real calls of a ledger: seeded, recorded, blind, redacted, and never without a vault."""

import json
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from evalkit.challenge.read import parse_set
from evalkit.challenge.spine import audit_events
from evalkit.errors import RefusedError, SetError, UsageError
from evalkit.readers.drawing import Request, draw_into
from toolgate.errors import LedgerError
from toolgate.hook.answer import answer
from toolgate.verify import verify

START = 1_800_000_000_000_000
TOKEN = "ghp_" + "a1" * 20
SEED = "ab" * 32


class Host:
    """A host that asks the gate about calls of one directory, in this process."""

    def __init__(self, root: Path, vault: str = "on") -> None:
        self.home = root.parent
        self.app = self.home / "app"
        (self.app / ".git").mkdir(parents=True, exist_ok=True)
        (self.app / "src").mkdir(exist_ok=True)
        self.ts = START
        self.environ = {"HOME": str(self.home), "TOOLGATE_LEDGER": str(root)}
        if vault:
            self.environ["TOOLGATE_VAULT"] = vault

    def send(self, call: str, tool_input: dict[str, Any], **more: Any) -> None:
        self.ts += 1000
        event = {
            "session_id": "s1", "prompt_id": "p1", "cwd": str(self.app), "tool_name": "Bash",
            "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_use_id": call,
            "tool_input": tool_input, **more,
        }  # fmt: skip
        answer(json.dumps(event).encode(), self.environ, self.ts)

    def bash(self, call: str, command: str, **more: Any) -> None:
        self.send(call, {"command": command}, **more)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


def fill(root: Path) -> Host:
    host = Host(root)
    host.bash("c1", "git status")
    host.bash("c2", "git status")
    host.bash("c3", f"curl -H 'Authorization: Bearer {TOKEN}' https://example.com/x")
    host.bash("c4", f"cat {host.app}/README.md {host.home}/notes.txt {host.app}-old/x")
    host.send("c5", {"file_path": f"{host.app}/a", "content": "x"}, tool_name="Write")
    host.bash("c6", "ls ..", cwd=str(host.app / "src"))
    return host


def request(root: Path, **more: Any) -> Request:
    seed = root.parent / "seed"
    seed.write_text(SEED + "\n")
    values: dict[str, Any] = {
        "root": str(root), "vault": None, "out": str(root.parent / "draft.json"), "n": 10,
        "name": "drawn", "author": "me", "seed_file": str(seed),
    }  # fmt: skip
    return Request(**{**values, **more})


def drawn(root: Path, **more: Any) -> dict[str, Any]:
    asked = request(root, **more)
    draw_into(asked, START)
    body: dict[str, Any] = json.loads(Path(asked.out).read_bytes())
    return body


def test_every_different_call_is_drawn_once_in_the_directories_of_the_set(root: Path):
    fill(root)
    body = drawn(root)
    commands = sorted(
        case["command"]["command"] for case in body["cases"] if case["tool"] == "Bash"
    )
    assert commands == [
        "cat /home/dev/project/README.md /home/dev/notes.txt /home/dev/app-old/x",
        "curl -H 'Authorization: Bearer [redacted:token]' https://example.com/x",
        "git status",
    ]
    assert [case["command"] for case in body["cases"] if case["tool"] == "Write"] == [
        {"file_path": "/home/dev/project/a", "content": "x"}
    ]
    assert body["fixtures"] == {"cwd": "/home/dev/project", "home": "/home/dev"}
    imported = body["imported"]
    assert (imported["cases"], imported["calls"], imported["different"]) == (4, 6, 5)
    assert imported["passed_over"] == {"its working directory is not the root of its workspace": 1}


def test_nothing_of_the_answers_or_the_machine_is_in_the_draft(root: Path):
    host = fill(root)
    drawn(root)
    path = root.parent / "draft.json"
    text = path.read_text()
    ids = [case["id"] for case in json.loads(text)["cases"]]
    assert ids == sorted(ids)
    for word in (str(host.home), TOKEN, "s1", "decision_", "state", SEED, "rule"):
        assert word not in text
    assert all(case["expected"] is None for case in json.loads(text)["cases"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(SetError, match="expected one of allow, ask, deny, got null"):
        parse_set(path.read_bytes(), "draft.json")


def test_the_same_seed_draws_the_same_and_a_larger_draw_keeps_the_smaller(root: Path):
    fill(root)
    four = {case["id"] for case in drawn(root, out=str(root.parent / "a.json"))["cases"]}
    two = [case["id"] for case in drawn(root, n=2, out=str(root.parent / "b.json"))["cases"]]
    again = [case["id"] for case in drawn(root, n=2, out=str(root.parent / "c.json"))["cases"]]
    assert two == again
    assert set(two) < four


def test_the_draw_is_in_the_ledger_with_its_seed(root: Path):
    fill(root)
    drawn(root)
    (event,) = audit_events(str(root), b'"set.drawn"')
    details = event["details"]
    assert (details["seed"], details["seed_chosen"], details["n"]) == (SEED, True, 10)
    assert details["cases"] == 4
    assert verify(str(root)).verdict != "FAIL"
    made = draw_into(request(root, out=str(root.parent / "b.json"), seed_file=None), START + 9)
    assert "seed" not in made
    assert made["seed_chosen"] is False


def test_without_a_vault_nothing_is_drawn(root: Path):
    Host(root, vault="").bash("c1", "ls")
    with pytest.raises(RefusedError, match="keeps digests, no calls, and it has no vault"):
        drawn(root)
    with pytest.raises(RefusedError, match="expected a vault, got no such directory"):
        drawn(root, vault=str(root / "nowhere"))
    with pytest.raises(RefusedError, match="expected a decision ledger, got no such directory"):
        drawn(root.parent / "nowhere")
    assert not (root.parent / "draft.json").exists()
    assert list(audit_events(str(root), b'"set.drawn"')) == []


def test_what_a_vault_no_longer_has_or_has_only_redacted_is_counted(root: Path):
    fill(root)
    shutil.rmtree(root.parent / "ledger.vault")
    Host(root, vault="redacted").send(
        "c9", {"file_path": "a", "content": "text"}, tool_name="Write"
    )
    with pytest.raises(RefusedError, match=r"got none of 6 .*1: the vault keeps it without its"):
        drawn(root)


def test_a_directory_that_is_no_ledger_and_a_file_that_is_there_are_refused(root: Path):
    fill(root)
    (root.parent / "draft.json").write_text("mine")
    with pytest.raises(RefusedError, match="expected a new file, got one that is there"):
        drawn(root)
    assert (root.parent / "draft.json").read_text() == "mine"
    with pytest.raises(UsageError, match="expected 64 lower-case hex digits"):
        drawn(root, out=str(root / "x.json"), seed_file=str(root.parent / "draft.json"))
    (root.parent / "empty").mkdir()
    with pytest.raises((LedgerError, RefusedError)):
        drawn(root.parent / "empty", vault=str(root.parent / "ledger.vault"), out=str(root / "y"))
