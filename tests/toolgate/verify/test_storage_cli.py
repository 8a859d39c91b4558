"""``toolgate ledger seal``, ``unpack`` and ``export``, and a ledger in PostgreSQL."""

import json
import os
import signal
import subprocess
import sys
import time

import ledgers
import pytest
from click.testing import CliRunner
from stores import bytes_of

from toolgate.cli.ledger import ledger


@pytest.fixture
def root(tmp_path):
    ledgers.build(tmp_path / "ledger")
    return tmp_path / "ledger"


def run(*arguments, **environ):
    return CliRunner().invoke(ledger, [str(one) for one in arguments], env=environ)


def test_seal_and_unpack(root):
    pytest.importorskip("pyarrow")
    before = bytes_of(str(root))
    done = run("seal", root, "--before", "2030-01-01")
    assert done.exit_code == 0, done.output
    assert "sealed 3 sessions in 1 segment:\n  segments/2027-01-15-1\n" in done.output
    assert "removed 3 session files that a segment holds" in done.output
    assert run("verify", root).exit_code == 0
    shown = run("timeline", "alpha", "--ledger", root)
    assert shown.exit_code == 0, shown.output
    assert "a0" in shown.output
    assert run("seal", root, "--before", "2030-01-01").output == "nothing to seal\n"
    done = run("unpack", root)
    assert done.output == "restored 3 session files\n"
    assert bytes_of(str(root)) == before
    assert run("unpack", root).output == "nothing to unpack\n"
    done = run("seal", root, "--before", "2030-01-01", "--no-twin", "--keep", "--json")
    assert json.loads(done.output)["sessions"] == 3
    assert bytes_of(str(root)) == before


def test_seal_with_a_day_that_is_none(root):
    done = run("seal", root, "--before", "yesterday")
    assert done.exit_code == 2
    assert "expected a day as YYYY-MM-DD, got 'yesterday'" in done.output


@pytest.mark.parametrize("command", [("seal",), ("unpack",), ("export", "target")])
def test_where_there_is_no_ledger(tmp_path, command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*command, tmp_path / "nothing")
    assert done.exit_code == 3
    assert "no ledger here" in done.output
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_segment_is_named(root):
    run("seal", root, "--before", "2030-01-01", "--no-twin")
    (root / "segments" / "2027-01-15-1" / "sessions.jsonl.gz").unlink()
    done = run("verify", root)
    assert done.exit_code == 1
    assert "log.segment" in done.output
    assert "sessions.jsonl.gz is missing; the manifest names it" in done.output
    done = run("unpack", root)
    assert done.exit_code == 3
    assert "is missing" in done.output


def test_export_and_a_database_everywhere(root, tmp_path, database):
    pytest.importorskip("psycopg")
    done = run("export", database, root)
    assert done.exit_code == 0, done.output
    kept = bytes_of(str(root))
    lines = sum(data.count(b"\n") for name, data in kept.items() if name.endswith(".jsonl"))
    assert done.output == f"copied {lines} lines, 4 sessions\n"
    here, there = run("verify", root, "--json"), run("verify", database, "--json")
    assert here.exit_code == there.exit_code == 0
    assert json.loads(here.output) == json.loads(there.output)
    listed = run("tail", "--json", root)
    assert listed.exit_code == 0
    assert run("tail", "--json", database).output == listed.output
    story = run("show", "a5", "--ledger", database)
    assert story.exit_code == 0, story.output
    assert "pa%40ss" not in story.output
    assert run("recover", database).output == "nothing to recover\n"
    refused = run("export", database, root)
    assert refused.exit_code == 3
    assert "is not empty" in refused.output
    assert "pa@ss" not in refused.output
    assert "pa%40ss" not in refused.output
    done = run("export", tmp_path / "back", TOOLGATE_LEDGER=database)
    assert done.exit_code == 0
    assert bytes_of(str(tmp_path / "back")) == bytes_of(str(root))
    for command in (("tail", "--session", "nobody", database), ("timeline", "nobody")):
        more = ["--ledger", database] if command[0] == "timeline" else []
        missing = run(*command, *more)
        assert missing.exit_code == 3, missing.output
        assert "pa%40ss" not in missing.output
    several = run("verify", "--system", root, database)
    assert several.exit_code == 0, several.output
    assert "System of 2 ledgers" in several.output
    assert "pa%40ss" not in several.output
    sealed = run("seal", database)
    assert sealed.exit_code == 3
    assert "a database is not sealed" in sealed.output


def test_a_server_that_is_not_there():
    pytest.importorskip("psycopg")
    address = "postgresql://someone:hunter2@127.0.0.1:1/ledger"
    for command in (("verify", address), ("tail", address), ("export", "/nowhere", address)):
        done = run(*command)
        assert done.exit_code == 3
        assert "cannot connect to postgresql://127.0.0.1:1/ledger" in done.output
        assert "hunter2" not in done.output
        assert "someone" not in done.output


def test_export_interrupted_leaves_nothing(tmp_path):
    root = tmp_path / "ledger"
    for number in range(200):
        writer = ledgers.Writer(root, f"s{number}")
        writer.decide(f"c{number}", "denied")
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    code = (
        "import time, toolgate.ledger.copy as copy\n"
        "real = copy.NewFolder.write\n"
        "def slow(*more):\n    print('.', flush=True); time.sleep(0.05); real(*more)\n"
        "copy.NewFolder.write = slow\n"
        "from toolgate.cli.ledger import ledger\n"
        f"ledger(['export', {str(tmp_path / 'copy')!r}, {str(root)!r}])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert said.decode().endswith("interrupted; nothing was copied\n")
    assert list(tmp_path.iterdir()) == [root]
