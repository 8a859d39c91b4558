"""Prints what a decision on approvals costs a process, behind a short spine and a long one.

    python tests/benchmarks/composed.py [ENTRIES]

Each decision is made by a writer that remembers nothing, as a hook is, and takes
CPU time of this process. Approvals that were used up, or have expired, lie all
along the spine. The ratio is of one run and what the figure is about.
"""

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "faults"))

from approved import HOUR, THIRD, Desk

_DECISIONS = 40
_EXPIRED_EVERY = 10


def grown(root: Path, entries: int) -> Desk:
    """Return a ledger whose spine has so many entries, one in ten an approval that expired."""
    desk = Desk(root, "s", THIRD)
    desk.say("first", "denied")
    for number in range(entries // _EXPIRED_EVERY):
        desk.approve("alice", "deploy", expiry=desk.ts + 1_000_000)
        for other in range(_EXPIRED_EVERY - 1):
            desk.ledger.audit(
                action="note", actor="t", target=None, details={"n": [number, other]}, ts=desk.ts
            )
    desk.ts += 2 * HOUR
    return desk


def decisions(desk: Desk, *, kept: bool) -> float:
    """Return CPU seconds a decision on approvals.

    Args:
        desk: the ledger and its people.
        kept: whether what an earlier process read of the spine is there.
    """
    spent = 0.0
    for number in range(_DECISIONS):
        args = f"{kept} {number}"
        for name in ("alice", "bob"):
            desk.approve(name, "deploy", args=args)
        if not kept:
            (desk.root / "approvals.cache").unlink(missing_ok=True)
        cold = Desk(desk.root, "s", THIRD, ts=desk.ts)
        began = time.process_time()
        settled = cold.attempt(f"c{kept}{number}", "deploy", args=args)
        spent += time.process_time() - began
        desk.ts = cold.ts
        if not settled.allowed:
            raise SystemExit("two approvals were given and the call was denied")
    return spent / _DECISIONS


def main() -> None:
    """Print the figures."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        base = 0.0
        for entries in (most // 100, most // 10, most):
            desk = grown(Path(folder) / str(entries), entries)
            took, whole = decisions(desk, kept=True), decisions(desk, kept=False)
            base = base or took
            print(
                f"{entries:>9,} spine entries   {took * 1000:7.2f} ms a decision   "
                f"{took / base:5.2f} x the shortest   {whole * 1000:8.2f} ms if nothing was kept",
                flush=True,
            )


if __name__ == "__main__":
    main()
