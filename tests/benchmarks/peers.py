"""Measure evalkit beside inspect_ai and promptfoo on the same work, in one run.

    python tests/benchmarks/peers.py [CASES] [--inspect PYTHON] [--promptfoo PROGRAM] [--repeat N]

The work: CASES commands, one answer each by a gate of two regular expressions, compared with
the label, everything logged as the harness does by itself. evalkit is measured a second time
with its own gate, which reads the commands; the labels are its answers. A harness whose program
is not given is left out, and said to be. Prints a Markdown table: wall seconds, CPU seconds of
the process and its children, the largest resident memory of one process, bytes written.
Cases are generated; no challenge set is looked at.
"""

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from peers_gate import answer
from run_cases import generated

from evalkit.challenge.freeze import freeze

HERE = Path(__file__).parent
QUIET = {
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_DISABLE_SHARING": "1",
    "NO_COLOR": "1",
}
"""So that promptfoo does its work and talks to nobody."""


class Cost(NamedTuple):
    """What one run of a harness cost."""

    wall: float
    cpu: float
    mib: float
    written: int


class Harness(NamedTuple):
    """One row: its name, the words that run it in a directory, and how many cases it logged."""

    name: str
    words: Callable[[Path], list[str]]
    logged: Callable[[Path, str], int]


def run(harness: Harness, place: Path) -> tuple[Cost, int]:
    """Run a harness in an empty directory; return the cost and how many cases were logged."""
    place.mkdir()
    words = harness.words(place)
    environ = {
        **os.environ,
        **QUIET,
        "PROMPTFOO_CONFIG_DIR": str(place / "promptfoo"),
        "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path[1:]]),
    }
    if words[0] != sys.executable:
        environ["PYTHONPATH"] = str(HERE)
    out = place / "stdout"
    begun = time.perf_counter()
    with out.open("wb") as stdout, (place / "stderr").open("wb") as stderr:
        child = subprocess.Popen(words, cwd=place, env=environ, stdout=stdout, stderr=stderr)
        _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - begun
    child.returncode = os.waitstatus_to_exitcode(status)
    files = [path for path in place.rglob("*") if path.is_file()]
    cost = Cost(
        wall,
        used.ru_utime + used.ru_stime,
        used.ru_maxrss / 1024,
        sum(path.stat().st_size for path in files),
    )
    try:
        return cost, harness.logged(place, out.read_text("utf-8", "replace"))
    except (ValueError, IndexError, sqlite3.Error):
        said = (place / "stderr").read_text("utf-8", "replace")[-500:]
        raise SystemExit(f"{harness.name}: exit {child.returncode}, no result: {said}") from None


def last_row(_place: Path, stdout: str) -> int:
    """Return the number of cases in the last line of a Python harness's output."""
    found: dict[str, Any] = json.loads(stdout.strip().splitlines()[-1])
    assert found["accuracy"] == 1.0, found
    return int(found["cases"])


def own_result(_place: Path, stdout: str) -> int:
    """Return the number of scored cases of ``evalkit run --json``."""
    found = json.loads(stdout)
    return int(found["cases"]) - int(found["unscored"])


def in_database(place: Path, _stdout: str) -> int:
    """Return the number of successful rows in promptfoo's database."""
    with sqlite3.connect(place / "promptfoo" / "promptfoo.db") as database:
        (rows,) = database.execute("select count(*) from eval_results where success").fetchone()
    return int(rows)


def promptfoo_config(made: dict[str, Any], place: Path) -> list[str]:
    """Write promptfoo's configuration and return the arguments that run it."""
    shutil.copy(HERE / "peers_gate.js", place)
    tests = [
        {
            "vars": {"command": case["command"]},
            "assert": [{"type": "equals", "value": case["expected"]}],
        }
        for case in made["cases"]
    ]
    config = {"prompts": ["{{command}}"], "providers": ["file://peers_gate.js"], "tests": tests}
    (place / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return ["eval", "-c", "config.json", "--no-cache", "--no-table", "--no-progress-bar", "-j", "4"]


def harnesses(made: dict[str, Any], path: Path, wanted: argparse.Namespace) -> list[Harness]:
    """Return the rows of the table."""
    python = sys.executable

    def own(place: Path) -> list[str]:
        places = ["--ledger", str(place / "ledger"), "--reports", str(place / "reports")]
        return [python, "-m", "evalkit", "run", str(path), "--purpose", "development", "--json",
                *places]  # fmt: skip

    def two(place: Path) -> list[str]:
        return [python, str(HERE / "peers_evalkit.py"), str(path), str(place)]

    rows = [
        Harness("evalkit, its own gate", own, own_result),
        Harness("evalkit, two-regex gate", two, last_row),
    ]
    if wanted.inspect:
        words = [wanted.inspect, str(HERE / "peers_inspect.py"), str(path)]
        rows += [
            Harness("inspect_ai", lambda place: [*words, str(place / "logs")], last_row),
            Harness(
                "inspect_ai, realtime log and score display off, 100 samples at a time",
                lambda place: [*words, str(place / "logs"), "quiet"],
                last_row,
            ),
        ]
    if wanted.promptfoo:
        rows.append(
            Harness(
                "promptfoo, -j 4, no cache",
                lambda place: [wanted.promptfoo, *promptfoo_config(made, place)],
                in_database,
            )
        )
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=int, nargs="?", default=10_000)
    parser.add_argument("--inspect", metavar="PYTHON", help="a Python that has inspect_ai")
    parser.add_argument("--promptfoo", metavar="PROGRAM", help="the promptfoo program")
    parser.add_argument("--repeat", type=int, default=1)
    wanted = parser.parse_args()
    made: dict[str, Any] = generated(wanted.cases)
    for case in made["cases"]:
        case["expected"] = answer(case["command"])
    print("| harness | cases logged | wall s | CPU s | CPU ms a case | MiB | written MB |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "generated.json"
        path.write_text(json.dumps(made), encoding="utf-8")
        freeze(str(path))
        for number, harness in enumerate(harnesses(made, path, wanted) * wanted.repeat):
            cost, logged = run(harness, Path(folder) / str(number))
            assert logged == wanted.cases, (harness.name, logged)
            print(
                f"| {harness.name} | {logged} | {cost.wall:.1f} | {cost.cpu:.1f} "
                f"| {cost.cpu / wanted.cases * 1000:.2f} | {cost.mib:.0f} "
                f"| {cost.written / 1e6:.1f} |",
                flush=True,
            )
            shutil.rmtree(Path(folder) / str(number))
    for name, given in (("inspect_ai", wanted.inspect), ("promptfoo", wanted.promptfoo)):
        if not given:
            print(f"{name}: not measured; give its program")


if __name__ == "__main__":
    main()
