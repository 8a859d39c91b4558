"""toolgate approve, refuse, key and policy sign: words first, then a signature; clear refusals."""

import json
import os
import subprocess
import sys

import pytest
from approved import ALONE, FIRST, Desk, key

from toolgate.canonical import digest
from toolgate.signing import PrivateKey, verifies
from toolgate.verify import verify


class Office:
    """A home directory with keys in it, and a ledger in which calls wait."""

    def __init__(self, path) -> None:
        self.home = path
        self.keys = path / ".config" / "toolgate" / "keys"
        self.keys.mkdir(parents=True)
        for name in ("alice", "bob", "mallory"):
            key(name).save(str(self.keys / f"{name}.pem"))
        self.root = path / "ledger"
        self.desk = Desk(self.root, "s", ALONE)
        self.desk.prompt("p1")

    def run(self, *arguments: str) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [sys.executable, "-m", "toolgate", *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            env={
                "HOME": str(self.home),
                "TOOLGATE_LEDGER": str(self.root),
                "PYTHONPATH": os.pathsep.join(one for one in sys.path if one),
            },
        )
        assert "Traceback" not in done.stderr
        return done

    def fails(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 2, done.stdout + done.stderr
        return done.stderr


@pytest.fixture
def office(tmp_path):
    return Office(tmp_path)


def test_an_ask_is_answered_by_its_call_id(office):
    asked = office.desk.say("toolu_1", "asked")
    done = office.run("approve", "toolu_1", "--as", "bob", "--expires", "30m")
    assert done.returncode == 0, done.stderr
    words = done.stdout.splitlines()
    assert words[0] == "Approve Bash call toolu_1, and no other"
    assert "  class    look" in words
    assert "  effects  inspect (workspace)" in words
    assert "  session  s" in words
    assert f"  as       bob ({key('bob').public})" in words
    assert words[-1].startswith("The call is allowed by decision sha256:")
    report = verify(str(office.root))
    assert report.answered == {"signature": 1}
    assert asked in office.fails("approve", asked, "--as", "bob")


@pytest.mark.parametrize("how", ["decision", "entry", "prefix"])
def test_a_decision_is_found_by_any_of_its_names(office, how):
    event = office.desk.say("toolu_1", "asked")
    lines = (office.root / "sessions" / "s.jsonl").read_bytes().splitlines()
    name = {"decision": event, "entry": digest(lines[0]), "prefix": event[7:15]}[how]
    done = office.run("refuse", name, "--as", "bob")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("The call is denied by decision")


def test_a_denied_call_is_approved_for_its_retry(office):
    desk = office.desk
    denied = desk.attempt("c1", "deploy").decision_digest
    done = office.run("approve", denied, "--as", "alice")
    assert done.stdout.startswith("Approve one Deploy call with the same arguments as c1\n")
    assert done.stdout.splitlines()[-1] == "Not yet enough: bob must still approve."
    done = office.run("approve", denied, "--as", "bob", "--for", "class", "--any-session")
    assert "Approve one call of this class, whatever its arguments" in done.stdout
    assert "  session  any session" in done.stdout
    assert "  args     any" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("All approvals are there")
    # The approvals carry the time of today.
    desk.ts = max(json.loads(line)["ts"] for line in _spine(office))
    assert desk.attempt("c2", "deploy").allowed
    desk.done("c2", "deploy")
    desk.close()
    assert verify(str(office.root)).findings == []


def test_what_was_approved_is_taken_back(office):
    denied = office.desk.attempt("c1", "deploy").decision_digest
    office.run("approve", denied, "--as", "alice")
    done = office.run("refuse", denied, "--as", "alice", "--for", "class")
    assert done.stdout.splitlines()[-1] == "What alice approved of this before counts no more."
    done = office.run("approve", denied, "--as", "bob")
    assert done.stdout.splitlines()[-1] == "Not yet enough: alice must still approve."


def test_what_cannot_be_approved_says_why(office):
    desk = office.desk
    desk.say("denied", "denied")
    desk.say("allowed", "allowed")
    desk.say("asked", "asked")
    desk.attempt("composed", "drop")
    cases = [
        (["none", "--as", "bob"], "holds no call 'none'; expected a call id"),
        (["deadbeefdeadbeef", "--as", "bob"], "holds no call 'deadbeefdeadbeef'"),
        (["denied", "--as", "bob"], "was denied by rule look.ok, and no approvals are provided"),
        (["allowed", "--as", "bob"], "was allowed; nothing waits for a word on it"),
        (["composed", "--as", "alice", "--for", "call"], "a denied call does not run any more"),
        (["asked", "--as", "bob", "--for", "class"], "no approvals are collected for class look"),
        (["asked", "--as", "bob", "--any-session"], "leave --any-session out"),
        (["asked", "--as", "mallory"], "is not a key of 'mallory'"),
        (["composed", "--as", "bob"], "'bob' approves after 'alice', who has not yet"),
        (["asked", "--as", "bob", "--expires", "1y"], "is no length of time up to a year"),
        (["asked", "--as", "bob", "--expires", "9999d"], "is no length of time up to a year"),
        (["asked", "--as", "../bob"], "cannot name a key file"),
    ]
    before = _spine(office)
    for arguments, said in cases:
        assert said in office.fails("approve", *arguments)
    assert _spine(office) == before


def test_a_key_that_others_can_read_signs_nothing(office):
    office.desk.say("asked", "asked")
    (office.keys / "bob.pem").chmod(0o644)
    done = office.run("approve", "asked", "--as", "bob")
    assert done.returncode == 3
    assert "others can read the private key" in done.stderr
    done = office.run("approve", "asked", "--as", "carol")
    assert done.returncode == 3
    assert "cannot read the key" in done.stderr


def test_a_call_id_of_two_sessions_is_not_guessed(office):
    first = office.desk.say("c", "asked")
    other = Desk(office.root, "t", ALONE)
    other.say("c", "asked")
    said = office.fails("approve", "c", "--as", "bob")
    assert "'c' may be 2 calls; name one by its entry:" in said
    listed = dict(reversed(line.split(maxsplit=1)) for line in said.splitlines()[-2:])
    (entry,) = [entry for text, entry in listed.items() if "session s, asked" in text]
    done = office.run("approve", entry, "--as", "bob")
    assert done.returncode == 0, done.stderr
    assert "  session  s" in done.stdout.splitlines()
    assert first in office.fails("approve", first, "--as", "bob")


def test_what_is_no_decision_or_an_old_one_is_not_approved(office):
    asked = office.desk.say("c", "asked")
    office.desk.tick()
    office.desk.say("c", "asked")
    assert f"call c has been decided again since {asked}" in office.fails(
        "approve", asked, "--as", "bob"
    )
    opened = digest(_spine(office)[0])
    assert "entry that belongs to no decided call" in office.fails("approve", opened, "--as", "bob")
    before = _spine(office)
    assert office.run("approve", "c", "--as", "bob").returncode == 0
    assert len(_spine(office)) == len(before) + 1


def test_there_must_be_a_ledger(office):
    done = office.run("approve", "c", "--as", "bob", "--ledger", str(office.home / "nothing"))
    assert done.returncode == 3
    assert "there is no ledger" in done.stderr


def test_keys_are_made_shown_and_never_overwritten(office):
    made = office.run("key", "new", "carol")
    public = made.stdout.strip()
    assert made.returncode == 0
    assert (office.keys / "carol.pem").stat().st_mode & 0o777 == 0o600
    assert office.run("key", "show", "carol").stdout.strip() == public
    again = office.run("key", "new", "carol")
    assert again.returncode == 3
    assert "a key is never overwritten" in again.stderr
    assert office.run("key", "show", "carol").stdout.strip() == public


def test_a_rotation_retires_the_old_key(office):
    office.desk.say("asked", "asked")
    done = office.run("key", "rotate", "bob")
    assert done.returncode == 0, done.stderr
    fresh = done.stdout.strip()
    assert PrivateKey.load(str(office.keys / "bob.pem")).public == fresh
    kept = office.keys / f"bob.{key('bob').public[8:16]}.retired.pem"
    assert PrivateKey.load(str(kept)).public == key("bob").public
    assert "is not a key of 'bob'" in office.fails(
        "approve", "asked", "--as", "bob", "--key", str(kept)
    )
    assert office.run("approve", "asked", "--as", "bob").returncode == 0


def test_a_rotation_that_was_interrupted_goes_on(office):
    """The new key was saved and the ledger has the rotation; the files were not exchanged."""
    office.desk.say("asked", "asked")
    key("bob 2").save(str(office.keys / "bob.next.pem"))
    office.desk.ledger.rotate_approver("bob", old=key("bob"), new=key("bob 2"), ts=office.desk.ts)
    before = len(_spine(office))
    assert office.run("key", "rotate", "bob").stdout.strip() == key("bob 2").public
    assert len(_spine(office)) == before
    assert office.run("approve", "asked", "--as", "bob").returncode == 0


def test_a_rotation_of_a_key_nobody_knows_is_refused(office):
    office.desk.say("asked", "asked")
    assert "no policy of this ledger gives it" in office.fails("key", "rotate", "mallory")
    assert office.run("key", "show", "mallory").stdout.strip() == key("mallory").public


POLICY = """
version: 1
name: team
principals: {alice: ["KEY"]}
authored_by: {name: alice, key: "KEY", authorizing_policy: null}
"""


def test_a_policy_is_signed_beside_its_file(office):
    file = office.home / "policy.yaml"
    file.write_text(POLICY.replace("KEY", key("alice").public))
    done = office.run("policy", "sign", str(file))
    assert done.stdout.strip() == f"{file}.sig", done.stderr
    held = json.loads((office.home / "policy.yaml.sig").read_bytes())
    version = office.run("policy", "check", str(file)).stdout.split()[-1]
    assert verifies(held["key"], held["sig"], version.encode())
    assert office.run("policy", "hold", str(file)).stdout.strip() == version
    assert (office.root / "policies" / f"{version[7:]}.sig").exists()
    again = office.run("policy", "sign", version)
    assert again.stdout.strip() == str(office.root / "policies" / f"{version[7:]}.sig")


def test_a_policy_is_signed_by_the_author_it_names(office):
    file = office.home / "policy.yaml"
    file.write_text(POLICY.replace("KEY", key("bob").public))
    assert "says its author 'alice' has the key" in office.fails("policy", "sign", str(file))
    file.write_text("version: 1\nname: x\n")
    done = office.run("policy", "sign", str(file))
    assert done.returncode == 3
    assert "names no author" in done.stderr


def test_roots_are_read_strictly(office):
    office.desk.say("denied", "denied")
    first = Desk(office.root, "s2", FIRST)
    first.say("c", "denied")
    done = office.run("ledger", "verify", "--root", key("alice").public)
    assert f"{digest(FIRST)}  ROOTED" in done.stdout
    assert "Ends at the pinned key" in done.stdout
    done = office.run("ledger", "verify", "--root", digest(FIRST)[7:], "--json")
    states = {one["policy"]: one["status"] for one in json.loads(done.stdout)["authority"]}
    assert states == {digest(FIRST): "ROOTED", digest(ALONE): "UNROOTED"}
    assert "expected sha256: or ed25519:" in office.fails("ledger", "verify", "--root", "x\x1b")


def _spine(office: Office) -> list[bytes]:
    return (office.root / "spine-000000000001.jsonl").read_bytes().splitlines()


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body.update(composition={"look": []}),
        lambda body: body.update(composition={"look": {"operator": "most", "principals": []}}),
        lambda body: body.update(principals={"bob": "ed25519"}),
        lambda body: body.update(principals=[1]),
    ],
)
def test_a_policy_of_another_form_is_named_and_nothing_is_signed(office, change):
    """The ledger's files are whoever's who wrote them."""
    body = json.loads(ALONE)
    change(body)
    office.desk.text = json.dumps(body).encode()
    office.desk.say("toolu_1", "asked")
    done = office.run("approve", "toolu_1", "--as", "bob")
    assert done.returncode == 3
    assert "another form than a compiled policy" in done.stderr


def test_a_terminal_is_not_commanded_by_what_is_named_in_an_error(office):
    done = office.run("policy", "check", "a\x1b[31mb")
    assert done.returncode == 3
    assert "a?[31mb" in done.stderr
    assert "\x1b" not in done.stderr
