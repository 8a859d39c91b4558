"""Prints how fast a ledger is verified, beside the least any verifier must do.

    python tests/benchmarks/verify.py [ENTRIES]

The floor decodes, re-encodes, compares and hashes each line of the same files.
Figures of one run are ratios; nothing is asserted.
"""

import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

import orjson

from toolgate import canonical
from toolgate.action import Intent
from toolgate.canonical import digest
from toolgate.ledger.append import Ledger
from toolgate.records import DecisionFields
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
CALLS = 100


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


def build(root: str, entries: int) -> None:
    """Write a ledger of about so many entries, a session each hundred calls."""
    canonical.warm()
    ledger = Ledger(root)
    for session in range(max(entries // (2 * CALLS), 1)):
        name, ts = f"s{session}", 1_800_000_000_000_000 + session * 1_000_000
        made = [decided(f"{name}-{call}", ts + call) for call in range(CALLS)]
        ledger.decide_many(name, key="p", fields=made, policy=POLICY, ts=ts)
        for at, fields in enumerate(made):
            ledger.outcome(
                name,
                key="p",
                call=fields.intent.call,
                tool="Bash",
                args_digest=fields.args_digest,
                result_digest=digest(b"%d" % at),
                terminal_state="ok",
                source="hook",
                ts=ts + 5000 + at,
            )
        ledger.session_close(name, closed_by="session_end", ts=ts + 9000)


def floor(root: str) -> float:
    """Return the seconds to decode, re-encode, compare and hash every line."""
    paths = sorted(Path(root).rglob("*.jsonl"))
    began = time.perf_counter()
    for path in paths:
        with path.open("rb") as file:
            for line in file:
                text = line[:-1]
                assert orjson.dumps(orjson.loads(text), option=orjson.OPT_SORT_KEYS) == text
                sha256(text).hexdigest()
    return time.perf_counter() - began


def main() -> None:
    """Print the figures."""
    entries = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        root = f"{folder}/ledger"
        build(root, entries)
        least = min(floor(root) for _ in range(3))
        times = []
        for _ in range(3):
            began = time.perf_counter()
            report = verify(root)
            times.append(time.perf_counter() - began)
        took, count = min(times), sum(report.entries.values())
    print(f"entries          {count}")
    print(f"verdict          {report.verdict}")
    print(f"verify           {took:.2f} s, {count / took:,.0f} entries/s")
    print(f"floor            {least:.2f} s, {count / least:,.0f} entries/s")
    print(f"verify / floor   {took / least:.2f}")


if __name__ == "__main__":
    main()
