"""``toolgate ledger tail``: the last entries in one order, and those that are added."""

import json
import os
import signal
import subprocess
import sys
import time

import ledgers
import pytest
from click.testing import CliRunner

from toolgate.canonical import digest
from toolgate.cli.ledger import ledger
from toolgate.errors import LedgerError
from toolgate.verify.directory import Directory
from toolgate.verify.place import open_ledger
from toolgate.verify.read import Bad, Line
from toolgate.views.growth import open_growth
from toolgate.views.tail import Follower, tail

from . import cases


def run(*arguments):
    return CliRunner().invoke(ledger, ["tail", *[str(one) for one in arguments]])


def digests(items) -> list[str]:
    return [item.digest for item in items if isinstance(item, Line)]


@pytest.mark.parametrize("last", [1, 2, 7, 20, 57, 58, 59, 1000])
def test_the_last_entries_are_the_end_of_all_entries(base, last):
    everything = digests(tail(Directory(str(base)), None, None).items)
    assert len(everything) == 58
    assert digests(tail(Directory(str(base)), last, None).items) == everything[-last:]


@pytest.mark.parametrize("which", ["base", "told"])
def test_files_keep_their_order_and_turns_theirs(which, request):
    root = request.getfixturevalue(which)
    items = list(tail(Directory(str(root)), None, None).items)
    place = {digest: at for at, digest in enumerate(digests(items))}
    assert len(place) == len(items)
    for rows in ledgers.Kit(root).files.values():
        places = [place[row.old] for row in rows]
        assert places == sorted(places)
    for item in items:
        for parent in item.entry.parents:
            assert place[parent] < place[item.digest]
    closed = {}
    for item in items:
        turn = (item.entry.session, item.entry.turn)
        assert item.entry.turn is None or turn not in closed, item.where
        if item.entry.kind == "turn_close":
            closed[turn] = True


def test_default_is_twenty(base):
    assert len(run(base).output.splitlines()) == 20
    assert run(base, "-n", "0").output == ""
    assert len(run(base, "-n", "all").output.splitlines()) == 58


@pytest.mark.parametrize("number", ["-1", "x", "", "1e3", "ALL", "9" * 30])
def test_a_number_that_is_none(base, number):
    assert run(base, f"-n{number}").exit_code == 2


def test_json_is_one_object_a_line(base):
    lines = [json.loads(said) for said in run(base, "--json", "-n", "3").output.splitlines()]
    assert [set(one) for one in lines] == [{"file", "digest", "entry"}] * 3
    assert lines[-1]["digest"] == ledgers.Kit(base).spine[-1].old


def test_lines_that_are_no_entries_are_said_to_be_none(tmp_path):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s")
    writer.decide("a")
    with (root / "sessions" / "s.jsonl").open("ab") as file:
        file.write(b"\x1b[2J{\n\nx")
    assert "sessions/s.jsonl: 3 lines: no entry" in run(root).output
    last = json.loads(run(root, "--json").output.splitlines()[-1])
    assert last == {"file": "sessions/s.jsonl", "entry": None, "lines": 3, "sealed": False}
    ledgers.Writer(root, "s").decide("b")
    assert "sessions/s.jsonl: 3 lines: sealed fragment" in run(root, "-n", "all").output


def test_an_empty_ledger(tmp_path):
    (tmp_path / ledgers.SPINE).write_bytes(b"")
    done = run(tmp_path)
    assert (done.exit_code, done.output) == (0, "")


def test_approvals_and_other_rare_entries_say_what_they_are(told):
    said = run(told, "-n", "all").output
    assert "approval review approve by ann (signature), until 2027-01-15 09:00:09.500 UTC" in said
    assert "audit review execution.unmatched claude-code call never-decided" in said


def test_terminal_escapes_are_shown_as_text(tmp_path):
    writer = ledgers.Writer(tmp_path / "ledger", "s\x1b[31m")
    writer.decide("c\x1b]0;x\x07\r\n", tool="T\x9b")
    said = run(tmp_path / "ledger").output
    assert not any(ord(char) < 32 and char != "\n" for char in said)
    assert len(said.splitlines()) == 4


# -- following


class Followed:
    """A ledger that is followed while the test writes to it."""

    def __init__(self, root, session=None):
        self.notes: list[str] = []
        found = tail(open_ledger(str(root)), None, session)
        self.seen = digests(found.items)
        self._follower = Follower(open_growth(str(root)), found.ends, session, self.notes.append)

    def more(self) -> list:
        items = self._follower.batch()
        self.seen += digests(items)
        return items


@pytest.fixture(params=["directory", "database"])
def root(tmp_path, request):
    """Return where a ledger is kept that is followed."""
    if request.param == "directory":
        return tmp_path / "ledger"
    return request.getfixturevalue("database")


def test_following_misses_nothing_and_repeats_nothing(root):
    one = ledgers.Writer(root, "one")
    one.decide("a")
    followed = Followed(root)
    assert followed.more() == []
    one.outcome("a")
    two = ledgers.Writer(root, "two")
    two.decide("b", "denied")
    kinds = [item.entry.kind for item in followed.more()]
    assert kinds == ["session_open", "turn_open", "decision", "outcome"]
    one.close()
    two.close()
    followed.more()
    assert sorted(followed.seen) == sorted(digests(tail(open_ledger(str(root)), None, None).items))
    assert followed.notes == []


def test_the_next_spine_stream_is_gone_on_with(root):
    writer = ledgers.Writer(root, "s", rotate=900)
    writer.decide("a")
    followed = Followed(root)
    for number in range(6):
        writer.outcome("a")
        writer.stop()
        writer.decide("a")
        kinds = [item.entry.kind for item in followed.more()]
        assert kinds[-3:] == ["turn_close", "turn_open", "decision"], number
    assert sorted(followed.seen) == sorted(digests(tail(open_ledger(str(root)), None, None).items))


def test_an_append_that_began_before_another_one_is_not_missed(database):
    """What a server commits later than it began is seen when it has."""
    psycopg = pytest.importorskip("psycopg")
    writer = ledgers.Writer(database, "s")
    writer.decide("a")
    followed = Followed(database)
    line = b'{"late":1}'
    with psycopg.connect(database) as connection:
        connection.execute(
            "INSERT INTO entry SELECT stream, max(n) + 1, max(start + length(line) + 1), %s, %s "
            "FROM entry WHERE stream = 'session/s' GROUP BY stream",
            [digest(line), line],
        )
        assert followed.more() == []
        ledgers.Writer(database, "other").decide("b")
        assert len(followed.more()) == 3
        assert followed.more() == []
    (late,) = followed.more()
    assert isinstance(late, Bad)


def test_an_open_turns_entries_come_before_its_close(root):
    writer = ledgers.Writer(root, "s")
    writer.decide("a")
    followed = Followed(root)
    writer.outcome("a")
    writer.stop()
    writer.decide("b")
    kinds = [item.entry.kind for item in followed.more()]
    assert kinds == ["outcome", "turn_close", "turn_open", "decision"]


@pytest.mark.parametrize("last", [None, 3])
def test_entries_of_a_session_that_was_never_opened_come_last(tmp_path, last):
    root = tmp_path / "ledger"
    ledgers.build(root)
    kit = ledgers.Kit(root)
    kit.drop(*[row for row in kit.spine if row.body["session"] == "Beta_2"])
    kit.write()
    items = list(tail(Directory(str(root)), last, None).items)
    assert {item.entry.session for item in items[-3:]} == {"Beta_2"}


def test_a_line_is_taken_once_it_is_whole(tmp_path):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s")
    writer.decide("a")
    followed = Followed(root)
    writer.outcome("a")
    path = root / "sessions" / "s.jsonl"
    whole = path.read_bytes()
    begin = whole.index(b"\n") + 1
    for cut in (begin, begin + 1, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert followed.more() == []
    path.write_bytes(whole)
    assert [item.entry.kind for item in followed.more()] == ["outcome"]


def test_a_ledger_that_was_opened_in_the_middle_of_a_line(tmp_path):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s")
    writer.decide("a")
    writer.outcome("a")
    path = root / "sessions" / "s.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    found = tail(Directory(str(root)), None, None)
    follower = Follower(open_growth(str(root)), found.ends, None, pytest.fail)
    path.write_bytes(whole)
    assert [item.entry.kind for item in follower.batch()] == ["outcome"]


def test_the_spine_goes_on_in_a_new_file(tmp_path):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s")
    writer.decide("a", "denied")
    followed = Followed(root)
    before = len(followed.seen)
    ledgers.Writer(root, "s").stop()
    old = root / ledgers.SPINE
    lines = old.read_bytes().splitlines(keepends=True)
    old.write_bytes(b"".join(lines[:-1]))
    (root / f"spine-{len(lines):012}.jsonl").write_bytes(lines[-1])
    assert [item.entry.kind for item in followed.more()] == ["turn_close"]
    assert len(followed.seen) == before + 1
    assert followed.notes == []


def test_only_one_session_is_followed(root):
    ledgers.Writer(root, "one").decide("a")
    followed = Followed(root, "two")
    ledgers.Writer(root, "three").decide("c")
    ledgers.Writer(root, "two").decide("b")
    assert {item.entry.session for item in followed.more()} == {"two"}


def test_a_file_that_became_shorter_is_said_and_gone_on_with(tmp_path):
    root = tmp_path / "ledger"
    writer = ledgers.Writer(root, "s")
    for call in "abc":
        writer.decide(call)
    followed = Followed(root)
    path = root / "sessions" / "s.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0])
    assert followed.more() == []
    assert len(followed.notes) == 1
    assert "sessions/s.jsonl is shorter than it was" in followed.notes[0]
    path.write_bytes(b"".join(lines))
    assert len(followed.more()) == 2


def test_bad_lines_that_are_added(tmp_path):
    root = tmp_path / "ledger"
    ledgers.Writer(root, "s").decide("a")
    followed = Followed(root)
    with (root / "sessions" / "s.jsonl").open("ab") as file:
        file.write(b"\xff{\n")
    (bad,) = followed.more()
    assert isinstance(bad, Bad)


def test_a_file_that_is_packed_away_ends_nothing(tmp_path):
    root = tmp_path / "ledger"
    ledgers.Writer(root, "s").decide("a")
    followed = Followed(root)
    (root / "sessions" / "s.jsonl").unlink()
    assert followed.more() == []


def test_a_ledger_that_is_gone_is_an_error(tmp_path):
    root = tmp_path / "ledger"
    ledgers.Writer(root, "s").decide("a")
    followed = Followed(root)
    root.rename(tmp_path / "elsewhere")
    with pytest.raises(LedgerError):
        followed.more()


def test_follow_prints_what_comes_until_it_is_interrupted(root):
    told = cases.Told(root, "s")
    told.decide("before", "look")
    # What runs in the background of a shell ignores this signal, and so would its children.
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"import sys; sys.path[:] = {[path for path in sys.path if path]!r}\n"
        "from toolgate.cli import main\n"
        f"sys.argv = ['toolgate', 'ledger', 'tail', {str(root)!r}, '--follow']\n"
        "main()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        seen = ""
        while "before" not in seen:
            seen += process.stdout.readline()
        told.at(5).decide("after", "look")
        until = time.monotonic() + 20
        while "after" not in seen and time.monotonic() < until:
            seen += process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=20)
    assert "after" in seen
    assert process.returncode == 130
    assert "Traceback" not in error
