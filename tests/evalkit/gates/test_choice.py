"""Which gates a run may be about."""

from pathlib import Path

import pytest

from evalkit.errors import UsageError
from evalkit.gates.choice import Choice, open_gate


def test_a_judge_that_would_not_be_asked_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "policy.yaml"
    file.write_text("version: 1\nname: judged\njudge: {backend: mock, model: m}\n")
    with pytest.raises(UsageError, match="judged names a judge, which a run in this process does"):
        open_gate(Choice(str(file)))
