"""A run killed anywhere: no case lost, none shown again that was finished, no look hidden.

At every call that can change the disk, by ``disk``; and at random times, in real processes
that are killed, continued and killed again. Each has a long form (``-m slow``).
"""

import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import disk
import pytest

from evalkit.challenge import execute
from evalkit.challenge.check import check
from evalkit.challenge.claims import Claim, read_claims
from evalkit.challenge.journal import read_journal
from evalkit.errors import RefusedError
from evalkit.gates.choice import Choice

from .place import Place, many
from .sets import WordGate, build_of
from .test_interrupted_runs import held_together

DEATHS = (disk.DIE_BEFORE, disk.DIE_AFTER, disk.DIE_AMID)
CASES = 12
SEEN = "seen"


class Telling(WordGate):
    """Says of every case that it was shown, also to whoever outlives this process."""

    def __init__(self, place: Place, pause: float = 0.0) -> None:
        super().__init__()
        self.path = place.root / SEEN
        self.pause = pause

    def decide(self, call: Any, facts: object = ()) -> Any:
        # Not by ``os.write``, whose calls ``disk`` counts.
        with self.path.open("a") as file:
            file.write(f"{call.call}\n")
        time.sleep(self.pause)
        return super().decide(call)


def shown(place: Place) -> list[str]:
    path = place.root / SEEN
    return path.read_text().split() if path.exists() else []


def only_claim(place: Place) -> Claim | None:
    """Return the claim on the one look; where there is none, nothing was shown."""
    claims = read_claims(str(place.root / "ledger"))
    assert len(claims) <= 1
    assert claims or not shown(place)
    return claims[0] if claims else None


def finished(place: Place, claim: Claim | None) -> set[str]:
    if claim is None:
        return set()
    return set(read_journal(str(place.root / "ledger" / "runs" / claim.run)).finished)


def go_on(place: Place, gate: WordGate, choice: Choice | None = None) -> Any:
    """Run the set, or continue its run as the refusal says."""
    try:
        return place.run(gate, choice=choice or Choice())
    except RefusedError as error:
        assert "already run on build" in str(error)
        return place.resume(place.claimed(), gate)


def continued(place: Place, cases: int) -> None:
    """Continue what was killed, and hold what it became to everything."""
    claim = only_claim(place)
    before, count = finished(place, claim), len(shown(place))
    sealed = claim is not None and claim.sealed is not None
    done = go_on(place, Telling(place))
    again = shown(place)[count:]
    assert not before & set(again)
    assert not (sealed and again)
    held_together(place, done, cases)
    verified = check(str(place.root / "ledger"), str(place.root / "reports"))
    assert verified["verdict"] == "PASS", verified
    assert len(verified["anchors"]) == 1
    other = place.run(build=build_of("two"))
    assert other.context["run"]["look"] == 2


def place_in(folder: Path, frozen: Path) -> Place:
    """Return a place of its own with a set that was frozen elsewhere."""
    folder.mkdir()
    for path in frozen.glob("one*.json"):
        shutil.copy(path, folder)
    made = object.__new__(Place)
    made.root, made.path = folder, folder / "one.json"
    return made


@pytest.fixture
def frozen(tmp_path: Path) -> Path:
    folder = tmp_path / "frozen"
    folder.mkdir()
    return Place(folder, many(CASES)).root


def killed_at_every(
    tmp_path: Path, frozen: Path, wanted: Callable[[int], bool], deaths: tuple[disk.Fault, ...]
) -> int:
    """Kill a run at every wanted change of the disk, and continue it; return how many."""
    points = 0
    for death in deaths:
        at = 0
        while True:
            at += 1
            if not wanted(at):
                continue
            place = place_in(tmp_path / f"{death.name} {at}", frozen)

            def work(_say: disk.Say, place: Place = place) -> None:
                place.run(Telling(place))

            ran = disk.run(work, at, death)
            if ran.reached is None and ran.calls < at:
                break  # there were fewer calls
            continued(place, CASES)
            shutil.rmtree(place.root)
            points += 1
    return points


def test_killed_at_some_changes_of_the_disk(tmp_path: Path, frozen: Path):
    assert killed_at_every(tmp_path, frozen, lambda at: at % 12 == 5, DEATHS[:1]) >= 5


@pytest.mark.slow
def test_killed_at_every_change_of_the_disk(tmp_path: Path, frozen: Path):
    assert killed_at_every(tmp_path, frozen, lambda _at: True, DEATHS) > 150


def forked(work: Callable[[], object]) -> int:
    """Do some work in a process of its own; return its number."""
    child = os.fork()
    if not child:
        _child(work)
    return child


def _child(work: Callable[[], object]) -> NoReturn:
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)


def killed_at_random(tmp_path: Path, points: int, seed: int) -> None:
    """Kill runs at random times, those that continue them too, until there were so many kills."""
    chance = random.Random(seed)
    frozen = Place(tmp_path, many(CASES)).root
    kills = number = 0
    longest = 0.0
    while kills < points or not longest:
        number += 1
        place = place_in(tmp_path / str(number), frozen)
        choice = Choice(jobs=2) if number % 3 == 0 else Choice()
        whole = number == 1
        while True:
            before, count = finished(place, only_claim(place)), len(shown(place))
            begun = time.monotonic()
            gate = Telling(place, 0.002)
            child = forked(lambda p=place, g=gate, c=choice: go_on(p, g, c))
            if not whole:
                time.sleep(chance.random() * longest)
                os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            assert not before & set(shown(place)[count:])
            if not os.WIFSIGNALED(status):
                assert status == 0
                break
            kills += 1
            if chance.random() < 0.3:
                break
        if whole:
            longest = time.monotonic() - begun
        continued(place, CASES)
        shutil.rmtree(place.root)


def test_killed_at_some_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(execute, "GROUP", 4)
    killed_at_random(tmp_path, 6, 1)


@pytest.mark.slow
def test_killed_at_two_hundred_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(execute, "GROUP", 4)
    killed_at_random(tmp_path, 200, 2)
