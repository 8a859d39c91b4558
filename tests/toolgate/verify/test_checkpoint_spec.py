"""The worked example of ``spec/checkpoints.md`` is what the code makes and accepts."""

import re
from importlib.resources import files
from pathlib import Path

import ledgers
import pytest
from checkpoints import FIRST, SEER

from toolgate.canonical import digest
from toolgate.ledger.append import Ledger
from toolgate.ledger.notes import Note, cosign, format_note, parse_key, parse_note, signed_by
from toolgate.verify.faults import FAULTS
from toolgate.verify.proof import CONSISTENCY, ENTRY, check
from toolgate.verify.prove import prove_entry, prove_growth

SPEC = files("toolgate") / "spec"
TEXT = (SPEC / "checkpoints.md").read_text("utf-8")
BLOCKS = re.findall(r"^```\n(.*?)^```", TEXT, re.M | re.S)
LINES, CHECKPOINT, KEY, WITNESS_LINE, WITNESS_KEY = BLOCKS


@pytest.fixture
def root(tmp_path):
    """Return the ledger of ``decision-ledger.md``."""
    text = (SPEC / "decision-ledger.md").read_text("utf-8")
    spine, session = re.findall(r"^```\n(.*?)^```", text, re.M | re.S)
    (tmp_path / "sessions").mkdir()
    (tmp_path / ledgers.SPINE).write_text(spine, "utf-8")
    (tmp_path / "sessions" / "4f1c.jsonl").write_text(session, "utf-8")
    return tmp_path


def checkpoint(root: Path) -> bytes:
    made = Ledger(str(root))
    return made.checkpoint(FIRST, ts=1800000000005000, origin="example.com/ledger")


def test_the_writer_appends_the_example(root):
    before = (root / ledgers.SPINE).read_text("utf-8")
    assert checkpoint(root).decode() == CHECKPOINT
    assert (root / ledgers.SPINE).read_text("utf-8") == before + LINES


def test_keys_and_signatures_of_the_example():
    note = parse_note(CHECKPOINT.encode())
    assert signed_by(note, parse_key(KEY.strip()))
    seen = cosign(note.text, "witness.example/w", SEER, 1800000100)
    both = format_note(Note(note.text, (*note.signatures, seen))).decode()
    assert both == CHECKPOINT + WITNESS_LINE
    assert signed_by(parse_note(both.encode()), parse_key(WITNESS_KEY.strip()))


def test_the_example_is_proved(root):
    checkpoint(root)
    key = parse_key(KEY.strip())
    for line in (root / "sessions" / "4f1c.jsonl").read_bytes().splitlines():
        assert check(prove_entry(str(root), digest(line)), [key]).entry == digest(line)
    assert check(prove_growth(str(root), 1), [key]).size == 1


def test_fields_codes_and_commands_are_named(root):
    import json

    checkpoint(root)
    line = (root / "sessions" / "4f1c.jsonl").read_bytes().splitlines()[0]
    for data, name in [
        (prove_entry(str(root), digest(line)), ENTRY),
        (prove_growth(str(root), 1), CONSISTENCY),
    ]:
        table = TEXT[TEXT.index(f"| `{name}` |") :].split("\n\n")[0]
        named = set(re.findall(r"^\| `(\w+)` \|", table, re.M))
        assert named == json.loads(data).keys() - {"format"}
    for fault in FAULTS:
        if fault.code.split(".")[1] in ("equivocation", "checkpoint", "key_rotation"):
            assert f"`{fault.code}`" in TEXT
        if fault.code.startswith(("log.spawn", "log.ledger")):
            assert f"`{fault.code}` ({fault.verdict})" in TEXT
