"""A ledger copied between files and PostgreSQL is the same lines."""

import os

import ledgers
import pytest
from stores import bytes_of

from toolgate.errors import LedgerError
from toolgate.ledger import copy
from toolgate.ledger.append import Ledger
from toolgate.ledger.copy import export
from toolgate.ledger.seal import seal
from toolgate.verify import verify

pytest.importorskip("psycopg")

LATER = ledgers.START + 10**12


@pytest.fixture
def root(tmp_path):
    """Write a ledger with everything in it: rotated, with sealed fragments in both places."""
    place = tmp_path / "ledger"
    ledgers.build(place)
    with (place / "sessions" / "alpha.jsonl").open("ab") as file:
        file.write(b'{"torn')
    with (place / ledgers.SPINE).open("ab") as file:
        file.write(b"\xff\x00 torn\ntwice")
    writer = ledgers.Writer(place, "alpha", rotate=2000)
    writer.ts += 10**9
    writer.decide("z")
    writer.outcome("z")
    writer.close()
    linear = ledgers.Writer(place, "delta", shape="linear", rotate=2000)
    linear.ts += 10**9
    for number in range(4):
        linear.decide(f"d{number}")
        linear.outcome(f"d{number}")
        linear.stop()
    linear.close()
    (place / "keys").mkdir()
    (place / "keys" / "log.pub").write_bytes(b"ed25519:00\n")
    return place


def entries_and_blobs(place) -> dict[str, bytes]:
    return bytes_of(str(place))


def test_there_and_back(root, tmp_path, database, new_database):
    kept, plain = entries_and_blobs(root), verify(str(root))
    assert plain.verdict == "CONDITIONAL"
    assert plain.recovered == 2
    steps: list[tuple[int, int]] = []
    done = export(str(root), database, lambda n, total: steps.append((n, total)))
    assert done.left_out == []
    assert done.sessions == 5
    assert done.lines == sum(
        data.count(b"\n") for name, data in kept.items() if "json" in name[-5:]
    )
    assert steps[-1][0] == steps[-1][1] > 0
    there = entries_and_blobs(database)
    assert there.pop("keys/log.pub") == b"ed25519:00\n"
    assert there == kept
    assert verify(database) == plain
    other = new_database()
    export(database, other)
    assert entries_and_blobs(other) == {**kept, "keys/log.pub": b"ed25519:00\n"}
    back = tmp_path / "back"
    export(other, str(back))
    assert entries_and_blobs(back) == kept
    assert verify(str(back)) == plain
    assert (back / "keys" / "log.pub").read_bytes() == b"ed25519:00\n"
    assert {oct(path.stat().st_mode & 0o777) for path in back.rglob("*")} == {"0o600", "0o700"}


def test_a_copy_goes_on(root, tmp_path, database):
    export(str(root), database)
    back = tmp_path / "back"
    export(database, str(back))
    left = []
    for place in (root, database, back):
        for session in ("alpha", "gamma", "delta"):
            writer = ledgers.Writer(place, session, shape="dag", rotate=2000)
            writer.ts = LATER
            left.append(writer.outcome({"alpha": "z", "gamma": "c0", "delta": "d0"}[session]))
            writer.decide(f"more-{session}")
            writer.outcome(f"more-{session}")
            writer.close()
        left.append(writer.ledger.head())
        assert verify(str(place)).findings == []
    assert left[:4] == left[4:8] == left[8:]
    assert bytes_of(str(root)) == bytes_of(str(back))


def test_sealed_sessions_are_copied_unpacked(root, tmp_path, database):
    kept = entries_and_blobs(root)
    seal(str(root), ts=LATER, with_twin=False)
    export(str(root), database)
    export(str(root), str(tmp_path / "copy"))
    assert entries_and_blobs(tmp_path / "copy") == kept
    assert {**kept, "keys/log.pub": b"ed25519:00\n"} == entries_and_blobs(database)


def test_a_target_that_is_not_empty_is_refused(root, tmp_path, database):
    before = entries_and_blobs(root)
    for target in (str(root), database):
        if target == database:
            ledgers.Writer(database, "s").decide("a")
        with pytest.raises(LedgerError, match="is not empty"):
            export(str(root), target)
    (tmp_path / "empty").mkdir()
    export(str(root), str(tmp_path / "empty"))
    assert entries_and_blobs(tmp_path / "empty") == before == entries_and_blobs(root)
    assert len(entries_and_blobs(database)) == 3


def test_sources_that_are_none(tmp_path, database):
    for source in (str(tmp_path / "nothing"), database):
        with pytest.raises(LedgerError, match="no ledger here"):
            export(source, str(tmp_path / "target"))
    assert list(tmp_path.iterdir()) == []


def test_an_unfinished_line_is_left_out_and_named(root, tmp_path):
    kept = entries_and_blobs(root)
    with (root / "sessions" / "alpha.jsonl").open("ab") as file:
        file.write(b'{"axis":')
    assert export(str(root), str(tmp_path / "copy")).left_out == ["session/alpha"]
    assert entries_and_blobs(tmp_path / "copy") == kept


def test_a_copy_that_fails_leaves_nothing(root, tmp_path, database, monkeypatch):
    class Broken(copy.Folder):
        def blobs(self):
            raise KeyboardInterrupt

    monkeypatch.setattr(copy, "Folder", Broken)
    for target in (str(tmp_path / "copy"), database):
        with pytest.raises(KeyboardInterrupt):
            export(str(root), target)
    assert list(tmp_path.iterdir()) == [root]
    assert not Ledger(database)._store.exists()


def test_a_copy_made_while_writers_are_at_it_verifies(tmp_path):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s1", rotate=3000)
    other = ledgers.Writer(root, "s2", shape="linear", rotate=3000)
    child = os.fork()
    if not child:
        for number in range(400):
            for one in (writer, other):
                one.decide(f"{one.session}-{number}")
                one.outcome(f"{one.session}-{number}")
                if number % 5 == 4:
                    one.stop()
        os._exit(0)
    made = 0
    try:
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if (root / ledgers.SPINE).exists() and (root / ledgers.SPINE).stat().st_size:
                target = tmp_path / f"copy{made}"
                export(str(root), str(target))
                found = {item.code for item in verify(str(target)).findings}
                assert found <= {"log.turn_open", "log.session_open"}
                made += 1
    finally:
        if made < 1:
            os.waitpid(child, 0)
    assert made > 1
