"""Lives of a ledger that were once foreseen wrongly, step by step."""

from pathlib import Path

import pytest
from approved import ALONE, Desk
from foresee import compare, trace_of
from ledgers import START
from world import LONG, World

from toolgate.verify import verify

AHEAD, BEHIND = 3, 1


@pytest.fixture
def world(tmp_path):
    return World(tmp_path / "ledger")


def call_of(world: World, session: str):
    return next(iter(world.place(session).calls.values()))


def lines(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*.jsonl")}


def settled(world: World) -> None:
    """Hold what is verified to what is foreseen, with a trace and without."""
    for traced in (False, True):
        spans = {"spans": trace_of(world)} if traced else {}
        compare(world, verify(str(world.root), **spans), traced=traced, pinned=False)


def ended(world: World, call, terminal: str, *, other_args: bool = True) -> None:
    world.outcome(0, call, terminal, other_args=other_args, by_content=False)


def test_a_report_that_no_decision_waits_for_is_foreseen_once(world):
    world.ask_composed(0, "alpha", "deploy", "this")
    call = call_of(world, "alpha")
    for terminal in ("refused", "ok", "ok", "error"):
        ended(world, call, terminal)
    assert world.unmatched == 1
    ended(world, call, "ok", other_args=False)
    assert world.unmatched == 2
    settled(world)


def test_a_yes_is_collected_by_a_process_whose_clock_is_behind(world):
    world.ask_composed(0, "alpha", "deploy", "this")
    world.approve(0, "alpha", "alice", ("deploy", "this"), "approve")
    before = world.clock
    for _ in range(2):
        world.report_answer(BEHIND, call_of(world, "alpha"), True)
    assert world.clock > before + 10_000_000, "it was told to wait"
    settled(world)


def test_an_answer_to_what_has_ended_waits_for_the_clock_that_was_ahead(world):
    world.ask_composed(0, "alpha", "deploy", "this")
    call = call_of(world, "alpha")
    world.again(0, call, "denied", args=None)
    ended(world, call, "cancelled")
    world.attempt(AHEAD, "alpha", "deploy", "that", None)
    world.report_answer(0, call, True)
    settled(world)


def test_a_no_is_written_by_a_process_whose_clock_is_behind(world):
    world.decide(0, "alpha", ["allowed"], None, same=False)
    world.ask_composed(AHEAD, "beta", "pay", "this")
    world.report_answer(BEHIND, call_of(world, "beta"), False)
    assert call_of(world, "beta").state == "denied"
    settled(world)


@pytest.mark.parametrize("cut", [0.5, 1.0])
def test_an_answer_behind_a_torn_end_waits_for_what_is_whole(world, cut):
    world.ask_composed(0, "alpha", "pay", "this")
    world.kill_decision(AHEAD, "alpha", cut)
    world.report_answer(0, call_of(world, "alpha"), False)
    world.recover(0, idle=LONG)
    settled(world)


def test_an_answer_that_waits_is_not_written(tmp_path):
    root = tmp_path / "ledger"
    desk = Desk(root, "alpha", ALONE)
    asked = desk.say("q", "asked")
    behind = Desk(root, "alpha", ALONE, ts=START - 7_000_000)
    before = lines(root)
    assert behind.report("q", asked, "7" * 32) == "busy"
    assert lines(root) == before
    behind.ts = desk.ts
    assert behind.report("q", asked, "7" * 32) == "approved"
