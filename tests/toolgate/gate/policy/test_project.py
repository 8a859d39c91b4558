"""Rules of a project: they tighten, and what might loosen is refused. A law, not a list."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.action import SCOPES
from toolgate.canonical import digest
from toolgate.errors import PolicyError, UnavailableError
from toolgate.gate.bases import bases_beside
from toolgate.gate.catalog.load import shipped
from toolgate.gate.decision import STRICTNESS
from toolgate.gate.effects.model import PROVED, TYPES, Effect
from toolgate.gate.engine import Gate
from toolgate.gate.open import default_gate, project_policy
from toolgate.gate.policy.compile import compile_policy
from toolgate.gate.policy.evaluate import evaluate
from toolgate.gate.policy.model import Policy
from toolgate.gate.policy.project import PREFIX, tightened
from toolgate.gate.project import gate_in_project

NO_PUSH = (
    "version: 1\nname: app\nabout: ours\nrules:\n"
    "  - {rule: no-push, decide: deny, because: CI pushes, effects: [{type: [vcs.publish]}]}\n"
    "  - {rule: dist, decide: ask, because: built elsewhere, effects: [{type: [fs.write], "
    "resource: ['*/dist/*']}]}\n"
)


def together(text, base=None) -> Policy:
    data = default_gate().policy_bytes if base is None else base
    return Policy(tightened(data, text.encode(), "p.yaml"))


def test_its_rules_are_added_under_names_of_their_own(make_call):
    gate = Gate(together(NO_PUSH), shipped())
    pushed = gate.decide(make_call("git push origin topic"))
    assert (pushed.state, pushed.rule) == ("deny", PREFIX + "no-push")
    assert gate.decide(make_call("echo a > dist/x")).rule == PREFIX + "dist"
    assert gate.decide(make_call("echo a > src/x")).state == "allow"
    assert gate.decide(make_call("rm -rf /")).rule == "delete-whole-tree"


def test_the_digest_covers_both():
    base = default_gate()
    both = together(NO_PUSH)
    assert both.digest == digest(both.data) != base.policy_digest
    assert both.digest != together(NO_PUSH.replace("CI pushes", "people push")).digest
    rules = {rule["rule"]: rule for rule in json.loads(both.data)["rules"]}
    assert {one["rule"] for one in json.loads(base.policy_bytes)["rules"]} <= set(rules)
    assert rules[PREFIX + "no-push"]["floor"] is True
    assert "axis" not in rules[PREFIX + "no-push"]


EFFECTS = st.builds(
    Effect,
    st.sampled_from(TYPES),
    st.sampled_from(SCOPES),
    st.sampled_from(["/w/dist/x", "r"]),
    st.booleans(),
    st.sampled_from([PROVED, "unresolved(x)"]),
    st.sampled_from(["git", "p"]),
    st.sampled_from(["", "force", "recursive anchor", "secret", "own"]),
)
RULES = st.lists(
    st.fixed_dictionaries(
        {
            "rule": st.sampled_from(["a", "b", "c", "look", "default", "harmless", "send-secret"]),
            "decide": st.sampled_from(["ask", "deny"]),
            "because": st.just("x"),
            "effects": st.lists(
                st.fixed_dictionaries(
                    {},
                    optional={
                        "type": st.lists(st.sampled_from(TYPES), min_size=1, max_size=3),
                        "scope": st.lists(st.sampled_from(SCOPES), min_size=1, max_size=3),
                        "without": st.just(["force"]),
                        "resource": st.just(["*dist*"]),
                    },
                ).filter(bool),
                min_size=1,
                max_size=2,
            ),
        },
        optional={"facts": st.just(["read_secret"]), "tools": st.just(["B*"])},
    ),
    max_size=4,
    unique_by=lambda rule: rule["rule"],
)


@settings(max_examples=150, deadline=None)
@given(RULES, st.lists(EFFECTS, min_size=1, max_size=3), st.booleans())
def test_no_project_makes_an_answer_milder(rules, effects, known):
    body = json.dumps({"version": 1, "name": "x", "rules": rules})
    base = default_gate().policy
    before, after = (
        evaluate(policy, "Bash", tuple(effects), lambda code: known)
        for policy in (base, together(body))
    )
    assert STRICTNESS[after.rule.decide] >= STRICTNESS[before.rule.decide]
    assert after.action_class == before.action_class
    if after.rule.name.startswith(PREFIX):
        # What it decides is lowered by no request: it is a floor, and belongs to no axis.
        assert after.rule.floor and after.rule.axis is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("names: {trusted_hosts: [evil.example]}", "names is not for a project to say"),
        ("names: {secret_names: []}", "names is not for a project to say"),
        ("mcp: {mcp__a__b: [read]}", "mcp is not for a project to say"),
        ("axes: {destructive: {ask: 1, deny: 1}}", "axes is not for a project to say"),
        ("classes: [{name: look}]", "classes is not for a project to say"),
        ("facts: {read_secret: {turns: 1}}", "facts is not for a project to say"),
        ("default: deny", "default is not for a project to say"),
        ("fail_mode: ask", "fail_mode is not for a project to say"),
        ("unattended: {modes: [plan], ask: ask}", "unattended is not for a project to say"),
        ("extends: {policy: permissive}", "extends is not for a project to say"),
        ("judge: {backend: mock}", "judge is not for a project to say"),
        ("principals: {eve: [k]}", "principals is not for a project to say"),
        ("overrides: [{override: o}]", "overrides is not for a project to say"),
        ("rules: [{rule: a, decide: allow, because: x, tools: [X]}]", "rule a: allows; a rule of"),
        (
            "rules: [{rule: a, decide: ask, axis: privilege, because: x, tools: [X]}]",
            "rule a: axis is not for a project to say",
        ),
        ("rules: [{rule: a, decide: ask, floor: false, because: x, tools: [X]}]", "rule a: floor"),
        ("rules: [{rule: a, decide: maybe, because: x, tools: [X]}]", "decide is 'maybe'"),
        ("rules: 5", "rule list is int; expected a list"),
        ("rules: [5]", "rule 1: expected a mapping"),
    ],
)
def test_what_may_loosen_or_is_unsound_is_refused(text, said):
    with pytest.raises(PolicyError) as caught:
        together("version: 1\nname: x\n" + text)
    assert any(said in fault for fault in caught.value.faults), caught.value.faults
    with pytest.raises(PolicyError, match="expected a mapping"):
        together("[]")


def test_patterns_of_both_are_counted_together():
    many = ", ".join(f"p{number}" for number in range(200))
    rule = f"{{rule: a, decide: ask, because: x, when: {{text: [{many}]}}}}"
    text = f"version: 1\nname: x\nrules: [{rule}]\n"
    base = compile_policy(text.encode(), shipped().digest)
    assert together(text).rules
    with pytest.raises(PolicyError, match="400 patterns of text"):
        together(text, base)


def test_what_the_users_policy_lowers_stays_lowered_for_its_own_rules_alone(make_call):
    source = (
        "version: 1\nname: own\nextends: {policy: balanced}\noverrides:\n"
        "  - {override: o, of: risky-push, decide: allow, because: x, owner: ann, "
        "expires: 2027-01-31, effects: [{type: [vcs.publish]}]}\n"
    )
    base = compile_policy(source.encode(), shipped().digest, bases=bases_beside("/x/p.yaml"))
    call = make_call("git push origin main", ts=1)
    assert Gate(Policy(base), shipped()).decide(call).state == "allow"
    assert Gate(together(NO_PUSH, base), shipped()).decide(call).rule == PREFIX + "no-push"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "app/.toolgate").mkdir(parents=True)
    return tmp_path / "app"


def test_a_projects_file_is_found_in_its_root_and_read_once(project, make_call, monkeypatch):
    assert project_policy((str(project),)) == ""
    file = project / ".toolgate/policy.yaml"
    file.write_text(NO_PUSH)
    assert project_policy((str(project), "/elsewhere")) == str(file)
    assert project_policy(("/elsewhere", str(project))) == ""
    assert project_policy(()) == ""
    gate = gate_in_project(default_gate(), str(file))
    assert gate.decide(make_call("git push origin topic")).state == "deny"
    monkeypatch.setattr("toolgate.gate.policy.project.tightened", lambda *_: b"never")
    assert gate_in_project(default_gate(), str(file)).policy_digest == gate.policy_digest


def test_only_an_ordinary_file_of_the_project_counts(project, tmp_path):
    file, secret = project / ".toolgate/policy.yaml", tmp_path / "secret"
    secret.write_text("AWS_SECRET: abc\n")
    file.symlink_to(secret)
    with pytest.raises(UnavailableError, match="cannot be read"):
        gate_in_project(default_gate(), str(file))
    file.unlink()
    os.link(secret, file)
    with pytest.raises(PolicyError, match="is no ordinary file of its own"):
        gate_in_project(default_gate(), str(file))
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(PolicyError, match="is no ordinary file of its own"):
        gate_in_project(default_gate(), str(file))
    file.unlink()
    file.write_bytes(b"#" * 70_000)
    with pytest.raises(PolicyError, match="larger than 65536 bytes"):
        gate_in_project(default_gate(), str(file))
    (project / "linked").mkdir()
    (project / "linked/.toolgate").symlink_to(project / ".toolgate")
    file.write_text(NO_PUSH)
    with pytest.raises(PolicyError, match="its folder is a link"):
        gate_in_project(default_gate(), str(project / "linked/.toolgate/policy.yaml"))
