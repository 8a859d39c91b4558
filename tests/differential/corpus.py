"""The real lines that are compared: the recorded ones of the project, and the full corpora."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
RECORDED = TESTS / "vectors" / "gate" / "bash_ran.jsonl"
CORPORA = Path(os.environ.get("TOOLGATE_SHARED", TESTS.parents[1] / "shared")) / "corpora"

_FILES = (
    "agent-claude-hooklogs",
    "agent-claude-console",
    "agent-claude-hooklogs-secondary",
    "agent-intercode",
    "shell-nl2bash",
    "shell-tldr",
)
_SHELLS = ("Bash", "run_shell_command")


def recorded() -> list[dict[str, Any]]:
    """Return the rows whose record is kept with the project."""
    return [json.loads(line) for line in RECORDED.read_text().splitlines()]


def lines() -> Iterator[dict[str, Any]]:
    """Yield every shell row of the corpora once, without those that were cut or shortened."""
    seen: set[str] = set()
    for name in _FILES:
        with (CORPORA / f"{name}.jsonl").open() as rows:
            for row in map(json.loads, rows):
                if row.get("tool_name") not in _SHELLS or row.get("elided") or row.get("truncated"):
                    continue
                text = str(row["tool_input"].get("command") or "").removeprefix("$ ")
                if text and text not in seen:
                    seen.add(text)
                    yield {**row, "command": text, "file": name}
