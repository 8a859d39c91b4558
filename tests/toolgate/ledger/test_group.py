"""Group commit: one wait for many appends, and no acknowledgement before it."""

import errno
import os
import threading

import ledgers
import pytest

from toolgate.errors import LedgerError
from toolgate.ledger.append import Ledger
from toolgate.ledger.group import GroupWriter
from toolgate.verify import verify


@pytest.fixture
def syncs(monkeypatch):
    """Return the list of what was synced, in order."""
    done: list[str] = []
    real = os.fsync

    def fsync(fd: int) -> None:
        done.append(os.path.basename(os.readlink(f"/proc/self/fd/{fd}")))
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    return done


def decide(call: str, session: str = "s1"):
    fields = ledgers.fields(call)
    return lambda ledger: ledger.decide(
        session, key=None, fields=fields, policy=ledgers.POLICY, ts=ledgers.START
    )


@pytest.mark.parametrize("shape", ["dag", "linear"])
def test_a_block_shares_one_wait(tmp_path, syncs, shape):
    writer = ledgers.Writer(tmp_path / "ledger", "s1", durability="fsync", shape=shape)
    writer.decide("first")
    file = "s1.jsonl" if shape == "dag" else ledgers.SPINE
    syncs.clear()
    with writer.ledger.group():
        for number in range(20):
            writer.decide(f"c{number}")
            writer.outcome(f"c{number}")
        assert syncs == []
    assert syncs == [file]
    writer.outcome("first")
    assert syncs == [file] * 2
    writer.close()
    assert verify(str(tmp_path / "ledger")).findings == []


def test_a_turn_is_on_the_disk_before_its_entries_and_they_before_its_end(tmp_path, syncs):
    writer = ledgers.Writer(tmp_path / "ledger", "s1", durability="fsync")
    writer.decide("first", "denied")
    syncs.clear()
    with writer.ledger.group():
        writer.prompt("p")  # closes the turn that is open: its entries first
        assert syncs == ["s1.jsonl", ledgers.SPINE]
        writer.decide("a")
        assert syncs == ["s1.jsonl", ledgers.SPINE]
    assert syncs == ["s1.jsonl", ledgers.SPINE, "s1.jsonl"]


def test_a_group_is_nothing_with_durability_os(tmp_path, syncs):
    writer = ledgers.Writer(tmp_path / "ledger", "s1")
    with writer.ledger.group():
        writer.decide("a")
    assert [name for name in syncs if name.endswith(".jsonl")] == []


def test_a_block_whose_wait_fails_is_an_error(tmp_path, monkeypatch):
    writer = ledgers.Writer(tmp_path / "ledger", "s1", durability="fsync")
    writer.decide("a")

    def fsync(fd: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        with pytest.raises(LedgerError, match="cannot sync"), writer.ledger.group():
            writer.outcome("a")
    writer.close()
    assert verify(str(tmp_path / "ledger")).findings == []


def test_an_error_within_a_block_leaves_it_and_what_came_before_is_synced(tmp_path, syncs):
    writer = ledgers.Writer(tmp_path / "ledger", "s1", durability="fsync")
    writer.decide("first", "denied")
    syncs.clear()
    with pytest.raises(KeyError), writer.ledger.group():
        writer.decide("a")
        raise KeyError
    assert syncs == ["s1.jsonl"]


def test_threads_share_waits_and_each_is_acknowledged_after_its_own(tmp_path, monkeypatch):
    synced = threading.Event()
    real, count = os.fsync, 0

    def fsync(fd: int) -> None:
        nonlocal count
        count += 1
        real(fd)
        synced.set()

    monkeypatch.setattr(os, "fsync", fsync)
    root = tmp_path / "ledger"
    with GroupWriter(Ledger(str(root), durability="fsync")) as writer:
        futures = [writer.submit(decide(f"c{number}")) for number in range(400)]
        assert synced.wait(10)
        digests = [future.result() for future in futures]
    assert len(set(digests)) == 400
    assert count < 100
    Ledger(str(root)).recover(ts=ledgers.START * 2)
    report = verify(str(root))
    assert {item.code for item in report.findings} == {"log.orphan_allow"}
    assert report.decisions == {"allowed": 400}


def test_none_is_acknowledged_when_the_wait_fails(tmp_path, monkeypatch):
    with GroupWriter(Ledger(str(tmp_path / "ledger"), durability="fsync")) as writer:
        writer.append(decide("first"))

        def fsync(fd: int) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fsync)
            for future in [writer.submit(decide(f"c{number}")) for number in range(5)]:
                with pytest.raises(LedgerError, match="cannot sync"):
                    future.result()
        assert writer.append(decide("after"))


def test_one_refused_append_does_not_refuse_the_others(tmp_path):
    with GroupWriter(Ledger(str(tmp_path / "ledger"), durability="fsync")) as writer:
        good, bad = writer.submit(decide("a")), writer.submit(decide("b" * 70_000))
        assert good.result()
        with pytest.raises(LedgerError):
            bad.result()
    with pytest.raises(LedgerError, match="its writer is closed"):
        writer.submit(decide("c"))


def test_a_group_in_a_database(database):
    pytest.importorskip("psycopg")
    writer = ledgers.Writer(database, "s1", durability="fsync")
    with writer.ledger.group():
        for number in range(10):
            writer.decide(f"c{number}")
            writer.outcome(f"c{number}")
    writer.close()
    assert verify(database).findings == []
