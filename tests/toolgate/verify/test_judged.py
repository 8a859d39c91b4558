"""A decision may rest on what a judge answered about a call of its own session, and no other."""

import json
import shutil
import subprocess
from importlib.resources import files

import pytest
from ledgers import Writer

from toolgate.verify import verify

NODE = shutil.which("node")
VERIFIER = str(files("toolgate") / "spec" / "verifier.mjs")


@pytest.fixture
def decided(tmp_path):
    """Write a decision of session ``a`` that rests on an audit entry; returns the codes found."""

    def made(*, action="judge.asked", session="a", shape="dag"):
        root = tmp_path / "ledger"
        writer = Writer(root, "a", shape=shape)
        entry = writer.ledger.audit(
            action=action,
            actor="toolgate",
            target=None,
            details={"answer": None},
            ts=writer.tick(),
            session=session,
        )
        writer.decide("call-1", facts=({"code": "judge", "entry": entry},))
        writer.close()
        report = verify(str(root))
        return sorted({one.code for one in report.findings}), root

    return made


def by_node(root):
    done = subprocess.run(
        [NODE, VERIFIER, root, "--json"], capture_output=True, text=True, check=False
    )
    return sorted({one["code"] for one in json.loads(done.stdout)["findings"]})


CASES = [
    ({}, False),
    ({"shape": "linear"}, False),
    ({"session": "b"}, True),
    ({"session": None}, True),
    ({"action": "execution.unmatched"}, True),
]


@pytest.mark.parametrize(("case", "unknown"), CASES, ids=str)
def test_what_a_decision_may_rest_on(decided, case, unknown):
    codes, root = decided(**case)
    assert ("log.fact_unknown" in codes) is unknown
    if NODE is not None:
        assert by_node(root) == codes
