"""A witness signs only what continues what it has seen, and remembers before it signs."""

import os
import stat

import checkpoints
import ledgers
import pytest
from checkpoints import FIRST, ORIGIN, SECOND, SEER, STRANGER, WITNESS, held
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.errors import InputError, LedgerError
from toolgate.ledger.notes import COSIGNATURE, cosigned_at, parse_note, public
from toolgate.verify.prove import prove_entry, prove_growth
from toolgate.verify.witness import Witness

KEY = public(ORIGIN, FIRST)
SEEN = public(WITNESS, SEER, COSIGNATURE)


class Log:
    """A ledger that grows by one session at a time."""

    def __init__(self, root):
        self.root = str(root)
        self.writer = ledgers.Writer(root, "s")

    def grow(self, sessions=1, key=FIRST):
        for _ in range(sessions):
            self.writer.decide(f"c{self.writer.ts}", "denied")
            self.writer.close()
        return held(self.writer.ledger.checkpoint(key, ts=self.writer.tick(), origin=ORIGIN))


@pytest.fixture
def log(tmp_path):
    return Log(tmp_path / "ledger")


@pytest.fixture
def witness(tmp_path):
    return Witness(WITNESS, SEER, str(tmp_path / "state"))


def test_signs_the_first_and_what_continues_it(log, witness, tmp_path):
    first = log.grow()
    note = parse_note(witness.cosign(first, now=11, log_key=KEY))
    assert cosigned_at(note, SEEN) == 11
    assert note.text == first.note.text
    # The same again needs no proof, and leaves one signature of the witness.
    again = parse_note(witness.cosign(held(checkpoints.format_note(note)), now=12))
    assert (cosigned_at(again, SEEN), len(again.signatures)) == (12, 2)
    second = log.grow(3)
    with pytest.raises(InputError, match="a consistency proof must be given"):
        witness.cosign(second, now=13)
    note = parse_note(witness.cosign(second, now=13, proof=prove_growth(log.root, 1)))
    assert cosigned_at(note, SEEN) == 13
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o600


def test_refuses_what_does_not_continue_it(log, witness, tmp_path):
    first, second, third = log.grow(), log.grow(), log.grow()
    proof = prove_growth(log.root, 1)
    with pytest.raises(InputError, match="its key must be given"):
        witness.cosign(first, now=1)
    with pytest.raises(InputError, match="not signed with its log's key"):
        witness.cosign(first, now=1, log_key=public(ORIGIN, STRANGER))
    with pytest.raises(InputError, match="not signed with its log's key"):
        witness.cosign(first, now=1, log_key=public("example.com/other", FIRST))
    witness.cosign(second, now=1, log_key=KEY)
    with pytest.raises(InputError, match="shorter than"):
        witness.cosign(first, now=1)
    with pytest.raises(InputError, match="does not begin with"):
        witness.cosign(third, now=1, proof=proof)
    fork = Log(tmp_path / "fork")
    fork.writer.ts += 5
    with pytest.raises(InputError, match="another than"):
        witness.cosign(fork.grow(2), now=1)
    longer = fork.grow(2)
    with pytest.raises(InputError, match="does not begin with"):
        witness.cosign(longer, now=1, proof=prove_growth(fork.root, 2))
    with pytest.raises(InputError, match="leads to another log"):
        witness.cosign(longer, now=1, proof=prove_growth(log.root, 2))
    entry = ledgers.Kit(tmp_path / "ledger").find("policy_set").old
    with pytest.raises(InputError, match="is about an entry"):
        witness.cosign(third, now=1, proof=prove_entry(log.root, entry))
    with pytest.raises(InputError, match="canonical JSON"):
        witness.cosign(third, now=1, proof=b"garbage")
    # Nothing that was refused changed what is remembered.
    assert witness.cosign(third, now=1, proof=prove_growth(log.root, 2))


def test_follows_a_key_only_when_told(log, witness):
    first = log.grow()
    witness.cosign(first, now=1, log_key=KEY)
    log.writer.ledger.rotate_key(FIRST, SECOND, ts=log.writer.tick())
    second = log.grow(key=SECOND)
    proof = prove_growth(log.root, 1)
    with pytest.raises(InputError, match="not signed with its log's key"):
        witness.cosign(second, now=1, proof=proof)
    assert witness.cosign(second, now=1, proof=proof, log_key=public(ORIGIN, SECOND))


def test_remembers_before_it_signs(log, witness, tmp_path, monkeypatch):
    first = log.grow()
    monkeypatch.setattr(os, "rename", _full)
    with pytest.raises(LedgerError, match="cannot create"):
        witness.cosign(first, now=1, log_key=KEY)
    assert not (tmp_path / "state").exists()


def _full(*_):
    raise OSError(28, "No space left on device")


def test_several_logs_have_their_own_memory(witness, tmp_path):
    logs = [Log(tmp_path / name) for name in "ab"]
    logs[1].writer.ts += 7
    origins = ["example.com/a", "example.com/b"]
    for log, origin in zip(logs, origins, strict=True):
        log.writer.decide("x", "denied")
        log.writer.close()
        note = log.writer.ledger.checkpoint(FIRST, ts=log.writer.tick(), origin=origin)
        assert witness.cosign(held(note), now=1, log_key=public(origin, FIRST))
        assert witness.cosign(held(note), now=2)


@pytest.mark.parametrize("name", ["", "a b", "a+b"])
def test_names(name, tmp_path):
    with pytest.raises(InputError, match="witness's name"):
        Witness(name, SEER, str(tmp_path / "state"))


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_a_state_that_is_none_signs_nothing(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("state")
    log = Log(folder / "ledger")
    first = log.grow()
    (folder / "state").write_bytes(data)
    witness = Witness(WITNESS, SEER, str(folder / "state"))
    with pytest.raises(LedgerError, match="nothing was signed"):
        witness.cosign(first, now=1, log_key=KEY)
    assert (folder / "state").read_bytes() == data
