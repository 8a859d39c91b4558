"""The hook under the rules of a project: they tighten, are recorded, and are not for agents."""

import json

import pytest

from toolgate.hook.answer import answer
from toolgate.verify.ledger import verify

NO_PUSH = (
    "version: 1\nname: app\nrules:\n"
    "  - {rule: no-push, decide: deny, because: CI pushes, effects: [{type: [vcs.publish]}]}\n"
)
TS = 1_800_000_000_000_000


@pytest.fixture
def app(tmp_path):
    folder = tmp_path / "app"
    (folder / ".git").mkdir(parents=True)
    (folder / ".toolgate").mkdir()
    (folder / "src").mkdir()
    return folder


@pytest.fixture
def ask(tmp_path, app, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    environ = {"HOME": str(tmp_path / "home"), "TOOLGATE_LEDGER": str(tmp_path / "ledger")}
    count = iter(range(1_000))

    def send(command="", *, tool="Bash", given=None, cwd=app, **more):
        number = next(count)
        event = {
            "session_id": "s1",
            "prompt_id": "p1",
            "cwd": str(cwd),
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": tool,
            "tool_input": given or {"command": command},
            "tool_use_id": f"t{number}",
        }
        out, _, code = answer(json.dumps(event).encode(), {**environ, **more}, TS + number * 1_000)
        said = json.loads(out)["hookSpecificOutput"]
        assert code == 0
        return said["permissionDecision"], said["permissionDecisionReason"]

    return send


def test_its_rules_hold_in_the_whole_checkout_and_nowhere_else(ask, app, tmp_path):
    assert ask("git push origin topic")[0] == "allow"
    (app / ".toolgate/policy.yaml").write_text(NO_PUSH)
    for cwd in (app, app / "src"):
        state, reason = ask("git push origin topic", cwd=cwd)
        assert state == "deny"
        assert "CI pushes (rule project/no-push)" in reason
    (tmp_path / "other/.git").mkdir(parents=True)
    assert ask("git push origin topic", cwd=tmp_path / "other")[0] == "allow"
    assert ask("git status")[0] == "allow"


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\nname: x\nnames: {trusted_hosts: [evil.example]}\n",
        "version: 1\nname: x\nrules: [{rule: a, decide: allow, because: x, tools: [Bash]}]\n",
        "version: 1\nname: x\nruls: []\n",
        "a: [",
    ],
)
def test_what_could_loosen_is_refused_loudly(ask, app, text):
    (app / ".toolgate/policy.yaml").write_text(text)
    state, reason = ask("ls")
    assert state == "deny"
    assert f"the policy is refused: {app}/.toolgate/policy.yaml: " in reason


def test_while_it_is_there_no_agent_changes_it(ask, app):
    file = app / ".toolgate/policy.yaml"
    write = {"file_path": str(file), "content": "version: 1\nname: x\n"}
    assert ask(tool="Write", given=write)[0] == "allow"
    file.write_text(NO_PUSH)
    assert ask(tool="Write", given=write)[0] == "deny"
    for command in (
        f"rm {file}",
        "rm -rf .toolgate",
        "mv .toolgate x",
        "echo > .toolgate/policy.yaml",
    ):
        assert ask(command)[0] == "deny", command
    assert ask("cat .toolgate/policy.yaml")[0] == "allow"
    assert ask("chmod 644 src/x && echo a > src/x")[0] == "allow"


def test_the_ledger_keeps_what_was_decided_by_and_verifies(ask, app, tmp_path):
    ask("git push origin topic")
    (app / ".toolgate/policy.yaml").write_text(NO_PUSH)
    ask("git push origin topic")
    kept = sorted((tmp_path / "ledger/policies").glob("*.json"))
    named = [json.loads(path.read_bytes()) for path in kept]
    assert len(kept) == 2
    assert sum("project/no-push" in {rule["rule"] for rule in one["rules"]} for one in named) == 1
    report = verify(str(tmp_path / "ledger"))
    assert {one.code for one in report.findings if one.layer == "entries"} == set()
    assert report.verdict == "INCOMPLETE"  # the allowed call has not ended yet


def test_an_authors_signature_is_kept_for_what_the_author_signed(ask, app, tmp_path):
    key = "ed25519:" + "a" * 64
    policy = tmp_path / "own.yaml"
    policy.write_text(
        "version: 1\nname: own\nextends: {policy: balanced}\n"
        f"authored_by: {{name: ann, key: '{key}', authorizing_policy: null}}\n"
    )
    (tmp_path / "own.yaml.sig").write_bytes(b"{}")
    ask("ls", TOOLGATE_POLICY_FILE=str(policy))
    (app / ".toolgate/policy.yaml").write_text(NO_PUSH)
    ask("ls", TOOLGATE_POLICY_FILE=str(policy))
    folder = tmp_path / "ledger/policies"
    signed = {path.stem for path in folder.glob("*.sig")}
    authors = {
        path.stem: json.loads(path.read_bytes())["authored_by"] for path in folder.glob("*.json")
    }
    assert len(authors) == 2
    assert signed == {name for name, author in authors.items() if author is not None}


def test_of_a_folder_in_which_a_named_policy_lies_only_the_policy_is_the_gates(ask, tmp_path, app):
    folder = app / "conf"
    folder.mkdir()
    policy = folder / "own.yaml"
    policy.write_text("version: 1\nname: own\nextends: {policy: balanced}\nrules: []\n")
    named = {"TOOLGATE_POLICY_FILE": str(policy)}
    assert ask("touch conf/other.txt", **named)[0] == "allow"
    assert ask("rm conf/other.txt", **named)[0] == "allow"
    for command in (
        "touch conf/own.yaml",
        "rm conf/own.yaml.sig",
        "cp a.yaml conf/own.yaml",
        "rm -rf conf",
        "mv conf old",
    ):
        state, reason = ask(command, **named)
        assert (state, "tamper-with-gate" in reason) == ("deny", True), command
    assert ask("touch conf/own.yaml")[0] == "allow"


def test_where_a_policy_would_lie_is_the_gates_before_one_lies_there(ask, tmp_path):
    elsewhere = tmp_path / "settings"
    command = f"touch {elsewhere}/toolgate/policy.yaml"
    assert "tamper-with-gate" in ask(command, XDG_CONFIG_HOME=str(elsewhere))[1]
