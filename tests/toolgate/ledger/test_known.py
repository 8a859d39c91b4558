"""What is kept of the spine's approvals: read instead of the spine, and never instead of truth."""

import json

import pytest
from approved import ALONE, HOUR, Desk, key
from ledgers import SPINE

from toolgate.approval import Target
from toolgate.canonical import digest_of
from toolgate.ledger import known as module
from toolgate.ledger.append import open_store
from toolgate.ledger.known import Known, known_at
from toolgate.ledger.spine import Spine, SpineMemory
from toolgate.verify import verify


@pytest.fixture(params=["directory", "database"])
def place(tmp_path, request):
    """Return where a ledger is kept: what is kept beside it must serve both alike."""
    if request.param == "directory":
        return tmp_path / "ledger"
    return request.getfixturevalue("database")


@pytest.fixture(autouse=True)
def kept_at_once(monkeypatch):
    monkeypatch.setattr(module, "_KEEP_BYTES", 0)


@pytest.fixture
def read_from(monkeypatch):
    """Return from where each look at the spine's approvals began."""
    seen = []
    real = Known.read

    def read(self, store, since):
        seen.append(since)
        real(self, store, since)

    monkeypatch.setattr(Known, "read", read)
    return seen


def again(desk):
    """Return the same people at the desk of a process that remembers nothing."""
    cold = Desk(desk.root, "s", ALONE, ts=desk.ts)
    cold._nonce = desk._nonce + 1000
    return cold


def full(desk, args="x"):
    """Return the approvals that count for a deployment, read from the first entry on."""
    found = Known(open_store(str(desk.root), durable=False))
    target = Target(None, digest_of(args), "s", "deploy")
    return found.standing(target, desk.approvers("deploy").principals, desk.ts)


def test_each_look_begins_where_the_last_one_ended(place, read_from):
    desk = Desk(place, "s", ALONE)
    for number in range(4):
        desk = again(desk)
        for name in ("alice", "bob"):
            desk.approve(name, "deploy")
        assert again(desk).attempt(f"c{number}", "deploy").allowed
        desk.ts += 1000
        assert not again(desk).attempt(f"d{number}", "deploy").allowed
        desk.ts += 1000
        desk.done(f"c{number}", "deploy")
    assert read_from[0] == 0
    assert sorted(read_from) == read_from
    assert len(set(read_from)) == 12
    desk.close()
    assert verify(str(place)).findings == []


def test_refusals_rotations_and_citations_are_kept(place):
    desk = Desk(place, "s", ALONE)
    desk.say("a", "denied")
    desk.approve("alice", "deploy")
    desk.approve("bob", "deploy")
    again(desk).approve("bob", "deploy", verdict="refuse")
    desk.ts += 1_000
    assert not again(desk).attempt("c1", "deploy").allowed
    desk.ts += 1_000
    desk.ledger.rotate_approver("bob", old=key("bob"), new=key("bob 2"), ts=desk.tick())
    desk.approve("bob", "deploy", signer="bob 2")
    assert again(desk).attempt("c2", "deploy").allowed
    desk.done("c2", "deploy")
    desk.ts += 1_000
    assert not again(desk).attempt("c3", "deploy").allowed
    desk.ts += 1_000
    desk.close()
    assert verify(str(place)).findings == []


def test_what_has_expired_is_not_kept_and_an_older_clock_reads_it_again(place, read_from):
    desk = Desk(place, "s", ALONE)
    desk.say("a", "denied")
    for name in ("alice", "bob"):
        desk.approve(name, "deploy", expiry=desk.ts + HOUR)
    early = desk.ts + 1_000
    desk.ts += 2 * HOUR
    assert not again(desk).attempt("late", "deploy").allowed
    read_from.clear()
    store = open_store(str(place), durable=False)
    with Spine(store, SpineMemory(), rotate=2**40, ts=desk.ts) as spine:
        assert known_at(spine, store, desk.ts + 1_000_000).approvals == []
        assert len(known_at(spine, store, early).approvals) == 2
    assert read_from[0] > 0
    assert read_from[1] == 0


def shorten(text):
    return text[: len(text) // 2]


def lie_about_the_end(text):
    held = json.loads(text)
    held["last"][2] = "sha256:" + "0" * 64
    return json.dumps(held)


DAMAGE = {
    "cut": shorten,
    "empty": lambda _: "",
    "another spine": lie_about_the_end,
    "no object": lambda _: "[1]",
    "other types": lambda _: '{"last":[1],"lines":[],"ts":0}',
    "text for a number": lambda _: '{"last":["1",2,"x"],"lines":[],"ts":0}',
    "beyond the end": lambda _: '{"last":[99999999,9,"x"],"lines":[],"ts":0}',
    "negative": lambda _: '{"last":[5,-9,"x"],"lines":[],"ts":0}',
    "lines of numbers": lambda text: json.dumps({**json.loads(text), "lines": [1]}),
    "null": lambda _: '{"last":null,"lines":null,"ts":null}',
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_was_kept_is_no_evidence(tmp_path, damage, read_from):
    desk = Desk(tmp_path / "ledger", "s", ALONE)
    for name in ("alice", "bob"):
        desk.approve(name, "deploy")
    cache = desk.root / "approvals.cache"
    cache.write_text(damage(cache.read_text()))
    read_from.clear()
    assert again(desk).attempt("c", "deploy").allowed
    assert read_from == [0]


def test_a_spine_that_lost_its_end_is_read_again(tmp_path, read_from):
    """After a power cut the spine may be shorter than what was kept of it."""
    desk = Desk(tmp_path / "ledger", "s", ALONE)
    for name in ("alice", "bob", "alice"):
        desk.approve(name, "deploy")
    again(desk).attempt("c", "deploy")
    spine = desk.root / SPINE
    lines = spine.read_bytes().splitlines(keepends=True)
    spine.write_bytes(lines[0])
    for file in (desk.root / "sessions").iterdir():
        file.unlink()
    read_from.clear()
    assert [item.principal for item in full(desk)] == ["alice"]
    assert not again(desk).attempt("d", "deploy").allowed
    assert read_from == [0, 0]


def test_something_that_is_no_file_in_its_place(tmp_path):
    desk = Desk(tmp_path / "ledger", "s", ALONE)
    desk.say("a", "denied")
    (desk.root / "approvals.cache").mkdir()
    for name in ("alice", "bob"):
        desk.approve(name, "deploy")
    assert again(desk).attempt("c", "deploy").allowed
