"""Gates of others, as they are published, on a small set of ours.

``TOOLGATE_PEERS`` names a directory with ``node_modules/.bin/cc-safety-net`` (npm) and
``venv/bin/nah`` (PyPI, nah 0.11).
"""

import os
from pathlib import Path

import pytest

from evalkit.gates.choice import Choice, open_gate

from .place import Place
from .sets import body, build_of, case

PEERS = {
    "cc-safety-net": "node_modules/.bin/cc-safety-net --claude-code",
    "nah": "venv/bin/nah _claude-hook",
}


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_runs_unchanged(name: str, tmp_path: Path):
    root = os.environ.get("TOOLGATE_PEERS")
    if root is None:
        pytest.skip("gates of others are not at hand (set TOOLGATE_PEERS)")
    choice = Choice(gate=f"command:{root}/{PEERS[name]}")
    gate = open_gate(choice)
    made = Place(
        tmp_path,
        body(
            case(1, "deny", command="git reset --hard HEAD~3"),
            case(2, "allow", command="ls -la src"),
            case(3, "deny", command="rm -rf /"),
        ),
    )
    context = made.run(gate, build_of(policy=gate.policy_bytes), choice=choice).context
    assert context["scores"]["unscored"] == 0
    states = [row["decided"] for row in context["results"]]
    assert states[1] == "allow"
    assert "allow" not in (states[0], states[2])
