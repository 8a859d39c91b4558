"""Decisions a second in one warm process, beside parsing the same text alone.

    python tests/benchmarks/decisions.py [LOG.jsonl ...]

Without a log, the commands of the shipped challenge sets' ordinary work are
taken; with logs, every shell call in them.
"""

import sys
import time
from pathlib import Path

from toolgate.gate.call import Place, ToolCall
from toolgate.gate.effects.tools import SHELL_TOOLS
from toolgate.gate.open import default_gate
from toolgate.gate.shell.grammar import parse
from toolgate.hook.log import Recorded, read_log

GENERATED = [
    "git status --short && git diff | head -20",
    "cd sub && pytest -q tests/test_x.py 2>&1 | tail -5",
    "grep -rn 'TODO' src | sort | uniq -c",
    "for f in a b c; do wc -l $f; done",
    "cat <<'EOF' > docs/x.md\ntext about rm -rf /\nEOF",
    "find . -name '*.pyc' -delete",
    "curl -s https://docs.example/page | jq .items",
    "rm -rf build dist && npm run build",
]
ROUNDS = 400


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
            {"command": c},
            place,
            None,
            None,
            0,
        )
        for c in GENERATED * ROUNDS
    ]


def main() -> None:
    """Time one pass each, and the slowest single decision."""
    gate, work = default_gate(), calls()
    gate.decide(work[0])
    start = time.perf_counter()
    slowest = 0.0
    for call in work:
        begun = time.perf_counter()
        gate.decide(call)
        slowest = max(slowest, time.perf_counter() - begun)
    spent = time.perf_counter() - start
    texts = [str(call.input.get("command", "")).encode("utf-8", "replace") for call in work]
    start = time.perf_counter()
    for text in texts:
        parse(text)
    parsing = time.perf_counter() - start
    print(
        f"{len(work)} shell calls: {len(work) / spent:,.0f} decisions/s, "
        f"{spent / parsing:.1f} times the parse alone, slowest {slowest * 1000:.1f} ms"
    )


if __name__ == "__main__":
    main()
