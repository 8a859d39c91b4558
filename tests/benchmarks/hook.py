"""CPU time of one cold hook process, beside a bare interpreter in the same run.

    python tests/benchmarks/hook.py [--runs N]

The hook is run as a host runs it: the resolved interpreter, a file, one event
on standard input, the decision appended to a ledger. The bar is twice the bare
interpreter plus 30 ms.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import toolgate.hook.main

INTERPRETER = os.path.realpath(sys.executable)
HOOK = [INTERPRETER, "-I", "-S", "-E", str(Path(toolgate.hook.main.__file__))]
BARE = [INTERPRETER, "-I", "-S", "-E", "-c", "pass"]
COMMANDS = {
    "git status && git diff | head -20": "look",
    "cd sub && pytest -q 2>&1 | tail -5": "project code",
    "rm -rf /": "deny",
}


def event(command: str, number: int) -> bytes:
    """Return one PreToolUse payload."""
    body = {
        "session_id": "bench",
        "prompt_id": "p1",
        "cwd": "/home/dev/app",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_use_id": f"toolu_{number}",
    }
    return json.dumps(body).encode()


def cpu_ms(argv: list[str], payload: bytes, environment: dict[str, str]) -> float:
    """Return user and system time of one process, in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, input=payload, stdout=subprocess.DEVNULL, env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def median(values: list[float]) -> float:
    """Return the middle value."""
    return sorted(values)[len(values) // 2]


def main() -> None:
    """Measure in turns, so that drift of the machine falls on both alike."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=31)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        environment = {"HOME": "/home/dev", "TOOLGATE_LEDGER": f"{folder}/ledger"}
        cpu_ms(HOOK, event("ls", 0), environment)
        for command, what in COMMANDS.items():
            bare, hook = [], []
            for number in range(runs):
                bare.append(cpu_ms(BARE, b"", environment))
                payload = event(command, hash((command, number)) & 0xFFFFFF)
                hook.append(cpu_ms(HOOK, payload, environment))
            floor, cost = median(bare), median(hook)
            print(
                f"{what:<13} bare {floor:5.1f} ms  hook {cost:5.1f} ms  "
                f"ratio {cost / floor:4.1f}  bar {2 * floor + 30:5.1f} ms"
            )


if __name__ == "__main__":
    main()
