"""A spine that goes on in the next file, however many write it."""

import json
import os
import shutil
import subprocess
import sys
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import ledgers
import pytest

from toolgate.errors import LedgerError
from toolgate.ledger.append import Ledger
from toolgate.verify import verify

SHAPES = pytest.mark.parametrize("shape", ["dag", "linear"])

WORKER = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("ledgers", sys.argv[1])
ledgers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(ledgers)
root, session, name, count, shape = sys.argv[2:]
writer = ledgers.Writer(root, session, shape=shape, rotate=4000)
for number in range(int(count)):
    call = f"{name}-{number}"
    writer.decide(call)
    assert writer.outcome(call) in ("outcome", "late")
    if number % 3 == 2:
        writer.stop()
"""


def spine(root: Path) -> list[Path]:
    return sorted(root.glob("spine-*.jsonl"))


def rotated(root: Path, shape: str = "dag") -> ledgers.Writer:
    """Write a ledger whose spine has several files, and return its open writer."""
    writer = ledgers.Writer(root, "s1", shape=shape, rotate=1000)
    for number in range(6):
        writer.prompt(f"p{number}")
        writer.decide(f"c{number}")
        writer.outcome(f"c{number}")
    return writer


def codes(root: Path, **more) -> set[str]:
    return {item.code for item in verify(str(root), **more).findings}


@SHAPES
def test_files_begin_where_the_one_before_ends(tmp_path, shape):
    writer = rotated(tmp_path / "ledger", shape)
    writer.close()
    row = spine(tmp_path / "ledger")
    assert len(row) > 3
    seq, digest = 0, "sha256:" + "0" * 64
    for path in row:
        assert path.stat().st_size >= 1000 or path == row[-1]
        lines = path.read_bytes().splitlines()
        assert path.name == f"spine-{seq + 1:012d}.jsonl"
        for line in lines:
            body = json.loads(line)
            assert (body["seq"], body["prev_digest"]) == (seq + 1, digest)
            seq, digest = body["seq"], ledgers.digest(line)
    report = verify(str(tmp_path / "ledger"), expect_head=writer.ledger.head())
    assert (report.verdict, report.findings) == ("PASS", [])


@SHAPES
def test_eight_processes_rotate_together(tmp_path, shape):
    root = tmp_path / "ledger"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    head = [sys.executable, "-c", WORKER, str(Path(ledgers.__file__)), str(root), "shared"]
    running = [subprocess.Popen([*head, f"w{n}", "30", shape], env=environ) for n in range(8)]
    assert [process.wait() for process in running] == [0] * 8
    last = Ledger(str(root))
    last.session_close("shared", closed_by="session_end", ts=ledgers.START * 2)
    report = verify(str(root), expect_head=last.head())
    assert (report.verdict, report.findings) == ("PASS", [])
    assert report.calls == {("allowed", "ok"): 240}
    assert len(spine(root)) > 5


@SHAPES
def test_what_a_process_remembers_survives_anothers_rotation(tmp_path, shape):
    root = tmp_path / "ledger"
    one = ledgers.Writer(root, "s1", shape=shape, rotate=1500)
    two = ledgers.Writer(root, "s2", shape=shape, rotate=1500)
    for number in range(12):
        one.decide(f"a{number}")
        for part in range(3):
            two.decide(f"b{number}-{part}")
            two.stop()
        assert one.outcome(f"a{number}") == "outcome"
        assert two.outcome(f"b{number}-2") == "late"
    assert one.outcome("a0") == "repeated"
    one.close()
    two.close()
    # Of the calls of session s2 that ended a turn, two of three were never reported on.
    assert codes(root) == {"log.orphan_allow"}
    assert len(spine(root)) > 3


@SHAPES
def test_a_fragment_is_sealed_before_the_next_file_begins(tmp_path, shape):
    root = tmp_path / "ledger"
    writer = rotated(root, shape)
    last = spine(root)[-1]
    with last.open("ab") as file:
        file.write(b"x" * 2000)
    other = ledgers.Writer(root, "s1", shape=shape, rotate=1000)
    other.ts = writer.ts
    other.prompt("q")
    assert b'"kind":"recovery"' in last.read_bytes()
    other.stop()
    assert spine(root)[-1] != last
    other.close()
    report = verify(str(root))
    assert (report.findings, report.recovered) == ([], 1)


@SHAPES
@pytest.mark.parametrize("left", [b"", b'{"ev":{'])
def test_a_new_file_whose_writer_died(tmp_path, shape, left):
    root = tmp_path / "ledger"
    writer = rotated(root, shape)
    seq, _ = head = writer.ledger.head()
    (root / f"spine-{seq + 1:012d}.jsonl").write_bytes(left)
    assert writer.ledger.head() == head
    assert codes(root) <= {"log.turn_open", "log.session_open", "log.fragment"}
    other = ledgers.Writer(root, "s1", shape=shape, rotate=1000)
    other.ts = writer.ts
    other.prompt("q")
    other.close()
    report = verify(str(root), expect_head=other.ledger.head())
    assert (report.verdict, report.findings) == ("PASS", [])
    assert report.recovered == bool(left)


@SHAPES
def test_files_that_are_missing_or_in_another_order(tmp_path, shape):
    root = tmp_path / "ledger"
    writer = rotated(root, shape)
    writer.close()
    assert codes(root) == set()
    row = spine(root)
    kept = {path: path.read_bytes() for path in row}

    def restore() -> None:
        for path in spine(root):
            path.unlink()
        for path, data in kept.items():
            path.write_bytes(data)

    for path in row[:-1]:
        path.unlink()
        assert "log.spine_broken" in codes(root)
        restore()
    for one, two in pairwise(row):
        one.write_bytes(kept[two])
        two.write_bytes(kept[one])
        assert "log.spine_broken" in codes(root)
        restore()
    row[1].rename(root / f"spine-{int(row[1].name[6:18]) + 1:012d}.jsonl")
    assert codes(root) == {"log.spine_broken"}
    restore()
    row[1].write_bytes(kept[row[1]][:-9])
    assert "entries.parse" in codes(root)
    restore()
    row[-1].unlink()  # what was cut off the end, a pin shows
    assert "log.head" in codes(root, expect_head=writer.ledger.head()) or codes(root)
    restore()
    assert codes(root) == set()


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_the_second_verifier_agrees_on_a_row_of_files(tmp_path):
    script = files("toolgate") / "spec" / "verifier.mjs"

    def second(root: Path) -> set[str]:
        done = subprocess.run(
            ["node", str(script), str(root), "--json"], capture_output=True, check=False
        )
        return {item["code"] for item in json.loads(done.stdout)["findings"]}

    root = tmp_path / "ledger"
    rotated(root).close()
    assert second(root) == codes(root) == set()
    middle = spine(root)[1]
    whole = middle.read_bytes()
    middle.write_bytes(whole[:-9])
    assert second(root) == codes(root)
    assert "entries.parse" in codes(root)
    middle.write_bytes(whole)
    middle.rename(root / f"spine-{int(middle.name[6:18]) + 1:012d}.jsonl")
    assert second(root) == codes(root) == {"log.spine_broken"}


def test_a_session_goes_on_without_its_cache(tmp_path):
    root = tmp_path / "ledger"
    for shape in ("dag", "linear"):
        writer = rotated(root / shape, shape)
        for cache in (root / shape / "sessions").glob("*.turn"):
            cache.unlink()
        other = ledgers.Writer(root / shape, "s1", shape=shape, rotate=1000)
        other.ts = writer.ts
        assert other.outcome("c0") == "repeated"
        other.decide("z")
        assert other.outcome("z") == "outcome"
        other.close()
        assert codes(root / shape) == set()


def test_a_cache_of_another_form_is_not_believed(tmp_path):
    writer = ledgers.Writer(tmp_path / "ledger", "s1")
    writer.decide("a")
    cache = tmp_path / "ledger" / "sessions" / "s1.turn"
    held = json.loads(cache.read_bytes())
    held["state"]["since"] = [ledgers.SPINE, 0]
    cache.write_text(json.dumps(held))
    other = ledgers.Writer(tmp_path / "ledger", "s1")
    other.ts = writer.ts
    assert other.outcome("a") == "outcome"
    other.close()
    assert codes(tmp_path / "ledger") == set()


def test_a_limit_that_is_no_size(tmp_path):
    with pytest.raises(LedgerError, match="rotate is 0"):
        Ledger(str(tmp_path), rotate=0)
