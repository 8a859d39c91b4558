"""Whatever a ledger is kept in, the same calls leave the same bytes."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import approved
import ledgers
import lifted
import pytest
from stores import bytes_of

from toolgate.canonical import digest, digest_of
from toolgate.errors import LedgerError
from toolgate.ledger.append import Ledger
from toolgate.verify import verify

psycopg = pytest.importorskip("psycopg")

Steps = Callable[[Any], list[Any]]


def damage(place: str, path: str, data: bytes) -> None:
    """Add whole lines behind a stream, as no writer would."""
    if not place.startswith("postgresql:"):
        with (Path(place) / path).open("ab") as file:
            file.write(data)
        return
    stream = (
        path.removesuffix(".jsonl").replace("spine-", "spine/").replace("sessions/", "session/")
    )
    with psycopg.connect(place) as connection:
        for line in data.split(b"\n")[:-1]:
            connection.execute(
                "INSERT INTO entry SELECT %s, max(n) + 1, max(start + length(line) + 1), %s, %s "
                "FROM entry WHERE stream = %s",
                [stream, digest(line), line, stream],
            )


class Pair:
    """A ledger's writer and its place."""

    def __init__(self, place: str, session: str = "s1", **setting: Any) -> None:
        self.place = place
        self.setting = setting
        self.writer = ledgers.Writer(place, session, **setting)

    def again(self) -> ledgers.Writer:
        """Return the same session's writer in a process that remembers nothing."""
        fresh = ledgers.Writer(self.place, self.writer.session, **self.setting)
        fresh.ts = self.writer.ts
        self.writer = fresh
        return fresh


def whole_life(pair: Pair) -> list[Any]:
    w = pair.writer
    w.ledger.session_open("s1", ts=w.tick(), spawned_by=digest(b"parent"))
    w.ledger.session_open("s1", ts=w.tick())
    w.prompt("p1")
    done = [w.decide("a"), w.decide("b", "asked"), w.decide("c", "denied")]
    done += [w.outcome("a"), w.outcome("b"), w.outcome("c", "refused")]
    w.prompt("p2")
    w.prompt("p1")
    w.stop()
    w.stop()
    w.close()
    w.close()
    return [*done, w.ledger.head()]


def repeats(pair: Pair) -> list[Any]:
    w = pair.writer
    done = [w.decide("a"), w.decide("a", "asked"), w.decide("a"), w.outcome("a")]
    done += [w.outcome("a"), w.outcome("a", "error"), w.outcome("unknown")]
    done += [w.decide("d", "denied"), w.outcome("d")]
    changed = digest_of({"command": "changed"})
    w.decide("e")
    done += [w.outcome("e", args_digest=changed), w.outcome("e", args_digest=changed)]
    return done


def late_and_superseded(pair: Pair) -> list[Any]:
    w = pair.writer
    w.decide("a")
    w.decide("b")
    w.stop()
    done = [pair.again().outcome("a")]
    pair.writer.close()
    done.append(pair.again().outcome("b"))
    done.append(pair.again().outcome("b"))
    return [*done, pair.writer.decide("c"), pair.again().outcome("c")]


def without_ids(pair: Pair) -> list[Any]:
    w = pair.writer
    w.prompt(None)
    w.decide("x", args={"command": "same"})
    w.decide("y", args={"command": "same"})
    same = digest_of({"command": "same"})
    done = [w.outcome("", call=None, args_digest=same) for _ in range(3)]
    w.prompt(None)
    return [*done, pair.again().outcome("", call=None, args_digest=same)]


def cold_writers(pair: Pair) -> list[Any]:
    done = []
    for number in range(5):
        done.append(pair.again().decide(f"c{number}"))
        done.append(pair.again().outcome(f"c{number}"))
        pair.again().prompt(f"p{number % 2}")
    pair.again().close()
    return done


def limit(pair: Pair) -> list[Any]:
    w = pair.writer
    many = [ledgers.fields(f"c{number}", ts=ledgers.START + number) for number in range(600)]
    w.ts += 1_000_000
    made = w.ledger.decide_many("s1", key="p", fields=many, policy=ledgers.POLICY, ts=w.tick())
    return [*made, w.outcome("c0"), w.outcome("c599")]


def two_sessions(pair: Pair) -> list[Any]:
    other = ledgers.Writer(pair.place, "Other session \u00e9", **pair.setting)
    done = []
    for number in range(4):
        done += [pair.writer.decide(f"a{number}"), other.decide(f"b{number}")]
        done += [other.outcome(f"b{number}"), pair.writer.outcome(f"a{number}")]
    other.close()
    return done


def audits(pair: Pair) -> list[Any]:
    w = pair.writer
    more = {"actor": "test", "target": None, "details": {"n": 1}}
    done = [w.ledger.audit(action="first", ts=w.tick(), **more)]
    w.decide("a")
    done.append(w.ledger.audit(action="second", ts=w.tick(), session="s1", **more))
    return [*done, w.ledger.head()]


def recovering(pair: Pair) -> list[Any]:
    w = pair.writer
    done = [w.ledger.recover(ts=w.tick())]
    w.decide("a")
    done.append(w.ledger.recover(ts=w.tick(), idle_us=10**12))
    done.append(w.ledger.recover(ts=w.tick()))
    return [*done, pair.again().outcome("a")]


def fragments(pair: Pair) -> list[Any]:
    w = pair.writer
    w.decide("a")
    damage(
        pair.place, "sessions/s1.jsonl" if "shape" not in pair.setting else ledgers.SPINE, b"{\n"
    )
    done = [pair.again().outcome("a")]
    damage(pair.place, ledgers.SPINE, b"two\nlines\n")
    done.append(pair.again().ledger.recover(ts=w.tick() + 10**9))
    return done


def approvals(pair: Pair) -> list[Any]:
    desk = approved.Desk(pair.place, "s1", **pair.setting)
    done = [desk.attempt("d1", "deploy")]
    done += [desk.approve("alice", "deploy"), desk.approve("bob", "deploy")]
    done.append(desk.attempt("d2", "deploy"))
    desk.done("d2", "deploy")
    again = approved.Desk(pair.place, "s1", ts=desk.ts, **pair.setting)
    done.append(again.attempt("d3", "deploy"))
    name, old, new = "alice", approved.key("alice"), approved.key("alice 2")
    done.append(again.ledger.rotate_approver(name, old=old, new=new, ts=again.tick()))
    again.close()
    return done


def checkpoints(pair: Pair) -> list[Any]:
    w = pair.writer
    w.decide("a", "denied")
    w.close()
    done = [w.ledger.checkpoint(approved.key("log"), ts=w.tick())]
    w.decide("b", "denied")
    w.close()
    old, new = approved.key("log"), approved.key("log 2")
    done.append(w.ledger.rotate_key(old, new, ts=w.tick()))
    done.append(pair.again().ledger.checkpoint(new, ts=w.tick()))
    return done


def let_through(pair: Pair) -> list[Any]:
    """People sign for a held-back call and for a class, and take back what is left."""
    desk = lifted.Counter(pair.place, "s1", lifted.SHIPPED, **pair.setting)
    done = [desk.retry("a")]
    done += [desk.let("bob"), desk.retry("b"), desk.retry("b"), desk.retry("c")]
    done += [desk.let("alice", args_digest=None) for _ in range(2)]
    done += [desk.retry("d", args="y"), desk.let("alice", args_digest=None, verdict="refuse")]
    again = lifted.Counter(pair.place, "s1", lifted.SHIPPED, ts=desk.ts, **pair.setting)
    done.append(again.retry("e", args="y"))
    assert [one.allowed for one in done if hasattr(one, "allowed")] == [
        False, True, True, False, True, False,
    ]  # fmt: skip
    for call, args in (("b", "x"), ("d", "y")):
        again.done(call, args=args)
    again.close()
    return done


SCENARIOS = [
    approvals,
    checkpoints,
    whole_life,
    repeats,
    late_and_superseded,
    without_ids,
    cold_writers,
    limit,
    two_sessions,
    audits,
    recovering,
    fragments,
    let_through,
]


@pytest.mark.parametrize("setting", [{}, {"shape": "linear"}, {"durability": "fsync"}], ids=str)
@pytest.mark.parametrize("steps", SCENARIOS, ids=lambda steps: steps.__name__)
def test_same_calls_same_bytes(tmp_path, database, steps, setting):
    root = str(tmp_path / "ledger")
    assert steps(Pair(root, **setting)) == steps(Pair(database, **setting))
    assert bytes_of(root) == bytes_of(database)
    left, right = verify(root), verify(database)
    assert left == right


@pytest.mark.parametrize(
    "steps", [whole_life, cold_writers, two_sessions, late_and_superseded, approvals]
)
@pytest.mark.parametrize("shape", ["dag", "linear"])
def test_rotation_is_the_same_everywhere(tmp_path, database, steps, shape):
    root = str(tmp_path / "ledger")
    setting = {"shape": shape, "rotate": 1500}
    assert steps(Pair(root, **setting)) == steps(Pair(database, **setting))
    kept = bytes_of(root)
    assert kept == bytes_of(database)
    assert len([name for name in kept if name.startswith("spine-")]) > 1
    left, right = verify(root), verify(database)
    assert left == right
    assert all(item.code != "log.spine_broken" for item in left.findings)


def test_settings_and_policies(tmp_path, database):
    for place in (str(tmp_path / "ledger"), database):
        writer = ledgers.Writer(place, "s1", executes=False, host="evalkit")
        writer.decide("a")
        with pytest.raises(LedgerError, match="the policy's digest is"):
            other = ledgers.fields("b")._replace(policy_version=digest(b"other"))
            writer.ledger.decide(
                "s1", key=None, fields=other, policy=ledgers.POLICY, ts=ledgers.START
            )
    assert bytes_of(str(tmp_path / "ledger")) == bytes_of(database)


def test_an_empty_database_holds_no_ledger(database):
    assert Ledger(database).recover(ts=1) == []
    assert Ledger(database).head() == (0, "sha256:" + "0" * 64)
    with pytest.raises(LedgerError, match="no ledger here"):
        verify(database)


# -- what only a server does


def test_a_refused_entry_takes_the_whole_append_back(database):
    writer = ledgers.Writer(database, "s1")
    writer.decide("a")
    before = bytes_of(database)
    with pytest.raises(LedgerError):
        writer.decide("b" * 70_000)
    assert bytes_of(database) == before
    assert writer.outcome("a") == "outcome"
    writer.close()
    assert verify(database).findings == []


def _terminate(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )


@pytest.mark.parametrize("shape", ["dag", "linear"])
@pytest.mark.parametrize(
    "append", [lambda writer: writer.decide("b", "denied"), lambda writer: writer.stop()]
)
def test_connection_lost_within_an_append(new_database, monkeypatch, shape, append):
    """Lost before any statement: the append is whole, or an error and nothing of it is there."""
    from toolgate.ledger.postgres import Database

    real = Database._run
    lost, whole = [], []
    for at in range(1, 40):
        database = new_database()
        writer = ledgers.Writer(database, "s1", shape=shape)
        writer.decide("a")
        before = bytes_of(database)
        calls = 0

        def before_statement(self, *statement, at=at, database=database):
            nonlocal calls
            calls += 1
            if calls == at:
                _terminate(database)
            return real(self, *statement)

        with monkeypatch.context() as patch:
            patch.setattr(Database, "_run", before_statement)
            try:
                append(writer)
            except LedgerError as error:
                assert "pa@ss" not in str(error)
                assert bytes_of(database) == before
                lost.append(at)
            else:
                assert bytes_of(database) != before
                whole.append(at)
        writer.outcome("a")
        writer.close()
        assert verify(database).findings == []
        if calls < at:
            break
    assert calls < at
    # What goes with the first message is sent again: nothing was written before it.
    assert whole[:3] == [1, 2, 3]
    assert len(lost) >= 2
    assert lost[-1] == at - 1


def test_an_append_is_two_round_trips(database, monkeypatch):
    """A lock is held for messages: one takes it and looks, one writes and commits."""
    from toolgate.ledger.postgres import Database

    writer = ledgers.Writer(database, "s1")
    writer.decide("a")
    sent = []
    real = Database._send

    def count(self, statements):
        sent.append([text.split()[0] for text, _ in statements])
        return real(self, statements)

    monkeypatch.setattr(Database, "_send", count)
    writer.decide("b")
    writer.outcome("b")
    assert sent == [["BEGIN", "SELECT", "SELECT"], ["INSERT", "COMMIT"]] * 2
    sent.clear()
    writer.stop()  # with the spine's lock, and one look at the turn's entries
    assert len(sent) == 4


def test_a_group_whose_connection_was_lost_is_no_success(database):
    writer = ledgers.Writer(database, "s1", durability="fsync")
    writer.decide("a")
    with pytest.raises(LedgerError, match="the connection was lost"), writer.ledger.group():
        writer.decide("b")
        _terminate(database)
        writer.decide("c")
    writer.outcome("a")


def test_many_lines_of_one_append(database):
    """More than one message holds, and read back whole by a process that remembers nothing."""
    pair = Pair(database)
    many = [ledgers.fields(f"c{number}", ts=ledgers.START) for number in range(300)]
    w = pair.writer
    w.ts += 1_000_000
    w.ledger.decide_many("s1", key="p", fields=many, policy=ledgers.POLICY, ts=w.tick())
    assert [pair.again().outcome(f"c{number}") for number in (0, 150, 299)] == ["outcome"] * 3
    pair.writer.close()
    assert verify(database).calls == {("allowed", "ok"): 3, ("allowed", "unresolved"): 297}


def test_an_idle_connection_that_was_cut_is_opened_again(database):
    writer = ledgers.Writer(database, "s1")
    writer.decide("a")
    _terminate(database)
    assert writer.outcome("a") == "outcome"
    writer.close()
    assert verify(database).findings == []


def test_credentials_are_in_no_message(database):
    wrong = database.replace("/postgres?", "/no_such_database?")
    for address in (wrong, "postgresql://someone:hunter2@127.0.0.1:1/nowhere"):
        with pytest.raises(LedgerError) as caught:
            ledgers.Writer(address, "s1").decide("a")
        assert "someone" not in str(caught.value)
        assert "hunter2" not in str(caught.value)
        assert "pa@ss" not in str(caught.value)
        with pytest.raises(LedgerError) as caught:
            verify(address)
        assert "hunter2" not in str(caught.value)
    with pytest.raises(LedgerError, match="percent-encoded") as caught:
        Ledger("postgresql://u:p/a@ss@host/db")
    assert "p/a" not in str(caught.value)
    assert "postgres:" not in Ledger(database).root


# -- many writers

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
    assert writer.outcome(call) in ("outcome", "late")
    if number % 7 == 6:
        writer.stop()
"""


@pytest.mark.parametrize("shape", ["dag", "linear"])
def test_eight_writers_of_one_session_lose_nothing(database, shape):
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    script = str(Path(ledgers.__file__))
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, script, database, "shared", f"w{number}", "25", shape],
            env=environ,
        )
        for number in range(8)
    ]
    assert [process.wait() for process in running] == [0] * 8
    last = Ledger(database)
    last.session_close("shared", closed_by="session_end", ts=ledgers.START * 2)
    report = verify(database, expect_head=last.head())
    assert report.findings == []
    assert report.verdict == "PASS"
    assert report.calls == {("allowed", "ok"): 200}
