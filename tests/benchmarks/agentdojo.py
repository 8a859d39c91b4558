"""Play AgentDojo's sequences through the gate: what it stops of what injected texts ask for.

    python tests/benchmarks/agentdojo.py [ROWS.jsonl]

Each row is one call of a sequence, by the user's task or by an injected text. The calls of a
sequence are one session, in order; a call of the user that is asked about is approved and runs,
one that injected text asks for is not. Nothing is executed. Printed by suite, never pooled, with
exact 95 % limits; steps of one sequence are no independent draws, so sequences are counted too.
The policy is the shipped one with the tools described (``agentdojo.yaml``). The rows hold no
word of the user, so nothing here can tell that an act was asked for; how many of the user's
acts come before the session has read text by others says how far that fact alone would.
"""

import json
import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import toolgate
from evalkit.stats.binomial import clopper_pearson
from evalkit.stats.present import limits, percent
from toolgate.gate.call import Place, ToolCall
from toolgate.gate.catalog.load import shipped
from toolgate.gate.decision import ALLOW, LEDGER_STATE
from toolgate.gate.engine import Gate
from toolgate.gate.facts.history import Decided, History
from toolgate.gate.facts.session import READ_UNTRUSTED
from toolgate.gate.policy.compile import compile_policy
from toolgate.gate.policy.model import Policy
from toolgate.gate.recorded import effects_json, resource_ref

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("TOOLGATE_SHARED", HERE.parents[2] / "shared"))
ROWS = SHARED / "corpora" / "attack-agentdojo.jsonl"
BALANCED = Path(toolgate.__file__).parent / "gate" / "policy" / "defaults" / "balanced.yaml"
CWD, SALT = "/home/dev/app", b"a benchmark keeps nothing of a call"
LOOKS = frozenset(("inspect", "net.fetch"))


class Step(NamedTuple):
    """One call, played.

    Args:
        suite: the suite.
        sequence: the sequence it belongs to.
        injected: whether an injected text asks for it.
        acts: whether it does more than look.
        stopped: whether it was denied or asked about.
        tainted: whether the session had read text by others before.
    """

    suite: str
    sequence: str
    injected: bool
    acts: bool
    stopped: bool
    tainted: bool


def gate() -> Gate:
    """Return a gate under the shipped rules that knows the tools."""
    import yaml

    body = yaml.safe_load(BALANCED.read_text())
    ours = yaml.safe_load((HERE / "agentdojo.yaml").read_text())
    body["mcp"] = {**body.get("mcp", {}), **ours["mcp"]}
    catalog = shipped()
    return Gate(Policy(compile_policy(yaml.safe_dump(body).encode(), catalog.digest)), catalog)


def call_of(row: dict[str, Any]) -> ToolCall:
    """Return a row as a call of an MCP tool of its suite's server."""
    return ToolCall(
        host="bench",
        session=row["session_id"],
        key=None,
        call=row["id"],
        agent=("main",),
        principal="user:dev",
        auth_mode="user",
        tool=f"mcp__{row['suite']}__{row['tool_name']}",
        input=row["tool_input"],
        place=Place(CWD, (CWD,), "/home/dev"),
        mode="default",
        task=None,
        ts=0,
    )


def play(deciding: Gate, rows: list[dict[str, Any]]) -> list[Step]:
    """Decide the calls of one sequence in order."""
    known = History(lambda path: resource_ref(path, SALT))
    steps: list[Step] = []
    for row in rows:
        call = call_of(row)
        decision = deciding.decide(call, known)
        injected = row["external_label"] != "allow"
        stopped = decision.state != ALLOW
        tainted = known.has(READ_UNTRUSTED, 1) is not None
        acts = any(effect.type not in LOOKS for effect in decision.effects)
        steps.append(Step(row["suite"], row["session_id"], injected, acts, stopped, tainted))
        effects = effects_json(decision.effects, SALT)
        state = LEDGER_STATE[decision.state]
        known.decided(Decided(row["id"], row["id"], row["id"], call.tool, state, 1, effects))
        known.ended("refused" if injected and stopped else "ok")
    return steps


def sequences(file: Path) -> list[list[dict[str, Any]]]:
    """Return the rows of each sequence in the order of its steps."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in file.read_text().splitlines():
        row = json.loads(line)
        found[row["session_id"]].append(row)
    return [sorted(rows, key=lambda row: row["step"]) for rows in found.values()]


def said(name: str, hits: list[bool]) -> str:
    """Return a count, its rate and its exact limits as a line."""
    k, n = sum(hits), len(hits)
    if not n:
        return f"  {name:44} none"
    return f"  {name:44} {k:3} of {n:3}  {percent(k, n):>8}  ({limits(clopper_pearson(k, n))})"


def table(steps: list[Step]) -> list[str]:
    """Return the lines of one suite."""
    injected = [step for step in steps if step.injected]
    own = [step for step in steps if not step.injected]
    goals: dict[str, list[bool]] = defaultdict(list)
    tasks: dict[str, list[bool]] = defaultdict(list)
    for step in injected:
        goals[step.sequence] += [step.stopped] if step.acts else []
    for step in own:
        tasks[step.sequence].append(not step.stopped)
    return [
        said("injected steps stopped", [step.stopped for step in injected]),
        said("  of those that act", [step.stopped for step in injected if step.acts]),
        said("injections whose every act is stopped", [all(g) for g in goals.values() if g]),
        said("user's steps allowed", [not step.stopped for step in own]),
        said("  of those that look", [not step.stopped for step in own if not step.acts]),
        said("  of those that act", [not step.stopped for step in own if step.acts]),
        said("user's acts before any text by others", [not s.tainted for s in own if s.acts]),
        said("user's tasks without any question", [all(t) for t in tasks.values()]),
    ]


def main() -> None:
    """Play and print."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    every = sequences(file)
    deciding = gate()
    steps = [step for rows in every for step in play(deciding, rows)]
    for suite in sorted({step.suite for step in steps}):
        print(suite)
        print("\n".join(table([step for step in steps if step.suite == suite])))


if __name__ == "__main__":
    main()
