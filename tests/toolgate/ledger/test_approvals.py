"""What the writer does with approvals: whose it takes, and that each is used once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import approved
import pytest
from approved import ALONE, HOUR, THIRD, Desk, key

from toolgate.approval import Approvers, Target, message
from toolgate.canonical import digest, digest_of
from toolgate.errors import InputError, LedgerError
from toolgate.gate.policy.compose import Rule
from toolgate.ledger.append import open_store
from toolgate.ledger.known import Known
from toolgate.verify import verify

FAULTS = Path(approved.__file__).parent


@pytest.fixture(params=["dag", "linear"])
def desk(tmp_path, request):
    made = Desk(tmp_path / "ledger", "s", ALONE, shape=request.param)
    made.prompt("p1")
    return made


def kinds(desk: Desk) -> list[str]:
    spine = (desk.root / "spine-000000000001.jsonl").read_bytes()
    return [json.loads(line)["kind"] for line in spine.splitlines()]


def codes(desk: Desk) -> set[str]:
    return {item.code for item in verify(str(desk.root)).findings}


OPEN = {"log.turn_open", "log.session_open"}


def test_an_answered_ask_is_one_approval_and_a_second_decision(desk):
    asked = desk.say("a", "asked")
    given = desk.answer("bob", "a", asked)
    assert given.decision_digest is not None
    report = verify(str(desk.root))
    assert report.answered == {"signature": 1}
    assert report.decisions == {"asked": 1, "allowed": 1}
    desk.done("a")
    assert codes(desk) == OPEN


def test_a_refused_ask_is_denied(desk):
    asked = desk.say("a", "asked")
    assert desk.answer("bob", "a", asked, verdict="refuse").decision_digest is not None
    report = verify(str(desk.root))
    assert report.decisions == {"asked": 1, "denied": 1}
    assert report.calls == {("asked", "none"): 1}
    assert report.asks == []


REFUSED = [
    ({"signer": "mallory"}, "is not a key of 'bob' under the action's policy"),
    ({"signature": "ed25519:" + "0" * 128}, "carries no signature that verifies"),
    ({"args_digest": digest(b"other")}, "about another action"),
    ({"class": "deploy"}, "about another action"),
    ({"expiry": 1}, "expires before it is given"),
]


@pytest.mark.parametrize(("more", "said"), REFUSED, ids=lambda value: str(value)[:40])
def test_an_approval_that_does_not_hold_is_not_taken(desk, more, said):
    asked = desk.say("a", "asked")
    before = kinds(desk)
    more = dict(more)
    signature = more.pop("signature", None)
    ev = desk.signed("bob", decision_digest=asked, session="s", **more)
    ev = ev if signature is None else {**ev, "sig": signature}
    target = Target(asked, digest_of("x"), "s", "look")
    with pytest.raises(InputError, match=said):
        desk.ledger.approve(ev, target=target, call="a", approvers=desk.approvers("look"))
    assert kinds(desk) == before
    assert desk.answer("bob", "a", asked).decision_digest


def test_only_those_the_policy_names_may_approve(desk):
    asked = desk.say("a", "asked")
    with pytest.raises(InputError, match="is not a key of 'mallory'"):
        desk.answer("mallory", "a", asked)
    with pytest.raises(
        InputError, match="'carol' may not approve this; the policy lets alice, bob"
    ):
        desk.approve("carol", "deploy")
    with pytest.raises(InputError, match="'bob' approves after 'alice', who has not yet"):
        desk.approve("bob", "drop")


def test_what_does_not_wait_cannot_be_answered(desk):
    asked = desk.say("a", "asked")
    with pytest.raises(InputError, match="call b has ended"):
        desk.answer("bob", "b", asked)
    with pytest.raises(InputError, match="has been decided again since"):
        desk.answer("bob", "a", digest(b"other"))
    desk.answer("bob", "a", asked)
    with pytest.raises(InputError, match="has been decided again since"):
        desk.answer("bob", "a", asked)
    denied = desk.say("d", "denied")
    with pytest.raises(InputError, match="asks nothing"):
        desk.answer("bob", "d", denied)
    late = desk.say("e", "asked")
    desk.close()
    with pytest.raises(InputError, match="session s has ended"):
        desk.answer("bob", "e", late)
    assert "approval" not in kinds(desk)[-2:]


def test_a_report_of_the_host_answers_once(desk):
    denied = desk.say("d", "denied")
    assert desk.report("a", denied) == "known"
    assert desk.report("d", denied) == "known"
    asked = desk.say("a", "asked")
    assert desk.report("a", asked) == "approved"
    assert desk.report("a", asked) == "known"
    assert kinds(desk).count("approval") == 1
    assert verify(str(desk.root)).answered == {"telemetry": 1}


def test_a_forged_line_on_the_spine_allows_nothing(desk):
    desk.close()
    desk.force(desk.signed("alice", signer="mallory", **{"class": "deploy"}))
    desk.force({**desk.signed("bob", **{"class": "deploy"}), "sig": "ed25519:" + "1" * 128})
    assert not desk.attempt("a", "deploy").allowed


def test_a_copied_signature_allows_one_call(desk):
    desk.close()
    for name in ("alice", "bob"):
        ev = desk.signed(name, **{"class": "deploy"})
        desk.force(ev)
        desk.force(ev)
    assert desk.attempt("a", "deploy").allowed
    assert not desk.attempt("b", "deploy").allowed


def test_a_rotation_needs_a_key_that_is_there(desk):
    desk.say("a", "denied")
    rotate = desk.ledger.rotate_approver
    with pytest.raises(InputError, match="no policy of this ledger gives it"):
        rotate("alice", old=key("mallory"), new=key("new"), ts=desk.tick())
    with pytest.raises(InputError, match="another principal's key"):
        rotate("alice", old=key("alice"), new=key("bob"), ts=desk.tick())
    rotate("alice", old=key("alice"), new=key("alice 2"), ts=desk.tick())
    with pytest.raises(InputError, match="or it was replaced"):
        rotate("alice", old=key("alice"), new=key("alice 3"), ts=desk.tick())
    with pytest.raises(InputError, match="is not a key of 'alice'"):
        desk.approve("alice", "deploy")
    desk.approve("alice", "deploy", signer="alice 2")
    keys = Known(open_store(str(desk.root), durable=False)).keys
    assert keys.replaced("alice", key("alice").public, key("alice 2").public)
    assert codes(desk) == OPEN


def test_a_policy_that_is_not_held_is_an_error(desk):
    asked = desk.say("a", "asked")
    next((desk.root / "policies").glob("*.json")).unlink()
    with pytest.raises(LedgerError, match="cannot read the policy"):
        desk.report("a", asked)


def test_the_authors_signature_is_kept_once_with_the_policy(tmp_path):
    desk = Desk(tmp_path / "ledger", "s", THIRD)
    desk.say("a", "denied")
    version = digest(desk.text)[7:]
    held = desk.root / "policies" / f"{version}.sig"
    assert json.loads(held.read_bytes())["key"] == key("alice").public
    assert held.stat().st_mode & 0o777 == 0o600


# One process that wants to use the approvals of two principals; many race for them.
RACER = """
import sys
sys.path.insert(0, sys.argv[1])
import approved
from pathlib import Path
desk = approved.Desk(Path(sys.argv[2]), sys.argv[3], approved.ALONE, shape=sys.argv[5])
desk.ts += 1_000_000
print("ready", flush=True)
sys.stdin.readline()
print(desk.attempt(sys.argv[4], "deploy").allowed, flush=True)
"""


def race(root: Path, sessions: list[str], shape: str) -> list[str]:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(FAULTS), str(root), session, f"c{number}", shape],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environ,
        )
        for number, session in enumerate(sessions)
    ]
    for process in running:
        assert process.stdout.readline() == "ready\n"
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    return [process.communicate()[0].strip() for process in running]


@pytest.mark.parametrize("shape", ["dag", "linear"])
@pytest.mark.parametrize("sessions", [["s"] * 8, [f"s{n}" for n in range(8)]], ids=["one", "many"])
def test_of_eight_processes_one_uses_the_approval(tmp_path, sessions, shape):
    desk = Desk(tmp_path / "ledger", "first", ALONE)
    desk.say("a", "denied")
    for name in ("alice", "bob"):
        desk.approve(name, "deploy", session=None, expiry=desk.ts + HOUR)
    desk.close()
    won = race(desk.root, sessions, shape)
    assert sorted(won) == ["False"] * 7 + ["True"]
    winner = f"c{won.index('True')}"
    last = Desk(desk.root, sessions[won.index("True")], ALONE, shape=shape)
    last.ts += 2_000_000
    last.done(winner, "deploy")
    for session in dict.fromkeys(sessions):
        last.ledger.session_close(session, closed_by="session_end", ts=last.tick())
    report = verify(str(desk.root), expect_head=last.ledger.head())
    assert report.findings == []
    assert report.decisions == {"denied": 8, "allowed": 1}


def test_nobody_can_approve_where_no_principal_is_named(tmp_path):
    desk = Desk(tmp_path / "ledger", "s", ALONE)
    asked = desk.say("a", "asked")
    ev = desk.signed("bob", decision_digest=asked, session="s")
    assert message(ev)
    nobody = Approvers(Rule("any-of", 1, ()), {})
    with pytest.raises(InputError, match="is not a key of 'bob'"):
        desk.ledger.approve(
            ev, target=Target(asked, digest_of("x"), "s", "look"), call="a", approvers=nobody
        )
