"""Faults of the public toolgate (RiskAverseTech/toolgate) that concern its policy, each a test

Those it admits are named by the version of its change log, those read in its code by what they
are. Others of its faults are tests of the parts they concern.
"""

import json
import time

import pytest
from click.testing import CliRunner

from toolgate.cli.policy.files import gate_named
from toolgate.cli.policy.take import import_
from toolgate.gate.engine import Gate
from toolgate.gate.policy.axes import shipped_axes

BALANCED = "extends: {policy: balanced}\n"


def test_0_1_1_a_pattern_of_the_user_took_exponential_time(gate_of, make_call):
    rule = "{rule: r, decide: deny, because: x, when: {text: ['(a+)+$']}}"
    gate, call = gate_of(BALANCED + f"rules:\n  - {rule}\n"), make_call("echo " + "a" * 5_000 + "!")
    begun = time.process_time()
    assert gate.decide(call).state == "allow"
    assert time.process_time() - begun < 1


def test_0_1_1_rules_of_the_user_replaced_the_built_in_ones(gate_of, make_call, faults_of):
    text = BALANCED + "rules:\n  - {rule: mine, decide: ask, because: x, tools: [WebFetch]}\n"
    assert gate_of(text).decide(make_call("rm -rf /")).rule == "delete-whole-tree"
    # A rule goes only where it is named as left out; one of its name does not replace it.
    replaced = BALANCED + (
        "rules:\n  - {rule: delete-whole-tree, decide: allow, because: x, tools: [Bash]}\n"
    )
    assert faults_of(replaced) == ["rule delete-whole-tree: two different entries have this name"]


def test_0_1_1_the_project_could_bring_a_policy():
    from toolgate.errors import PolicyError
    from toolgate.gate.open import default_gate
    from toolgate.gate.policy.project import tightened

    loose = b"version: 1\nname: x\nrules: [{rule: a, decide: allow, because: x, tools: [Bash]}]\n"
    with pytest.raises(PolicyError, match="a rule of a project may ask or deny"):
        tightened(default_gate().policy_bytes, loose, "p.yaml")


def test_0_2_1_a_missing_authorization_passed_a_line_of_zero(faults_of):
    assert faults_of("axes: {authorized: 0}\n") == [
        "axes: authorized is 0; expected a number above 0 and up to 1"
    ]
    assert faults_of("axes: {destructive: {ask: 0.0}}\n")


def test_0_2_1_lines_were_compared_after_rounding(policy_of):
    axis = policy_of("axes: {destructive: {ask: 0.49999999999999994, deny: 0.5}}\n").axes
    assert axis.axes["destructive"].ask < 0.5


def test_0_6_2_auto_mode_was_taken_as_unattended(make_call):
    call = make_call("git reset --hard", mode="auto")
    for name in ("strict", "balanced", "permissive"):
        assert gate_named(name).decide(call).state == "ask"


def test_0_7_1_an_outage_let_everything_through(gate_of, make_call, faults_of, monkeypatch):
    def fail(*_arguments):
        raise IndexError("a fault of ours")

    assert "passthrough" in faults_of("fail_mode: passthrough\n")[0]
    gates = [gate_of(BALANCED), gate_of(BALANCED + "fail_mode: ask\n")]
    monkeypatch.setattr(Gate, "_effects", fail)
    assert [gate.decide(make_call("ls")).state for gate in gates] == ["deny", "ask"]


def test_0_8_0_the_own_api_and_the_own_server_looked_like_a_leak(gate_of, make_call):
    text = BALANCED + (
        "names: {trusted_hosts: [api.example.com], trusted_tools: ['mcp__desk__*']}\n"
        "mcp: {mcp__desk__prompt: [send]}\n"
    )
    gate = gate_of(text)
    assert gate.decide(make_call("curl -d q=1 https://api.example.com/v1")).state == "allow"
    prompt = make_call(tool="mcp__desk__prompt", tool_input={"text": "hello"})
    assert gate.decide(prompt).state == "allow"


def test_0_9_1_trust_could_cover_whatever_came(faults_of):
    for pattern in ("*", "mcp__*", "mcp__*__prompt"):
        assert "is too broad" in faults_of(f"names: {{trusted_tools: ['{pattern}']}}\n")[0]


@pytest.mark.parametrize(
    "allow", ["tools: [Bash]", "tools: ['*']", "effects: [{type: [fs.delete]}]"]
)
def test_0_9_2_a_broad_allow_of_the_user_disabled_the_root_delete_deny(gate_of, make_call, allow):
    text = BALANCED + f"rules:\n  - {{rule: mine, decide: allow, because: x, {allow}}}\n"
    for command in ("rm -rf /", "rm -rf ~", "sudo rm -rf / --no-preserve-root"):
        assert gate_of(text).decide(make_call(command)).state == "deny"


def test_0_11_0_off_task_denied_where_it_was_wrong(faults_of):
    assert shipped_axes().axes["off_task"].ceiling == "ask"
    assert faults_of("axes: {off_task: {ceiling: deny}}\n") == [
        "axes: off_task: ceiling of a shipped axis is fixed"
    ]


def test_0_14_1_a_copy_of_a_secret_that_everybody_can_read_was_asked_about(make_call):
    gate = gate_named("balanced")
    assert gate.decide(make_call("install -m 644 .env /tmp/x")).state == "deny"
    assert gate.decide(make_call("install -m 600 .env /tmp/x")).state == "ask"


@pytest.mark.parametrize("mode", ["bypassPermissions", "dontAsk"])
def test_asks_of_static_rules_stayed_asks_where_nobody_was_there(make_call, mode):
    for command in ("git reset --hard", "cat .env", "unknown-program --x"):
        assert gate_named("balanced").decide(make_call(command, mode=mode)).state == "deny"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ruels: []\n", "unknown key ruels"),
        ("rules: {a: 1}\n", "rule list is dict; expected a list"),
        ("rules: x\n", "rule list is str; expected a list"),
        ("rules:\n  - {rule: a, decide: ask, becuase: x, tools: [X]}\n", "unknown key becuase"),
        ("names: {trusted: [a.example]}\n", "names: unknown key trusted"),
        ("unattended: {modes: [x], asks: deny}\n", "unattended: expected the keys modes and ask"),
    ],
)
def test_unknown_keys_and_rules_that_are_no_list_were_ignored(faults_of, text, said):
    assert any(said in fault for fault in faults_of(text))


def test_sets_ran_under_the_operators_own_policy(tmp_path, monkeypatch):
    from evalkit.gates.choice import Choice, open_gate

    own = tmp_path / "own.yaml"
    own.write_text("version: 1\nname: own\ndefault: deny\n")
    monkeypatch.setenv("TOOLGATE_POLICY_FILE", str(own))
    assert open_gate(Choice()).policy_digest == gate_named("balanced").policy_digest


def test_trusted_tools_of_a_set_were_not_given_to_the_gate(gate_of, make_call):
    """Whom a set trusts is part of the policy that is declared, and of its digest."""
    told = BALANCED + "names: {trusted_tools: ['mcp__desk__*']}\nmcp: {mcp__desk__say: [send]}\n"
    untold = BALANCED + "mcp: {mcp__desk__say: [send]}\n"
    assert gate_of(told).policy_digest != gate_of(untold).policy_digest
    assert json.loads(gate_of(told).policy_bytes)["names"]["trusted_tools"] == ["mcp__desk__*"]


def test_importing_writes_nothing_where_that_product_keeps_its_files(tmp_path, monkeypatch):
    home = tmp_path / "home/.toolgate"
    home.mkdir(parents=True)
    (home / "policy.yaml").write_text("trusted_hosts: api.example.com\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    out = tmp_path / "own.yaml"
    done = CliRunner().invoke(import_, [str(home / "policy.yaml"), "--output", str(out)])
    assert done.exit_code == 0
    assert [path.name for path in home.iterdir()] == ["policy.yaml"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "own.yaml"]
