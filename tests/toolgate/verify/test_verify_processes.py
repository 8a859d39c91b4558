"""Several processes find what one finds, in the same order, and leave nothing behind."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import ledgers
import pytest
import vectors
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolgate.errors import LedgerError, UnavailableError
from toolgate.verify import ledger, verify, workers


def same(root: Path, processes: int = 2, **options):
    """Verify with one and with several processes; return the report both give."""
    alone = verify(str(root), **options)
    assert verify(str(root), processes=processes, **options) == alone
    return alone


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    root = tmp_path_factory.mktemp("sound") / "ledger"
    ledgers.build(root)
    return root


@pytest.mark.parametrize("processes", [2, 3, 50])
def test_sound_ledger(sound, processes):
    report = same(sound, processes, expect_head=ledgers.Kit(sound).head)
    assert report.findings == []
    assert report.decisions
    assert [ask.call for ask in report.asks] == ["a4"]


ALONE = [
    case
    for case in vectors.cases()
    if "system" not in case["args"] and case["spans"] is None and not case["traces"]
]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in ALONE[::5]])
def test_frozen_cases(case, tmp_path):
    vectors.write_ledgers(case, tmp_path)
    args = dict(case["args"])
    pin = args.pop("expect_head", None)
    if pin is not None:
        args["expect_head"] = (int(pin.partition(":")[0]), pin.partition(":")[2])
    args["anchors"] = vectors.anchors_of(args)
    same(tmp_path / vectors.MAIN, **args)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_damage(sound, tmp_path_factory, data):
    root = tmp_path_factory.mktemp("damaged") / "ledger"
    shutil.copytree(sound, root)
    paths = sorted(path for path in root.rglob("*.jsonl") if path.stat().st_size)
    for path in data.draw(st.lists(st.sampled_from(paths), min_size=1, max_size=3, unique=True)):
        lines = path.read_bytes().splitlines(keepends=True)
        at = data.draw(st.integers(0, len(lines) - 1))
        cut = data.draw(st.integers(0, len(lines[at])))
        lines[at] = lines[at][:cut] + data.draw(st.binary(max_size=3)) + lines[at][cut + 2 :]
        path.write_bytes(b"".join(lines))
    same(root)
    few = same(root, most=1)
    assert max(Counter(item.code for item in few.findings).values(), default=0) <= 1
    shutil.rmtree(root)


def test_action_shared_by_sessions_of_different_processes(tmp_path):
    root = tmp_path / "ledger"
    for name in ("s1", "s2", "s3"):
        writer = ledgers.Writer(root, name)
        writer.decide("same", "denied")
        writer.close()
    report = same(root, 3)
    assert [item.code for item in report.findings] == ["entries.action_ref_reused"] * 2


def test_progress_counts_all_of_them(sound, monkeypatch):
    monkeypatch.setattr(ledger, "_STEP", 4)
    told: list[int] = []
    report = verify(str(sound), processes=2, progress=told.append)
    assert told == sorted(told)
    assert len(told) > 4
    assert sum(report.entries.values()) - 8 < told[-1] <= sum(report.entries.values())


def test_unreadable_file_is_the_same_error(sound, tmp_path):
    root = tmp_path / "ledger"
    shutil.copytree(sound, root)
    (root / "sessions" / "alpha.jsonl").unlink()
    (root / "sessions" / "alpha.jsonl").mkdir()
    for processes in (1, 2):
        with pytest.raises(LedgerError, match=r"cannot read .*alpha"):
            verify(str(root), processes=processes)


def test_process_that_dies_is_an_error(sound, monkeypatch):
    parent = os.getpid()

    def dies(*_):
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(ledger._Verification, "_session", dies)
    with pytest.raises(UnavailableError, match="ended early"):
        verify(str(sound), processes=2)


INTERRUPTED = """
import os, sys, time
from toolgate.verify import ledger
def slow(self, name):
    os.write(1, b"reading\\n")
    time.sleep(60)
ledger._Verification._session = slow
from toolgate.cli import main
sys.argv = ["toolgate", "ledger", "verify", sys.argv[1], "--processes", "2"]
main()
"""


def test_interrupt_ends_all_processes(sound, tmp_path):
    environ = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "TMPDIR": str(tmp_path),
    }
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(sound)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reading\n"
        began = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said == "toolgate ledger: interrupted; nothing was changed\n"
    assert time.monotonic() - began < 20
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_shares_weigh_about_the_same():
    assert workers.deal({"a": 5, "b": 3, "c": 3, "d": 0}, 2) == [["a", "d"], ["b", "c"]]
    assert workers.deal({"a": 1}, 2) == [["a"], []]
    assert workers.deal({"b": 0, "a": 0}, 2) == [["a", "b"], []]
