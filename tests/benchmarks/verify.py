"""Prints how fast a ledger is verified, and in how much memory.

    python tests/benchmarks/verify.py [ENTRIES] [--sessions N] [--memory]

The floor decodes, re-encodes, compares and hashes each line of the same files.
Figures are ratios of one run, each of the best of some turns taken by turns, so
that other work on the machine falls on all of them; nothing is asserted. With
``--memory`` only the growth of a fresh process's resident set is measured, which
a million entries are for.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from toolgate import canonical
from toolgate.action import Intent
from toolgate.canonical import digest, profile_bytes
from toolgate.ledger.turn_dag import frontier_root
from toolgate.records import (
    DecisionFields,
    decision_digest,
    decision_entry,
    entry,
    on_spine,
    outcome_entry,
)
from toolgate.verify import verify

POLICY = b'{"classes":[{"name":"look","effects":[{"type":["inspect"]}]}]}'
LOOK = {
    "type": "inspect",
    "scope": "workspace",
    "resource": "h:" + "0" * 32,
    "reversible": True,
    "proof": "proved",
    "count": 1,
}
CALLS_A_TURN = 8
START = 1_800_000_000_000_000


def decided(call: str, ts: int) -> DecisionFields:
    """Return one allowed decision."""
    return DecisionFields(
        intent=Intent("main", "Bash", "workspace", ts, call),
        principal="alice",
        auth_mode="agent",
        policy_version=digest(POLICY),
        decision_state="allowed",
        args_digest=digest(call.encode()),
        ts=ts,
        action_class="look",
        basis=(),
        effects=(LOOK,),
        facts=(),
        host="claude-code",
        rule="look.ok",
        axis=None,
        proof="proved",
        mode="default",
        build=digest(b"build"),
    )


class Spine:
    """Writes a spine."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._seq = 0
        self._head = "sha256:" + "0" * 64

    def add(self, kind: str, ts: int, ev: dict[str, Any], **more: Any) -> str:
        """Append an entry and return its digest."""
        self._seq += 1
        if kind in ("turn_close", "session_close"):
            ev = {**ev, "ledger_head_digest": self._head}
        body = entry(kind, ts=ts, ev=ev, **more)
        line = profile_bytes(on_spine(body, seq=self._seq, prev_digest=self._head))
        self._file.write(line + b"\n")
        self._head = digest(line)
        return self._head

    def close(self) -> None:
        self._file.close()


def build(root: Path, entries: int, sessions: int) -> None:
    """Write a ledger of about so many entries, with a turn each few calls.

    Written line by line and not by the appender, which would take minutes; that it
    verifies without a finding says it is the same.
    """
    canonical.warm()
    (root / "sessions").mkdir(parents=True)
    (root / "policies").mkdir()
    (root / "policies" / f"{digest(POLICY)[7:]}.json").write_bytes(POLICY)
    spine = Spine(root / "spine-000000000001.jsonl")
    nobody: dict[str, Any] = {"session": None, "turn": None, "parents": []}
    spine.add("policy_set", START, {"policy": digest(POLICY)}, **nobody)
    turns = max(round((entries / sessions - 2) / (2 * CALLS_A_TURN + 2)), 1)
    for number in range(sessions):
        write_session(root, spine, f"s{number}", turns, START + number * 1_000_000)
    spine.close()


def write_session(root: Path, spine: Spine, name: str, turns: int, ts: int) -> None:
    """Write one session: its lines on the spine, and its file."""
    how = {"shape": "dag", "host": "claude-code", "executes": True, "durability": "os"}
    opened = spine.add(
        "session_open",
        ts,
        {**how, "part": 1, "spawned_by": None},
        session=name,
        turn=None,
        parents=[],
    )
    with (root / "sessions" / f"{name}.jsonl").open("wb") as file:
        for turn in range(1, turns + 1):
            place: dict[str, Any] = {"session": name, "turn": turn}
            ev = {"key": f"p{turn}", "part": 1, "why": "prompt"}
            begun = spine.add("turn_open", ts, ev, **place, parents=[opened])
            ends = []
            for call in range(CALLS_A_TURN):
                fields = decided(f"{name}-{turn}-{call}", ts + call)
                body = decision_entry(fields, parents=[begun], **place)
                line = profile_bytes(body)
                ended = outcome_entry(
                    **place,
                    parents=[digest(line)],
                    action_ref=body["ev"]["action_ref"],
                    decision_digest=decision_digest(body["ev"]),
                    result_digest=digest(line),
                    terminal_state="ok",
                    ts=ts + 50,
                    source="hook",
                    join="id",
                )
                last = profile_bytes(ended)
                ends.append(digest(last))
                file.write(line + b"\n" + last + b"\n")
            ev = {"root": frontier_root(ends), "count": 2 * CALLS_A_TURN, "closed_by": "stop"}
            spine.add("turn_close", ts + 60, ev, **place, parents=[begun])
            ts += 100
    ev = {"closed_by": "session_end"}
    spine.add("session_close", ts, ev, session=name, turn=None, parents=[opened])


def floor(root: Path) -> None:
    """Do to every line the least any verifier must do."""
    for path in sorted(root.rglob("*.jsonl")):
        with path.open("rb") as file:
            for line in file:
                text = line[:-1]
                assert orjson.dumps(orjson.loads(text), option=orjson.OPT_SORT_KEYS) == text
                sha256(text).hexdigest()


def best(turns: int, *works: Callable[[], object]) -> list[float]:
    """Return the least seconds each piece of work took, all taken by turns."""
    least = [float("inf")] * len(works)
    for _ in range(turns):
        for at, work in enumerate(works):
            began = time.perf_counter()
            work()
            least[at] = min(least[at], time.perf_counter() - began)
    return least


def speed(folder: Path, entries: int, sessions: int) -> None:
    """Print the ratios."""
    once, twice = folder / "once", folder / "twice"
    build(once, entries, sessions)
    build(twice, 2 * entries, sessions)
    report = verify(str(once))
    assert report.findings == []
    count = sum(report.entries.values())
    least, took, double, shared = best(
        3,
        lambda: floor(once),
        lambda: verify(str(once)),
        lambda: verify(str(twice)),
        lambda: verify(str(once), processes=2),
    )
    print(f"entries                {count:,} in {sessions:,} sessions")
    print(f"floor                  {least:.2f} s, {count / least:,.0f} entries/s")
    print(f"verify                 {took:.2f} s, {count / took:,.0f} entries/s")
    print(f"verify / floor         {took / least:.2f}")
    print(f"time(2n) / time(n)     {double / took:.2f}")
    print(f"two processes          {took / shared:.2f} times as fast as one")


def resident(what: str) -> int:
    """Return VmRSS or VmHWM of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) * 1024
    raise LookupError(what)


def grow(root: str) -> None:
    """Verify a ledger and print by how many bytes that made this process grow at most."""
    before = resident("VmRSS")
    report = verify(root)
    assert report.findings == []
    print(sum(report.entries.values()), resident("VmHWM") - before)


def memory(folder: Path, entries: int, sessions: int) -> None:
    """Print how a fresh process grows."""
    root = folder / "ledger"
    build(root, entries, sessions)
    command = [sys.executable, __file__, "--grow", str(root)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    count, grown = map(int, said.split())
    print(f"entries                {count:,} in {sessions:,} sessions")
    print(f"peak RSS growth        {grown / 2**20:.1f} MiB")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("entries", nargs="?", type=int, default=100_000)
    parser.add_argument("--sessions", type=int)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--grow", metavar="LEDGER", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.grow is not None:
        grow(chosen.grow)
        return
    sessions = chosen.sessions or max(chosen.entries // 1000, 2)
    with tempfile.TemporaryDirectory() as folder:
        measure = memory if chosen.memory else speed
        measure(Path(folder), chosen.entries, sessions)


if __name__ == "__main__":
    main()
