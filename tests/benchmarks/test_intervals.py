"""The benchmark of intervals runs, names every promise, and fails where one is missed."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent / "intervals.py"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *words],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": ":".join(sys.path)},
    )


def test_every_setting_stands_beside_its_nominal_level() -> None:
    done = run("--coverage", "--runs", "25")
    lines = done.stdout.splitlines()[2:]
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(lines) >= 20
    assert all(" 95.0% " in line for line in lines)
    assert sum("by session" in line for line in lines) >= 4
    assert sum(line.endswith("at least") for line in lines) >= 10


def test_the_bars_are_printed() -> None:
    assert "(bar 2 s)" in run("--speed").stdout
