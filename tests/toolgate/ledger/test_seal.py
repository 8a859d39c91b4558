"""Sealed sessions: packed, they are what they were; damaged, it shows."""

import errno
import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import ledgers
import pytest

from toolgate.canonical import digest, profile_bytes
from toolgate.errors import LedgerError, UnavailableError
from toolgate.ledger.append import Ledger
from toolgate.ledger.seal import day_of, seal, unpack
from toolgate.verify import verify
from toolgate.verify.directory import Directory

pyarrow = pytest.importorskip("pyarrow")

DAY = 86_400_000_000
LATER = ledgers.START + 30 * DAY


def files(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (root / "sessions").glob("*.jsonl")}


def codes(root: Path) -> set[str]:
    return {item.code for item in verify(str(root)).findings}


def segment(root: Path, number: int = 0) -> Path:
    return sorted((root / "segments").glob("2*"))[number]


@pytest.fixture
def root(tmp_path) -> Path:
    ledgers.build(tmp_path / "ledger")
    return tmp_path / "ledger"


def test_packed_and_unpacked_verify_alike(root):
    before, plain = files(root), verify(str(root))
    done = seal(str(root), ts=LATER)
    assert done.sessions == done.removed == 3
    assert done.segments == [f"{day_of(ledgers.START)}-1"]
    assert list(files(root)) == ["gamma.jsonl"]  # linear: it has no entry of its own
    packed = verify(str(root))
    assert "log: 1 sealed segment against the manifest" in packed.checked
    assert packed._replace(checked=[]) == plain._replace(checked=[])
    assert unpack(str(root)) == 3
    assert files(root) == before
    assert not list((root / "segments").glob("2*"))
    assert verify(str(root)) == plain


def test_faults_in_what_is_packed_are_found_alike(root):
    kit = ledgers.Kit(root)
    kit.drop(kit.outcome("a0"))
    kit.write()
    with (root / "sessions" / "alpha.jsonl").open("ab") as file:
        file.write(b"{}\n")
    shutil.rmtree(root / "sessions" / "alpha.turn", ignore_errors=True)
    plain = verify(str(root))
    seal(str(root), ts=LATER, keep=True)  # as it recovers first, compare with what that left
    plain = verify(str(root))
    assert plain.verdict == "FAIL"
    seal(str(root), ts=LATER)
    assert not (root / "sessions" / "alpha.jsonl").exists()
    packed = verify(str(root))
    stem = segment(root).name

    def named(report):
        text = json.dumps([tuple(item) for item in report.findings])
        return text.replace(f"segments/{stem}/", "sessions/")

    assert named(packed) == named(plain)
    assert packed.verdict == plain.verdict


def test_the_same_sessions_make_the_same_pack(root, tmp_path):
    shutil.copytree(root, tmp_path / "other")
    seal(str(root), ts=LATER)
    seal(str(tmp_path / "other"), ts=LATER + 1)
    one, two = segment(root), segment(tmp_path / "other")
    for name in ("sessions.jsonl.gz", "manifest.json"):
        assert (one / name).read_bytes() == (two / name).read_bytes()


def test_any_gzip_reads_the_pack_and_the_manifest_describes_it(root):
    before = files(root)
    seal(str(root), ts=LATER)
    manifest = json.loads((segment(root) / "manifest.json").read_bytes())
    assert profile_bytes(manifest) + b"\n" == (segment(root) / "manifest.json").read_bytes()
    pack = (segment(root) / "sessions.jsonl.gz").read_bytes()
    names = [item["name"] + ".jsonl" for item in manifest["sessions"]]
    assert gzip.decompress(pack) == b"".join(before[name] for name in names)
    assert manifest["pack"] == {"bytes": len(pack), "digest": digest(pack)}
    for item in manifest["sessions"]:
        data = before[item["name"] + ".jsonl"]
        assert (item["bytes"], item["digest"]) == (len(data), digest(data))
        assert item["lines"] == item["entries"] == data.count(b"\n")
        member = pack[item["offset"] : item["offset"] + item["length"]]
        assert gzip.decompress(member) == data


def test_the_twin_says_what_the_pack_says(root):
    import pyarrow.parquet

    before = files(root)
    seal(str(root), ts=LATER)
    rows = pyarrow.parquet.read_table(segment(root) / "entries.parquet").to_pylist()
    lines = [line for name in sorted(before) for line in before[name].splitlines()]
    assert sorted(row["entry_digest"] for row in rows) == sorted(digest(line) for line in lines)
    decided = [row for row in rows if row["kind"] == "decision"]
    assert {row["state"] for row in decided} == {"allowed", "asked", "denied"}
    known = {row["decision_digest"] for row in decided}
    outcomes = [row for row in rows if row["kind"] == "outcome"]
    assert outcomes
    assert {row["decision_digest"] for row in outcomes} <= known
    assert {row["tool"] for row in decided} == {"Bash"}


def test_days_and_what_is_not_packed(tmp_path):
    root = tmp_path / "ledger"
    for number in range(3):
        writer = ledgers.Writer(root, f"s{number}")
        writer.ts = ledgers.START + number * DAY
        writer.decide("a", "denied")
        writer.close()
    still = ledgers.Writer(root, "open")
    still.ts = ledgers.START + 3 * DAY
    still.decide("a", "denied")
    days = [day_of(ledgers.START + number * DAY) for number in range(4)]
    now = still.tick()
    done = seal(str(root), ts=now, before=days[1])
    assert done.segments == [f"{days[0]}-1"]
    assert sorted(files(root)) == ["open.jsonl", "s1.jsonl", "s2.jsonl"]
    assert seal(str(root), ts=now).segments == [f"{days[1]}-1", f"{days[2]}-1"]
    assert sorted(files(root)) == ["open.jsonl"]
    assert seal(str(root), ts=now).segments == []
    assert codes(root) == {"log.turn_open", "log.session_open"}
    # The recovery that goes first closes what has been idle; it was last closed on that day.
    done = seal(str(root), ts=now + 2 * DAY, before=day_of(now + 3 * DAY))
    assert done.recovered == ["session open: closed"]
    assert done.segments == [f"{day_of(now + 2 * DAY)}-1"]
    assert codes(root) == set()


@pytest.mark.parametrize("links", [True, False])
def test_a_sealed_session_goes_on(tmp_path, monkeypatch, links):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s1")
    known = writer.decide("a")
    writer.decide("b")
    writer.outcome("a")
    writer.close()
    before = files(root)["s1.jsonl"]
    seal(str(root), ts=LATER)
    if not links:

        def link(source: str, target: str) -> None:
            raise PermissionError(errno.EPERM, "no links here")

        monkeypatch.setattr(os, "link", link)
    other = ledgers.Writer(root, "s1")
    other.ts = LATER
    assert other.outcome("a") == "repeated"
    assert files(root)["s1.jsonl"] == before
    assert other.outcome("b") == "superseded"
    assert known not in (other.decide("c"), other.decide("a"))
    other.outcome("c")
    other.outcome("a")
    other.close()
    assert files(root)["s1.jsonl"].startswith(before)
    plain = verify(str(root))
    assert plain.findings == []
    # Packed a second time it is whole in the later segment; the earlier one stays as it is.
    first = (segment(root) / "sessions.jsonl.gz").read_bytes()
    assert seal(str(root), ts=LATER + 2 * DAY).sessions == 1
    assert (segment(root, 0) / "sessions.jsonl.gz").read_bytes() == first
    whole = verify(str(root))
    assert whole._replace(checked=[]) == plain._replace(checked=[])
    third = ledgers.Writer(root, "s1")
    third.ts = LATER + 3 * DAY
    assert third.outcome("b") == "repeated"
    assert unpack(str(root)) == 0
    assert verify(str(root)).findings == []


def test_both_alike_is_accepted_and_cleaned(root):
    before = files(root)
    seal(str(root), ts=LATER, keep=True)
    assert files(root) == before
    assert codes(root) == set()
    done = seal(str(root), ts=LATER)
    assert (done.segments, done.removed) == ([], 3)
    assert list(files(root)) == ["gamma.jsonl"]
    assert unpack(str(root), keep=True) == 3
    assert files(root) == before
    assert codes(root) == set()


def test_what_a_sealing_that_died_left_unfinished_is_cleared(root):
    left = root / "segments" / "unfinished-2027-01-15-1"
    left.mkdir(parents=True)
    (left / "sessions.jsonl.gz").write_bytes(b"half")
    assert codes(root) == set()
    seal(str(root), ts=LATER)
    assert not left.exists()
    assert codes(root) == set()


# -- damage


def edit_manifest(folder: Path, change) -> None:
    body = json.loads((folder / "manifest.json").read_bytes())
    change(body)
    (folder / "manifest.json").write_bytes(profile_bytes(body) + b"\n")


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(bytes(data))


def repack(folder: Path) -> None:
    """Replace an entry's bytes and make pack and manifest fit again, but not the twin."""
    data = gzip.decompress((folder / "sessions.jsonl.gz").read_bytes())
    changed = data.replace(b'"rule":"look.ok"', b'"rule":"look.no"')
    assert changed != data
    body = json.loads((folder / "manifest.json").read_bytes())
    at = end = 0
    pack = b""
    for item in body["sessions"]:
        part = changed[at : at + item["bytes"]]
        at += item["bytes"]
        member = gzip.compress(part, mtime=0)
        item |= {"offset": end, "length": len(member), "digest": digest(part)}
        end += len(member)
        pack += member
    body["pack"] = {"bytes": len(pack), "digest": digest(pack)}
    (folder / "sessions.jsonl.gz").write_bytes(pack)
    (folder / "manifest.json").write_bytes(profile_bytes(body) + b"\n")


DAMAGE = {
    "pack flipped": lambda f: flip(f / "sessions.jsonl.gz", 400),
    "pack cut": lambda f: os.truncate(f / "sessions.jsonl.gz", 700),
    "pack missing": lambda f: (f / "sessions.jsonl.gz").unlink(),
    "pack longer": lambda f: (f / "sessions.jsonl.gz").write_bytes(
        (f / "sessions.jsonl.gz").read_bytes() + b"x"
    ),
    "twin flipped": lambda f: flip(f / "entries.parquet", 100),
    "twin missing": lambda f: (f / "entries.parquet").unlink(),
    "manifest missing": lambda f: (f / "manifest.json").unlink(),
    "manifest spaced": lambda f: (f / "manifest.json").write_text(
        json.dumps(json.loads((f / "manifest.json").read_bytes()))
    ),
    "manifest of another day": lambda f: edit_manifest(f, lambda b: b.update(day="2020-01-01")),
    "manifest without a session": lambda f: edit_manifest(f, lambda b: b["sessions"].pop()),
    "manifest with other lines": lambda f: edit_manifest(
        f, lambda b: b["sessions"][0].update(lines=1)
    ),
    "manifest with another digest": lambda f: edit_manifest(
        f, lambda b: b["sessions"][0].update(digest=digest(b""))
    ),
    "manifest with another close": lambda f: edit_manifest(
        f, lambda b: b["sessions"][0].update(close=digest(b""))
    ),
    "manifest with another session": lambda f: edit_manifest(
        f, lambda b: b["sessions"][0].update(session="other")
    ),
    "manifest with more bytes": lambda f: edit_manifest(
        f, lambda b: b["sessions"][0].update(bytes=10**12)
    ),
    "manifest of nonsense": lambda f: (f / "manifest.json").write_bytes(b"[1]\n"),
    "twin of other entries": repack,
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_found(root, what):
    seal(str(root), ts=LATER)
    DAMAGE[what](segment(root))
    report = verify(str(root))
    assert report.verdict == "FAIL"
    primary = {item.code for item in report.findings if item.cause is None}
    assert "log.segment" in primary
    allowed = {"log.segment", "log.file_missing", "entries.decision_id", "log.root"}
    assert primary <= allowed


@pytest.mark.parametrize("what", ["pack flipped", "pack missing", "manifest missing"])
def test_no_writer_goes_on_behind_a_damaged_segment(root, what):
    seal(str(root), ts=LATER)
    DAMAGE[what](segment(root))
    writer = ledgers.Writer(root, "alpha")
    with pytest.raises(LedgerError, match="cannot go on with session alpha"):
        writer.decide("z")
    assert "alpha.jsonl" not in files(root)
    with pytest.raises(LedgerError):
        unpack(str(root))
    assert segment(root).exists()


def test_a_file_that_is_not_what_was_packed(root):
    seal(str(root), ts=LATER, keep=True)
    path = root / "sessions" / "alpha.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    found = verify(str(root)).findings
    assert found[0].code == "log.segment"
    assert "does not begin with what" in found[0].message
    done = seal(str(root), ts=LATER)
    assert (done.segments, done.removed, done.left) == ([], 2, ["alpha"])
    assert path.exists()


def test_without_pyarrow(root, monkeypatch):
    seal(str(root), ts=LATER)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    report = verify(str(root))
    assert report.findings == []
    assert "what 1 Parquet twin of segments say: pyarrow is not installed" in report.unchecked
    unpack(str(root))
    with pytest.raises(UnavailableError, match="pyarrow"):
        seal(str(root), ts=LATER)
    assert seal(str(root), ts=LATER, with_twin=False).sessions == 3
    assert verify(str(root)).findings == []


def test_places_that_are_not_sealed(tmp_path):
    with pytest.raises(LedgerError, match="no ledger here"):
        seal(str(tmp_path), ts=LATER)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(LedgerError, match="a database is not sealed"):
        seal("postgresql://localhost/x", ts=LATER)


def test_a_session_sealed_while_it_is_verified(root, monkeypatch):
    real = Directory.read_spine

    def read_then_sealed(directory):
        items = list(real(directory))
        seal(str(root), ts=LATER)
        return iter(items)

    with monkeypatch.context() as patch:
        patch.setattr(Directory, "read_spine", read_then_sealed)
        assert verify(str(root)).findings == []


WORKER = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("ledgers", sys.argv[1])
ledgers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(ledgers)
root, session, count = sys.argv[2:]
for number in range(int(count)):
    writer = ledgers.Writer(root, session)
    writer.ts += number * 1_000_000
    writer.decide(f"{session}-{number}")
    assert writer.outcome(f"{session}-{number}") == "outcome"
    writer.close()
"""


def test_sealing_while_sessions_go_on_loses_nothing(tmp_path):
    root = tmp_path / "ledger"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    head = [sys.executable, "-c", WORKER, str(Path(ledgers.__file__)), str(root)]
    ledgers.Writer(root, "first").decide("x", "denied")
    running = [subprocess.Popen([*head, f"s{number}", "12"], env=environ) for number in range(4)]
    sealed = 0
    while any(process.poll() is None for process in running):
        done = seal(
            str(root), ts=ledgers.START, before="9999-01-01", idle_us=10**15, with_twin=False
        )
        sealed += done.sessions
    assert [process.wait() for process in running] == [0] * 4
    Ledger(str(root)).recover(ts=LATER)
    report = verify(str(root))
    assert report.findings == []
    assert report.calls[("allowed", "ok")] == 48
    assert sealed > 0
    unpack(str(root))
    assert verify(str(root)).findings == []
