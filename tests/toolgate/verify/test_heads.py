"""What a checkpoint that was kept outside binds, where it names no entry of the spine."""

import json

import ledgers
import pytest
from checkpoints import FIRST, ORIGIN, held

from toolgate.canonical import digest
from toolgate.ledger.checkpoint import Checkpoint, format_text
from toolgate.ledger.merkle import tree_root
from toolgate.ledger.notes import Note, format_note, sign
from toolgate.verify import verify
from toolgate.verify.anchors import Anchors


@pytest.fixture
def spine(tmp_path):
    """Write two sessions that ended and one that did not; return the spine's lines."""
    for name in ("one", "two", "open"):
        made = ledgers.Writer(tmp_path / "ledger", name)
        made.decide(f"x{name}", "denied")
        if name != "open":
            made.close()
    return (tmp_path / "ledger" / ledgers.SPINE).read_bytes().split(b"\n")[:-1]


def kept(leaves):
    """Return a checkpoint over some session heads that names no entry, as an outsider has it."""
    text = format_text(Checkpoint(ORIGIN, len(leaves), tree_root(leaves), ()))
    return held(format_note(Note(text, (sign(text, ORIGIN, FIRST),))))


@pytest.mark.parametrize("size", [0, 1, 2])
def test_a_root_binds_the_spine_up_to_the_last_end_below_it(spine, tmp_path, size):
    closes = [line for line in spine if json.loads(line)["kind"] == "session_close"]
    ends = [json.loads(line)["seq"] for line in closes]
    assert len(closes) == 2
    leaves = [bytes.fromhex(digest(line)[7:]) for line in closes[:size]]
    report = verify(str(tmp_path / "ledger"), anchors=Anchors((kept(leaves),)))
    ended = f"{size} session" + "s" * (size != 1)
    said = f"log: the ledger holds checkpoint kept of {ORIGIN} over {ended}"
    if size:
        said += f" and the spine up to entry {ends[size - 1]}"
    assert said in report.checked
    assert not [item for item in report.findings if item.code == "log.equivocation"]
    behind = f"{ends[size - 1] + 1 if size else 1} to {len(spine)}"
    assert [one for one in report.conditions if behind in one or not size]
