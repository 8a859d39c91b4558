"""Decisions a second and core in one warm process: real calls, then a policy of many rules.

    python tests/benchmarks/decisions.py [LOG.jsonl ...]

Without a log, commands made up here are taken; with logs, every shell call in
them. The first figure is over different calls, each decided once by a gate that
has kept nothing yet; the catalogue is loaded before, as at the start of a
service. A gate keeps what it has read of a text: calls that come again, as they
do in a log, are told apart, and so is what deciding them costs. Time is CPU
time, so that other work on the machine counts little; each figure is the best
of several passes.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from toolgate.gate.call import Place, ToolCall
from toolgate.gate.catalog.load import shipped
from toolgate.gate.effects.tools import SHELL_TOOLS
from toolgate.gate.engine import Gate
from toolgate.gate.open import default_gate
from toolgate.gate.policy.model import Policy
from toolgate.gate.shell.grammar import parse
from toolgate.gate.shell.plain import read_plain
from toolgate.hook.log import Recorded, read_log

GENERATED = [
    "git status --short && git diff | head -{n}",
    "cd sub{n} && pytest -q tests/test_{n}.py 2>&1 | tail -5",
    "grep -rn 'TODO {n}' src | sort | uniq -c",
    "for f in a b c; do wc -l $f{n}; done",
    "cat <<'EOF' > docs/x{n}.md\ntext about rm -rf /\nEOF",
    "find . -name '*.pyc' -newer f{n} -delete",
    "curl -s https://docs.example/page/{n} | jq .items",
    "rm -rf build{n} dist && npm run build",
]
ROUNDS = 200
PASSES = 5
RULE_SHAPES: list[dict[str, list[str]]] = [
    {"type": ["fs.write"], "resource": ["/srv/team-{n}/*"]},
    {"type": ["fs.read"], "resource": ["*/secret-{n}.txt"]},
    {"type": ["net.fetch", "net.send"], "resource": ["host-{n}.example"]},
    {"type": ["exec.code"], "program": ["tool-{n}"]},
    {"type": ["fs.delete"], "scope": ["workspace"], "resource": ["*-{n}.lock"]},
    {"type": ["inspect"], "program": ["look-{n}*"]},
    {"type": ["vcs.publish"], "how": ["mark-{n}"]},
    {"type": ["infra.mutate"], "scope": ["home"], "program": ["cloud-{n} *"]},
]


def calls() -> list[ToolCall]:
    """Return the calls to decide."""
    made: list[ToolCall] = []
    for name in sys.argv[1:]:
        with Path(name).open("rb") as lines:
            made += [
                item.call
                for item in read_log(name, lines)
                if isinstance(item, Recorded) and item.call.tool in SHELL_TOOLS
            ]
    place = Place("/home/dev/app", ("/home/dev/app",), "/home/dev")
    return made or [
        ToolCall(
            "bench",
            "s",
            None,
            None,
            ("main",),
            "u",
            "user",
            "Bash",
            {"command": command.replace("{n}", str(number))},
            place,
            None,
            None,
            0,
        )
        for number in range(ROUNDS)
        for command in GENERATED
    ]


def different(work: list[ToolCall]) -> list[ToolCall]:
    """Return the first of each group of calls that differ in nothing a decision rests on."""
    first: dict[object, ToolCall] = {}
    for call in work:
        first.setdefault((call.tool, str(call.input), call.place, call.mode), call)
    return list(first.values())


def with_rules(count: int) -> Gate:
    """Return the default gate with so many rules, the added ones over names nobody uses."""
    body = json.loads(default_gate().policy_bytes)
    for number in range(count - len(body["rules"])):
        shape = RULE_SHAPES[number % len(RULE_SHAPES)]
        wanted = {k: [v.replace("{n}", str(number)) for v in vs] for k, vs in shape.items()}
        rule = {"rule": f"added-{number}", "decide": "deny", "because": "x", "effects": [wanted]}
        body["rules"].append(rule)
    return Gate(Policy(json.dumps(body).encode()), shipped())


def loaded(gate: Gate) -> Gate:
    """Return a gate whose catalogue is in memory."""
    for name in gate.catalog.names():
        gate.catalog.get(name)
    return gate


def best(make: Callable[[], Gate], work: list[ToolCall], *, before: bool = False) -> float:
    """Return the CPU seconds of deciding all calls, by a new gate in each pass.

    Args:
        make: returns the gate.
        work: the calls.
        before: whether the gate has decided them once already.
    """
    times = []
    for _ in range(PASSES):
        gate = loaded(make())
        if before:
            for call in work:
                gate.decide(call)
        begun = time.process_time()
        for call in work:
            gate.decide(call)
        times.append(time.process_time() - begun)
    return min(times)


def each(work: list[ToolCall]) -> list[float]:
    """Return the CPU seconds of each decision at its best of several, in rising order."""
    times = [float("inf")] * len(work)
    for _ in range(PASSES):
        gate = loaded(default_gate())
        for position, call in enumerate(work):
            begun = time.process_time()
            gate.decide(call)
            times[position] = min(times[position], time.process_time() - begun)
    return sorted(times)


def parsing(work: list[ToolCall]) -> float:
    """Return the CPU seconds of only parsing the same texts with the grammar."""
    texts = [str(call.input.get("command", "")).encode("utf-8", "replace") for call in work]
    times = []
    for _ in range(PASSES):
        begun = time.process_time()
        for text in texts:
            parse(text)
        times.append(time.process_time() - begun)
    return min(times)


def main() -> None:
    """Measure and print."""
    work = calls()
    once = different(work)
    cold = best(default_gate, once)
    plain = sum(read_plain(str(call.input.get("command", ""))) is not None for call in once)
    print(
        f"{len(once)} different shell calls, nothing kept: {len(once) / cold:,.0f} decisions/s, "
        f"{cold / parsing(once):.1f} times the grammar's parse alone; {plain} of them are plain"
    )
    again = best(default_gate, once, before=True)
    print(f"the same again, from what was kept: {len(once) / again:,.0f} decisions/s")
    repeated = len(work) - len(once)
    print(
        f"as logged, {len(work)} calls, of which {repeated} come again: "
        f"{len(work) / best(default_gate, work):,.0f} decisions/s"
    )
    few, many = best(lambda: with_rules(200), once), best(lambda: with_rules(2_000), once)
    print(
        f"200 rules: {len(once) / few:,.0f} decisions/s; 2,000 rules: {len(once) / many:,.0f} "
        f"decisions/s, {many / few:.2f} times the time"
    )
    times = each(once)
    shown = (("p50", len(times) // 2), ("p99", len(times) * 99 // 100), ("slowest", -1))
    print("; ".join(f"{name} {times[at] * 1e6:,.0f} us" for name, at in shown))


if __name__ == "__main__":
    main()
