"""What a checkpoint that was kept outside binds, where it names no entry of the spine."""

import json

import ledgers
import pytest
from checkpoints import FIRST, ORIGIN, SEER, WITNESS, cosigned, held

from toolgate.canonical import digest
from toolgate.ledger.checkpoint import Checkpoint, format_text, spine_line
from toolgate.ledger.merkle import tree_root
from toolgate.ledger.notes import COSIGNATURE, Note, format_note, public, sign
from toolgate.verify import verify
from toolgate.verify.anchors import NOTHING, Anchors
from toolgate.verify.heads import Heads
from toolgate.verify.read import Line
from toolgate.verify.shapes import Other


@pytest.fixture
def spine(tmp_path):
    """Write two sessions that ended and one that did not; return the spine's lines."""
    for name in ("one", "two", "open"):
        made = ledgers.Writer(tmp_path / "ledger", name)
        made.decide(f"x{name}", "denied")
        if name != "open":
            made.close()
    return (tmp_path / "ledger" / ledgers.SPINE).read_bytes().split(b"\n")[:-1]


def kept(leaves, *more):
    """Return a checkpoint over some session heads, as an outsider has it."""
    text = format_text(Checkpoint(ORIGIN, len(leaves), tree_root(leaves), more))
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


class Log:
    """The log of session heads by itself, and what was found of it."""

    def __init__(self, anchors=NOTHING):
        self.found = []
        self.heads = Heads(anchors, lambda *item: self.found.append(item[0]))


def test_before_anything_was_read_nothing_counts():
    heads = Log().heads
    assert (heads.origin, heads.checkpoints, heads.covered) == (None, 0, 0)
    assert not heads.names_entries
    assert (heads.checked(), heads.unchecked()) == ([], [])


NAMED, OTHER = digest(b"named"), digest(b"other")


@pytest.mark.parametrize(
    ("read", "found"),
    [
        ([NAMED], []),
        ([NAMED, OTHER], []),  # a fork has two entries of that number
        ([OTHER, NAMED], []),
        ([OTHER], ["log.equivocation"]),
        ([OTHER, digest(b"third")], ["log.equivocation"]),
        ([], ["log.equivocation"]),
    ],
)
def test_the_entry_a_copy_names_is_one_that_was_read(read, found):
    log = Log(Anchors((kept([], spine_line(3, NAMED)),)))
    assert log.heads.names_entries
    for one in read:
        log.heads.entry(3, one)
    log.heads.finish((3, OTHER))
    assert log.found == found
    assert log.heads.covered == (0 if found else 3)


@pytest.mark.parametrize(
    ("copy", "reached"),
    [
        (kept([], spine_line(4, NAMED)), "0 had ended and reached entry 4"),
        (kept([b"x" * 32]), "1 had ended"),
    ],
)
def test_a_copy_beyond_the_end_says_that_the_tail_was_lost(copy, reached):
    said = []
    heads = Heads(Anchors((copy,)), lambda *item: said.append(item))
    heads.finish((3, OTHER))
    message = (
        f"checkpoint kept: says that {reached}; the ledger ends at entry 3 with 0 sessions ended: "
        "it lost its tail"
    )
    assert said == [("log.equivocation", "checkpoint kept", message)]


def test_of_several_copies_the_one_that_reaches_furthest_covers():
    copies = [kept([], spine_line(number, NAMED)) for number in (2, 5, 3)]
    log = Log(Anchors(tuple(copies)))
    for number in (2, 3, 5):
        log.heads.entry(number, NAMED)
    log.heads.finish((6, OTHER))
    assert (log.found, log.heads.covered) == ([], 5)
    assert [one.partition(" and ")[2] for one in log.heads.checked()] == [
        f"the spine up to entry {number}" for number in (2, 5, 3)
    ]


def test_checkpoints_and_keys_are_counted(tmp_path):
    made = ledgers.Writer(tmp_path / "ledger", "s")
    made.decide("a", "denied")
    made.close()
    for number in (1, 2, 3):
        made.ledger.checkpoint(FIRST, ts=made.tick(), origin=ORIGIN)
        said = f"log: {number} checkpoint{'s' * (number > 1)} of {ORIGIN} against the sessions"
        report = verify(str(tmp_path / "ledger"))
        assert f"{said}, signed with 1 key" in report.checked
        assert report.findings == []


def key_entry(name):
    ev = {"role": "checkpoint", "name": name, "old": None, "new": "k", "signatures": []}
    return Other(
        ev=ev,
        kind="key_rotate",
        parents=[],
        prev_digest=OTHER,
        seq=1,
        session=None,
        ts=1,
        turn=None,
    )


def test_a_log_without_a_name_may_take_any_without_spaces():
    said = []
    heads = Heads(NOTHING, lambda *item: said.append(item))
    entry = key_entry("two words")
    heads.other(Line("f", 7, 0, b"", NAMED, entry, ""), entry, (0, OTHER))
    message = "f:7: the log's name is 'two words'; expected a name without spaces"
    assert said == [("log.key_rotation", NAMED, message)]
    assert heads.origin is None


def test_who_saw_a_copy_stands_behind_what_it_binds():
    text = format_text(Checkpoint(ORIGIN, 0, tree_root([]), (spine_line(3, NAMED),)))
    copy = held(cosigned(format_note(Note(text, (sign(text, ORIGIN, FIRST),)))))
    log = Log(Anchors((copy,), None, (public(WITNESS, SEER, COSIGNATURE),)))
    log.heads.entry(3, NAMED)
    log.heads.finish((3, NAMED))
    bound = f"the ledger holds checkpoint kept of {ORIGIN} over 0 sessions"
    assert log.heads.checked() == [f"{bound} and the spine up to entry 3, seen by {WITNESS} at 7 s"]


def test_whose_key_it_was_is_said_to_be_unchecked(tmp_path):
    log = Log(Anchors((kept([]),)))
    said = "the signatures of checkpoints: the ledger names no key, and none was pinned"
    assert log.heads.unchecked() == [said]
    made = ledgers.Writer(tmp_path / "ledger", "s")
    made.decide("a", "denied")
    made.close()
    made.ledger.checkpoint(FIRST, ts=made.tick(), origin=ORIGIN)
    said = (
        "whose key signed the checkpoints: no key was pinned, so their signatures were checked "
        "only against the ledger's own"
    )
    assert [one for one in verify(str(tmp_path / "ledger")).unchecked if one.endswith(said)]
    pinned = verify(str(tmp_path / "ledger"), anchors=Anchors((), public(ORIGIN, FIRST)))
    assert not [one for one in pinned.unchecked if one.endswith(said)]
