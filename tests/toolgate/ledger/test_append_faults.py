"""Disks that fail, writers that die, writers that are many."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import ledgers
import pytest
from stores import written

from toolgate.errors import LedgerError
from toolgate.ledger.append import Ledger
from toolgate.verify import verify
from toolgate.verify.directory import Directory

LEDGERS = Path(__file__).parents[2] / "faults" / "ledgers.py"

# One writer process: decides and reports, and prints what was acknowledged.
WORKER = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("ledgers", sys.argv[1])
ledgers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(ledgers)
root, session, name, count, shape = sys.argv[2:]
writer = ledgers.Writer(root, session, shape=shape)
for number in range(int(count)):
    call = f"{name}-{number}"
    writer.decide(call)
    print("d", call, flush=True)
    assert writer.outcome(call) in ("outcome", "late")
    print("o", call, flush=True)
    if number % 7 == 6:
        writer.stop()
"""


def start(root: Path, session: str, name: str, count: int, shape: str) -> subprocess.Popen:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", WORKER, str(LEDGERS), str(root), session, name]
    return subprocess.Popen(
        [*command, str(count), shape], stdout=subprocess.PIPE, text=True, env=environ
    )


def crowd(root: Path, writers: int, calls: int, shape: str) -> None:
    """Let many processes write to one session, then verify what they left."""
    running = [start(root, "shared", f"w{number}", calls, shape) for number in range(writers)]
    for process in running:
        process.communicate()
        assert process.returncode == 0
    last = Ledger(str(root))
    last.session_close("shared", closed_by="session_end", ts=ledgers.START * 2)
    report = verify(str(root), expect_head=last.head())
    assert report.findings == []
    assert report.verdict == "PASS"
    assert report.calls == {("allowed", "ok"): writers * calls}


@pytest.mark.parametrize("shape", ["dag", "linear"])
def test_eight_processes_lose_nothing(tmp_path, shape):
    crowd(tmp_path / "ledger", 8, 50, shape)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["dag", "linear"])
def test_thirty_two_processes_lose_nothing(tmp_path, shape):
    crowd(tmp_path / "ledger", 32, 1000, shape)


@pytest.mark.parametrize("shape", ["dag", "linear"])
def test_a_ledger_that_is_written_to_verifies(tmp_path, shape):
    root = tmp_path / "ledger"
    root.mkdir()
    running = [start(root, f"s{number % 2}", f"w{number}", 60, shape) for number in range(4)]
    found: set[str] = set()
    spine = root / ledgers.SPINE
    while not (spine.exists() and spine.stat().st_size):
        time.sleep(0.001)  # until then there is no ledger
    while any(process.poll() is None for process in running):
        found |= {item.code for item in verify(str(root)).findings}
    for process in running:
        process.communicate()
        assert process.returncode == 0
    assert found <= {"log.turn_open", "log.session_open"}


def kill_and_recover(root: Path, rounds: int, shape: str) -> None:
    """Kill writers at any point; what they had acknowledged is there, and nothing is broken."""
    acknowledged: set[tuple[str, str]] = set()
    for number in range(rounds):
        process = start(root, "killed", f"k{number}", 10_000, shape)
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(0.003 * (number % 7))
        process.send_signal(signal.SIGKILL)
        said = first + process.communicate()[0]
        lines = [line.split() for line in said.split("\n")[:-1]]
        acknowledged |= {(line[0], line[1]) for line in lines if len(line) == 2}
    Ledger(str(root)).recover(ts=ledgers.START * 2)
    report = verify(str(root))
    assert {item.code for item in report.findings} <= {"log.orphan_allow"}
    assert acknowledged <= written(root)


@pytest.mark.parametrize("shape", ["dag", "linear"])
def test_killed_writers_lose_nothing_they_acknowledged(tmp_path, shape):
    kill_and_recover(tmp_path / "ledger", 6, shape)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["dag", "linear"])
def test_many_killed_writers(tmp_path, shape):
    kill_and_recover(tmp_path / "ledger", 150, shape)


class Disk:
    """Stands in for os.write: fails, or takes too little, at the nth write."""

    def __init__(self, monkeypatch, at: int, *, short: int | None = None, error: int = 0) -> None:
        self.count = 0
        self._real = os.write

        def write(fd: int, data: bytes) -> int:
            self.count += 1
            if self.count != at:
                return self._real(fd, data)
            if short is None:
                raise OSError(error, os.strerror(error))
            return self._real(fd, data[:short])

        monkeypatch.setattr(os, "write", write)


def history(root: Path, shape: str) -> None:
    writer = ledgers.Writer(root, "s1", shape=shape)
    writer.prompt("p")
    writer.decide("a")
    writer.decide("b", "asked")
    writer.outcome("b")
    writer.outcome("a")
    writer.prompt("q")
    writer.decide("c")
    writer.outcome("c")
    writer.close()


def after_fault(root: Path, shape: str) -> None:
    """Whatever a fault left, the next writer goes on and the ledger verifies."""
    writer = ledgers.Writer(root, "s1", shape=shape)
    writer.ts = ledgers.START + 1_000_000
    writer.ledger.recover(ts=writer.tick())
    writer.decide("z")
    assert writer.outcome("z") == "outcome"
    writer.close()
    found = {item.code for item in verify(str(root)).findings}
    assert found <= {"log.orphan_allow"}


@pytest.mark.parametrize("shape", ["dag", "linear"])
@pytest.mark.parametrize("kept", [0, 1, 40, 600])
def test_short_write_is_an_error_and_is_sealed(tmp_path, monkeypatch, shape, kept):
    at = 0
    while True:
        at += 1
        root = tmp_path / f"{at}"
        with monkeypatch.context() as patch:
            disk = Disk(patch, at, short=kept)
            try:
                history(root, shape)
            except LedgerError as error:
                assert "bytes were taken" in str(error)
            done = disk.count < at
        if done:
            break
        after_fault(root, shape)
    assert at > 8


@pytest.mark.parametrize("shape", ["dag", "linear"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_failed_write_is_an_error_and_nothing_is_broken(tmp_path, monkeypatch, shape, code):
    for at in range(1, 12):
        root = tmp_path / f"{at}"
        with monkeypatch.context() as patch:
            Disk(patch, at, error=code)
            try:
                history(root, shape)
            except LedgerError as error:
                assert os.strerror(code) in str(error)
        after_fault(root, shape)


def test_root_that_is_a_file(tmp_path):
    root = tmp_path / "ledger"
    root.write_bytes(b"")
    with pytest.raises(LedgerError, match="cannot create"):
        ledgers.Writer(root, "s1").decide("a")
    with pytest.raises(LedgerError):
        ledgers.Writer(root / "below", "s1").decide("a")


def test_spine_that_is_a_directory(tmp_path):
    root = tmp_path / "ledger"
    (root / ledgers.SPINE).mkdir(parents=True)
    with pytest.raises(LedgerError, match="Is a directory"):
        ledgers.Writer(root, "s1").decide("a")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("what", [ledgers.SPINE, "sessions/s1.jsonl"])
def test_full_device(tmp_path, what):
    root = tmp_path / "ledger"
    (root / "sessions").mkdir(parents=True)
    (root / what).symlink_to("/dev/full")
    with pytest.raises(LedgerError, match="No space left"):
        ledgers.Writer(root, "s1").decide("a")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes to read-only directories")
def test_read_only_directory(tmp_path):
    root = tmp_path / "ledger"
    root.mkdir(mode=0o500)
    with pytest.raises(LedgerError, match="Permission denied"):
        ledgers.Writer(root, "s1").decide("a")


@pytest.mark.parametrize("shape", ["dag", "linear"])
@pytest.mark.parametrize(
    "torn", [b'{"axis":null,"ba', b"garbage", b"\x00" * 100, b"two\nlines", b"closed\n", b"\n"]
)
def test_torn_tail_is_sealed_by_the_next_writer(tmp_path, shape, torn):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s1", shape=shape)
    writer.decide("a")
    path = root / (ledgers.SPINE if shape == "linear" else "sessions/s1.jsonl")
    before = path.read_bytes()
    path.write_bytes(before + torn)
    other = ledgers.Writer(root, "s1", shape=shape)
    other.ts = writer.ts
    assert other.outcome("a") == "outcome"
    assert path.read_bytes().startswith(before + torn + b"\n")
    other.close()
    report = verify(str(root))
    assert report.findings == []
    assert report.recovered == 1


@pytest.mark.parametrize("torn", [b'{"axis"', b"\x00" * 100, b"two\nlines", b"closed\n"])
@pytest.mark.parametrize("executes", [True, False])
@pytest.mark.parametrize("idle_us", [0, 10**12])
def test_recover_seals_what_is_behind_a_closed_session(tmp_path, torn, executes, idle_us):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s1", executes=executes, host="evalkit")
    writer.decide("a", "denied")
    writer.decide("b")
    if executes:
        writer.outcome("b")
    writer.close()
    path = root / "sessions" / "s1.jsonl"
    before = path.read_bytes() + torn
    path.write_bytes(before)
    assert verify(str(root)).verdict in ("INCOMPLETE", "FAIL")
    # Another host's writer, whose sessions execute, seals on the session's own terms.
    done = Ledger(str(root)).recover(ts=writer.tick(), idle_us=idle_us)
    assert done == [
        f"session s1: sealed a fragment of {len(torn)} bytes at offset {len(before) - len(torn)}",
        "session s1: opened its next part for that and closed it",
    ]
    assert path.read_bytes().startswith(before + b"\n")
    report = verify(str(root))
    assert report.findings == []
    assert report.recovered == 1
    spine = Directory(str(root)).read_spine()
    opened = [line.entry for line in spine if line.entry.kind == "session_open"]
    assert [(entry.ev.part, entry.ev.host, entry.ev.executes) for entry in opened] == [
        (1, "evalkit", executes),
        (2, "evalkit", executes),
    ]
    assert Ledger(str(root)).recover(ts=writer.tick(), idle_us=idle_us) == []
    assert writer.decide("c", "denied")
    writer.close()
    assert verify(str(root)).findings == []


def test_recover_supplies_the_line_feed_of_a_closed_session(tmp_path):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s1")
    writer.decide("a", "denied")
    writer.close()
    path = root / "sessions" / "s1.jsonl"
    before = path.read_bytes()
    path.write_bytes(before[:-1])
    assert "log.fragment" in {item.code for item in verify(str(root)).findings}
    done = Ledger(str(root)).recover(ts=writer.tick())
    assert done == ["session s1: supplied the line feed of its last line"]
    assert path.read_bytes() == before
    assert verify(str(root)).findings == []


@pytest.mark.parametrize("shape", ["dag", "linear"])
def test_recover_seals_the_spine_when_all_sessions_are_closed(tmp_path, shape):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s1", shape=shape)
    writer.decide("a", "denied")
    writer.close()
    path = root / ledgers.SPINE
    offset = path.stat().st_size
    with path.open("ab") as file:
        file.write(b'{"ev":')
    assert verify(str(root)).verdict == "INCOMPLETE"
    done = Ledger(str(root)).recover(ts=writer.tick())
    assert done == [f"spine: sealed a fragment of 6 bytes at offset {offset}"]
    report = verify(str(root))
    assert report.findings == []
    assert report.recovered == 1
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 1)
    assert verify(str(root)).findings
    assert Ledger(str(root)).recover(ts=writer.tick()) == [
        "spine: supplied the line feed of its last line"
    ]
    assert verify(str(root)).findings == []


def test_recover_and_verify_agree_on_bytes_in_a_linear_session_file(tmp_path):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s1", shape="linear")
    writer.decide("a", "denied")
    writer.close()
    (root / "sessions" / "s1.jsonl").write_bytes(b'{"axis"')
    # Nobody who writes such a session writes there: this is no torn line to be sealed.
    assert Ledger(str(root)).recover(ts=writer.tick()) == []
    assert [item.code for item in verify(str(root)).findings] == ["log.shape"]


def test_recover_founds_no_ledger(tmp_path):
    assert Ledger(str(tmp_path)).recover(ts=1) == []
    assert list(tmp_path.iterdir()) == []


def test_torn_tail_after_the_session_closed(tmp_path):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s1")
    writer.decide("a", "denied")
    writer.close()
    path = root / "sessions" / "s1.jsonl"
    path.write_bytes(path.read_bytes() + b'{"axis"')
    assert verify(str(root)).verdict == "INCOMPLETE"
    writer.ledger.session_open("s1", ts=writer.tick())
    writer.close()
    report = verify(str(root))
    assert report.findings == []
    assert report.recovered == 1


@pytest.mark.parametrize("shape", ["dag", "linear"])
def test_missing_line_feed_alone_is_supplied(tmp_path, shape):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s1", shape=shape)
    writer.decide("a")
    path = root / (ledgers.SPINE if shape == "linear" else "sessions/s1.jsonl")
    path.write_bytes(path.read_bytes()[:-1])
    assert verify(str(root)).verdict == "INCOMPLETE"
    other = ledgers.Writer(root, "s1", shape=shape)
    other.ts = writer.ts
    assert other.outcome("a") == "outcome"
    other.close()
    report = verify(str(root))
    assert report.findings == []
    assert report.recovered == 0


@pytest.mark.parametrize("shape", ["dag", "linear"])
@pytest.mark.parametrize("next_session", ["s1", "s2"])
def test_close_that_lacks_its_line_feed_closed_the_turn(tmp_path, shape, next_session):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s1", shape=shape)
    writer.decide("a", "denied")
    before = writer.ledger.head()
    writer.stop()
    path = root / ledgers.SPINE
    path.write_bytes(path.read_bytes()[:-1])
    (root / "sessions" / "s1.turn").unlink()  # its writer was killed before it wrote that
    assert Ledger(str(root)).head() == before
    report = verify(str(root), expect_head=before)
    assert {item.code for item in report.findings} == {
        "log.fragment",
        "log.turn_open",
        "log.session_open",
    }
    other = ledgers.Writer(root, next_session, shape=shape)
    other.ts = writer.ts
    other.decide("b", "denied")
    other.close()
    other.ledger.session_close("s1", closed_by="session_end", ts=other.tick())
    report = verify(str(root), expect_head=other.ledger.head())
    assert report.findings == []
    assert report.entries["turn_close"] == 2


def test_file_that_was_replaced_is_opened_again(tmp_path):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s1")
    writer.decide("a")
    path = root / "sessions" / "s1.jsonl"
    copy = path.with_suffix(".copy")
    copy.write_bytes(path.read_bytes())
    copy.rename(path)
    assert writer.outcome("a") == "outcome"
    writer.close()
    assert verify(str(root)).findings == []


def test_file_system_without_links(tmp_path, monkeypatch):
    def link(source: str, target: str) -> None:
        raise PermissionError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", link)
    writer = ledgers.Writer(tmp_path / "ledger", "s1")
    writer.decide("a")
    assert writer.outcome("a") == "outcome"
    writer.close()
    assert verify(str(tmp_path / "ledger")).findings == []


def test_recover_closes_what_is_idle(tmp_path):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s1")
    writer.decide("a")
    other = ledgers.Writer(root, "s2", shape="linear")
    other.decide("b", "denied")
    now = writer.tick()
    assert writer.ledger.recover(ts=now, idle_us=10**9) == []
    assert writer.ledger.recover(ts=now + 10**9, idle_us=10**9) == [
        "session s1: closed",
        "session s2: closed",
    ]
    report = verify(str(root))
    assert [item.code for item in report.findings] == ["log.orphan_allow"]
    assert report.outcomes == {"unresolved": 1}
