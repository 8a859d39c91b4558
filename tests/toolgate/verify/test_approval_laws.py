"""Laws of approvals: silence on what the writer makes, a finding on any approval changed.

The writer and the gate compose approvals by one reading of the policy, the
verifier by another; here they are held against each other.
"""

import shutil

import ledgers
import pytest
from approved import ALONE, COMPOSITION, Desk, key
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolgate.errors import InputError
from toolgate.verify import verify

CLASSES = tuple(COMPOSITION)
PEOPLE = ("alice", "bob", "carol")

OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "attempt",
                "attempt",
                "approve",
                "approve",
                "approve",
                "refuse",
                "ask",
                "answer",
                "again",
                "prompt",
                "rotate",
                "wait",
                "report",
            ]
        ),
        st.sampled_from(CLASSES),
        st.sampled_from(PEOPLE),
        st.integers(0, 3),
    ),
    max_size=30,
)


class Life:
    """Two sessions of one ledger in which people approve, and calls are tried."""

    def __init__(self, root, shape: str) -> None:
        self.desks = [Desk(root, session, ALONE, shape=shape) for session in ("one", "two")]
        for desk in self.desks:
            desk.prompt("p")
        self.signers = {name: name for name in PEOPLE}
        self.asks: list[tuple[Desk, str, str, str]] = []
        self.tried: list[tuple[Desk, str, str, str]] = []
        self.count = 0
        self.allowed: list[str] = []

    def do(self, what: str, action_class: str, name: str, which: int) -> None:
        desk = self.desks[which % 2]
        desk.ts = max(other.ts for other in self.desks)
        args = f"args {which // 2}"
        self.count += 1
        call = f"c{self.count}"
        if what == "attempt":
            self._attempt(desk, call, action_class, args)
        elif what in ("approve", "refuse"):
            binding = {"session": None} if which == 3 else {}
            binding |= {"args_digest": None} if which == 2 else {}
            binding |= {"expiry": desk.ts + 9_000} if which == 1 else {}
            self._approve(desk, what, name, action_class, args, binding)
        elif what == "ask":
            self.asks.append((desk, call, desk.say(call, "asked", action_class), action_class))
        elif what == "answer" and self.asks:
            self._answer(name, which)
        elif what == "again" and self.tried:
            desk, call, action_class, args = self.tried[-1]
            self._attempt(desk, call, action_class, args)
        elif what == "prompt":
            desk.prompt(None)
        elif what == "rotate":
            fresh = f"{name} {self.count}"
            old = self.signers[name]
            if self._announced():
                desk.ledger.rotate_approver(name, old=key(old), new=key(fresh), ts=desk.tick())
                self.signers[name] = fresh
        elif what == "wait":
            desk.ts += 5_000
        elif what == "report" and self.tried:
            self._end()

    def _announced(self) -> bool:
        return (self.desks[0].root / "policies").exists()

    def _attempt(self, desk: Desk, call: str, action_class: str, args: str) -> None:
        self._end(but=call)
        done = desk.attempt(call, action_class, args=args)
        self.tried = [(desk, call, action_class, args)]
        if done.allowed:
            self.allowed.append(call)
        elif call in self.allowed:
            self.allowed.remove(call)

    def _end(self, but: str | None = None) -> None:
        """Report on the call that was tried last, unless it is tried again."""
        for desk, call, action_class, args in self.tried:
            if call != but and call in self.allowed:
                desk.ts = max(other.ts for other in self.desks)
                desk.done(call, action_class, args=args)
        if self.tried and self.tried[0][1] != but:
            self.tried = []

    def _approve(self, desk, what, name, action_class, args, binding) -> None:
        verdict = {"approve": "approve", "refuse": "refuse"}[what]
        signer = self.signers[name]
        try:
            desk.approve(name, action_class, args=args, signer=signer, verdict=verdict, **binding)
        except InputError:
            return  # not this principal's to give, or not yet

    def _answer(self, name: str, which: int) -> None:
        desk, call, asked, action_class = self.asks[which % len(self.asks)]
        desk.ts = max(other.ts for other in self.desks)
        verdict = "refuse" if which == 3 else "approve"
        try:
            given = desk.answer(
                name,
                call,
                asked,
                action_class=action_class,
                signer=self.signers[name],
                verdict=verdict,
            )
        except InputError:
            return
        if given.decision_digest is not None:
            self.asks.remove((desk, call, asked, action_class))
            if verdict == "approve":
                desk.done(call, action_class)

    def end(self) -> None:
        self._end()
        for desk in self.desks:
            desk.ts = max(other.ts for other in self.desks)
            desk.close()


def live(root, shape, operations) -> Life:
    life = Life(root, shape)
    for operation in operations:
        life.do(*operation)
    life.end()
    return life


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(OPERATIONS, st.sampled_from(["dag", "linear"]))
def test_what_the_writer_makes_has_no_finding(tmp_path_factory, operations, shape):
    root = tmp_path_factory.mktemp("life") / "ledger"
    live(root, shape, operations)
    report = verify(str(root))
    assert report.findings == []
    shutil.rmtree(root)


@pytest.mark.slow
@settings(max_examples=3000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(OPERATIONS, st.sampled_from(["dag", "linear"]))
def test_what_the_writer_makes_has_no_finding_at_length(tmp_path_factory, operations, shape):
    root = tmp_path_factory.mktemp("life") / "ledger"
    live(root, shape, operations)
    assert verify(str(root)).findings == []
    shutil.rmtree(root)


# -- any approval of a basis dropped, doubled or moved


@pytest.fixture(scope="module")
def approved_ledger(tmp_path_factory):
    root = tmp_path_factory.mktemp("changed") / "ledger"
    life = Life(root, "dag")
    for action_class in CLASSES:
        desk = life.desks[0]
        for name in COMPOSITION[action_class]["principals"][:2]:
            desk.approve(name, action_class)
        assert desk.attempt(action_class, action_class).allowed
        desk.done(action_class, action_class)
    asked = desk.say("ask", "asked")
    assert desk.answer("bob", "ask", asked).decision_digest
    desk.done("ask")
    life.end()
    assert verify(str(root)).findings == []
    return root


def dropped(basis, at):
    return basis[:at] + basis[at + 1 :]


def doubled(basis, at):
    return [*basis[: at + 1], basis[at], *basis[at + 1 :]]


def moved(basis, at):
    return [*dropped(basis, at), basis[at]]


CHANGES = [
    pytest.param(call, change, at, id=f"{call}-{change.__name__}-{at}")
    for call in CLASSES
    for change in (dropped, doubled, moved)
    for at in (0, 1)
    if (change, at) != (moved, 1)
]


@pytest.mark.parametrize(("call", "change", "at"), CHANGES)
def test_an_approval_changed_in_a_basis_is_a_finding(approved_ledger, tmp_path, call, change, at):
    shutil.copytree(approved_ledger, tmp_path / "ledger")
    kit = ledgers.Kit(tmp_path / "ledger")
    row = kit.decision(call)
    row.body["basis"] = change(row.body["basis"], at)
    kit.rehash()
    report = verify(str(kit.root))
    assert {item.code for item in report.primary} <= {
        "entries.composition_unmet",
        "entries.approver_twice",
        "entries.approval_order",
    }
    assert report.verdict == "FAIL"


def test_an_ask_without_its_approval_is_inferred(approved_ledger, tmp_path):
    shutil.copytree(approved_ledger, tmp_path / "ledger")
    kit = ledgers.Kit(tmp_path / "ledger")
    row = next(
        row
        for row in kit.files["sessions/one.jsonl"]
        if row.body["kind"] == "decision"
        and row.body["intent"]["call"] == "ask"
        and row.body["basis"]
    )
    row.body["parents"].remove(row.body["basis"].pop())
    kit.rehash()
    report = verify(str(kit.root))
    assert report.findings == []
    assert report.answered == {"inferred": 1}
    assert "who approved 1 ask: it is known by its execution only" in report.conditions
