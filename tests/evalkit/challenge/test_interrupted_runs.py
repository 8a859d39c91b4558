"""Runs that were killed or stopped: refused, then resumed, every case exactly once."""

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit.challenge import sealing
from evalkit.challenge.claims import read_claims
from evalkit.challenge.execute import GROUP
from evalkit.challenge.journal import Journal
from evalkit.challenge.sealing import Finished, Watch
from evalkit.errors import IncompleteError, RefusedError, StorageError, UsageError
from toolgate.canonical import digest
from toolgate.ledger.append import Ledger

from .place import CASES, Place, many
from .sets import WordGate, build_of

HERE = Path(__file__).parent


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, many())


class KilledError(BaseException):
    """Ends a run the way a kill does: nothing after it is done."""


class Dying(WordGate):
    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at

    def decide(self, call: Any, facts: object = ()) -> Any:
        if len(self.seen) == self.at:
            raise KilledError
        return super().decide(call)


def held_together(place: Place, done: Finished, cases: int = CASES) -> None:
    """A resumed run is whole: every case once, every decision once, a clean ledger."""
    assert done.context["scores"]["match"] == cases
    assert done.context["verification"]["findings"] == []
    calls = Counter(row["intent"]["call"] for row in place.decisions(done.context["run"]["id"]))
    assert set(calls.values()) == {1}
    assert len(calls) == cases
    assert len(read_claims(str(place.root / "ledger"))) == 1


@pytest.mark.parametrize("at", [0, 1, CASES // 2, CASES - 1])
def test_a_killed_run_is_refused_then_resumed(place: Place, at: int):
    with pytest.raises(KilledError):
        place.run(Dying(at))
    with pytest.raises(RefusedError, match="not sealed; continue it: evalkit resume run-"):
        place.run()
    held_together(place, place.resume(place.claimed()))
    with pytest.raises(RefusedError, match="sealed, report"):
        place.run()


def test_finished_cases_are_never_shown_again(tmp_path: Path):
    cases = GROUP + 5
    place = Place(tmp_path, many(cases))
    with pytest.raises(KilledError):
        place.run(Dying(GROUP + 2))
    gate = WordGate()
    done = place.resume(place.claimed(), gate)
    held_together(place, done, cases)
    assert [call.call for call in gate.seen] == [f"c{n}" for n in range(GROUP, cases)]
    assert done.context["run"]["repeated"] == [f"c{n}" for n in range(GROUP, GROUP + 3)]
    assert "Each counts once" in Path(done.report).read_text()


def die(*_args: Any, **_more: Any) -> None:
    raise KilledError


def after(wrapped: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does its work and is then killed."""

    def dying(*args: Any, **more: Any) -> Any:
        wrapped(*args, **more)
        raise KilledError

    return dying


POINTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "before a decision is recorded": (Ledger, "decide_lines", die),
    "between ledger and journal": (Ledger, "decide_lines", after(Ledger.decide_lines)),
    "after the journal": (Journal, "finished", after(Journal.finished)),
    "before the session closes": (Ledger, "session_close", die),
    "after the session closed": (Ledger, "session_close", after(Ledger.session_close)),
    "before the seal": (sealing, "_seal", die),
    "after the seal": (sealing, "_seal", after(sealing._seal)),
    "before the report": (sealing, "publish", die),
    "after the report": (sealing, "publish", after(sealing.publish)),
}


@pytest.mark.parametrize(("owner", "name", "replacement"), POINTS.values(), ids=POINTS)
def test_a_kill_between_any_two_steps_is_survived(
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    owner: Any,
    name: str,
    replacement: Callable[..., Any],
):
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, replacement)
        with pytest.raises(KilledError):
            place.run()
    done = place.resume(place.claimed())
    held_together(place, done)
    assert Path(done.report).name == f"one-{build_of().short}.md"
    ledger = (place.root / "ledger").glob("spine-*.jsonl")
    assert b"".join(path.read_bytes() for path in ledger).count(b'"run.sealed"') == 1


def test_resume_refuses_every_drift_by_name(place: Place):
    with pytest.raises(KilledError):
        place.run(Dying(3))
    with pytest.raises(RefusedError, match=r"build: was .* is .*; file toolgate/a.py: changed"):
        place.resume(place.claimed(), build=build_of("two"))
    gate = WordGate()
    gate.policy_digest = digest(b"other")
    with pytest.raises(RefusedError, match="policy: was"):
        place.resume(place.claimed(), gate)
    manifest = place.path.with_suffix(".manifest.json")
    kept = manifest.read_bytes()
    manifest.write_bytes(re.sub(rb'"frozen_at":"[0-9-]+"', b'"frozen_at":"2020-01-01"', kept))
    with pytest.raises(RefusedError, match=r"manifest_digest: was sha256:\S+, is sha256:"):
        place.resume(place.claimed())
    manifest.write_bytes(kept)
    place.path.write_bytes(place.path.read_bytes() + b"\n")
    with pytest.raises(RefusedError, match="raw_digest"):
        place.resume(place.claimed())


def test_a_gate_that_does_not_repeat_itself_cannot_be_resumed(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "finished", die)
        with pytest.raises(KilledError):
            place.run()
    with pytest.raises(RefusedError, match="the gate now answers otherwise"):
        place.resume(place.claimed(), WordGate({"allow": "deny"}))


@pytest.mark.parametrize("run", ["run-1", "../x", "run-20260101t000000z-00000000"])
def test_resume_of_no_run_is_refused(place: Place, run: str):
    with pytest.raises((UsageError, RefusedError)):
        place.resume(run)


def test_an_edited_journal_is_not_sealed(place: Place, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        patch.setattr(sealing, "_close", die)
        with pytest.raises(KilledError):
            place.run(WordGate({"deny": "allow"}))
    run = place.claimed()
    path = place.root / "ledger" / "runs" / run / "journal.jsonl"
    edited = path.read_bytes().replace(
        b'"expected":"deny","decided":"allow"', b'"expected":"deny","decided":"deny"'
    )
    assert edited != path.read_bytes()
    path.write_bytes(edited)
    with pytest.raises(StorageError, match="the journal says"):
        place.resume(run)


def test_a_person_can_stop_a_run(place: Place):
    gate = WordGate()
    with pytest.raises(IncompleteError, match=r"stopped after 4 of 12 .* evalkit resume") as caught:
        place.run(gate, watch=Watch(lambda: len(gate.seen) >= 4))
    assert caught.value.exit_code == 4
    held_together(place, place.resume(place.claimed()))


def test_progress_counts_and_tells_no_verdict(place: Place):
    told: list[tuple[int, int]] = []
    place.run(watch=Watch(on_progress=lambda done, total: told.append((done, total))))
    assert told[-1] == (CASES, CASES)


def test_a_process_killed_in_the_middle_leaves_claim_and_journal(tmp_path: Path):
    place = Place(tmp_path, many(3 * GROUP))
    script = HERE / "killed_run.py"
    ran = subprocess.run(
        [sys.executable, str(script), str(place.path), str(tmp_path), str(2 * GROUP + 7)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert ran.returncode == -signal.SIGKILL
    run = place.claimed()
    journal = (tmp_path / "ledger" / "runs" / run / "journal.jsonl").read_bytes()
    assert journal.count(b'"started"') == 2 * GROUP + 8
    with pytest.raises(RefusedError, match="not sealed"):
        place.run()
    held_together(place, place.resume(run), 3 * GROUP)


@pytest.mark.parametrize("left", [1, 2, 100, 0.5, 0.98])
def test_a_close_that_was_written_in_part_is_finished(
    place: Place, monkeypatch: pytest.MonkeyPatch, left: float
):
    """The last line says what it closes long before its end; only a whole one closes."""
    with monkeypatch.context() as patch:
        patch.setattr(sealing, "_seal", die)
        with pytest.raises(KilledError):
            place.run()
    directory = place.root / "ledger" / "runs" / place.claimed()
    (spine,) = directory.glob("spine-*.jsonl")
    data = spine.read_bytes()
    last = data.splitlines(keepends=True)[-1]
    assert b'"session_close"' in last
    spine.write_bytes(data[: len(data) - int(left if left >= 1 else left * len(last))])
    for cache in directory.glob("sessions/*.turn"):
        cache.unlink()  # as it is before any line of the session is written to the spine
    held_together(place, place.resume(place.claimed()))
