"""Whatever a ledger lives through, its verification says exactly what happened, and no more."""

import json
import shutil
import tempfile
from pathlib import Path

import pytest
from approved import COMPOSITION, key
from foresee import compare, trace_of
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)
from world import LONG, SETTINGS, World

from toolgate.ledger.checkpoint import parse_text
from toolgate.ledger.notes import ED25519, NoteKey, parse_note
from toolgate.signing import raw
from toolgate.verify import verify
from toolgate.verify.anchors import NOTHING, Anchors, Held

SESSIONS = ["alpha", "Beta 2", "gamma", "delta", "eins", "zwei", "drei", "vier"]
PROCESS = st.integers(0, len(SETTINGS) - 1)
SESSION = st.sampled_from(SESSIONS)
STATES = st.lists(st.sampled_from(["allowed", "asked", "denied"]), min_size=1, max_size=4)
PROMPT = st.sampled_from([None, None, "p1", "p2", "p3"])
TERMINAL = st.sampled_from(["ok", "error", "timeout", "cancelled", "refused"])
WHICH = st.integers(0, 10**6)
PERSON = st.sampled_from(["alice", "alice", "bob", "bob", "carol"])
VERDICT = st.sampled_from(["approve", "approve", "approve", "refuse"])
MATTER = st.tuples(st.sampled_from(sorted(COMPOSITION)), st.sampled_from(["this", "that"]))
CUT = st.floats(0, 1) | st.just(1.0)


class Lives(RuleBasedStateMachine):
    """Some processes, people and sessions around one ledger."""

    generated = 0

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="lives-"))
        self.world = World(self.folder / "ledger")
        self.sessions = 0

    # -- which call

    def waiting(self, *states: str) -> list:
        """Return the calls that have no end and of which nobody knows that they ran."""
        return [
            call
            for held in self.world.places.values()
            for call in held.calls.values()
            if not call.end and not call.ran and call.state in (states or (call.state,))
        ]

    def calls(self) -> list:
        return [call for held in self.world.places.values() for call in held.calls.values()]

    # -- sessions

    @rule(process=PROCESS, session=SESSION, prompt=PROMPT)
    def prompt(self, process, session, prompt):
        self.world.prompt(process, session, prompt)

    @rule(process=PROCESS, session=SESSION)
    def stop(self, process, session):
        self.world.stop(process, session)

    @rule(process=PROCESS, session=SESSION)
    def close(self, process, session):
        self.world.close(process, session)

    @precondition(lambda self: self.waiting("allowed"))
    @rule(process=PROCESS, which=WHICH, states=STATES)
    def spawn(self, process, which, states):
        calls = self.waiting("allowed")
        self.sessions += 1
        child = f"child-{self.sessions}"
        self.world.spawn(process, child, calls[which % len(calls)])
        self.world.decide(process, child, states, None, same=False)

    @rule(process=PROCESS, other=PROCESS, states=STATES, terminal=TERMINAL, end=st.integers(0, 5))
    def whole_session(self, process, other, states, terminal, end):
        """Let a session come, do its work and go; sometimes it does not get to that."""
        self.sessions += 1
        session = f"session-{self.sessions}"
        self.world.prompt(process, session, f"prompt of {session}")
        self.world.decide(other, session, states, None, same=False)
        if end > 1:
            for call in reversed(self.waiting("allowed")):
                if call.session == session:
                    self.world.outcome(process, call, terminal, other_args=False, by_content=True)
        if end > 0:
            self.world.close(other, session)

    @rule(process=PROCESS, idle=st.sampled_from([0, LONG, LONG]))
    def recover(self, process, idle):
        self.world.recover(process, idle=idle)

    # -- decisions

    @rule(process=PROCESS, session=SESSION, states=STATES, prompt=PROMPT, same=st.booleans())
    def decide(self, process, session, states, prompt, same):
        self.world.decide(process, session, states, prompt, same=same)

    @rule(process=PROCESS, session=SESSION, often=st.integers(0, 40))
    def decide_on_facts(self, process, session, often):
        if often == 40:
            self.world.decide(process, session, ["denied"] * 520, None, same=False)
        self.world.decide_on_facts(process, session)

    @precondition(lambda self: self.waiting())
    @rule(process=PROCESS, which=WHICH, state=STATES, args=st.sampled_from([None, None, "new"]))
    def again(self, process, which, state, args):
        calls = self.waiting()
        call = calls[which % len(calls)]
        if call.action_class in COMPOSITION:
            self.world.again(process, call, "asked" if state[0] == "asked" else "denied", args=None)
        else:
            self.world.again(process, call, state[0], args=args)

    # -- approvals

    @rule(process=PROCESS, session=SESSION, by=PERSON, matter=MATTER, verdict=VERDICT)
    def approve(self, process, session, by, matter, verdict):
        self.world.approve(process, session, by, matter, verdict)

    @rule(process=PROCESS, session=SESSION, matter=MATTER, again=st.booleans())
    def attempt(self, process, session, matter, again):
        mine = [
            call
            for call in self.waiting()
            if again and (call.session, call.action_class, call.args) == (session, *matter)
        ]
        self.world.attempt(process, session, *matter, mine[0] if mine else None)

    @rule(process=PROCESS, session=SESSION, by=PERSON, matter=MATTER)
    def collect(self, process, session, by, matter):
        """Approve by everybody whose turn it is, then try."""
        for person in COMPOSITION[matter[0]]["principals"]:
            self.world.approve(process, session, person, matter, "approve")
        self.world.attempt(process, session, *matter, None)

    @rule(process=PROCESS, session=SESSION, matter=MATTER)
    def ask_composed(self, process, session, matter):
        self.world.ask_composed(process, session, *matter)

    @precondition(lambda self: self.waiting("asked"))
    @rule(process=PROCESS, which=WHICH, by=PERSON, verdict=VERDICT)
    def answer(self, process, which, by, verdict):
        calls = self.waiting("asked")
        self.world.answer(process, calls[which % len(calls)], by, verdict)

    @precondition(lambda self: self.waiting())
    @rule(process=PROCESS, which=WHICH, approved=st.booleans())
    def report_answer(self, process, which, approved):
        calls = self.waiting("asked") or self.waiting()
        self.world.report_answer(process, calls[which % len(calls)], approved)

    @rule(process=PROCESS, by=PERSON)
    def rotate(self, process, by):
        self.world.rotate(process, by)

    # -- ends

    @precondition(lambda self: self.calls())
    @rule(
        process=PROCESS,
        which=WHICH,
        terminal=TERMINAL,
        other_args=st.integers(0, 5),
        by_content=st.booleans(),
        waiting=st.booleans(),
    )
    def outcome(self, process, which, terminal, other_args, by_content, waiting):
        calls = (self.waiting("allowed") if waiting else []) or self.calls()
        self.world.outcome(
            process,
            calls[which % len(calls)],
            terminal,
            other_args=not other_args,
            by_content=by_content,
        )

    @precondition(lambda self: self.waiting("allowed", "asked"))
    @rule(which=WHICH, terminal=st.sampled_from(["ok", "ok", "cancelled", "error"]))
    def run_unseen(self, which, terminal):
        calls = self.waiting("allowed", "asked")
        call = calls[which % len(calls)]
        if self.world.place(call.session).executes:
            self.world.run_unseen(call, "ok" if call.state == "asked" else terminal)

    @rule(process=PROCESS, session=SESSION, with_id=st.booleans(), reported=st.booleans())
    def stray(self, process, session, with_id, reported):
        known = self.world.place(session).known
        self.world.stray(process, session, with_id=with_id, reported=reported or not known)

    @precondition(lambda self: any(call.ran for call in self.calls()))
    @rule(process=PROCESS)
    def reconcile(self, process):
        report = verify(str(self.world.root), spans=trace_of(self.world))
        self.world.reconcile(process, [*report.endings, *report.unmatched])

    # -- checkpoints, and writers that die

    @rule(process=PROCESS)
    def checkpoint(self, process):
        self.world.checkpoint(process)

    @rule(process=PROCESS)
    def rotate_log_key(self, process):
        self.world.rotate_log_key(process)

    @rule(process=PROCESS, session=SESSION, cut=CUT, how=st.sampled_from(["decide", "stop", ""]))
    def kill(self, process, session, cut, how):
        world, other = self.world, (process + 1) % len(SETTINGS)
        if how == "decide":
            left = world.kill_decision(process, session, cut)
        elif how == "stop":
            left = world.kill_stop(process, session, cut)
        else:
            left = world.kill_audit(process, cut)
        if left == "unfed" and how == "stop":
            world.decide(other, session, ["denied"], None, same=False)
        if left == "unfed":
            world.recover(other, idle=LONG)

    # -- what the verifier says

    @rule(often=st.integers(0, 2))
    def look(self, often):
        if not often:
            self.check()

    def check(self) -> None:
        world, root = self.world, str(self.world.root)
        if not (world.root / "spine-000000000001.jsonl").exists():
            return
        pin = world.desks[0].ledger.head()
        if not pin[0]:
            return
        plain = verify(root, expect_head=pin, anchors=self.anchors())
        compare(world, plain, traced=False, pinned=True)
        traced = verify(root, spans=trace_of(world))
        compare(world, traced, traced=True, pinned=False)
        json.dumps([plain.as_json(), traced.as_json()])

    def anchors(self) -> Anchors:
        if not self.world.notes:
            return NOTHING
        notes = [parse_note(text) for text in self.world.notes]
        kept = tuple(Held(str(at), note, parse_text(note.text)) for at, note in enumerate(notes))
        first = NoteKey(kept[0].checkpoint.origin, ED25519, raw(key("log 0").public))
        return Anchors(kept, first)

    def teardown(self) -> None:
        try:
            self.check()
            self.world.recover(0, idle=0)
            self.check()
            type(self).generated += sum(bool(h.calls) for h in self.world.places.values())
        finally:
            shutil.rmtree(self.folder)


def live(sessions: int, examples: int) -> int:
    """Let worlds live until they had so many sessions with calls; return how many they had.

    Args:
        sessions: how many there are to be at least.
        examples: how many worlds hypothesis makes at a time.
    """
    Lives.generated = 0
    while Lives.generated < sessions:
        run_state_machine_as_test(
            Lives,
            settings=settings(
                max_examples=examples,
                stateful_step_count=50,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
    return Lives.generated


def test_findings_are_exactly_what_happened():
    assert live(80, 5) >= 80


@pytest.mark.slow
def test_findings_are_exactly_what_happened_at_length(capsys):
    sessions = live(10_000, 50)
    with capsys.disabled():
        print(f"\n{sessions} generated sessions, every verification as foreseen")
    assert sessions >= 10_000
