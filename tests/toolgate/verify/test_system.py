"""Several ledgers as one audit: links, what is missing, and no order that matters."""

import json
import shutil

import approved
import checkpoints
import ledgers
import pytest
import systems
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolgate.canonical import digest
from toolgate.cli.ledger import ledger as command
from toolgate.errors import LedgerError
from toolgate.ledger.merkle import tree_root
from toolgate.verify.anchors import Anchors
from toolgate.verify.faults import BY_CODE
from toolgate.verify.loops import on_loops
from toolgate.verify.system import verify_system

CASES = [pytest.param(case, id=case.id) for case in systems.SYSTEM]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    systems.build(folder)
    return folder


@pytest.fixture
def family(sound, tmp_path):
    shutil.copytree(sound, tmp_path / "family")
    return systems.Family(tmp_path / "family")


def check(family):
    return verify_system([str(root) for root in family.roots], anchors=family.anchors)


def test_sound_family_has_no_finding(family):
    report = check(family)
    assert report.findings == []
    assert [one.report.findings for one in report.members] == [[], [], []]
    assert report.verdict == "CONDITIONAL"
    assert report.links == 2
    assert [one.call for one in report.childless] == ["t3"]
    assert len(report.conditions) == 3


def test_root_is_over_the_last_end_of_each_session(family):
    heads = {}
    for root in family.roots:
        for line in (root / ledgers.SPINE).read_bytes().split(b"\n"):
            if b'"kind":"session_close"' in line:
                body = json.loads(line)
                heads[root, body["session"]] = bytes.fromhex(digest(line)[7:])
    report = check(family)
    assert report.heads == len(heads) == 4
    assert report.root == "sha256:" + tree_root(sorted(heads.values())).hex()


@pytest.mark.parametrize("case", CASES)
def test_fault_between_ledgers_is_named(case, family):
    case.damage(family)
    report = check(family)
    assert {item.code for item in report.findings} == case.expect, report.findings
    assert report.verdict == case.verdict
    for item in report.findings:
        assert item.layer == BY_CODE[item.code].layer
        assert "\n" not in item.message


@pytest.mark.parametrize("case", CASES)
def test_order_and_repetition_change_nothing(case, family, monkeypatch):
    case.damage(family)
    report = check(family)
    family.roots = [*family.roots[::-1], family.roots[0]]
    assert check(family) == report
    monkeypatch.chdir(family.folder)
    family.roots = [root.name for root in family.roots]
    assert check(family) == report


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from([*systems.NAMES, "none"]), min_size=1, max_size=6), st.randoms())
def test_any_arguments_in_any_order(sound, names, rng):
    report = verify_system([str(sound / name) for name in names])
    again = [*names, *rng.choices(names, k=2)]
    rng.shuffle(again)
    assert verify_system([f"{sound}/./{name}" for name in again]) == report
    assert [member.path for member in report.members] == sorted(
        str((sound / name).resolve()) for name in set(names)
    )
    assert ("log.ledger_missing" in {one.code for one in report.findings}) is ("none" in names)


def test_a_copy_of_a_ledger_changes_neither_root_nor_verdict(family):
    report = check(family)
    shutil.copytree(family.folder / "child", family.folder / "copy")
    family.roots.append(family.folder / "copy")
    again = check(family)
    assert (again.root, again.heads, again.verdict) == (report.root, report.heads, report.verdict)
    assert (again.findings, again.childless) == (report.findings, report.childless)


def test_a_copy_that_ends_earlier_is_the_same_ledger(family):
    report = check(family)
    shutil.copytree(family.folder / "child", family.folder / "copy")
    writer = ledgers.Writer(family.folder / "child", "worker")
    writer.ts += 10**8
    writer.decide("more", "denied")
    writer.close()
    family.roots.append(family.folder / "copy")
    again = check(family)
    assert again.findings == report.findings == []
    assert again.verdict == report.verdict


def test_two_copies_are_told_apart_at_the_entries_that_part_them(family):
    for name in ("child", "copy"):
        if name == "copy":
            shutil.copytree(family.folder / "sound", family.folder / "copy")
        else:
            shutil.copytree(family.folder / "child", family.folder / "sound")
        writer = ledgers.Writer(family.folder / name, "worker")
        writer.ts += 10**8
        writer.decide(f"after in {name}", "denied")
        writer.decide(f"once more in {name}", "denied")
        writer.close()
    family.roots += [family.folder / "copy", family.folder / "sound"]
    (found,) = check(family).findings
    lines = {
        name: [
            digest(one)
            for one in (family.folder / name / ledgers.SPINE).read_bytes().split(b"\n")[:-1]
        ]
        for name in ("child", "copy", "sound")
    }
    common = len(lines["sound"])
    parted = sorted((lines[name][common], name) for name in ("child", "copy"))
    # What opens the next part may be the same in both; the first that differs is told.
    at = next(n for n in range(common, 99) if lines["child"][n] != lines["copy"][n])
    parted = sorted((lines[name][at], name) for name in ("child", "copy"))
    assert (found.code, found.entry) == ("log.equivocation", parted[1][0])
    assert str(family.folder / parted[1][1]) in found.message
    assert lines["child"][at - 1] in found.message
    assert parted[0][0] in found.message


def test_ledgers_in_databases_are_part_of_a_system(family, new_database):
    pytest.importorskip("psycopg")
    from toolgate.ledger.copy import export

    report = check(family)
    databases = {}
    for name in systems.NAMES:
        databases[name] = new_database()
        export(str(family.folder / name), databases[name])
    for mixed in (("parent",), ("child", "other"), systems.NAMES):
        places = [
            databases[name] if name in mixed else str(family.folder / name)
            for name in systems.NAMES
        ]
        found = verify_system([*places, places[0]])
        assert (found.root, found.heads, found.links) == (report.root, report.heads, report.links)
        assert found.findings == []
        assert found.verdict == report.verdict
        assert len(found.members) == 3
        assert "pa%40ss" not in json.dumps(found.as_json())
        assert "pa@ss" not in json.dumps(found.as_json())
    both = verify_system([*databases.values(), *map(str, family.roots)])
    assert (both.root, both.findings, len(both.members)) == (report.root, [], 6)
    absent = databases["child"].replace("/postgres?", "/no_such_database?")
    lost = verify_system([databases["parent"], absent])
    assert [one.code for one in lost.findings] == ["log.ledger_missing"]
    assert "pa%40ss" not in json.dumps(lost.as_json())
    done = CliRunner().invoke(command, ["verify", "--system", *databases.values()])
    assert done.exit_code == 0, done.output
    assert "System of 3 ledgers" in done.output
    assert "pa%40ss" not in done.output


def test_a_database_that_goes_on_differently_is_found(family, database):
    pytest.importorskip("psycopg")
    from toolgate.ledger.copy import export

    export(str(family.folder / "child"), database)
    for place in (database, family.folder / "child"):
        writer = ledgers.Writer(place, "worker")
        writer.ts += 10**8
        writer.decide(f"after in {str(place)[:4]}", "denied")
        writer.close()
    found = verify_system([str(family.folder / "child"), str(family.folder / "parent"), database])
    assert [one.code for one in found.findings] == ["log.equivocation"]
    assert found.verdict == "FAIL"
    assert "pa%40ss" not in found.findings[0].message


def test_no_ledger_at_all():
    with pytest.raises(LedgerError, match="no ledger was given"):
        verify_system([])


def test_a_checkpoint_of_each_ledger_makes_it_pass(family):
    kept = []
    for name in systems.NAMES:
        key = checkpoints.private(20 + len(kept))
        made = ledgers.Ledger(str(family.folder / name))
        kept.append(checkpoints.held(made.checkpoint(key, ts=ledgers.START + 10**9)))
    family.anchors = Anchors(tuple(kept))
    report = check(family)
    assert [one.report.findings for one in report.members] == [[], [], []]
    assert (report.verdict, report.findings, report.conditions) == ("PASS", [], [])
    family.anchors = Anchors(tuple(kept[1:]))
    assert check(family).verdict == "CONDITIONAL"


def test_a_decision_answered_only_by_a_veto_started_nobody(family):
    writer = ledgers.Writer(family.folder / "other", "alone")
    writer.ts += 10**8
    writer.decide("v1", tool="Task")
    writer.outcome("v1", "refused", tool="Task")
    writer.decide("v2", tool="Task")
    writer.close()
    writer.outcome("v2", tool="Task")
    assert [one.call for one in check(family).childless] == ["v2", "t3"] or [
        one.call for one in check(family).childless
    ] == ["t3", "v2"]


# -- the command


def run(*arguments):
    return CliRunner().invoke(command, ["verify", *[str(one) for one in arguments]])


def test_command(family):
    done = run("--system", *family.roots)
    assert done.exit_code == 0, done.output
    assert "System of 3 ledgers" in done.output
    assert "Decisions that sessions name as what started them: 2" in done.output
    assert "Agent call t3, session boss" in done.output
    assert "over 4 session heads" in done.output
    assert "Verdict  CONDITIONAL" in done.output
    assert run("--system", *family.roots, "--require-pin").exit_code == 1
    body = json.loads(run("--system", *family.roots, "--json").output)
    assert [one["report"]["verdict"] for one in body["members"]] == ["CONDITIONAL"] * 3
    assert body["childless"][0]["call"] == "t3"
    done = run("--system", *family.roots, family.folder / "none")
    assert done.exit_code == 4
    assert "MISSING" in done.output
    assert "log.ledger_missing" in done.output


def test_command_shows_the_findings_of_each_ledger(family):
    next(case for case in systems.SYSTEM if case.id == "fault-inside-one-ledger").damage(family)
    done = run("--system", *family.roots)
    assert done.exit_code == 1
    assert f"Findings in {family.folder.resolve() / 'other'}: " in done.output


@pytest.mark.parametrize(
    "options",
    [
        ["--system"],
        ["--system", "a", "--spans", "x"],
        ["--system", "a", "--expect-head", "1:" + "0" * 64],
        ["a", "b"],
    ],
)
def test_command_used_wrongly(options):
    assert run(*options).exit_code == 2


@given(st.sets(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), max_size=14))
def test_a_session_is_on_a_loop_if_a_path_leads_back_to_it(edges):
    """And not if it only lies between two loops: it did not start itself."""
    reached = {one: {other for a, other in edges if a == one} for one in "abcdefg"}
    for _ in reached:
        for one, known in reached.items():
            reached[one] = known.union(*(reached[other] for other in known))
    assert on_loops(edges) == {one for one in reached if one in reached[one]}


def test_a_long_row_of_agents_takes_linear_time_and_no_deep_stack():
    count = 100_000
    row = {(str(one), str(one + 1)) for one in range(count)}
    assert on_loops(row) == set()
    assert len(on_loops(row | {(str(count), "0")})) == count + 1


def test_an_approval_is_used_in_one_ledger(tmp_path):
    """One that names no session serves one call, not one in every ledger it is copied to."""
    first = approved.Desk(tmp_path / "first", "s", approved.ALONE)
    signed = [first.signed(by, **{"class": "pay"}) for by in ("alice", "bob")]
    desks = [first, approved.Desk(tmp_path / "second", "t", approved.ALONE, ts=first.ts + 50_000)]
    for number, desk in enumerate(desks):
        desk.prompt("p1")
        basis = tuple(desk.force(ev) for ev in signed)
        desk.ts += 10_000
        desk.say(f"c{number}", "allowed", "pay", basis=basis)
        desk.done(f"c{number}", "pay")
        desk.close()
        report = verify_system([str(one.root) for one in desks[: number + 1]] * 2)
        assert not any(item.report.findings for item in report.members)
        assert {item.code for item in report.findings} == {"entries.approval_reused"} - {
            "" if number else "entries.approval_reused"
        }
    shutil.copytree(tmp_path / "first", tmp_path / "copy")
    assert not verify_system([str(tmp_path / "first"), str(tmp_path / "copy")]).findings
    turned = verify_system([str(tmp_path / name) for name in ("second", "copy", "first")])
    assert [item.entry for item in turned.findings] == [item.entry for item in report.findings]
