"""How often each shipped policy asks and denies on recorded sessions.

    python tests/benchmarks/policy_rates.py CORPORA [--rules] [--write]

Counted as in outside_sets.py: the shell calls of main logs that were not cut off, each decided
as the first of its session; nothing is executed. --rules says by which rules, --write puts the
figures into the policies' header comments in this tree.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from outside_rows import SESSIONS, Row, rows_of, sources_of

from evalkit.gates.inprocess import ask, received_by
from evalkit.stats.binomial import clopper_pearson
from evalkit.stats.present import format_rate, limits, percent
from toolgate.canonical import warm
from toolgate.cli.policy.files import gate_named
from toolgate.gate.decision import ALLOW, ASK, DENY
from toolgate.gate.engine import Gate
from toolgate.gate.policy.extends import SHIPPED

DEFAULTS = Path(__file__).resolve().parents[2] / "toolgate/gate/policy/defaults"


def rates(gate: Gate, rows: list[Row]) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """Return the answers under a policy, and by which rules they were not allow."""
    states: Counter[str] = Counter()
    rules: Counter[tuple[str, str]] = Counter()
    for row in rows:
        assert row.call is not None
        decision = ask(gate, row.call, received_by(row.call)).decision
        state = decision.state if decision is not None else DENY
        states[state] += 1
        if decision is not None and state != ALLOW:
            rules[state, decision.rule] += 1
    return states, rules


def counted_rows(corpora: Path) -> list[Row]:
    """Return the rows of recorded sessions that are counted."""
    sources = sources_of(corpora)
    return [row for name in SESSIONS for row in rows_of(sources[name], None) if row.counted]


def header(states: Counter[str]) -> str:
    """Return the comment that says a policy's figures."""
    total = states.total()
    parts = []
    for state, word in ((ASK, "asks"), (DENY, "denies")):
        count = states[state]
        parts.append(
            f"{word} {count} = {percent(count, total)} [{limits(clopper_pearson(count, total))}]"
        )
    return (
        f"# Measured on {total:,} shell calls of recorded agent sessions "
        "(tests/benchmarks/policy_rates.py):\n"
        f"# {', '.join(parts)}; exact 95 % intervals.\n"
    )


def write_header(path: Path, states: Counter[str]) -> None:
    """Put a policy's figures into the comment it begins with."""
    _, mark, rest = path.read_text(encoding="utf-8").partition("version:")
    path.write_text(header(states) + mark + rest, encoding="utf-8")


def main() -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpora", type=Path, help="folder of the corpora")
    parser.add_argument("--rules", action="store_true", help="say by which rules")
    parser.add_argument("--write", action="store_true", help="put them into the policies' headers")
    wanted = parser.parse_args()
    sources = sources_of(wanted.corpora)
    missing = [name for name in SESSIONS if name not in sources]
    if missing:
        parser.error(f"{wanted.corpora} holds no {missing[0]}.jsonl")
    warm()
    rows = counted_rows(wanted.corpora)
    for name in SHIPPED:
        gate = gate_named(name)
        states, rules = rates(gate, rows)
        total = states.total()
        print(f"{name} {gate.policy_digest}")
        for state, word in ((ASK, "asks"), (DENY, "denies")):
            print(f"  {word}: {format_rate(states[state], total)}")
        if wanted.write:
            write_header(DEFAULTS / f"{name}.yaml", states)
        for (state, rule), count in rules.most_common() if wanted.rules else ():
            print(f"  {count:>7}  {state:<5} {rule}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
