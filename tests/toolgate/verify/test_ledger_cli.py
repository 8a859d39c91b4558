"""``toolgate ledger``: what it prints, and its exit codes."""

import json
import re
import subprocess
import sys

import ledgers
import pytest
import vendors
from click.testing import CliRunner

from toolgate.cli.ledger import ledger


@pytest.fixture
def root(tmp_path):
    ledgers.build(tmp_path / "ledger")
    return tmp_path / "ledger"


def run(*arguments, **environ):
    return CliRunner().invoke(ledger, [str(one) for one in arguments], env=environ)


def test_conditional_is_exit_0_unless_a_pin_is_required(root):
    done = run("verify", root)
    assert done.exit_code == 0
    assert "Verdict  CONDITIONAL" in done.output
    assert "no pin was given" in done.output
    assert "Asked and not executed: 1" in done.output
    assert "who approved 1 ask: it is known by its execution only" in done.output
    assert "no outcome: nothing was reported on the call." in done.output
    assert run("verify", root, "--require-pin").exit_code == 1


def test_pass(tmp_path):
    writer = ledgers.Writer(tmp_path / "ledger", "s")
    writer.decide("a")
    writer.outcome("a")
    writer.close()
    seq, digest = writer.ledger.head()
    done = run("verify", tmp_path / "ledger", "--expect-head", f"{seq}:{digest}", "--require-pin")
    assert done.exit_code == 0
    assert "Verdict  PASS" in done.output
    assert f"the ledger ends at the pinned entry {seq}" in done.output
    assert "Every check holds, and the ledger ends where the pin says." in done.output
    assert "the turns of 1 session\n" in done.output
    assert "no outcome" not in done.output


def test_an_old_pin_covers_only_what_is_before_it(tmp_path):
    writer = ledgers.Writer(tmp_path / "ledger", "s")
    writer.ledger.session_open("s", ts=writer.tick())
    seq, digest = writer.ledger.head()
    writer.decide("a", "denied")
    writer.close()
    pin = ("--expect-head", f"{seq}:{digest}")
    done = run("verify", tmp_path / "ledger", *pin)
    assert done.exit_code == 0
    assert "Verdict  CONDITIONAL" in done.output
    said = "holds the pinned entry 1; entries 2 to 5 came after the pin and are not covered by it"
    assert said in done.output
    assert "no pin was given" not in done.output
    assert "who approved" not in done.output
    assert run("verify", tmp_path / "ledger", *pin, "--require-pin").exit_code == 1


def test_runs_are_named_with_their_commands(root):
    name = "run-20260101t000000z-01234567"
    ledgers.build(root / "runs" / name)
    (root / "runs" / name / "run.json").write_bytes(b"{}")
    (root / "runs" / "run without a ledger").mkdir()
    done = run("verify", root)
    assert "1 ledger in runs/ with its own chain and verification" in done.output
    assert f"    toolgate ledger verify {root / 'runs' / name}\n" in done.output
    assert json.loads(run("verify", root, "--json").output)["runs"] == [name]
    inside = run("verify", root / "runs" / name).output
    assert "run.json, which is no part of the chain" in inside


def test_default_ledger(root):
    assert run("verify", TOOLGATE_LEDGER=str(root)).exit_code == 0


def test_fail(root):
    kit = ledgers.Kit(root)
    kit.decision("a0").body["ev"]["principal"] = "mallory"
    kit.write()
    done = run("verify", root)
    assert done.exit_code == 1
    assert "Verdict  FAIL" in done.output
    assert "log.parent_unknown" in done.output
    assert "follows: log.root" in done.output
    assert re.search(r"^Findings: 1, and \d+ that follows?$", done.output, re.M)


def test_json(root):
    done = run("verify", root, "--json")
    report = json.loads(done.output)
    assert report["verdict"] == "CONDITIONAL"
    assert report["findings"] == []
    assert report["calls"]["allowed"]["ok"] == 10
    assert report["asks"]["executed"] == 1
    assert [ask["call"] for ask in report["asks"]["unexecuted"]] == ["a4"]
    kit = ledgers.Kit(root)
    kit.drop(kit.outcome("b0"))
    kit.rehash()
    done = run("verify", root, "--json")
    found = json.loads(done.output)["findings"]
    assert [set(item) for item in found] == [{"code", "layer", "entry", "message", "cause"}]
    assert found[0]["code"] == "log.orphan_allow"


def test_incomplete(root):
    with (root / ledgers.SPINE).open("ab") as file:
        file.write(b"{")
    assert run("verify", root).exit_code == 4


def test_findings_that_nothing_follows(root):
    kit = ledgers.Kit(root)
    kit.drop(kit.outcome("b0"))
    kit.rehash()
    assert "Findings: 1\n" in run("verify", root).output


@pytest.mark.parametrize("options", [[], ["--require-pin", "--expect-head", "1:" + "0" * 64]])
def test_no_ledger_here(tmp_path, options):
    done = run("verify", tmp_path, *options)
    assert done.exit_code == 3
    assert done.stderr == f"toolgate ledger: no ledger here (no spine file in {tmp_path})\n"
    assert done.stdout == ""
    for command in (
        ["tail"],
        ["recover"],
        ["show", "a0", "--ledger"],
        ["timeline", "s", "--ledger"],
    ):
        assert run(*command, tmp_path).exit_code == 3
    assert list(tmp_path.iterdir()) == []


def test_cannot_check(tmp_path, root):
    done = run("verify", tmp_path / "none")
    assert done.exit_code == 3
    assert "there is no ledger at" in done.output
    assert run("verify", root, "--spans", tmp_path / "none").exit_code == 3
    assert run("tail", tmp_path / "none").exit_code == 3
    assert run("show", "a0", "--ledger", tmp_path / "none").exit_code == 3
    assert run("timeline", "alpha", "--ledger", tmp_path / "none").exit_code == 3
    assert run("recover", tmp_path / "none").exit_code == 3


@pytest.mark.parametrize(
    "pin", ["", "1", "x:y", "1:sha256:12", "-1:" + "a" * 64, "1:" + "A" * 64, "0:" + "0" * 64]
)
def test_pin_that_is_none(root, pin):
    assert run("verify", root, "--expect-head", pin).exit_code == 2


def test_spans(root, tmp_path):
    trace = tmp_path / "t.jsonl"
    block = {"type": "tool_use", "id": "a0", "name": "Bash", "input": {"command": "ls a0"}}
    row = {"type": "assistant", "sessionId": "alpha", "timestamp": "2027-01-15T08:00:00Z"}
    trace.write_text(json.dumps({**row, "message": {"content": [block]}}) + "\n")
    done = run("verify", root, "--spans", trace, "--json")
    report = json.loads(done.output)
    assert report["verdict"] == "INCOMPLETE"
    assert {item["code"] for item in report["findings"]} == {
        "execution.trace_ends",
        "execution.trace_missing",
    }


def test_report_on_traces(root, tmp_path):
    kit = ledgers.Kit(root)
    rows = [*vendors.transcript(kit), {"type": "brand-new", "sessionId": "alpha"}]
    trace, logs = tmp_path / "t.jsonl", tmp_path / "logs.json"
    trace.write_text("".join(json.dumps(row) + "\n" for row in rows))
    logs.write_text(json.dumps(vendors.answer("a2", "accept", "user_temporary")))
    done = run("verify", root, "--spans", trace, "--spans", logs)
    assert done.exit_code == 0
    assert (
        "    t.jsonl: claude-transcript/1, 15 calls; written by claude-code 2.1.332; "
        "not understood: brand-new 1\n"
    ) in done.output
    assert "    logs.json: otlp-logs/1, 0 calls, 1 answer to prompts\n" in done.output
    assert "15 calls of a trace against the ledger, 15 joined by id and 0 by content" in done.output
    assert "1 ask was answered: 1 as the host reported it, unsigned." in done.output
    assert "who approved" not in done.output


def test_trace_that_shows_an_end_the_ledger_does_not_know(tmp_path):
    writer = ledgers.Writer(tmp_path / "ledger", "alpha")
    writer.decide("a")
    writer.close()
    trace = tmp_path / "t.jsonl"
    rows = [vendors.use("a", "alpha"), vendors.end("a", "alpha", "ok")]
    trace.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("verify", tmp_path / "ledger", "--spans", trace)
    assert done.exit_code == 1
    said = "1 call without an end in the ledger, which the trace shows (toolgate ledger reconcile)."
    assert said in done.output


def test_tail_of_everything(root):
    lines = run("tail", root, "-n", "all").output.splitlines()
    kit = ledgers.Kit(root)
    assert len(lines) == len(kit.rows())
    assert "decision alpha turn 1 allowed Bash a0 by look.ok" in "\n".join(lines)
    only = run("tail", root, "-n", "all", "--session", "Beta_2").output.splitlines()
    assert len(only) == sum(row.body["session"] == "Beta_2" for _, row in kit.rows())
    assert all(" Beta_2" in line for line in only)


def test_tail_of_an_unknown_session(root):
    done = run("tail", root, "--session", "zzz")
    assert done.exit_code == 3
    assert done.stdout == ""
    assert done.stderr == f"toolgate ledger: the ledger at {root} holds no session 'zzz'\n"


HELP = [[], ["verify"], ["show"], ["tail"], ["timeline"], ["recover"], ["reconcile"], ["vault"]]
HELP += [["vault", "show"], ["vault", "prune"]]


@pytest.mark.parametrize("command", HELP)
def test_help_says_the_exit_codes(command):
    assert "Exit codes: 0 " in run(*command, "--help").output


def test_recover(root):
    writer = ledgers.Writer(root, "open")
    writer.ts = 1_700_000_000_000_000
    writer.decide("z", "denied")
    assert "nothing to recover" not in run("recover", root, "--idle", "0").output
    assert run("recover", root).output == "nothing to recover\n"
    assert run("verify", root).exit_code == 0


@pytest.mark.parametrize("command", HELP)
def test_help_imports_nothing_heavy(command):
    code = (
        "import sys\n"
        f"sys.path[:] = {[path for path in sys.path if path]!r}\n"
        "from toolgate.cli.ledger import ledger\n"
        "try:\n"
        f"    ledger({[*command, '--help']!r})\n"
        "except SystemExit:\n"
        "    pass\n"
        "heavy = {'msgspec', 'rich', 'orjson', 'duckdb', 'hashlib'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
