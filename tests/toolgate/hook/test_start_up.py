"""What the hook may import: every module costs every call."""

import json
import subprocess

import pytest

FORBIDDEN = (
    "dataclasses",
    "pathlib",
    "importlib.resources",
    "importlib.metadata",
    "importlib.util",
    "inspect",
    "orjson",
    "msgspec",
    "yaml",
    "pydantic",
    "click",
    "rich",
    "rfc8785",
    "hashlib",
    "_hashlib",
    "hmac",
    "ast",
    "datetime",
    "subprocess",
    "tempfile",
    "logging",
    "argparse",
    "tree_sitter",
    "tree_sitter_bash",
    "httpx",
    "toolgate.gate.judge",
    "toolgate.gate.policy.judge",
    "evalkit",
    "toolgate.cli",
    "toolgate.verify",
    "re2",
    "toolgate.gate.bases",
    "toolgate.gate.project",
    "toolgate.gate.policy.compile",
    "toolgate.gate.policy.conditional",
    "toolgate.gate.policy.overrides",
    "toolgate.gate.catalog.compile",
)
MOST_MODULES = {False: 150, True: 152}
"""Without and with the grammar; the first of a session looks what git's names mean there."""

PROBE = """
import os, sys
os._exit = lambda code: (print(*sorted(sys.modules), file=sys.stderr), sys.exit(code))
import runpy
runpy.run_path({main!r}, run_name="__main__")
"""


@pytest.mark.parametrize(
    ("command", "grammar"),
    [("git status && git diff | head -5", False), ("for f in a b; do wc -l $f; done", True)],
    ids=["plain", "needs the grammar"],
)
def test_modules_on_the_hooks_path(event, hook_command, ledger, command, grammar):
    code = PROBE.format(main=hook_command[-1])
    done = subprocess.run(
        [*hook_command[:-1], "-c", code],
        input=json.dumps(event(command=command)).encode(),
        capture_output=True,
        env={"HOME": "/home/dev", "TOOLGATE_LEDGER": str(ledger)},
        check=True,
    )
    # runpy starts the file here, as the host's own interpreter would; it brings these.
    loaded = set(done.stderr.decode().split()) - {"runpy", "importlib.util", "pkgutil"}
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "allow"
    assert loaded & set(FORBIDDEN) == set()
    assert ("tree_sitter._binding" in loaded) is grammar
    assert len(loaded) <= MOST_MODULES[grammar], sorted(loaded)
