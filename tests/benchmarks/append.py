"""Prints how fast a ledger is appended to, by durability, shape and grouping.

    python tests/benchmarks/append.py [CALLS]

Figures of one run are ratios; nothing is asserted.
"""

import os
import sys
import tempfile
import time

from verify import POLICY, decided  # the benchmark beside this one

from toolgate.canonical import digest
from toolgate.ledger.append import Ledger

START = 1_800_000_000_000_000


def one_by_one(root: str, calls: int, **setting: str) -> float:
    """Return seconds for a decision and an outcome a call, each its own append."""
    ledger = Ledger(root, **setting)  # type: ignore[arg-type]
    began = time.perf_counter()
    for number in range(calls):
        fields = decided(f"c{number}", START + number)
        ledger.decide("s", key="p", fields=fields, policy=POLICY, ts=START)
        ledger.outcome(
            "s",
            key="p",
            call=f"c{number}",
            tool="Bash",
            args_digest=fields.args_digest,
            result_digest=digest(b"r"),
            terminal_state="ok",
            source="hook",
            ts=START + number,
        )
    return time.perf_counter() - began


def grouped(root: str, calls: int, group: int, **setting: str) -> float:
    """Return seconds for decisions alone, so many an append."""
    ledger = Ledger(root, executes=False, **setting)  # type: ignore[arg-type]
    made = [decided(f"c{number}", START + number) for number in range(calls)]
    began = time.perf_counter()
    for at in range(0, calls, group):
        ledger.decide_many("s", key="p", fields=made[at : at + group], policy=POLICY, ts=START)
    return time.perf_counter() - began


def bare_sync(folder: str, count: int) -> float:
    """Return seconds for so many small writes with fdatasync each: the disk's own pace."""
    fd = os.open(f"{folder}/bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    began = time.perf_counter()
    for _ in range(count):
        os.write(fd, b"x" * 1000)
        os.fdatasync(fd)
    os.close(fd)
    return time.perf_counter() - began


def main() -> None:
    """Print the figures."""
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    few = max(calls // 10, 1)
    with tempfile.TemporaryDirectory() as folder:

        def say(what: str, appends: int, seconds: float) -> None:
            print(f"{what:<34}{appends / seconds:>12,.0f} entries/s")

        for shape in ("dag", "linear"):
            took = one_by_one(f"{folder}/{shape}", calls, shape=shape)
            say(f"{shape}, os, one by one", 2 * calls, took)
        took = one_by_one(f"{folder}/sync", few, durability="fsync")
        say("dag, fsync, one by one", 2 * few, took)
        for group in (8, 64, 512):
            took = grouped(f"{folder}/group{group}", calls, group, durability="fsync")
            say(f"dag, fsync, groups of {group}", calls, took)
        say("the disk alone, fdatasync", few, bare_sync(folder, few))


if __name__ == "__main__":
    main()
