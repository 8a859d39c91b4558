"""toolgate allow-once and allow-for, from the sentence the agent gets to the ledger's verdict."""

import json
from pathlib import Path

import pytest
from approved import key

from toolgate.approval import code_of, typed_code
from toolgate.verify import verify

PUSH = "git push origin main"
FORCE = "git push --force origin main"


@pytest.fixture
def at(counter):
    return counter()


def decisions(at):
    return at.decided()


def spine(at):
    lines = (Path(at.ledger) / "spine-000000000001.jsonl").read_bytes().splitlines()
    return [json.loads(line) for line in lines]


def codes(at):
    return {item.code for item in verify(at.ledger).findings}


# -- one call


def test_a_denied_ask_goes_through_once(at):
    answer = at.call("c1", mode="bypassPermissions")
    assert answer.state == "deny"
    assert answer.reason.endswith(
        f"A person may let exactly this call through once: toolgate allow-once {answer.code} "
        f"--as ann --ledger {at.ledger}, then let the agent try again."
    )
    said = at.good("allow-once", answer.code).splitlines()
    assert said[0] == "Approve one Bash call with the same arguments as c1"
    assert "  class    publish" in said
    assert "  effects  vcs.publish (outside)" in said
    assert "  session  s1" in said
    assert said[-1].startswith("Let the agent try again: one such call goes through until 2027-")
    answer = at.call("c2", mode="bypassPermissions")
    assert (answer.state, answer.reason) == (
        "allow",
        "toolgate: Allowed once: ann signed for it (rule push).",
    )
    made = decisions(at)[-1]
    approval = next(entry for entry in spine(at) if entry["kind"] == "approval")
    assert len(made["basis"]) == 1
    assert made["basis"][0] in made["parents"]
    assert (made["rule"], made["ev"]["decision_state"]) == ("push", "allowed")
    assert approval["ev"]["args_digest"] == made["ev"]["args_digest"]
    assert approval["ev"]["class"] == "publish"
    assert at.call("c3", mode="bypassPermissions").state == "deny"
    at.ran("c2")
    at.end()
    assert codes(at) == set()


def test_an_ask_names_the_code_as_well(at):
    answer = at.call("c1")
    assert answer.state == "ask"
    assert "To sign for it instead of a click: toolgate allow-once" in answer.reason
    at.good("allow-once", answer.code.lower().replace("-", ""), "--as", "ann")
    assert at.call("c2").state == "allow"


def test_the_same_call_asked_again_keeps_its_leave(at):
    at.good("allow-once", at.call("c1").code)
    assert at.call("c2").state == "allow"
    assert at.call("c2").state == "allow"


@pytest.mark.parametrize(
    "other",
    [
        {"command": "git push origin other"},
        {"session": "s2"},
        {"cwd": "/home/dev/other"},
    ],
    ids=["other arguments", "other session", "other directory"],
)
def test_nothing_else_goes_through(at, other):
    """In another directory the arguments are the same, and what they do is not."""
    command = "rm -r src"
    at.good("allow-once", at.call("c1", command).code)
    assert at.call("c2", **{"command": command, **other}).state == "ask"
    assert at.call("c3", command).state == "allow"


def test_leave_ends(at):
    at.good("allow-once", at.call("c1").code, "--expires", "90s")
    at.ts += 91_000_000
    assert at.call("c2").state == "ask"


def test_leave_is_taken_back(at):
    code = at.call("c1").code
    at.good("allow-once", code)
    said = at.good("allow-once", code, "--revoke")
    assert said.splitlines()[-1] == "What ann signed for this call counts no more."
    assert at.call("c2").state == "ask"
    at.good("allow-once", code)
    assert at.call("c3").state == "allow"


def test_what_is_left_of_two_leaves_is_taken_back_after_one_was_used(at):
    code = at.call("c1").code
    at.good("allow-once", code)
    at.good("allow-once", code, "--again")
    assert at.call("c2").state == "allow"
    at.good("allow-once", code, "--revoke")
    assert at.call("c3").state == "ask"


def test_leave_that_stands_is_not_signed_twice_unasked(at):
    code = at.call("c1").code
    first = at.good("allow-once", code)
    entry = next(line for line in first.splitlines() if line.startswith("Approved: "))[10:]
    second = at.good("allow-once", code)
    assert f"It stands already: {entry}, signed by ann." in second
    assert "nothing was signed. --again signs leave for one more." in second
    assert at.call("c2").state == "allow"
    assert at.call("c3", key="p2").state == "ask"
    assert "Approved: " in at.good("allow-once", code)


@pytest.mark.parametrize("skew", [-3600, -60, 60, 3600], ids=lambda value: f"{value} s")
def test_clocks_that_differ(at, skew):
    """The person's and the agent's machines share a ledger, and their clocks do not agree."""
    answer = at.call("c1", skew=skew * 1_000_000)
    at.good("allow-once", answer.code, "--expires", "5m")
    assert at.call("c2", skew=skew * 1_000_000).state == "allow"
    times = [entry["ts"] for entry in spine(at) if entry["kind"] == "approval"]
    assert decisions(at)[-1]["ts"] >= times[0]
    at.ts += 4_000_000_000
    at.end()
    assert {code for code in codes(at) if code.startswith("entries.")} == set()


def test_what_was_let_through_is_decided_again_alike(at, monkeypatch):
    monkeypatch.setattr(type(at), "environ", {**at.environ, "TOOLGATE_VAULT": "on"})
    at.good("allow-once", at.call("c1").code)
    at.call("c2")
    at.end()
    said = json.loads(at.good("replay", at.ledger, "--json"))
    assert [one for one in said["decisions"] if one["result"] != "same"] == []
    assert said["counts"]["same"] == 2


# -- what nobody lifts


def test_what_a_rule_denies_stays_denied_as_shipped(at):
    answer = at.call("c1", FORCE)
    assert answer.state == "deny"
    assert "allow-once" not in answer.reason
    code = code_of("s1", decisions(at)[-1]["ev"]["args_digest"], "publish")
    assert "call c1 cannot be let through: the policy lets nobody lift what it denies" in (
        at.fails("allow-once", code)
    )


def test_a_policy_may_let_people_lift_what_it_denies(counter):
    at = counter(lift={"deny": "person"})
    answer = at.call("c1", FORCE)
    at.good("allow-once", answer.code)
    assert at.call("c2", PUSH).state == "ask"
    assert at.call("c3", FORCE).state == "allow"
    assert at.call("c4", FORCE).state == "deny"
    at.ran("c3", FORCE)
    at.end()
    assert codes(at) == set()


def test_a_rule_that_is_never_lifted(counter):
    at = counter(lift={"deny": "person", "never": ["force"]})
    assert "allow-once" not in at.call("c1", FORCE).reason
    code = code_of("s1", decisions(at)[-1]["ev"]["args_digest"], "publish")
    assert "lets nobody lift rule force" in at.fails("allow-once", code)


def test_a_sealed_rule_counts_where_another_decides(counter):
    """Two rules ask about a forced push; the one that decides is not the sealed one."""
    rules = [
        {"rule": name, "decide": "ask", "because": "x", "effects": effects}
        for name, effects in (
            ("push", [{"type": ["vcs.publish"]}]),
            ("sealed", [{"type": ["vcs.publish"], "how": ["force"]}]),
        )
    ]
    whole = {"rule": "whole", "decide": "ask", "because": "x", "tools": ["Write"]}
    at = counter(rules=[*rules, whole], lift={"never": ["sealed", "whole"]})
    answer = at.call("c1", FORCE)
    assert "(rule push)" in answer.reason
    assert "allow-once" not in answer.reason
    made = decisions(at)[-1]
    code = code_of("s1", made["ev"]["args_digest"], "publish")
    at.good("allow-once", code)  # by the entry alone nothing is against it
    assert at.call("c2", FORCE).state == "ask"
    at.good("allow-once", at.call("c3").code)
    assert at.call("c4").state == "allow"


def test_the_gate_itself_is_beyond_any_signature(counter):
    at = counter(lift={"deny": "person"})
    answer = at.call("c1", "toolgate allow-once K7M2-QX4A --as ann")
    assert answer.state == "deny"
    assert "A person may let" not in answer.reason
    made = decisions(at)[-1]
    code = code_of("s1", made["ev"]["args_digest"], made["class"])
    assert "it changes this gate, which no signature lets through" in at.fails("allow-once", code)


def test_what_the_users_own_words_forbid_is_lifted_by_words(counter, monkeypatch):
    at = counter(lift={"deny": "person"})
    monkeypatch.setattr(type(at), "environ", {**at.environ, "TOOLGATE_VAULT": "on"})
    at.event("UserPromptSubmit", "s1", at.ts, prompt="Fix the bug. Do not push anything.")
    answer = at.call("c1")
    assert answer.state == "deny"
    assert "the user has forbidden it" in answer.reason
    assert "allow-once" not in answer.reason
    made = decisions(at)[-1]
    code = code_of("s1", made["ev"]["args_digest"], made["class"])
    assert "is no rule of the policy that asks or denies" in at.fails("allow-once", code)


def test_an_approval_of_an_ask_lifts_no_deny_that_came_later(counter):
    at = counter(lift={"deny": "person"})
    at.good("allow-once", at.call("c1").code)
    rules = json.loads((at.home / "policy.yaml").read_text().split("\n", 1)[1])["rules"]
    rules[0]["decide"], rules[0]["rule"] = "deny", "no-push"
    at.policy(rules=rules, lift={"deny": "person"})
    assert at.call("c2").state == "deny"


def test_a_composed_class_is_its_own_peoples(counter):
    composition = {"publish": {"operator": "any-of", "n": 1, "principals": ["ann"]}}
    at = counter(composition=composition, lift={"deny": "person"})
    assert "allow-once" not in at.call("c0", FORCE).reason
    assert "allow-once" not in at.call("c1").reason
    code = code_of("s1", decisions(at)[-1]["ev"]["args_digest"], "publish")
    assert "decided by the approvals of its own people; `toolgate approve c1`" in (
        at.fails("allow-once", code)
    )


# -- messages for newcomers


def test_without_a_key_in_the_policy_the_answer_names_no_code(counter):
    at = counter(principals={})
    assert "allow-once" not in at.call("c1").reason
    code = code_of("s1", decisions(at)[-1]["ev"]["args_digest"], "publish")
    said = at.fails("allow-once", code)
    assert "the policy gives nobody a key. Make one with `toolgate key new NAME`" in said


def test_what_cannot_be_let_through_says_why(at):
    code = at.call("c1").code
    before = spine(at)
    cases = [
        (["hello"], "'hello' is no code; expected eight letters and digits such as K7M2-QX4A"),
        (["AAAA-AAAA"], "holds no call with the code AAAA-AAAA"),
        ([code, "--as", "mallory"], "'mallory' is no principal of the policy; it knows ann"),
        ([code, "--expires", "soon"], "'soon' is no length of time up to a year"),
        ([code, "--expires", "2h"], "lets a signature hold at most 60 minutes"),
        ([code, "--key", f"{at.home}/.config/toolgate/keys/bob.pem"], "is not a key of 'ann'"),
    ]
    for arguments, said in cases:
        assert said in at.fails("allow-once", *arguments), arguments
    assert spine(at) == before
    at.good("allow-once", code)
    at.call("c2")
    assert "call c2 was allowed; nothing waits for a word on it" in at.fails("allow-once", code)


def test_of_several_people_one_says_who_signs(counter):
    people = {"ann": [key("ann").public], "bob": [key("bob").public]}
    at = counter(principals=people)
    answer = at.call("c1")
    assert "--as NAME" in answer.reason
    assert "say who signs with --as; the policy knows ann, bob" in at.fails(
        "allow-once", answer.code
    )
    at.good("allow-once", answer.code, "--as", "bob")
    assert "bob signed for it" in at.call("c2").reason


def test_a_missing_key_or_ledger_is_one_line(at):
    code = at.call("c1").code
    (at.home / ".config" / "toolgate" / "keys" / "ann.pem").unlink()
    said = at.fails("allow-once", code, code=3)
    assert said.count("\n") == 1
    assert "cannot read the key" in said
    said = at.fails("allow-once", code, "--ledger", str(at.home / "none"), code=3)
    assert "there is no ledger" in said
    said = at.fails("approvals", "--ledger", str(at.home / "none"), code=3)
    assert "there is no ledger" in said


def test_two_calls_with_one_code_are_not_guessed(at, monkeypatch):
    monkeypatch.setattr("toolgate.cli.codes.code_of", lambda *matter: "AAAA-AAAA")
    at.call("c1")
    at.call("c2", "git push origin other")
    assert (
        "2 different calls have the code AAAA-AAAA, so it names none: c1 of session s1, "
        "c2 of session s1" in at.fails("allow-once", "AAAA-AAAA")
    )


def test_a_code_is_read_as_people_type_it():
    code = code_of("s", "sha256:" + "a" * 64, "write")
    assert typed_code(code) == typed_code(code.lower().replace("-", "")) == code
    assert typed_code("ABCD-EFG1") is None  # 1 is no letter of base32
    assert code != code_of("t", "sha256:" + "a" * 64, "write")
    assert code != code_of("s", "sha256:" + "b" * 64, "write")
    assert code != code_of("s", "sha256:" + "a" * 64, "look")


# -- a few calls of a class


def test_a_class_goes_through_a_few_times(at):
    at.call("c1")
    said = at.good("allow-for", "--class", "publish", "--session", "s1", "--minutes", "5",
                   "--calls", "2")  # fmt: skip
    assert said.startswith("Let through the next 2 calls of class publish in session s1 that the")
    assert "allow-for --revoke --class publish --session s1 --as ann" in said
    assert at.call("c2", "git push origin a").state == "allow"
    assert at.call("c3", FORCE).state == "deny"
    assert at.call("c4", "rm -r src").state == "ask"
    assert at.call("c5", session="s2").state == "ask"
    listed = at.good("approvals")
    assert listed.startswith("1 call of class publish, session s1, until 2027-")
    assert listed.endswith("signed by ann\n")
    assert at.call("c6", "git push origin b").state == "allow"
    assert at.call("c7", "git push origin c").state == "ask"
    assert at.good("approvals") == "No approval waits to be used.\n"
    used = [tuple(one["basis"]) for one in decisions(at) if one["basis"]]
    assert len(set(used)) == 2
    at.ran("c2", "git push origin a")
    at.ran("c6", "git push origin b")
    at.end()
    at.end("s2")
    assert codes(at) == set()


def test_leave_for_a_class_by_the_code_of_a_call(at):
    code = at.call("c1").code
    at.good("allow-for", code, "--minutes", "5", "--calls", "1")
    assert at.call("c2", "git push origin other").state == "allow"


def test_leave_for_a_class_ends(at):
    at.call("c1")
    at.good("allow-for", "--class", "publish", "--any-session", "--minutes", "1")
    assert at.call("c2", session="s2").state == "allow"
    at.ts += 61_000_000
    assert at.call("c3").state == "ask"


def test_leave_for_a_class_is_taken_back(at):
    at.call("c1")
    at.good("allow-for", "--class", "publish", "--session", "s1", "--minutes", "5")
    assert at.call("c2").state == "allow"
    said = at.good("allow-for", "--revoke", "--class", "publish", "--session", "s1")
    assert said.splitlines()[-1] == "What ann signed for it counts no more."
    assert at.call("c3").state == "ask"
    assert at.good("approvals") == "No approval waits to be used.\n"


def test_leave_for_a_class_has_bounds(counter):
    composition = {"write": {"operator": "any-of", "n": 1, "principals": ["ann"]}}
    at = counter(composition=composition,
              lift={"minutes": 10, "calls": 3})  # fmt: skip
    at.call("c1")
    before = spine(at)
    here = ["--session", "s1"]
    cases = [
        ([], "say what is let through: a CODE, or --class"),
        (["--class", "publish"], "say in which session: --session ID, or --any-session"),
        (["--class", "publish", *here], "say for how long with --minutes"),
        (["--class", "publish", "--session", "s9", "--minutes", "1"], "holds no session 's9'"),
        (["--class", "pubish", *here, "--minutes", "1"], "no class of the policy is called"),
        (["--class", "write", *here, "--minutes", "1"], "approvals of its own people"),
        (["--class", "publish", *here, "--minutes", "11"], "hold at most 10 minutes"),
        (["--class", "publish", *here, "--minutes", "1", "--calls", "4"], "at most 3 calls"),
        (["AAAA-AAAA", "--class", "publish", "--minutes", "1"], "a CODE says class and session"),
    ]
    for arguments, said in cases:
        assert said in at.fails("allow-for", *arguments), arguments
    assert spine(at) == before
    at.good("allow-for", "--class", "publish", *here, "--minutes", "1", "--calls", "2")
    assert "2 of them are signed for already" in at.fails(
        "allow-for", "--class", "publish", *here, "--minutes", "1", "--calls", "2"
    )


def test_a_policy_that_lets_nobody_lift_asks(counter):
    at = counter(lift={"ask": "never"})
    assert "allow-once" not in at.call("c1").reason
    assert "lets nobody lift what it asks about" in at.fails(
        "allow-for", "--class", "publish", "--session", "s1", "--minutes", "1"
    )


def test_what_waits_is_listed_for_programs_too(at):
    code = at.call("c1").code
    at.good("allow-once", code)
    (one,) = json.loads(at.good("approvals", "--json"))
    assert one["code"] == code
    assert (one["class"], one["session"], one["principal"]) == ("publish", "s1", "ann")
    assert len(one["entries"]) == 1


def test_a_policy_made_as_the_message_says(counter):
    at = counter(principals={})
    at.call("c1", "git push --force origin x")
    code = code_of("s1", decisions(at)[-1]["ev"]["args_digest"], "publish")
    said = at.fails("allow-once", code)
    assert "version: 1, name: mine, extends: {policy: balanced}" in said
    (at.home / "policy.yaml").write_text(
        "version: 1\nname: mine\nextends: {policy: balanced}\n"
        f'principals: {{ann: ["{key("ann").public}"]}}\n'
    )
    answer = at.call("c2", "git push --force origin x")
    assert answer.state == "ask", answer
    at.good("allow-once", answer.code)
    assert at.call("c3", "git push --force origin x").state == "allow"


def test_a_ledger_that_cannot_be_read_is_one_line(at):
    code = at.call("c1").code
    file = Path(at.ledger) / "spine-000000000001.jsonl"
    file.unlink()
    file.mkdir()
    for command in (
        ["allow-once", code],
        ["allow-for", code, "--minutes", "1"],
        ["approvals"],
        ["propose"],
    ):
        said = at.fails(*command, code=3)
        assert said.count("\n") == 1, said
        assert "spine-000000000001.jsonl" in said


def test_ledger_that_cannot_be_read_denies(at):
    code = at.call("c1").code
    at.good("allow-once", code)
    file = Path(at.ledger) / "spine-000000000001.jsonl"
    file.unlink()
    file.mkdir()
    assert at.call("c2").state == "deny"


def test_leave_in_a_database(counter, database):
    at = counter(database)
    at.event("SessionStart", "s1", at.ts)
    at.good("allow-once", at.call("c1").code)
    assert at.call("c2").state == "allow"
    assert at.call("c3").state == "ask"
    at.good("allow-for", "--class", "publish", "--session", "s1", "--minutes", "5", "--calls", "1")
    assert at.good("approvals").startswith("1 call of class publish")
    assert at.call("c4", "git push origin other").state == "allow"
    for call, command in (("c2", PUSH), ("c4", "git push origin other")):
        at.ran(call, command)
    at.end()
    assert codes(at) == set()
