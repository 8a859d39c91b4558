"""What an outcome on the spine may name, entry by entry, where a whole chain hardly fits."""

import pytest

from toolgate.canonical import digest
from toolgate.verify.findings import Found
from toolgate.verify.read import Line
from toolgate.verify.shapes import (
    Decision,
    DecisionEvent,
    Intent,
    Outcome,
    OutcomeEvent,
    Recovery,
    RecoveryEvent,
)
from toolgate.verify.turns import Graph, Turn

NOTHING = digest(b"")


def named(text):
    return digest(text.encode())


def line(name, entry, event=""):
    return Line("f", 1, 0, b"", named(name), entry, event)


def decided(name, turn, parents, ts=10, call="c"):
    event = DecisionEvent(NOTHING, NOTHING, "agent", NOTHING, "allowed", NOTHING, "p", ts)
    entry = Decision(
        axis=None,
        basis=[],
        build="b",
        action_class="c",
        effects=[],
        ev=event,
        facts=[],
        host="h",
        intent=Intent("Bash", "a", call, "workspace", ts),
        kind="decision",
        mode=None,
        parents=sorted(map(named, parents)),
        proof="proved",
        rule="r",
        session="s",
        ts=ts,
        turn=turn,
        v=1,
    )
    return line(name, entry, named(f"event of {name}"))


def ended(name, of, turn, parents, state="ok", ts=20):
    """Return an outcome of a decision; ``turn`` is None on the spine."""
    result = None if state in ("refused", "unresolved") else NOTHING
    entry = Outcome(
        ev=OutcomeEvent(NOTHING, named(f"event of {of}"), result, state, ts),
        join="id",
        kind="outcome",
        parents=sorted(map(named, parents)),
        session="s",
        source="hook",
        ts=ts,
        turn=turn,
        v=1,
    )
    return line(name, entry)


def recovered(name, turn, parents, ts=20):
    event = RecoveryEvent(NOTHING, 1, 1, ts)
    entry = Recovery(
        ev=event,
        kind="recovery",
        parents=sorted(map(named, parents)),
        session="s",
        ts=ts,
        turn=turn,
        v=1,
    )
    return line(name, entry)


class Told:
    """A session's turns and what was found of them."""

    def __init__(self):
        self.seen = Found()
        self.graph = Graph("s", self.seen, {}, {})

    def turn(self, number, *entries):
        self.graph.begin(Turn(number, named(f"turn {number}"), 5))
        for entry in entries:
            self.graph.place(entry)
        self.graph.end()
        return self

    def late(self, entry, opened):
        self.graph.late(entry, entry.entry, opened)
        return self

    def codes(self, **how):
        self.graph.finish(**{"executes": True, "closed": True} | how)
        return [one.finding.code.removeprefix("log.") for one in self.seen]


def first():
    return decided("d", 1, ["turn 1"])


@pytest.mark.parametrize(("opened", "codes"), [(1, []), (2, []), (0, ["parent_unknown"])])
def test_a_late_outcome_names_what_was_there_when_it_came(opened, codes):
    told = Told().turn(1, first()).late(ended("late", "d", None, ["d"]), opened)
    assert told.codes() == codes


@pytest.mark.parametrize(
    ("behind", "known"),
    [
        (ended("x", "d", 2, ["d"], "unresolved"), "outcome_parent"),
        (ended("x", "d", 2, [], "unresolved"), "outcome_parent"),
        (recovered("x", 2, ["turn 2"]), "parent_foreign"),
    ],
)
def test_an_entry_of_a_turn_that_was_opened_behind_it_is_not_there(behind, known):
    told = Told().turn(1, first()).turn(2, behind).late(ended("late", "d", None, ["x"]), 1)
    assert "parent_unknown" in told.codes()
    told = Told().turn(1, first()).turn(2, behind).late(ended("late", "d", None, ["x"]), 2)
    found = told.codes()
    assert known in found
    assert "parent_unknown" not in found


def test_before_any_turn_a_late_outcome_may_name_another():
    told = Told().late(ended("one", "d", None, []), 0).late(ended("two", "d", None, ["one"]), 0)
    assert told.codes() == []


def test_a_late_outcome_names_the_decision_and_what_it_replaces():
    unresolved = ended("gone", "d", 1, ["d"], "unresolved")
    told = Told().turn(1, first(), unresolved).late(ended("late", "d", None, ["d", "gone"]), 1)
    assert told.codes() == []
    told = Told().turn(1, first(), unresolved).late(ended("late", "d", None, ["gone"]), 1)
    assert "outcome_parent" in told.codes()
    told = Told().turn(1, first(), unresolved).late(ended("late", "d", None, ["d"]), 1)
    assert told.codes() == ["two_outcomes"]


@pytest.mark.parametrize(("ts", "codes"), [(10, []), (9, ["clock_backwards"])])
def test_an_outcome_is_no_older_than_what_it_names(ts, codes):
    assert Told().turn(1, first(), ended("e", "d", 1, ["d"], ts=ts)).codes() == codes
    told = Told().turn(1, first()).late(ended("late", "d", None, ["d"], ts=ts), 1)
    assert told.codes() == codes


@pytest.mark.parametrize(("ts", "codes"), [(5, []), (4, ["clock_backwards"])])
def test_a_decision_is_no_older_than_its_turn(ts, codes):
    ended_at = ended("e", "d", 1, ["d"])
    assert Told().turn(1, decided("d", 1, ["turn 1"], ts=ts), ended_at).codes() == codes


@pytest.mark.parametrize(
    ("executes", "closed", "codes"),
    [(True, True, ["orphan_allow"]), (True, False, []), (False, True, []), (False, False, [])],
)
def test_an_allowed_call_without_outcome(executes, closed, codes):
    assert Told().turn(1, first()).codes(executes=executes, closed=closed) == codes


def test_a_call_closed_as_unresolved_is_said_before_its_session_ends():
    gone = ended("gone", "d", 1, ["d"], "unresolved")
    assert Told().turn(1, first(), gone).codes(closed=False) == ["orphan_allow"]


@pytest.mark.parametrize(("opened", "codes"), [(1, ["parent_foreign"]), (2, []), (3, [])])
def test_a_decision_replaces_none_that_ended_before_its_turn(opened, codes):
    """A late outcome stands before the turn that was opened behind it."""
    told = Told().turn(1, first()).late(ended("late", "d", None, ["d"]), opened)
    told.turn(2, decided("again", 2, ["d", "turn 2"]), ended("e", "again", 2, ["again"]))
    assert told.codes() == codes


def test_one_closed_as_unresolved_may_be_replaced_later():
    told = Told().turn(1, first()).late(ended("late", "d", None, ["d"], "unresolved"), 1)
    told.turn(2, decided("again", 2, ["d", "turn 2"]), ended("e", "again", 2, ["again"]))
    assert told.codes() == []
