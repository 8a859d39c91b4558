"""Every call that changes the disk fails, in every way: nothing acknowledged is lost.

The short form goes through all calls and takes the ways of failing in turn; the
long form (``-m slow``) fails every call in every way.
"""

import itertools
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import disk
import ledgers
import pytest
from stores import bytes_of, written

from toolgate.errors import LedgerError
from toolgate.ledger.append import Ledger
from toolgate.ledger.seal import seal, unpack
from toolgate.verify import verify

LATER = ledgers.START + 10**12
SETTINGS = {
    "dag, fsync, rotated": {"durability": "fsync", "rotate": 1200},
    "dag, os": {},
    "linear, fsync, rotated": {"shape": "linear", "durability": "fsync", "rotate": 3000},
}


class Teller:
    """A writer that says what was acknowledged, and goes on after an error."""

    def __init__(self, root: Path, session: str, say: disk.Say, **setting: Any) -> None:
        self._writer = ledgers.Writer(root, session, **setting)
        self._say = say
        self._decided: set[str] = set()

    def decide(self, call: str, state: str = "allowed") -> None:
        try:
            self._writer.decide(call, state)
        except LedgerError:
            return
        self._decided.add(call)
        if state == "allowed":
            self._say(f"d {call}")

    def outcome(self, call: str) -> None:
        if call not in self._decided:
            return  # what could not be recorded was denied, so it did not run
        try:
            self._writer.outcome(call)
        except LedgerError:
            return
        self._say(f"o {call}")

    def __getattr__(self, name: str) -> Any:
        def attempt(*arguments: Any) -> None:
            try:
                getattr(self._writer, name)(*arguments)
            except LedgerError:
                return

        return attempt


def live(root: Path, say: disk.Say, **setting: Any) -> None:
    """Live through everything a writer does."""
    one = Teller(root, "s1", say, **setting)
    two = Teller(root, "s2", say, **setting)
    one.prompt("p")
    one.decide("a")
    two.decide("x")
    one.decide("b", "asked")
    one.outcome("b")
    one.outcome("a")
    one.prompt("q")
    one.decide("c")
    one.stop()
    one.outcome("c")
    two.outcome("x")
    one.close()
    one.decide("d")
    one.outcome("d")
    two.close()
    one.close()


def every(root: Any, work: Any, long: bool, settle: Any) -> Counter:
    """Fail every call of some work, and let the caller settle what each left.

    Returns:
        How often each kind of call failed in each way.
    """
    failed: Counter = Counter()
    ways = itertools.cycle(disk.FAULTS)
    at, more = 1, True
    while more:
        reached = 0
        for _ in disk.FAULTS:
            fault = next(ways)
            place = root / f"{at}-{fault.name}"
            ran = disk.run(lambda say, place=place: work(place, say), at, fault)
            if ran.reached:
                reached += 1
                failed[ran.reached, fault.name] += 1
                settle(place, ran)
            more = bool(ran.reached) or ran.calls >= at
            shutil.rmtree(place, ignore_errors=True)
            if not more or (reached and not long):
                break
        assert reached or not more, at
        at += 1
    return failed


def settled(place: Path, ran: disk.Ran) -> None:
    """Recover and verify: only calls that nothing was reported on may be missing an end."""
    try:
        Ledger(str(place)).recover(ts=LATER)
    except LedgerError as error:
        raise AssertionError(f"after {ran}: {error}") from error
    acknowledged = {tuple(line.split()) for line in ran.said}
    if not list(place.glob("spine-*.jsonl")) or not any(
        path.stat().st_size for path in place.glob("spine-*.jsonl")
    ):
        assert not acknowledged
        return
    report = verify(str(place))
    assert {item.code for item in report.findings} <= {"log.orphan_allow"}, (ran, report.findings)
    assert acknowledged <= written(place), ran
    # A new writer goes on with the session the fault fell into.
    again = ledgers.Writer(place, "s1")
    again.ts = LATER + 1000
    again.decide("z")
    assert again.outcome("z") == "outcome"
    again.close()
    assert {item.code for item in verify(str(place)).findings} <= {"log.orphan_allow"}


@pytest.mark.parametrize("setting", SETTINGS)
def test_writing(tmp_path, setting):
    failed = every(tmp_path, lambda p, say: live(p, say, **SETTINGS[setting]), False, settled)
    assert sum(failed.values()) > 40
    assert {"write", "open", "link"} <= {call for call, _ in failed}


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_writing_in_every_way(tmp_path, setting):
    failed = every(tmp_path, lambda p, say: live(p, say, **SETTINGS[setting]), True, settled)
    print(f"\n{setting}: {sum(failed.values())} faults")
    assert {way for _, way in failed} == {fault.name for fault in disk.FAULTS}
    assert sum(failed.values()) > 300


# -- recovery


def torn(place: Path) -> None:
    """Write a ledger whose ends are torn."""
    ledgers.build(place)
    still = ledgers.Writer(place, "still", durability="fsync")
    still.ts += 10**9
    still.decide("k")
    for name in (ledgers.SPINE, "sessions/alpha.jsonl", "sessions/still.jsonl"):
        with (place / name).open("ab") as file:
            file.write(b'{"torn":')


def recover(place: Path) -> None:
    try:
        Ledger(str(place), durability="fsync").recover(ts=LATER)
    except LedgerError:
        return


def recovered(place: Path, ran: disk.Ran) -> None:
    Ledger(str(place)).recover(ts=LATER + 1000)
    report = verify(str(place))
    assert {item.code for item in report.findings} <= {"log.orphan_allow"}, (ran, report.findings)
    assert report.recovered >= 3


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_recovering(tmp_path, long):
    torn(tmp_path / "template")
    failed = every_of(tmp_path, recover, long, recovered)
    assert sum(failed.values()) > 15


def every_of(root: Path, work: Any, long: bool, settle: Any) -> Counter:
    """Fail every call of some work on a copy of the ledger in ``template``."""

    def on_copy(place: Path, say: disk.Say) -> None:
        work(place)

    class Copies:
        """Makes each place a copy before the child begins."""

        def __truediv__(self, name: str) -> Path:
            place = root / name
            shutil.copytree(root / "template", place)
            return place

    return every(Copies(), on_copy, long, settle)  # type: ignore[arg-type]


# -- sealing


def seal_it(place: Path) -> None:
    try:
        seal(str(place), ts=LATER, with_twin=False)
    except LedgerError:
        return


def unpack_it(place: Path) -> None:
    try:
        unpack(str(place))
    except LedgerError:
        return


def go_on(place: Path) -> None:
    writer = ledgers.Writer(place, "alpha", durability="fsync")
    writer.ts = LATER
    try:
        writer.decide("more", "denied")
    except LedgerError:
        return


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("work", [seal_it, unpack_it])
def test_sealing_and_unpacking(tmp_path, work, long):
    template = tmp_path / "template"
    ledgers.build(template)
    kept = bytes_of(str(template))
    if work is unpack_it:
        seal(str(template), ts=LATER, with_twin=False)

    def settle(place: Path, ran: disk.Ran) -> None:
        # Each session is in its file, in a finished segment, or in both alike.
        assert verify(str(place)).findings == [], ran
        seal(str(place), ts=LATER, with_twin=False)
        assert verify(str(place)).findings == [], ran
        assert not (place / "sessions" / "alpha.jsonl").exists()
        assert not list((place / "segments").glob("unfinished-*"))
        unpack(str(place))
        assert bytes_of(str(place)) == kept, ran

    assert sum(every_of(tmp_path, work, long, settle).values()) > 15


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_going_on_with_a_sealed_session(tmp_path, long):
    template = tmp_path / "template"
    ledgers.build(template)
    seal(str(template), ts=LATER, with_twin=False)

    def settle(place: Path, ran: disk.Ran) -> None:
        Ledger(str(place)).recover(ts=LATER + 10**6)
        assert verify(str(place)).findings == [], ran
        go_on(place)
        Ledger(str(place)).recover(ts=LATER + 10**7)
        assert verify(str(place)).findings == [], ran

    assert sum(every_of(tmp_path, go_on, long, settle).values()) > 8
