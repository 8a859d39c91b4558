"""Checkpoints and keys in a ledger: what the writer appends has no finding, and pins it."""

import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import checkpoints
import ledgers
import pytest
from checkpoints import FIRST, ORIGIN, SECOND, SEER, WITNESS, cosigned, held
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolgate.canonical import digest
from toolgate.errors import InputError, LedgerError
from toolgate.ledger.checkpoint import parse_text, spine_line
from toolgate.ledger.merkle import tree_root
from toolgate.ledger.notes import COSIGNATURE, parse_note, public, signed_by
from toolgate.verify import verify
from toolgate.verify.anchors import Anchors


@pytest.fixture
def writer(tmp_path):
    made = ledgers.Writer(tmp_path / "ledger", "s")
    made.decide("a")
    made.outcome("a")
    made.close()
    return made


def closes(root: Path) -> list[bytes]:
    lines = (root / ledgers.SPINE).read_bytes().split(b"\n")
    return [bytes.fromhex(digest(one)[7:]) for one in lines if b'"kind":"session_close"' in one]


def check(writer, **more):
    return verify(writer.ledger.root, **more)


def test_a_checkpoint_says_what_the_spine_holds(writer):
    root = Path(writer.ledger.root)
    note = parse_note(writer.ledger.checkpoint(FIRST, ts=writer.tick(), origin=ORIGIN))
    said = parse_text(note.text)
    lines = (root / ledgers.SPINE).read_bytes().split(b"\n")[:-1]
    assert said.size == len(closes(root)) == 1
    assert said.root == tree_root(closes(root))
    # The line names the entry before the checkpoint's own: the one that brought in the key.
    assert said.more == (spine_line(len(lines) - 1, digest(lines[-2])),)
    assert signed_by(note, public(ORIGIN, FIRST))
    assert check(writer).findings == []


def test_the_origin_is_made_from_the_first_entry(writer):
    first = (Path(writer.ledger.root) / ledgers.SPINE).read_bytes().split(b"\n")[0]
    said = parse_text(parse_note(writer.ledger.checkpoint(FIRST, ts=writer.tick())).text)
    assert said.origin == f"toolgate.invalid/{digest(first)[7:23]}"
    again = parse_text(parse_note(writer.ledger.checkpoint(FIRST, ts=writer.tick())).text)
    assert (again.origin, again.size, again.root) == (said.origin, said.size, said.root)
    assert check(writer).findings == []


def test_a_checkpoint_kept_outside_pins_the_ledger(writer):
    kept = held(writer.ledger.checkpoint(FIRST, ts=writer.tick(), origin=ORIGIN))
    anchors = Anchors((kept,), public(ORIGIN, FIRST))
    report = check(writer, anchors=anchors)
    assert (report.verdict, report.findings, report.conditions) == ("PASS", [], [])
    seq = report.head[0]
    said = f"log: the ledger holds checkpoint kept of {ORIGIN} over 1 session and the spine up to"
    assert f"{said} entry {seq}" in report.checked
    assert not [line for line in report.unchecked if "key" in line]
    unpinned = check(writer, anchors=Anchors((kept,)))
    assert unpinned.verdict == "PASS"
    assert [line for line in unpinned.unchecked if "only against the ledger's own" in line]
    writer.decide("b", "denied")
    writer.close()
    later = check(writer, anchors=anchors)
    assert (later.verdict, later.findings) == ("CONDITIONAL", [])
    assert f"entries {seq + 1} to {later.head[0]} are not covered" in later.conditions[0]


def test_the_farthest_of_several_pins_counts(writer):
    old = writer.ledger.head()
    kept = held(writer.ledger.checkpoint(FIRST, ts=writer.tick()))
    assert check(writer, expect_head=old, anchors=Anchors((kept,))).verdict == "PASS"
    assert check(writer, expect_head=old).verdict == "CONDITIONAL"


def test_a_root_alone_binds_up_to_the_last_session_it_is_over(writer):
    kept = held(writer.ledger.checkpoint(FIRST, ts=writer.tick(), origin=ORIGIN))
    text = "\n".join(kept.note.text.split("\n")[:3]) + "\n"
    bare = checkpoints.format_note(checkpoints.Note(text, (checkpoints.sign(text, ORIGIN, FIRST),)))
    report = check(writer, anchors=Anchors((held(bare),)))
    assert report.findings == []
    assert report.verdict == "CONDITIONAL"
    assert "entries 6 to 7 are not covered" in report.conditions[0]


def test_a_checkpoint_over_nothing_pins_nothing(tmp_path):
    writer = ledgers.Writer(tmp_path / "ledger", "s")
    writer.decide("a", "denied")
    note = writer.ledger.checkpoint(FIRST, ts=writer.tick(), origin=ORIGIN)
    assert parse_text(parse_note(note).text).size == 0
    text = "\n".join(parse_note(note).text.split("\n")[:3]) + "\n"
    bare = checkpoints.format_note(checkpoints.Note(text, (checkpoints.sign(text, ORIGIN, FIRST),)))
    writer.close()
    assert "no pin was given" in check(writer, anchors=Anchors((held(bare),))).conditions[0]
    assert "no pin" not in check(writer, anchors=Anchors((held(note),))).conditions[0]


def test_witnesses_and_the_time_they_saw(writer):
    kept = held(cosigned(writer.ledger.checkpoint(FIRST, ts=writer.tick(), origin=ORIGIN)))
    witness = public(WITNESS, SEER, COSIGNATURE)
    report = check(writer, anchors=Anchors((kept,), public(ORIGIN, FIRST), (witness,)))
    assert report.verdict == "PASS"
    assert [line for line in report.checked if line.endswith(f"seen by {WITNESS} at 7 s")]


def test_rotation_is_followed_from_the_pinned_key(writer):
    old = held(writer.ledger.checkpoint(FIRST, ts=writer.tick(), origin=ORIGIN), "old")
    writer.ledger.rotate_key(FIRST, SECOND, ts=writer.tick())
    new = held(writer.ledger.checkpoint(SECOND, ts=writer.tick()), "new")
    assert check(writer, anchors=Anchors((old, new), public(ORIGIN, FIRST))).verdict == "PASS"
    assert check(writer, anchors=Anchors((old, new))).verdict == "PASS"
    # Who trusts the new key alone does not trust what an older one signed.
    report = check(writer, anchors=Anchors((old, new), public(ORIGIN, SECOND)))
    assert [item.code for item in report.findings] == ["log.checkpoint"]


def test_writer_refuses_what_the_verifier_would_find(writer):
    ledger = writer.ledger
    with pytest.raises(LedgerError, match="no key to rotate"):
        ledger.rotate_key(FIRST, SECOND, ts=1)
    with pytest.raises(InputError, match="origin is"):
        ledger.checkpoint(FIRST, ts=1, origin="a b")
    ledger.checkpoint(FIRST, ts=writer.tick(), origin=ORIGIN)
    with pytest.raises(LedgerError, match="the ledger's origin is"):
        ledger.checkpoint(FIRST, ts=1, origin="example.com/other")
    with pytest.raises(LedgerError, match="are signed with"):
        ledger.checkpoint(SECOND, ts=1)
    with pytest.raises(LedgerError, match="are signed with"):
        ledger.rotate_key(SECOND, FIRST, ts=1)
    ledger.rotate_key(FIRST, SECOND, ts=writer.tick())
    with pytest.raises(LedgerError, match="before; expected a new one"):
        ledger.rotate_key(SECOND, FIRST, ts=1)
    with pytest.raises(LedgerError, match="are signed with"):
        ledger.checkpoint(FIRST, ts=1)
    assert check(writer).findings == []


def test_nothing_is_no_log(tmp_path):
    ledger = ledgers.Ledger(str(tmp_path / "ledger"))
    with pytest.raises(LedgerError, match="the ledger has no entry"):
        ledger.checkpoint(FIRST, ts=1)


def test_writer_vouches_for_no_checkpoint_that_does_not_fit(tmp_path):
    ledgers.build(tmp_path / "ledger")
    kit = ledgers.Kit(tmp_path / "ledger")
    checkpoints.checkpointed(kit)
    kit.decision("a0").body["ev"]["principal"] = "mallory"
    kit.rehash()
    with pytest.raises(LedgerError, match="is not of this log; verify the ledger"):
        ledgers.Ledger(str(kit.root)).checkpoint(FIRST, ts=1)


def test_a_fragment_before_a_checkpoint_is_sealed_and_no_leaf(writer):
    path = Path(writer.ledger.root) / ledgers.SPINE
    close = next(line for line in path.read_bytes().split(b"\n") if b"session_close" in line)
    with path.open("ab") as file:
        file.write(close[:-20])
    fresh = ledgers.Ledger(writer.ledger.root)
    note = parse_note(fresh.checkpoint(FIRST, ts=writer.tick()))
    assert parse_text(note.text).size == 1
    report = check(writer)
    assert (report.findings, report.recovered) == ([], 1)


def test_a_linear_ledger_has_a_log_too(tmp_path):
    writer = ledgers.Writer(tmp_path / "ledger", "s", shape="linear")
    kept = []
    for call in ("a", "b"):
        writer.decide(call, "denied")
        kept.append(held(writer.ledger.checkpoint(FIRST, ts=writer.tick())))
        writer.close()
    kept.append(held(writer.ledger.checkpoint(FIRST, ts=writer.tick())))
    report = check(writer, anchors=Anchors(tuple(kept)))
    assert (report.verdict, report.findings) == ("PASS", [])
    assert [one.checkpoint.size for one in kept] == [0, 1, 2]


# -- generated lives


@dataclass
class Life:
    """A writer with checkpoints that somebody keeps."""

    writer: ledgers.Writer
    keys: list = field(default_factory=lambda: [checkpoints.private(10)])
    kept: list = field(default_factory=list)

    def step(self, what: str) -> None:
        writer = self.writer
        if what == "session":
            writer.decide(f"c{writer.ts}", "denied")
            writer.close()
        elif what == "open":
            writer.decide(f"c{writer.ts}", "denied")
        elif what == "checkpoint":
            note = writer.ledger.checkpoint(self.keys[-1], ts=writer.tick(), origin=ORIGIN)
            self.kept.append(held(note, f"kept-{len(self.kept)}"))
        elif what == "rotate" and self.kept:
            new = checkpoints.private(10 + len(self.keys))
            writer.ledger.rotate_key(self.keys[-1], new, ts=writer.tick())
            self.keys.append(new)
        elif what == "restart":
            ts = writer.ts
            self.writer = ledgers.Writer(writer.ledger.root, "s")
            self.writer.ts = ts


STEPS = st.lists(
    st.sampled_from(["session", "open", "checkpoint", "rotate", "restart"]), max_size=14
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_no_finding_in_any_honest_life(tmp_path_factory, steps):
    root = tmp_path_factory.mktemp("life") / "ledger"
    life = Life(ledgers.Writer(root, "s"))
    for what in ["open", *steps, "session", "checkpoint"]:
        life.step(what)
    report = verify(str(root), anchors=Anchors(tuple(life.kept), public(ORIGIN, life.keys[0])))
    assert (report.verdict, report.findings) == ("PASS", [])
    shutil.rmtree(root)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS, st.data())
def test_every_cut_below_a_kept_checkpoint_is_seen(tmp_path_factory, steps, data):
    root = tmp_path_factory.mktemp("life") / "ledger"
    life = Life(ledgers.Writer(root, "s"))
    for what in ["open", *steps, "session", "checkpoint"]:
        life.step(what)
    path = root / ledgers.SPINE
    lines = path.read_bytes().split(b"\n")[:-1]
    at = data.draw(st.integers(1, len(lines) - 2))
    path.write_bytes(b"\n".join(lines[:at]) + b"\n")
    report = verify(str(root), anchors=Anchors((life.kept[-1],)))
    assert "log.equivocation" in {item.code for item in report.primary}, report.findings
    assert report.verdict == "FAIL"
    shutil.rmtree(root)


# -- damage


def test_no_damage_below_a_kept_checkpoint_goes_unnoticed(tmp_path):
    root = tmp_path / "sound"
    ledgers.build(root)
    writer = ledgers.Ledger(str(root))
    kept = held(writer.checkpoint(FIRST, ts=ledgers.START + 10**9, origin=ORIGIN))
    anchors = Anchors((kept,), public(ORIGIN, FIRST))
    for seed in range(120):
        rng = random.Random(seed)
        copy = tmp_path / str(seed)
        shutil.copytree(root, copy)
        path = rng.choice(sorted(one for one in copy.rglob("*.jsonl") if one.stat().st_size))
        data = bytearray(path.read_bytes())
        at = rng.randrange(len(data))
        if rng.randrange(2):
            data[at] ^= 1 << rng.randrange(8)
        else:
            del data[at : at + rng.randrange(1, 3000)]
        path.write_bytes(bytes(data))
        report = verify(str(copy), anchors=anchors)
        assert report.verdict in ("FAIL", "INCOMPLETE"), f"seed {seed} went unnoticed"
        shutil.rmtree(copy)


@pytest.mark.parametrize("lines", [1, 2])
def test_a_kill_in_the_middle_of_a_checkpoint_is_recovered(writer, lines):
    path = Path(writer.ledger.root) / ledgers.SPINE
    before = path.stat().st_size
    writer.ledger.checkpoint(FIRST, ts=writer.tick(), origin=ORIGIN)
    written = path.read_bytes()[before:].splitlines(keepends=True)
    kept = b"".join(written[: lines - 1]) + written[lines - 1][:-40]
    path.write_bytes(path.read_bytes()[:before] + kept)
    again = ledgers.Writer(Path(writer.ledger.root), "s")
    again.ts = writer.ts
    note = again.ledger.checkpoint(FIRST, ts=again.tick(), origin=ORIGIN)
    report = check(again, anchors=Anchors((held(note),)))
    assert (report.verdict, report.findings, report.recovered) == ("PASS", [], 1)
