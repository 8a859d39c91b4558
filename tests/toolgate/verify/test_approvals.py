"""Layer 1, approvals: what is said of an approval by itself belongs to its own session."""

from collections import Counter

import pytest
from approvals import cheat
from approved import Desk, key

from toolgate.canonical import digest, profile_bytes
from toolgate.verify import verify
from toolgate.verify.approvals import Approvals
from toolgate.verify.findings import Found
from toolgate.verify.read import Line
from toolgate.verify.shapes import Other

NOTHING = digest(b"")


class NoPolicies:
    def __init__(self):
        self.announced = {}

    def held(self, version):
        return None


class Taken:
    """Approvals that were taken, and what was found of them."""

    def __init__(self):
        self.seen = Found()
        self.approvals = Approvals(self.seen, NoPolicies())
        self.seq = 0

    def take(self, *parents, sign="alice", **change):
        self.seq += 1
        name = digest(b"approval %d" % self.seq)
        ev = {
            "decision_digest": None,
            "args_digest": None,
            "session": "s",
            "class": "pay",
            "principal": "alice",
            "expiry": 9,
            "nonce": "n",
            "verdict": "approve",
            "evidence": "signature",
            "key": key("alice").public,
            "ts": 1,
        } | change
        ev["sig"] = key(sign).sign(profile_bytes(ev))
        entry = Other(
            ev=ev,
            kind="approval",
            parents=list(parents),
            prev_digest=NOTHING,
            seq=self.seq,
            session="s",
            ts=1,
            turn=None,
        )
        self.approvals.entry(Line("f", self.seq, 0, b"", name, entry, ""), entry)
        return name

    def found(self):
        return [
            (one.finding.code.removeprefix("entries."), one.finding.entry, one.session)
            for one in self.seen
        ]


def test_a_sound_approval_is_no_finding():
    taken = Taken()
    first = taken.take()
    taken.take(first, nonce="m")
    assert taken.found() == []
    assert all(item.signed for item in taken.approvals.entries.values())


def test_a_signature_by_another_key():
    taken = Taken()
    name = taken.take(sign="bob")
    assert taken.found() == [("approval_signature", name, "s")]
    assert not taken.approvals.entries[name].signed


def test_a_signature_that_stands_again():
    taken = Taken()
    taken.take()
    again = taken.take()
    assert taken.found() == [("approval_reused", again, "s")]
    assert not taken.approvals.entries[again].signed


def test_an_approval_names_one_before_it():
    taken = Taken()
    first, second = taken.take(), taken.take(nonce="m")
    unknown = taken.take(NOTHING, nonce="o")
    both = taken.take(first, second, nonce="p")
    assert taken.found() == [("approval_order", unknown, "s"), ("approval_order", both, "s")]


@pytest.mark.parametrize("session", ["s", None])
def test_an_approval_of_a_decision_that_no_session_holds(session):
    taken = Taken()
    held = taken.take(decision_digest=digest(b"held"))
    name = taken.take(decision_digest=digest(b"other"), session=session)
    taken.approvals.end_session("s", {digest(b"held"): "action"})
    taken.approvals.finish()
    assert held != name
    assert taken.found() == [("approval_unbound", name, session)]


def test_several_processes_judge_in_the_order_of_the_sessions(tmp_path):
    """What sessions rest on is judged once all were read: in their order, not by digest."""
    names = [f"s{number}" for number in range(7)]
    for at, name in enumerate(reversed(names)):
        one = Desk(tmp_path / "ledger", name)
        one.ts += at * 1_000_000
        one.prompt("p1")
        cheat(one, "pay", call=f"z{name}")
    alone = verify(str(tmp_path / "ledger"))
    assert Counter(item.code for item in alone.findings)["entries.composition_unmet"] == 7
    assert verify(str(tmp_path / "ledger"), processes=3) == alone
