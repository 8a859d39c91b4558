"""The hook on a class that principals decide: denied with who, allowed on their approvals."""

import json

import pytest
from approved import key

from toolgate.approval import Approvers, Target, message
from toolgate.canonical import digest_of
from toolgate.gate.policy.compose import Rule
from toolgate.ledger.append import Ledger
from toolgate.verify import verify

PUSH = "git push origin main"


@pytest.fixture
def policy(tmp_path):
    file = tmp_path / "policy.yaml"
    body = {
        "version": 1,
        "name": "team",
        "principals": {name: [key(name).public] for name in ("alice", "bob")},
        "authored_by": {
            "name": "alice",
            "key": key("alice").public,
            "authorizing_policy": None,
        },
        "classes": [{"name": "publish", "effects": [{"type": ["vcs.publish"]}]}],
        "composition": {"publish": {"operator": "all-of", "principals": ["alice", "bob"]}},
        "rules": [
            {"rule": "never", "decide": "deny", "because": "x",
             "effects": [{"type": ["vcs.publish"], "how": ["force"]}]},
        ],
        "unattended": {"modes": ["bypassPermissions"], "ask": "deny"},
    }  # fmt: skip
    file.write_text("# YAML holds JSON\n" + json.dumps(body))
    return file


@pytest.fixture
def ask(send, event, policy):
    def run(call, command=PUSH, **more):
        payload = event(command=command, call=call, **more)
        return send(payload, TOOLGATE_POLICY_FILE=str(policy))

    return run


def decisions(entries):
    return [entry for entry in entries() if entry["kind"] == "decision"]


def approve(ledger, entries, name, **more):
    """Sign an approval of the last decision's arguments, as the command does."""
    last = decisions(entries)[-1]
    one = key(name)
    ev = {
        "decision_digest": None,
        "args_digest": digest_of({"command": PUSH}),
        "session": "s1",
        "class": "publish",
        "principal": name,
        "expiry": last["ts"] + 3_600_000_000,
        "nonce": f"{last['ts']:032x}",
        "verdict": "approve",
        "evidence": "signature",
        "key": one.public,
        "ts": last["ts"],
        **more,
    }
    target = Target(None, ev["args_digest"], "s1", "publish")
    people = {who: [key(who).public] for who in ("alice", "bob")}
    Ledger(str(ledger)).approve(
        {**ev, "sig": one.sign(message(ev))},
        target=target,
        call="",
        approvers=Approvers(Rule("all-of", 1, ("alice", "bob")), people),
    )


def test_who_must_approve_is_named_with_the_command(ask, entries, ledger):
    answer = ask("c1")
    assert answer.decision == "deny"
    digits = decisions(entries)[0]
    assert "alice and bob must approve actions of class publish (rule composition)" in answer.reason
    assert "A click in the host is no signed approval" in answer.reason
    assert f"--as alice --ledger {ledger}" in answer.reason
    assert digits["rule"] == "composition"
    assert (digits["class"], digits["ev"]["decision_state"]) == ("publish", "denied")


def test_approvals_are_used_once(ask, entries, ledger):
    ask("c1")
    approve(ledger, entries, "alice")
    answer = ask("c2")
    assert "Approved so far by alice; bob must still approve." in answer.reason
    assert "--as alice" not in answer.reason
    approve(ledger, entries, "bob")
    answer = ask("c3")
    assert answer.decision == "allow"
    assert "approved by alice, bob" in answer.reason
    made = decisions(entries)[-1]
    assert len(made["basis"]) == 2
    assert set(made["basis"]) < set(made["parents"])
    assert ask("c4").decision == "deny"


def test_other_arguments_are_not_approved(ask, entries, ledger):
    ask("c1")
    approve(ledger, entries, "alice")
    approve(ledger, entries, "bob")
    assert ask("c2", "git push origin other").decision == "deny"
    assert ask("c3").decision == "allow"


def test_the_same_call_asked_again_keeps_its_approvals(ask, entries, ledger):
    ask("c1")
    approve(ledger, entries, "alice")
    approve(ledger, entries, "bob")
    assert ask("c2").decision == "allow"
    assert ask("c2").decision == "allow"


def test_a_policy_that_denies_is_not_lifted(ask, entries, ledger):
    ask("c1")
    approve(ledger, entries, "alice", args_digest=None)
    approve(ledger, entries, "bob", args_digest=None)
    answer = ask("c2", "git push --force origin main")
    assert answer.decision == "deny"
    assert "(rule never)" in answer.reason


def test_approvals_given_beforehand_serve_where_nobody_is_asked(ask, entries, ledger):
    assert "composition" in ask("c1", permission_mode="bypassPermissions").reason
    approve(ledger, entries, "alice")
    approve(ledger, entries, "bob")
    assert ask("c2", permission_mode="bypassPermissions").decision == "allow"


def test_the_authors_signature_goes_along_with_the_policy(ask, policy, ledger):
    file = policy.with_name("policy.yaml.sig")
    file.write_bytes(b'{"key":"k","sig":"s"}')
    ask("c1")
    (held,) = (ledger / "policies").glob("*.sig")
    assert held.read_bytes() == file.read_bytes()


def test_the_ledger_of_it_has_no_finding(ask, entries, ledger, send, event):
    ask("c1")
    approve(ledger, entries, "alice")
    approve(ledger, entries, "bob")
    ask("c2")
    send(event("PostToolUse", command=PUSH, call="c2", tool_response={}))
    send(event("SessionEnd"))
    codes = {item.code for item in verify(str(ledger)).findings}
    assert codes == {"entries.authority_edge"}  # the policy says who wrote it and is not signed


def test_an_agent_cannot_approve_itself(send, event):
    answer = send(event(command="toolgate approve c1 --as alice"))
    assert answer.decision == "deny"
    assert "a person does that" in answer.reason


KEYS = "/home/dev/.config/toolgate/keys"


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        (f"rm -r {KEYS}", "deny"),
        (f"mv /tmp/keys {KEYS}", "deny"),
        (f"cp /tmp/x {KEYS}/alice.pem", "deny"),
        (f"cat {KEYS}/alice.pem", "ask"),
    ],
)
def test_no_key_is_taken_or_replaced_unasked(send, event, command, decision):
    assert send(event(command=command)).decision == decision
