"""Layer 2 in forms that few ledgers have: turns without entries, a file that begins oddly."""

import ledgers
import pytest

from toolgate.canonical import digest
from toolgate.verify import verify

HELD = (2, 4)
"""Of six turns, those that have entries."""


@pytest.fixture
def kit(tmp_path):
    made = ledgers.Writer(tmp_path / "ledger", "s")
    for turn in range(1, 7):
        made.prompt(f"p{turn}")
        if turn in HELD:
            made.decide(f"c{turn}", "denied")
        made.stop()
    made.close()
    return ledgers.Kit(tmp_path / "ledger")


def found(kit):
    kit.rehash()
    return [(item.code, item.entry) for item in verify(str(kit.root)).findings]


def test_turns_may_have_no_entries(kit):
    assert found(kit) == []


@pytest.mark.parametrize("turn", range(1, 7))
@pytest.mark.parametrize(("field", "value"), [("count", 9), ("root", digest(b"other"))])
def test_every_turn_is_held_to_its_close(kit, turn, field, value):
    row = kit.find("turn_close", "s", turn=turn)
    row.body["ev"][field] = value
    row.keep.add(field)
    assert [code for code, _ in found(kit)] == [f"log.{field}"]


def test_the_file_may_be_missing_where_no_turn_had_entries(kit):
    for turn in HELD:
        kit.drop(kit.decision(f"c{turn}"))
    path = kit.root / "sessions" / "s.jsonl"
    kit.rehash()
    del kit.files["sessions/s.jsonl"]
    path.unlink()
    assert [item.code for item in verify(str(kit.root)).findings] == []


def test_a_file_may_not_begin_with_a_recovery_of_nothing(kit):
    made = kit.copy(kit.decision("c2"))
    ts = made.body["ts"]
    ev = {"offset": 1, "length": 5, "digest": digest(b"x"), "ts": ts}
    parents = [kit.find("turn_open", "s", turn=2).old]
    made.body = {"v": 1, "kind": "recovery", "session": "s", "turn": 2, "ts": ts}
    made.body |= {"parents": parents, "ev": ev}
    made.old = digest(b"made")
    kit.files["sessions/s.jsonl"].insert(0, made)
    assert [code for code, _ in found(kit)] == ["log.false_recovery"]
