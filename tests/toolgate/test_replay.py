"""``toolgate replay`` and the vault: what the hook kept decides again, byte for byte."""

import json
import os
import shutil
import stat

import pytest
from click.testing import CliRunner

from toolgate.canonical import digest, digest_of, profile_bytes
from toolgate.cli import cli
from toolgate.hook.answer import answer
from toolgate.ledger.append import Ledger
from toolgate.ledger.vault.find import inputs_of
from toolgate.verify import verify

START = 1_800_000_000_000_000
TOKEN = "ghp_" + "a1" * 20

COMMANDS = {
    "look": "git status && ls -la src",
    "risky": "rm -rf /",
    "write": "echo hi > notes.txt",
    "fetch": f"curl -H 'Authorization: Bearer {TOKEN}' https://example.com/x",
    "unread": "cat <<'EOF",
    "unknown": "frobnicate --all",
}


class Host:
    """A host that asks the gate about calls, in this process."""

    def __init__(self, root, vault="on", **environ):
        self.root = root
        self.ts = START
        self.environ = {"HOME": "/home/dev", "TOOLGATE_LEDGER": str(root)} | environ
        if vault:
            self.environ["TOOLGATE_VAULT"] = vault

    def send(self, name="PreToolUse", call="c1", tool="Bash", **more):
        self.ts += 1000
        event = {
            "session_id": "s1",
            "prompt_id": "p1",
            "cwd": "/home/dev/app",
            "permission_mode": "default",
            "hook_event_name": name,
            "tool_name": tool,
            "tool_use_id": call,
            **more,
        }
        output, _, _ = answer(json.dumps(event).encode(), self.environ, self.ts)
        return json.loads(output)["hookSpecificOutput"] if output else {}

    def ask(self, call, command, **more):
        return self.send(call=call, tool_input={"command": command}, **more)


@pytest.fixture
def root(tmp_path):
    return tmp_path / "ledger"


@pytest.fixture
def vault(tmp_path):
    return tmp_path / "ledger.vault"


def decide_all(host):
    asked = {}
    for call, command in COMMANDS.items():
        if host.ask(call, command)["permissionDecision"] == "ask":
            asked[call] = {"command": command}
    edit = {"file_path": "/home/dev/app/a", "content": "x"}
    host.send(call="edit", tool="Write", tool_input=edit)
    host.send(call="mcp", tool="mcp__files__delete", tool_input={"path": "/etc/x", "n": 1.5})
    host.send(call=None, tool_input={"command": "ls"}, agent_id="agent-1", prompt_id=None)
    host.ask("look", COMMANDS["look"], permission_mode="plan")  # asked about again
    for call, tool_input in asked.items():
        host.send("PostToolUse", call=call, tool_input=tool_input, tool_response={})


def run(*arguments):
    return CliRunner().invoke(cli, [str(one) for one in arguments])


def replayed(*arguments):
    done = run("replay", *arguments, "--json")
    return done.exit_code, json.loads(done.stdout)


def decisions(root):
    lines = [
        line for path in root.glob("sessions/*.jsonl") for line in path.read_bytes().splitlines()
    ]
    return [row for row in map(json.loads, lines) if row["kind"] == "decision"]


def test_the_same_build_decides_the_same_bytes(root, vault):
    host = Host(root)
    decide_all(host)
    code, report = replayed(root)
    made = decisions(root)
    assert report["counts"] == {
        "same": len(made),
        "same_except_build": 0,
        "different": 0,
        "not_replayable": 0,
    }
    assert code == 0
    assert len({row["ev"]["decision_state"] for row in made}) == 3
    assert any(row["basis"] for row in made)  # an ask that ran is among them
    assert stat.S_IMODE(vault.stat().st_mode) == 0o700
    files = [path for path in vault.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    for path in files:
        assert path.name == digest(path.read_bytes())[7:] + ".json"
        held = json.loads(path.read_bytes())["call"]["input"]
        assert path.parent.name == digest_of(held)[7:]


def test_a_linear_session(root):
    host = Host(root)
    Ledger(str(root), shape="linear").session_open("s1", ts=START)
    host.ask("a", "ls")
    host.ask("b", "rm -rf /")
    assert replayed(root)[1]["counts"]["same"] == 2


def test_one_decision(root):
    host = Host(root)
    decide_all(host)
    wanted = digest_of(decisions(root)[1]["ev"])
    code, report = replayed(root, "--decision", wanted[7:20])
    assert (code, report["counts"]["same"]) == (0, 1)
    assert run("replay", root, "--decision", "f" * 64).exit_code == 3
    assert run("replay", root, "--decision", "").exit_code == 3


def rewrite(root, change):
    """Change the decisions of a ledger the way another gate would have made them."""
    covered = ("axis", "basis", "build", "class", "effects", "facts", "host")
    covered += ("intent", "mode", "proof", "rule")
    for path in root.glob("sessions/*.jsonl"):
        rows = [json.loads(line) for line in path.read_bytes().splitlines()]
        for row in rows:
            if row["kind"] == "decision":
                change(row)
                row["ev"]["action_ref"] = digest_of(row["intent"])
                row["ev"]["decision_id"] = digest_of({name: row[name] for name in covered})
        path.write_bytes(b"".join(profile_bytes(row) + b"\n" for row in rows))


def other_build(row):
    row["build"] = digest(b"another build")


def test_another_build_is_counted_apart(root):
    Host(root).ask("a", "ls")
    rewrite(root, other_build)
    code, report = replayed(root)
    assert report["counts"]["same_except_build"] == 1
    assert code == 0


def set_field(name, value):
    def change(row):
        *path, last = name.split(".")
        for part in path:
            row = row[int(part)] if part.isdecimal() else row[part]
        row[last] = value

    return change


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("ev.decision_state", "denied", "decision_state"),
        ("rule", "other", "rule"),
        ("class", "other-class", "class"),
        ("effects.0.scope", "secret", "effects[0].scope"),
        ("effects.0.resource", "h:" + "0" * 32, "effects[0].resource"),
        ("intent.scope", "secret", "intent.scope"),
        ("ev.principal", "mallory", "principal"),
    ],
)
def test_a_difference_names_its_field(root, name, value, shown):
    Host(root).ask("a", "ls")
    before = decisions(root)[0]
    rewrite(root, set_field(name, value))
    code, report = replayed(root)
    (item,) = report["decisions"]
    assert code == 1
    assert (item["result"], item["field"]) == ("different", shown)
    assert item["recorded"] == json.dumps(value)
    assert item["now"] not in (json.dumps(value), "")
    text = run("replay", root).stdout
    assert f": {shown} was {json.dumps(value)}, is now " in text
    assert before["ev"]["decision_state"] == "allowed"


def test_reasons_for_not_replayable(root, vault, tmp_path):
    host = Host(root)
    host.ask("a", "ls")

    def reasons(*arguments):
        code, report = replayed(root, *arguments)
        assert (code, report["counts"]["not_replayable"]) == (4, 1)
        return report["decisions"][0]["reason"]

    assert reasons("--vault", tmp_path / "none") == "the vault has no input for it"
    salt = tmp_path / "ledger.salt"
    kept = salt.read_bytes()
    salt.unlink()
    assert reasons() == "the ledger's salt is missing"
    assert not salt.exists()
    salt.write_bytes(kept)
    (policy,) = (root / "policies").iterdir()
    whole = policy.read_bytes()
    policy.write_bytes(whole + b" ")
    assert reasons() == "its policy's text was altered"
    policy.unlink()
    assert reasons() == "the ledger does not hold its policy"
    body = json.loads(whole) | {"catalog": "sha256:" + "0" * 64}
    other = profile_bytes(body)
    (root / "policies" / (digest(other)[7:] + ".json")).write_bytes(other)
    rewrite(root, set_field("ev.policy_version", digest(other)))
    assert reasons() == "its policy was compiled with another catalogue"


def test_altered_inputs_are_not_used(root, vault):
    Host(root).ask("a", "ls")
    (path,) = (one for one in vault.rglob("*") if one.is_file())
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"ls"', b'"rm"'))
    assert replayed(root)[1]["decisions"][0]["reason"] == "the vault has no input for it"
    forged = whole.replace(b'"ls"', b'"rm"')
    path.unlink()
    (path.parent / (digest(forged)[7:] + ".json")).write_bytes(forged)
    assert replayed(root)[1]["decisions"][0]["reason"] == "the vault's input has other arguments"
    for junk in (b"", b"[]", b'{"v":1}', whole.replace(b'"v":1', b'"v":2'), b"\xff"):
        for old in path.parent.iterdir():
            old.unlink()
        (path.parent / (digest(junk)[7:] + ".json")).write_bytes(junk)
        assert replayed(root)[1]["decisions"][0]["reason"] == "the vault has no input for it"


def test_redacted_inputs(root, vault):
    host = Host(root, "redacted")
    decide_all(host)
    code, report = replayed(root)
    by_call = {item["call"]: item["reason"] for item in report["decisions"]}
    assert code == 4
    assert by_call == dict.fromkeys(("fetch", "edit"), "the vault's input is redacted")
    assert TOKEN.encode() not in b"".join(
        path.read_bytes() for path in vault.rglob("*") if path.is_file()
    )


def test_off_is_the_default_and_verification_never_needs_the_vault(root, vault):
    decide_all(Host(root, None))
    assert not vault.exists()
    decide_all(Host(root))
    with_vault = verify(str(root))
    shutil.rmtree(vault)
    assert verify(str(root)) == with_vault
    assert replayed(root)[0] == 4


@pytest.mark.parametrize("setting", ["on", "redacted"])
def test_what_cannot_be_kept_is_denied_and_recorded(root, vault, setting):
    vault.write_bytes(b"a file is in the way")
    said = Host(root, setting).ask("a", "ls")
    assert said["permissionDecision"] == "deny"
    assert "a file of that name is there" in said["permissionDecisionReason"]
    (made,) = decisions(root)
    assert (made["ev"]["decision_state"], made["rule"]) == ("denied", "vault")


def test_a_vault_that_others_may_read_is_refused(root, vault):
    vault.mkdir(mode=0o755)
    os.chmod(vault, 0o755)
    said = Host(root).ask("a", "ls")
    assert "can be read by others" in said["permissionDecisionReason"]


def test_a_setting_that_is_none_is_refused(root):
    said = Host(root, "yes").ask("a", "ls")
    assert said["permissionDecision"] == "deny"
    assert (
        "TOOLGATE_VAULT is 'yes'; expected off, on or redacted"
        in (said["permissionDecisionReason"])
    )
    assert [row["rule"] for row in decisions(root)] == ["vault"]


def test_an_input_without_canonical_form_is_denied_and_not_kept(root, vault):
    said = Host(root).send(call="a", tool_input={"command": "ls", "n": 10**400})
    assert said["permissionDecision"] == "deny"
    assert not vault.exists()


def test_the_agent_may_not_touch_the_vault(root, vault):
    said = Host(root).ask("a", f"rm -rf {vault}")
    assert said["permissionDecision"] == "deny"


def test_show_redacts_on_the_way_out(root, vault):
    host = Host(root)
    decide_all(host)
    made = next(row for row in decisions(root) if row["intent"]["call"] == "fetch")
    wanted = digest_of(made["ev"])
    shown = run("ledger", "vault", "show", wanted, root)
    assert shown.exit_code == 0
    assert TOKEN not in shown.output
    assert "[redacted h:" in json.loads(shown.output)["call"]["input"]["command"]
    whole = run("ledger", "vault", "show", wanted, root, "--plain")
    assert json.loads(whole.output)["call"]["input"]["command"] == COMMANDS["fetch"]
    assert run("ledger", "vault", "show", "0" * 64, root).exit_code == 3
    shutil.rmtree(vault)
    assert run("ledger", "vault", "show", wanted, root).exit_code == 3


def test_prune(root, vault):
    host = Host(root)
    decide_all(host)
    files = sorted(path for path in vault.rglob("*") if path.is_file())
    old = next(path for path in files if len(list(path.parent.iterdir())) == 1)
    os.utime(old, (1, 1))
    done = run("ledger", "vault", "prune", "--older-than", "30d", root)
    assert done.output == "1 input removed\n"
    assert not old.exists()
    assert list(inputs_of(str(vault), "sha256:" + old.parent.name)) == []
    files.remove(old)
    assert sorted(path for path in vault.rglob("*") if path.is_file()) == files
    everything = run("ledger", "vault", "prune", "--older-than", "0s", root)
    assert everything.output == f"{len(files)} inputs removed\n"
    assert list(vault.iterdir()) == []
    for age in ("30", "d", "-1d", "1y", ""):
        assert run("ledger", "vault", "prune", "--older-than", age, root).exit_code == 2


def test_nothing_to_replay(tmp_path):
    assert run("replay", tmp_path / "none").exit_code == 3


def test_links_that_were_followed_are_followed_again_though_they_are_gone(root, tmp_path):
    app = tmp_path / "app"
    app.mkdir()
    (app / "notes").symlink_to("/home/dev/.ssh/id_rsa")
    host = Host(root)
    answered = host.ask("c1", "cat notes", cwd=str(app))
    assert answered["permissionDecision"] == "ask"
    (app / "notes").unlink()
    code, report = replayed(root)
    assert (code, report["counts"]["same"]) == (0, 1)
