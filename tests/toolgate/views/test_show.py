"""``toolgate ledger show``: which call is meant, and the answers to an audit's questions."""

import json

import ledgers
import pytest
from click.testing import CliRunner

from toolgate.cli.ledger import ledger
from toolgate.gate.engine import GATE_FAULT
from toolgate.gate.policy.rule import DEFAULT, HARMLESS
from toolgate.views.approvals import approvals_of
from toolgate.views.policy import BUILT_IN, policy_text

from . import cases
from .golden_views import story


def run(*arguments):
    return CliRunner().invoke(ledger, ["show", *[str(one) for one in arguments]])


def of(root, call):
    done = run(call, "--ledger", root, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


@pytest.mark.parametrize("name", ["entry", "decision", "outcome", "short", "upper", "bare"])
def test_a_call_is_found_by_every_name_it_has(base, name):
    kit = ledgers.Kit(base)
    decision, outcome = kit.decision("b1"), kit.outcome("b1")
    names = {
        "entry": decision.old,
        "decision": decision.old_event,
        "outcome": outcome.old,
        "short": decision.old_event[7:15],
        "upper": decision.old[7:].upper()[:20],
        "bare": decision.old[7:],
    }
    assert of(base, names[name])["call"] == "b1"


@pytest.mark.parametrize("call", ["a7", "a9"])
def test_a_late_outcome_on_the_spine_leads_to_its_call(base, call):
    assert of(base, ledgers.Kit(base).outcome(call).old)["call"] == call


def test_an_earlier_decision_leads_to_the_whole_story(base):
    asked = next(
        row for _, row in ledgers.Kit(base).rows() if row.body.get("intent", {}).get("call") == "a2"
    )
    story = of(base, asked.old)
    assert [one["role"] for one in story["step"]["decisions"]] == ["answered", "stands"]
    assert story["confirmation"]["how"] == "inferred"


@pytest.mark.parametrize(
    "wanted", ["zz", "99999999", "sha256:" + "0" * 64, "0" * 65, "", "\x1b[2J"]
)
def test_what_is_no_call(base, wanted):
    done = run(wanted, "--ledger", base)
    assert done.exit_code == 3
    assert done.stdout == ""
    assert "\x1b" not in done.stderr
    assert "holds no call" in done.stderr


def test_seven_digits_are_too_few(base):
    kit = ledgers.Kit(base)
    assert run(kit.decision("b1").old[7:14], "--ledger", base).exit_code == 3


def test_an_entry_of_no_call_says_what_it_is(base):
    turn = ledgers.Kit(base).find("turn_open", "alpha")
    done = run(turn.old[7:20], "--ledger", base)
    assert done.exit_code == 3
    assert f"{turn.old} is a turn_open entry that belongs to no decided call" in done.stderr


def test_an_outcome_of_no_decision(base, tmp_path):
    ledgers.build(tmp_path / "l")
    kit = ledgers.Kit(tmp_path / "l")
    outcome = kit.outcome("b1")
    kit.drop(kit.decision("b1"))
    kit.write()
    done = run(outcome.old, "--ledger", tmp_path / "l")
    assert done.exit_code == 3
    assert "is a outcome entry" not in done.stderr
    assert f"{outcome.old} is an outcome entry that belongs to no decided call" in done.stderr


@pytest.mark.parametrize("by", ["call", "entry"])
def test_a_decision_in_another_sessions_file_is_no_call_of_either(tmp_path, by):
    ledgers.build(tmp_path / "l")
    kit = ledgers.Kit(tmp_path / "l")
    row = kit.decision("b1")
    row.body["session"] = "alpha"
    kit.write()
    entry = ledgers.digest(cases.profile_bytes(row.body))
    done = run("b1" if by == "call" else entry, "--ledger", tmp_path / "l")
    assert done.exit_code == 3
    assert entry in done.stderr
    assert "decision entry that belongs to no decided call" in done.stderr


def test_a_call_without_a_decision_is_said_to_have_run(told):
    done = run("never-decided", "--ledger", told)
    assert done.exit_code == 3
    assert "ran, and the ledger holds no decision on it (execution.unmatched" in done.stderr


def test_a_name_of_several_calls_lists_them(tmp_path):
    root = tmp_path / "ledger"
    for session in ("one", "two"):
        writer = ledgers.Writer(root, session)
        writer.decide("same")
        writer.outcome("same")
    writer.decide("same")
    done = run("same", "--ledger", root)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "'same' may be 3 calls" in done.stderr
    listed = [line.split()[0] for line in done.stderr.splitlines()[1:]]
    assert len(set(listed)) == 3
    for entry in listed:
        assert of(root, entry)["step"]["decisions"][-1]["entry"] == entry


def test_one_decision_in_two_sessions_is_told_apart_by_its_entries(tmp_path):
    root = tmp_path / "ledger"
    for session in ("one", "two"):
        ledgers.Writer(root, session).decide("same")
    one, two = [row for _, row in ledgers.Kit(root).rows() if row.body["kind"] == "decision"]
    assert one.old_event == two.old_event
    assert run(one.old_event, "--ledger", root).exit_code == 2
    assert of(root, two.old)["step"]["session"] == "two"


def test_a_prefix_of_several_calls_is_ambiguous(tmp_path, monkeypatch):
    monkeypatch.setattr("toolgate.views.find.SHORTEST", 1)
    writer = ledgers.Writer(tmp_path / "ledger", "s")
    for at in range(17):
        writer.decide(f"call-{at}")
    done = run("a", "--ledger", tmp_path / "ledger")
    assert done.exit_code == 2
    assert "'a' may be " in done.stderr


@pytest.mark.parametrize("folder", ["none", "empty"])
def test_no_ledger(tmp_path, folder):
    (tmp_path / "empty").mkdir()
    assert run("a", "--ledger", tmp_path / folder).exit_code == 3


def test_an_empty_ledger(tmp_path):
    (tmp_path / ledgers.SPINE).write_bytes(b"")
    done = run("a", "--ledger", tmp_path)
    assert done.exit_code == 3
    assert "holds no call" in done.stderr


@pytest.mark.parametrize(
    ("call", "how", "fate", "given"),
    [
        ("signed-1", "signature", "ok", ["ann"]),
        ("told-1", "telemetry", "timeout", ["alice"]),
        ("inferred-1", "inferred", "ok", []),
        ("refused-1", "refused", "denied", ["bo"]),
        ("ignored-1", "open", "asked", []),
        ("release-2", "signature", "cancelled", ["ann", "bo"]),
        ("release-1", "missing", "denied", []),
        ("edit-1", "not needed", "ok", []),
        ("vetoed-1", "not needed", "refused", []),
        ("lost-1", "not needed", "unresolved", []),
        ("ran-1", "not needed", "violation", []),
        ("child-2", "not needed", "pending", []),
    ],
)
def test_what_gave_the_confirmation_and_what_became_of_it(told, call, how, fate, given):
    story = of(told, call)
    assert (story["confirmation"]["how"], story["became"]["fate"]) == (how, fate)
    assert [one["principal"] for one in story["confirmation"]["approvals"]] == given
    assert all(one["cited"] for one in story["confirmation"]["approvals"])


def test_composition_is_what_the_policy_wants_of_the_class(told):
    wanted = of(told, "release-2")["confirmation"]["composition"]
    assert wanted == {"operator": "staged", "n": 1, "principals": ["ann", "bo"]}
    assert of(told, "edit-1")["confirmation"]["composition"] is None


def test_who_started_the_session(told):
    step = of(told, "child-1")["step"]
    assert step["spawn"]["call"] == "task-1"
    assert step["spawn"]["session"] == cases.SESSION
    assert step["agent"] == ["main", "task"]


def test_a_starting_decision_the_ledger_does_not_hold(tmp_path):
    one = cases.Told(tmp_path / "ledger", "s")
    one.ledger.session_open("s", ts=one.ts, spawned_by="sha256:" + "a" * 64)
    one.decide("c", "look")
    assert of(tmp_path / "ledger", "c")["step"]["spawn"] is None
    assert "which this ledger does not hold" in run("c", "--ledger", tmp_path / "ledger").output


def test_other_arguments_and_second_reports(told):
    became = of(told, "other-1")["became"]
    assert [one["ran"] for one in became["differences"]] == [ledgers.digest(b"other arguments")]
    assert of(told, "edit-1")["became"]["differences"] == []


def test_the_unattended_answer_is_explained(told):
    assert of(told, "unattended-1")["ruling"]["nobody_to_ask"]
    said = run("unattended-1", "--ledger", told).output
    assert "nobody can be, so it is denied" in " ".join(said.split())  # however wide it is
    assert not of(told, "denied-1")["ruling"]["nobody_to_ask"]


def test_narration_is_said_to_be_no_evidence_and_checks_to_be_elsewhere(base):
    said = " ".join(run("a0", "--ledger", base).output.split())
    assert "The model's own words about its reasons are narration. They are no evidence" in said
    assert f"toolgate ledger verify {base}" in said


@pytest.mark.parametrize("session", ["alpha", "gamma"])
def test_a_checkpoint_behind_the_close_is_named(tmp_path, session):
    ledgers.build(tmp_path / "ledger")
    one = cases.Told(tmp_path / "ledger", session)
    with one.ledger._spine(one.ts) as spine:
        ev = {"text": "log\n4\nroot\n"}
        body = cases.entry("checkpoint", session=None, turn=None, parents=[], ts=one.ts, ev=ev)
        spine.append(body)
    call = {"alpha": "a0", "gamma": "c0"}[session]
    assert of(tmp_path / "ledger", call)["became"]["checkpoint"] == 32


def test_a_damaged_ledger_still_tells_what_it_holds(tmp_path):
    root = tmp_path / "ledger"
    cases.tell(root)
    kit = ledgers.Kit(root)
    kit.drop(kit.find("turn_open", cases.SESSION, turn=1), kit.find("session_open", cases.SESSION))
    kit.write()
    (root / "policies" / f"{ledgers.digest(cases.POLICY)[7:]}.json").write_bytes(b"[" * 100_000)
    done = run("signed-1", "--ledger", root)
    assert done.exit_code == 0
    assert "the ledger does not hold the entry that opened it" in done.output
    assert "the text the ledger holds has another digest" in " ".join(done.output.split())
    assert of(root, "signed-1")["authority"]["policy_problem"] == "altered"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (None, "missing"),
        (b"{", "unreadable"),
        (b"[]", "unreadable"),
        (b"[" * 100_000, "unreadable"),
    ],
)
def test_policy_text_that_says_nothing(data, problem):
    version = "sha256:" + "0" * 64 if data is None else ledgers.digest(data)
    assert policy_text(version, data).problem == problem


@pytest.mark.parametrize(
    "body",
    [
        {"rules": 1, "classes": 2, "composition": [], "authored_by": "x", "unattended": 3},
        {"rules": [1, {}, {"rule": "r"}], "composition": {"c": 5, "d": {"principals": 1}}},
        {"name": 5, "authored_by": {"key": []}, "unattended": {"modes": {}}},
    ],
)
def test_policy_text_of_any_shape_is_read_without_a_fault(body):
    data = json.dumps(body).encode()
    assert policy_text(ledgers.digest(data), data).problem is None


def test_an_override_is_told_with_the_rule_it_is_an_exception_from():
    override = {"override": "o", "of": "r", "decide": "allow", "because": "x", "owner": "ann"}
    data = json.dumps({"rules": [], "overrides": [override, 1, {}]}).encode()
    text = policy_text(ledgers.digest(data), data)
    assert text.because("o") == "x (an exception from r by ann)"
    assert text.because("p") is None


def test_rules_in_no_policy_are_those_of_the_gate():
    assert {HARMLESS.name, DEFAULT, GATE_FAULT, "input", "composition"} == set(BUILT_IN)


def test_an_approval_of_something_else_is_not_this_calls(told):
    made = story(told, "signed-1")
    assert [one.principal for one in made.confirmation.approvals] == ["ann"]
    assert approvals_of([], "s", []) == ()


def test_terminal_escapes_in_names_are_shown_as_text(tmp_path):
    one = ledgers.Writer(tmp_path / "ledger", "s\x1b[31m")
    one.decide("c\x1b]0;x\x07\u202e\n2. Under", tool="T\x9b\r")
    call = ledgers.Kit(tmp_path / "ledger").find("decision").old
    done = run(call, "--ledger", tmp_path / "ledger")
    assert done.exit_code == 0
    assert not any(ord(char) < 32 and char != "\n" for char in done.output)
    assert "\u202e" not in done.output
    assert done.output.count("\n2. Under") == 1
