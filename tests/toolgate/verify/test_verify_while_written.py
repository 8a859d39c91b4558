"""What a writer does meanwhile is no fault: it is left to the next verification."""

import fcntl

import ledgers
import pytest

from toolgate.verify import verify
from toolgate.verify.directory import Directory

OPEN = {"log.turn_open", "log.session_open"}


def codes(root):
    return {item.code for item in verify(str(root)).findings}


def written(root, shape):
    """Return the file and the lock of a session that goes on."""
    writer = ledgers.Writer(root, "s1", shape=shape)
    writer.decide("a")
    spine = root / ledgers.SPINE
    return (spine, root / "spine.lock") if shape == "linear" else (root / "sessions/s1.jsonl",) * 2


@pytest.mark.parametrize("shape", ["dag", "linear"])
def test_half_a_line_is_no_fragment_while_its_writer_holds_the_lock(tmp_path, shape):
    root = tmp_path / "ledger"
    path, lock = written(root, shape)
    with path.open("ab") as file:
        file.write(b'{"axis":')
    with lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert codes(root) == OPEN
        fcntl.flock(held, fcntl.LOCK_UN)
        assert codes(root) == OPEN | {"log.fragment"}


@pytest.mark.parametrize("shape", ["dag", "linear"])
def test_half_a_line_is_no_fragment_if_the_file_went_on(tmp_path, monkeypatch, shape):
    root = tmp_path / "ledger"
    path, _ = written(root, shape)
    line = path.read_bytes().splitlines()[-1]
    path.write_bytes(path.read_bytes()[:-100])
    read = "read_spine" if shape == "linear" else "read_session"
    real = getattr(Directory, read)

    def read_then_written(directory, *name):
        items = list(real(directory, *name))
        with path.open("ab") as file:
            file.write(line[-99:] + b"\n")
        return iter(items)

    with monkeypatch.context() as patch:
        patch.setattr(Directory, read, read_then_written)
        assert codes(root) == OPEN
    assert path.read_bytes().splitlines()[-1] == line
    assert codes(root) == OPEN


def test_session_that_began_meanwhile_is_left_to_the_next_verification(tmp_path, monkeypatch):
    root = tmp_path / "ledger"
    ledgers.Writer(root, "s1").decide("a")
    (root / "sessions" / "s2.jsonl").touch()
    real = Directory.read_spine

    def read_then_written(directory):
        items = list(real(directory))
        ledgers.Writer(root, "s2").decide("b")
        return iter(items)

    with monkeypatch.context() as patch:
        patch.setattr(Directory, "read_spine", read_then_written)
        report = verify(str(root))
    assert {item.code for item in report.findings} == OPEN
    assert report.sessions == 1
    assert verify(str(root)).sessions == 2


def test_torn_end_of_an_earlier_spine_file_is_a_fault(tmp_path):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s1")
    writer.decide("a")
    first = root / ledgers.SPINE
    *lines, last = first.read_bytes().splitlines(keepends=True)
    first.write_bytes(b"".join(lines) + b'{"ev":')
    (root / f"spine-{len(lines) + 1:012d}.jsonl").write_bytes(last)
    assert codes(root) == OPEN | {"entries.parse"}
