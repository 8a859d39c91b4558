"""One process at a time has a run; a report that could not be written claims nothing."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalkit.challenge import sealing
from evalkit.challenge.claims import read_claims
from evalkit.challenge.hold import held, is_running
from evalkit.errors import RefusedError

from .place import CASES, Place, many
from .sets import WordGate, build_of
from .test_interrupted_runs import Dying, KilledError

HERE = Path(__file__).parent


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, many())


@pytest.fixture
def running(place: Place) -> Iterator[subprocess.Popen[bytes]]:
    """A process in the middle of a run; it goes on when the file ``go`` is there."""
    child = subprocess.Popen(
        [sys.executable, str(HERE / "waiting_run.py"), str(place.path), str(place.root),
         str(place.root / "go")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    try:
        while not (place.root / "go.begun").exists() and child.poll() is None:
            time.sleep(0.01)
        yield child
    finally:
        child.kill()
        child.wait()


def spine(place: Place) -> bytes:
    return b"".join(path.read_bytes() for path in (place.root / "ledger").glob("spine-*.jsonl"))


def test_a_run_that_runs_is_neither_resumed_nor_run_again(
    place: Place, running: subprocess.Popen[bytes]
):
    run, gate = place.claimed(), WordGate()
    with pytest.raises(RefusedError, match=f"run {run}: another process is running it") as caught:
        place.resume(run, gate)
    assert caught.value.exit_code == 3
    with pytest.raises(RefusedError, match=f"run {run}, .*, running in another process"):
        place.run(gate)
    with pytest.raises(RefusedError, match="running in another process"):
        place.run(gate, build_of("two"), purpose="held-out")
    assert gate.seen == []

    (place.root / "go").touch()
    assert running.wait(timeout=60) == 0
    journal = (place.root / "ledger" / "runs" / run / "journal.jsonl").read_bytes()
    assert journal.count(b'"finished"') == CASES
    assert spine(place).count(b'"run.sealed"') == 1
    assert place.resume(run).context["scores"]["match"] == CASES
    assert spine(place).count(b'"run.sealed"') == 1


def test_a_process_that_dies_lets_go_of_its_run(place: Place, running: subprocess.Popen[bytes]):
    run = place.claimed()
    running.send_signal(signal.SIGKILL)
    running.wait()
    with pytest.raises(RefusedError, match="not sealed; continue it"):
        place.run()
    assert place.resume(run).context["scores"]["match"] == CASES


def test_of_processes_that_begin_at_once_one_has_the_look(place: Place):
    """Each waits for the same moment, then runs the same set on the same build."""
    begin = time.monotonic() + 0.5
    children = []
    for _ in range(6):
        child = os.fork()
        if not child:
            time.sleep(max(0.0, begin - time.monotonic()))
            code = 1
            try:
                place.run()
                code = 0
            except RefusedError:
                code = 3
            finally:
                os._exit(code)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert sorted(codes) == [0, 3, 3, 3, 3, 3]
    assert spine(place).count(b'"run.claimed"') == spine(place).count(b'"run.sealed"') == 1
    journal = (place.root / "ledger" / "runs" / place.claimed() / "journal.jsonl").read_bytes()
    assert journal.count(b'"started"') == CASES


def test_what_was_sealed_before_the_run_was_held_is_not_sealed_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    """The seal looks into the ledger itself, not at what was read when the work began."""
    with pytest.raises(KilledError):
        place.run(Dying(3))
    run = place.claimed()
    before = read_claims(str(place.root / "ledger"))[-1]
    place.resume(run)
    assert before.sealed is None
    monkeypatch.setattr("evalkit.runs._claim_of", lambda _run, _claims: before)
    monkeypatch.setattr("evalkit.runs.lineage", lambda _claims, _details: [])
    monkeypatch.setattr("evalkit.runs.read_claims", lambda _ledger: [before])
    place.resume(run)
    assert spine(place).count(b'"run.sealed"') == 1


def test_a_lock_is_its_owners_and_says_who_holds_it(tmp_path: Path):
    assert not is_running(str(tmp_path / "none"))
    assert not is_running(str(tmp_path))
    with held(str(tmp_path), "r"):
        assert is_running(str(tmp_path))
    assert not is_running(str(tmp_path))
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600
    with pytest.raises(RefusedError, match="cannot be held"), held(str(tmp_path / "none"), "r"):
        pass


@pytest.mark.parametrize("reports", ["file", "file/reports", "gone"])
def test_reports_that_cannot_be_written_claim_nothing(place: Place, reports: str):
    (place.root / "file").write_text("")
    (place.root / "gone").symlink_to(place.root / "nowhere")
    gate = WordGate()
    with pytest.raises(RefusedError, match=r"is not a directory; nothing was done.*--reports DIR"):
        place.run(gate, reports=str(place.root / reports))
    assert gate.seen == []
    assert read_claims(str(place.root / "ledger")) == []


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_a_directory_nothing_can_be_made_in_claims_nothing(place: Place):
    with pytest.raises(RefusedError, match="expected a directory for reports, got: /proc"):
        place.run(reports="/proc/reports")
    assert not (place.root / "ledger").exists()


def test_a_report_that_fails_after_the_seal_names_the_remedy(place: Place):
    class Spoiling(WordGate):
        def decide(self, call: Any, facts: object = ()) -> Any:
            if not self.seen:  # the directory was made with the head at the claim
                shutil.rmtree(place.root / "reports")
                (place.root / "reports").touch()
            return super().decide(call)

    with pytest.raises(RefusedError, match=r"evalkit resume run-\S+ --reports DIR"):
        place.run(Spoiling())
    assert spine(place).count(b'"run.sealed"') == 1
    (place.root / "reports").unlink()
    assert Path(place.resume(place.claimed()).report).exists()


def test_storage_faults_are_told_in_words(place: Place, monkeypatch: pytest.MonkeyPatch):
    done = place.run()
    run = done.context["run"]["id"]
    monkeypatch.setattr(sealing, "digest_of", lambda _value: "sha256:other")
    with pytest.raises(sealing.StorageError) as caught:
        place.resume(run)
    assert f"run {run}: results_digest was sealed as sha256:" in str(caught.value)
    monkeypatch.undo()
    shutil.rmtree(place.root / "ledger" / "runs" / run / "sessions")
    with pytest.raises(sealing.StorageError, match=r"the ledger says no decision") as caught:
        place.resume(run)
    assert "('" not in str(caught.value)
