"""Time what `evalkit resume` reads before it goes on: the journal, and the run's decisions.

    python tests/benchmarks/resume_scan.py [ROWS] [--repeat N]

ROWS rows are written by the journal itself, half of them started, half finished. Beside the
scan stands a bare loop that decodes every row, so that the share of the rest can be read off.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import orjson

from evalkit.challenge.journal import NAME, Journal, read_journal
from evalkit.challenge.score import Result

GROUP = 100
RESULT = Result(
    case="", pair=None, category="kind-3", expected="allow", decided="allow", rule="read-only",
    axis=None, action_class="read", proof="proved", effects=("fs.read", "inspect"),
    sentence="Allowed: it only reads files of the workspace (rule read-only).",
    decision_digest="sha256:" + "5a" * 32,
)  # fmt: skip


def written(folder: str, rows: int) -> None:
    """Write a journal of so many rows."""
    journal = Journal(folder)
    for first in range(0, rows // 2, GROUP):
        ids = [f"t{number}" for number in range(first, min(first + GROUP, rows // 2))]
        for case in ids:
            journal.started(case, 1, 1)
        journal.finished([RESULT._replace(case=case) for case in ids], 2)
    journal.close()


def cpu_of(work: Callable[[], object]) -> float:
    """Return the CPU seconds of some work."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=int, nargs="?", default=100_000)
    parser.add_argument("--repeat", type=int, default=5)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        written(folder, wanted.rows)
        lines = (Path(folder) / NAME).read_bytes().splitlines()
        assert len(lines) == wanted.rows // 2 * 2
        scans = [cpu_of(lambda: read_journal(folder)) for _ in range(wanted.repeat)]
        floors = [cpu_of(lambda: [orjson.loads(row) for row in lines]) for _ in scans]
        progress = read_journal(folder)
        assert len(progress.finished) == wanted.rows // 2
        assert not progress.in_doubt()
    scan, floor = min(scans), min(floors)
    print(
        f"{wanted.rows} journal rows: scan {scan:.2f} s, decoding alone {floor:.2f} s "
        f"(ratio {scan / floor:.1f}; bar: under 1 s)"
    )


if __name__ == "__main__":
    main()
