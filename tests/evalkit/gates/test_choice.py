"""Which gates a run may be about."""

from pathlib import Path

import pytest

from evalkit.errors import UsageError
from evalkit.gates.choice import Choice, open_gate
from evalkit.gates.outside import OutsideGate
from evalkit.gates.room import namespaces


def test_a_judge_that_would_not_be_asked_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "policy.yaml"
    file.write_text("version: 1\nname: judged\njudge: {backend: mock, model: m}\n")
    with pytest.raises(UsageError, match="judged names a judge, which a run in this process does"):
        open_gate(Choice(str(file)))


def test_a_report_says_where_a_gates_process_really_was(tmp_path: Path):
    """A home that would hide the gate's own program cannot be made, whatever the machine can."""
    hook = tmp_path / "hook.sh"
    hook.write_text("exit 0\n")
    gate = open_gate(Choice(gate=f"command:sh {hook}"))
    assert isinstance(gate, OutsideGate)
    assert "stand in the payload only" in gate.room(str(tmp_path), f"{tmp_path}/app")
    assert "stand in the payload only" in gate.room("/home/dev", "/srv/app")
    posted = open_gate(Choice(gate="http://127.0.0.1:9/hook"))
    assert isinstance(posted, OutsideGate)
    assert posted.room("/home/dev", "/home/dev/app").startswith("those of whoever listens")
    made = namespaces()
    assert gate.room("/home/dev", "/home/dev/app").startswith("made for every") is made
