"""What the writer writes: turns, answers, parts, recovery; in both shapes."""

import json
import os
from pathlib import Path

import ledgers
import pytest

from toolgate.canonical import digest
from toolgate.errors import LedgerError
from toolgate.ledger.append import Ledger, default_root
from toolgate.ledger.files import session_name
from toolgate.ledger.salt import salt
from toolgate.ledger.settle import Shown
from toolgate.records import ZERO_DIGEST
from toolgate.verify import verify

Writer = ledgers.Writer


@pytest.fixture(params=["dag", "linear"])
def shape(request):
    return request.param


@pytest.fixture
def writer(tmp_path, shape):
    return Writer(tmp_path / "ledger", "s1", shape=shape)


def entries(root: Path, kind: str | None = None) -> list[dict]:
    """Return the spine's entries, then the sessions'."""
    paths = [root / ledgers.SPINE, *sorted((root / "sessions").glob("*.jsonl"))]
    lines = [line for path in paths if path.exists() for line in path.read_bytes().split(b"\n")]
    found = [json.loads(line) for line in lines if line.startswith(b"{")]
    return [entry for entry in found if kind in (None, entry["kind"])]


def codes(root: Path) -> list[str]:
    return [item.code for item in verify(str(root)).findings]


def test_nothing_is_made_before_the_first_append(tmp_path):
    ledger = Ledger(str(tmp_path / "ledger"))
    assert ledger.head() == (0, ZERO_DIGEST)
    assert ledger.recover(ts=1) == []
    assert list(tmp_path.iterdir()) == []


def test_directories_and_files_are_private(writer):
    writer.decide("c")
    root = Path(writer.ledger.root)
    for path in [root, *root.rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_answers(writer):
    writer.decide("a")
    writer.decide("b", "asked")
    writer.decide("c", "denied")
    assert writer.outcome("a") == "outcome"
    assert writer.outcome("a") == "repeated"
    assert writer.outcome("a", result_digest=digest(b"other")) == "unmatched"
    assert writer.outcome("b") == "inferred"
    assert writer.outcome("c") == "after_deny"
    assert writer.outcome("nobody") == "unmatched"
    writer.close()
    report = verify(writer.ledger.root)
    assert sorted(item.code for item in report.findings) == [
        "execution.after_deny",
        "execution.unmatched",
        "execution.unmatched",
    ]
    assert report.inferred == 1
    assert report.calls == {("allowed", "ok"): 1, ("asked", "ok"): 1, ("denied", "ok"): 1}


def differing(root: str) -> list[dict]:
    """Return the details of what was said about arguments that differ."""
    said = [entry["ev"] for entry in entries(Path(root), "audit")]
    assert {ev["action"] for ev in said} <= {"execution.args_differ"}
    return [ev["details"] for ev in said]


@pytest.mark.parametrize(
    ("state", "done"), [("allowed", "outcome"), ("asked", "inferred"), ("denied", "after_deny")]
)
def test_other_arguments_are_said_beside_the_outcome(writer, state, done):
    writer.decide("a", state)
    ran, decided = digest(b"other"), ledgers.digest_of({"command": "ls a"})
    assert writer.outcome("a", args_digest=ran) == done
    assert writer.outcome("a", args_digest=ran) == "repeated"
    root = writer.ledger.root
    wanted = {"call": "a", "tool": "Bash", "args_digest": ran, "decided": decided}
    assert differing(root) == [wanted]
    assert writer.outcome("a", args_digest=digest(b"third")) == "repeated"
    assert differing(root) == [wanted, {**wanted, "args_digest": digest(b"third")}]
    writer.close()
    report = verify(root)
    found = [item.code for item in report.findings if item.code == "execution.args_differ"]
    assert len(found) == 2
    assert report.verdict == "FAIL"
    assert report.args_differ == 1


def test_equal_arguments_are_not_said(writer):
    writer.decide("a")
    writer.decide("b")
    assert writer.outcome("a") == "outcome"
    assert writer.outcome("b", "refused", args_digest=digest(b"other")) == "outcome"
    writer.close()
    assert differing(writer.ledger.root) == []
    assert codes(Path(writer.ledger.root)) == []


def test_other_arguments_in_a_late_and_in_a_superseding_outcome(writer):
    writer.decide("a")
    writer.stop()
    assert writer.outcome("a", args_digest=digest(b"other")) == "late"
    writer.decide("b")
    writer.close()
    assert writer.outcome("b", args_digest=digest(b"other")) == "superseded"
    assert [said["call"] for said in differing(writer.ledger.root)] == ["a", "b"]
    assert codes(Path(writer.ledger.root)) == ["execution.args_differ"] * 2


def test_a_refused_ask_needs_no_second_decision(writer):
    writer.decide("b", "asked")
    assert writer.outcome("b", "refused") == "outcome"
    writer.close()
    assert codes(Path(writer.ledger.root)) == []


def test_repeated_pre_event_keeps_the_intent(writer):
    first = writer.decide("a")
    second = writer.decide("a")
    assert first != second
    assert writer.outcome("a") == "outcome"
    writer.close()
    made = entries(Path(writer.ledger.root), "decision")
    assert made[0]["ev"]["action_ref"] == made[1]["ev"]["action_ref"]
    report = verify(writer.ledger.root)
    assert report.findings == []
    assert report.replaced == 1


def test_a_call_id_used_again_after_its_outcome_is_a_new_action(writer):
    writer.decide("a")
    writer.outcome("a")
    writer.decide("a")
    writer.outcome("a", result_digest=digest(b"second"))
    writer.close()
    made = entries(Path(writer.ledger.root), "decision")
    assert made[0]["ev"]["action_ref"] != made[1]["ev"]["action_ref"]
    assert codes(Path(writer.ledger.root)) == []


def test_without_ids_the_latest_waiting_decision_is_joined(writer):
    same = {"command": "ls"}
    writer.decide("made-1", args=same)
    writer.decide("made-2", args=same)
    report = {"call": None, "args_digest": ledgers.digest_of(same)}
    assert writer.outcome("x", **report) == "outcome"
    assert writer.outcome("y", **report) == "outcome"
    assert writer.outcome("z", **report) == "unmatched"
    assert writer.outcome("z", **{**report, "tool": "Read"}) == "unmatched"
    made = entries(Path(writer.ledger.root))
    calls = {
        digest(json_bytes(entry["ev"])): entry["intent"]["call"]
        for entry in made
        if entry["kind"] == "decision"
    }
    joined = [
        (calls[entry["ev"]["decision_digest"]], entry["join"])
        for entry in made
        if entry["kind"] == "outcome"
    ]
    assert joined == [("made-2", "content"), ("made-1", "content")]


def json_bytes(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def test_a_report_without_decision_is_stated_once(writer):
    writer.decide("a")
    writer.outcome("a")
    other = {"result_digest": digest(b"other")}
    for call, report in (("nobody", {}), ("a", other)):
        assert writer.outcome(call, **report) == "unmatched"
        assert writer.outcome(call, **report) == "repeated"
    assert writer.outcome("nobody", **other) == "unmatched"
    assert len(entries(Path(writer.ledger.root), "audit")) == 3
    writer.close()
    assert writer.outcome("nobody") == "repeated"
    # Without an id two equal reports may be about two calls.
    report = {"call": None, "args_digest": digest(b"args")}
    assert [writer.outcome(call, **report) for call in "xy"] == ["unmatched", "unmatched"]
    assert codes(Path(writer.ledger.root)) == ["execution.unmatched"] * 5


def test_late_outcome_lies_on_the_spine(writer):
    writer.decide("a")
    writer.stop()
    assert writer.outcome("a") == "late"
    late = entries(Path(writer.ledger.root), "outcome")[0]
    assert late["turn"] is None
    assert "seq" in late
    writer.close()
    assert codes(Path(writer.ledger.root)) == []


def test_late_outcome_joins_the_turn_that_is_open(writer):
    writer.prompt("p1")
    writer.decide("a")
    writer.prompt("p2")
    assert writer.outcome("a") == "late"
    assert entries(Path(writer.ledger.root), "outcome")[0]["turn"] == 2
    writer.close()
    assert codes(Path(writer.ledger.root)) == []


def test_unresolved_is_replaced_once(writer):
    writer.decide("a")
    writer.close()
    assert codes(Path(writer.ledger.root)) == ["log.orphan_allow"]
    assert writer.outcome("a") == "superseded"
    assert writer.outcome("a", result_digest=digest(b"other")) == "unmatched"
    assert codes(Path(writer.ledger.root)) == ["execution.unmatched"]


def test_session_reopens_as_its_next_part(writer):
    writer.decide("a")
    writer.outcome("a")
    writer.close()
    writer.ledger.session_open("s1", ts=writer.tick())
    writer.ledger.session_open("s1", ts=writer.tick())
    writer.decide("b")
    writer.outcome("b")
    writer.close()
    opened = entries(Path(writer.ledger.root), "session_open")
    assert [entry["ev"]["part"] for entry in opened] == [1, 2]
    assert opened[0]["parents"] == []
    assert len(opened[1]["parents"]) == 1
    assert codes(Path(writer.ledger.root)) == []


def test_turn_keys(writer):
    ledger = writer.ledger

    def decide(call, key):
        ts = writer.tick()
        ledger.decide(
            "s1",
            key=key,
            fields=ledgers.fields(call, "denied", ts=ts),
            policy=ledgers.POLICY,
            ts=ts,
        )

    decide("a", "p1")
    decide("b", "p2")  # an unseen key closes p1
    decide("c", "p1")  # a seen one joins what is open
    writer.stop()
    decide("d", "p2")
    writer.stop()
    decide("e", None)
    writer.prompt(None)
    decide("f", None)
    writer.prompt("p1")
    opened = entries(Path(ledger.root), "turn_open")
    got = [(entry["turn"], entry["ev"]["key"], entry["ev"]["part"]) for entry in opened]
    assert got == [(1, "p1", 1), (2, "p2", 1), (3, "p2", 2), (4, "p2", 3), (5, "#1", 1)]
    turns = {
        entry["intent"]["call"]: entry["turn"] for entry in entries(Path(ledger.root), "decision")
    }
    assert turns == {"a": 1, "b": 2, "c": 2, "d": 3, "e": 4, "f": 5}
    closed = entries(Path(ledger.root), "turn_close")
    assert [entry["ev"]["closed_by"] for entry in closed] == [
        "next_turn",
        "stop",
        "stop",
        "next_turn",
    ]


def test_turn_is_split_at_its_limit(writer):
    ts = writer.tick()
    many = [ledgers.fields(f"m{number}", "denied", ts=ts + number) for number in range(1100)]
    made = writer.ledger.decide_many("s1", key="p", fields=many, policy=ledgers.POLICY, ts=ts)
    assert len(set(made)) == 1100
    writer.ts += 2000
    writer.close()
    root = Path(writer.ledger.root)
    counts = [entry["ev"]["count"] for entry in entries(root, "turn_close")]
    assert counts == [512, 512, 76]
    assert [entry["ev"]["part"] for entry in entries(root, "turn_open")] == [1, 2, 3]
    assert codes(root) == []


def test_run_needs_no_outcomes(tmp_path, shape):
    run = Writer(tmp_path / "run", "r", shape=shape, executes=False, host="evalkit")
    run.decide("a")
    run.close()
    assert entries(tmp_path / "run", "outcome") == []
    assert codes(tmp_path / "run") == []


@pytest.mark.parametrize("cache", ["kept", "removed", "garbled", "other boot"])
def test_another_process_goes_on(tmp_path, shape, cache):
    root = tmp_path / "ledger"
    first = Writer(root, "s1", shape=shape)
    first.prompt("p1")
    first.decide("a")
    first.stop()
    first.prompt("p2")
    first.decide("b")
    path = root / "sessions" / "s1.turn"
    if cache == "removed":
        path.unlink()
    elif cache == "garbled":
        path.write_bytes(path.read_bytes()[:-9])
    elif cache == "other boot":
        held = json.loads(path.read_bytes())
        held["state"]["turns"] = 99
        path.write_bytes(json.dumps(held | {"boot": "another"}).encode())
    # A process that defaults to the other shape keeps to the session's own.
    second = Writer(root, "s1", shape="dag" if shape == "linear" else "linear")
    second.ts = first.ts
    assert second.outcome("b") == "outcome"
    second.decide("c")
    assert second.outcome("c") == "outcome"
    assert second.outcome("a") == "late"
    second.close()
    assert codes(root) == []
    assert [entry["ev"]["count"] for entry in entries(root, "turn_close")] == [1, 5]


def test_policy_is_kept_and_announced_once(writer):
    writer.decide("a")
    writer.decide("b")
    root = Path(writer.ledger.root)
    assert [path.read_bytes() for path in (root / "policies").iterdir()] == [ledgers.POLICY]
    assert len(entries(root, "policy_set")) == 1


def test_policy_with_another_digest_is_refused(writer):
    with pytest.raises(LedgerError, match="the policy's digest is"):
        writer.ledger.decide("s1", key=None, fields=ledgers.fields("a"), policy=b"{}", ts=1)


def test_entry_that_is_too_long_is_refused(writer):
    long = ledgers.fields("a")._replace(rule="r" * 70_000)
    with pytest.raises(LedgerError, match="at most 65536"):
        writer.ledger.decide("s1", key=None, fields=long, policy=ledgers.POLICY, ts=ledgers.START)
    writer.decide("b", "denied")
    writer.close()
    assert codes(Path(writer.ledger.root)) == []


@pytest.mark.parametrize("session", ["\ud800", "a\ud800b"])
def test_session_id_with_a_lone_surrogate_is_refused(writer, session):
    with pytest.raises(LedgerError):
        writer.ledger.session_open(session, ts=1)


@pytest.mark.parametrize("session", ["", "..", "a/b", "UPPER", "ä", "x" * 65, "-a", 'q"uote\\'])
def test_session_ids_of_any_kind(tmp_path, shape, session):
    one = Writer(tmp_path / "ledger", session, shape=shape)
    one.decide("a")
    one.outcome("a")
    one.close()
    assert codes(tmp_path / "ledger") == []
    assert session_name(session).startswith("x-")


def test_audit_entries(writer):
    done = writer.ledger.audit(
        action="run.claimed", actor="me", target="set-1", details={"n": 1}, ts=5
    )
    assert writer.ledger.head() == (1, done)
    with pytest.raises(LedgerError, match="outside the ledger profile"):
        writer.ledger.audit(action="a", actor="b", target=None, details={"x": 1.5}, ts=5)
    with pytest.raises(LedgerError):
        writer.ledger.audit(action="a", actor="b", target=None, details={"x": object()}, ts=5)
    assert codes(Path(writer.ledger.root)) == []


def test_fsync_writes_the_same_bytes(tmp_path, shape):
    for name, durability in (("one", "os"), ("two", "fsync")):
        made = Writer(tmp_path / name, "s1", shape=shape, durability=durability)
        made.decide("a")
        made.outcome("a")
        made.close()
        assert codes(tmp_path / name) == []
    mine = [entry["kind"] for entry in entries(tmp_path / "one")]
    assert mine == [entry["kind"] for entry in entries(tmp_path / "two")]


def test_unknown_settings_are_refused(tmp_path):
    with pytest.raises(LedgerError, match="durability"):
        Ledger(str(tmp_path), durability="hope")
    with pytest.raises(LedgerError, match="shape"):
        Ledger(str(tmp_path), shape="tree")


def test_default_root(tmp_path):
    assert default_root({"TOOLGATE_LEDGER": "/x/y"}) == "/x/y"
    assert default_root({"XDG_STATE_HOME": "/s", "HOME": "/h"}) == "/s/toolgate/ledger"
    assert (
        default_root({"XDG_STATE_HOME": "rel", "HOME": "/h"}) == "/h/.local/state/toolgate/ledger"
    )
    assert default_root({"HOME": "/h"}) == "/h/.local/state/toolgate/ledger"


def test_salt_is_made_once_beside_the_ledger(tmp_path):
    root = tmp_path / "deep" / "ledger"
    made = salt(str(root))
    assert len(made) == 32
    assert salt(str(root) + os.sep) == made
    path = tmp_path / "deep" / "ledger.salt"
    assert path.stat().st_mode & 0o777 == 0o600
    assert not root.exists()
    path.write_bytes(b"short")
    with pytest.raises(LedgerError, match="expected 32"):
        salt(str(root))


# -- who started an agent

STARTED = digest(b"a decision that started an agent")


def test_sessions_name_who_started_them(tmp_path, shape):
    writer = Writer(tmp_path / "ledger", "s1", shape=shape, spawned_by=STARTED)
    writer.decide("a", "denied")
    writer.close()
    writer.decide("b", "denied")
    writer.close()
    other = digest(b"another")
    writer.ledger.session_open("s2", ts=writer.tick(), spawned_by=other)
    opened = entries(tmp_path / "ledger", "session_open")
    assert [one["ev"]["spawned_by"] for one in opened] == [STARTED, STARTED, other]


def test_who_seals_started_nobody(tmp_path):
    writer = Writer(tmp_path / "ledger", "s1")
    writer.decide("a", "denied")
    writer.close()
    with (tmp_path / "ledger" / "sessions" / "s1.jsonl").open("ab") as file:
        file.write(b'{"axis"')
    sealing = Writer(tmp_path / "ledger", "s1", spawned_by=STARTED)
    sealing.ts = writer.ts
    sealing.ledger.recover(ts=sealing.tick())
    lines = (tmp_path / "ledger" / ledgers.SPINE).read_bytes().splitlines()
    opened = [json.loads(line) for line in lines if b'"kind":"session_open"' in line]
    assert [one["ev"]["spawned_by"] for one in opened] == [None, None]


def test_what_is_no_digest_started_nobody(tmp_path):
    with pytest.raises(LedgerError, match="spawned_by is 'x'"):
        Ledger(str(tmp_path / "ledger"), spawned_by="x")


def test_a_late_outcome_keeps_a_session_from_being_idle(writer):
    """A call in the background ended just now: its session is in use, though no turn is open."""
    writer.prompt("p1")
    writer.decide("a")
    writer.stop()
    writer.ts += 10**9
    assert writer.outcome("a") == "late"
    last, shown = writer.ts, [Shown(None, "b", None)]
    assert writer.ledger.recover(ts=last + 999, idle_us=1000) == []
    assert writer.ledger.settle("s1", shown=shown, ts=last + 999, idle_us=1000) == ["busy"]
    assert writer.ledger.settle("s1", shown=shown, ts=last + 1000, idle_us=1000) == ["known"]
    assert writer.ledger.recover(ts=last + 1000, idle_us=1000) == ["session s1: closed"]
    assert codes(Path(writer.ledger.root)) == []
