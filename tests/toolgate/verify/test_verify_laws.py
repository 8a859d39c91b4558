"""Laws of the verifier: silent on what the writer makes, loud on any damage, never an exception."""

import random
import shutil
from collections import Counter
from pathlib import Path

import ledgers
import msgspec
import mutations
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plays import OPERATIONS, play

from toolgate.canonical import digest, profile_bytes
from toolgate.errors import LedgerError
from toolgate.records import KINDS, check
from toolgate.verify import verify
from toolgate.verify.diagnose import diagnose
from toolgate.verify.directory import Directory, session_name
from toolgate.verify.policies import class_of
from toolgate.verify.read import decode
from toolgate.verify.shapes import Effect


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    root = tmp_path_factory.mktemp("sound") / "ledger"
    ledgers.build(root)
    return root


@pytest.fixture(scope="module")
def lines(sound):
    return [
        line
        for path in sorted(sound.rglob("*.jsonl"))
        for line in path.read_bytes().split(b"\n")[:-1]
    ]


# -- generated sessions


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(OPERATIONS, st.sampled_from(["dag", "linear"]))
def test_findings_are_exactly_what_happened(tmp_path_factory, operations, shape):
    root = tmp_path_factory.mktemp("play") / "ledger"
    expect, inferred = play(root, shape, operations)
    report = verify(str(root))
    assert Counter(item.code for item in report.findings) == expect
    assert all(item.cause is None for item in report.findings)
    assert report.inferred == inferred
    shutil.rmtree(root)


# -- damage


def search(sound: Path, root: Path, count: int) -> None:
    """Change a random byte or line of a ledger ``count`` times; each must be seen with a pin."""
    shutil.copytree(sound, root)
    head = ledgers.Kit(root).head
    evidence = [*root.rglob("*.jsonl"), *root.rglob("policies/*")]
    files = {path: data for path in sorted(evidence) if (data := path.read_bytes())}
    for seed in range(count):
        rng = random.Random(seed)
        path = rng.choice(list(files))
        moved = path.name == ledgers.SPINE and rng.random() < 0.1
        changed = (mutations.move_line if moved else mutations.change_bytes)(rng, files[path])
        path.write_bytes(changed)
        report = verify(str(root), expect_head=head)
        seen = report.verdict in ("FAIL", "INCOMPLETE") and bool(report.primary)
        assert seen or changed == files[path], f"seed {seed} went unnoticed in {path.name}"
        path.write_bytes(files[path])


def test_no_damage_goes_unnoticed(sound, tmp_path):
    search(sound, tmp_path / "ledger", 1_500)


@pytest.mark.slow
def test_no_damage_goes_unnoticed_at_length(sound, tmp_path):
    search(sound, tmp_path / "ledger", 100_000)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=400) | st.text(max_size=200).map(str.encode), st.booleans())
def test_any_bytes_give_findings(tmp_path_factory, data, on_spine):
    root = tmp_path_factory.mktemp("bytes") / "ledger"
    (root / "sessions").mkdir(parents=True)
    name = ledgers.SPINE if on_spine else "sessions/s.jsonl"
    (root / ledgers.SPINE).write_bytes(b"")
    (root / name).write_bytes(data)
    if data:
        assert verify(str(root)).findings
    else:
        with pytest.raises(LedgerError, match="has no entry"):
            verify(str(root))
    shutil.rmtree(root)


def test_long_garbage_is_read_in_bounded_pieces(tmp_path):
    root = tmp_path / "ledger"
    root.mkdir()
    (root / ledgers.SPINE).write_bytes(b"x" * 3_000_000 + b"\n" + b"\n" * 5000 + b"[" * 100_000)
    report = verify(str(root))
    assert {item.code for item in report.findings} == {"entries.parse", "log.fragment"}


def test_missing_ledger_cannot_be_checked(tmp_path):
    with pytest.raises(LedgerError, match="there is no ledger at"):
        verify(str(tmp_path / "none"))
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(LedgerError):
        verify(str(tmp_path / "file"))


@pytest.mark.parametrize("pin", [None, (0, "sha256:" + "0" * 64)])
def test_directory_without_a_spine_is_no_ledger(sound, tmp_path, pin):
    with pytest.raises(LedgerError, match=r"no ledger here \(no spine file in "):
        verify(str(tmp_path), expect_head=pin)
    root = tmp_path / "ledger"
    shutil.copytree(sound, root)
    (root / ledgers.SPINE).unlink()
    with pytest.raises(LedgerError, match=r"no ledger here \(no spine file in "):
        verify(str(root), expect_head=pin)


@pytest.mark.parametrize("pin", [None, (0, "sha256:" + "0" * 64)])
def test_ledger_without_an_entry_cannot_be_checked(tmp_path, pin):
    (tmp_path / ledgers.SPINE).write_bytes(b"")
    with pytest.raises(LedgerError, match="has no entry"):
        verify(str(tmp_path), expect_head=pin)


def test_runs_inside_a_ledger_are_not_part_of_it(sound, tmp_path):
    root = tmp_path / "ledger"
    shutil.copytree(sound, root)
    (root / "runs" / "r1").mkdir(parents=True)
    (root / "runs" / "r1" / ledgers.SPINE).write_bytes(b"garbage\n")
    (root / "runs" / "r2").mkdir()
    (root / "runs" / "file").write_bytes(b"")
    report = verify(str(root))
    assert report.findings == []
    assert report.runs == ["r1"]
    assert "1 ledger in runs/ with its own chain and verification" in report.unchecked


def test_files_of_a_run_are_no_part_of_the_chain(sound, tmp_path):
    root = tmp_path / "ledger"
    shutil.copytree(sound, root)
    (root / "run.json").write_bytes(b"{}")
    assert "run.json, which is no part of the chain" in verify(str(root)).unchecked
    (root / "journal.jsonl").write_bytes(b"")
    said = "run.json and journal.jsonl, which are no part of the chain"
    assert said in verify(str(root)).unchecked


# -- two readings of one schema


def test_both_readers_admit_every_line(lines):
    for line in lines:
        assert decode(line) is not None
        check(msgspec.json.decode(line))
    assert {msgspec.json.decode(line)["kind"] for line in lines} >= {
        "decision",
        "outcome",
        "session_open",
        "turn_open",
        "turn_close",
        "session_close",
        "policy_set",
    }


VALUES = st.sampled_from(
    [None, True, 0, 1, -1, 2**53 - 1, 2**53, "", "a", "sha256:", digest(b"x"), [], {}, ["a"], "ok"]
)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_readers_agree_on_changed_entries(lines, data):
    body = msgspec.json.decode(data.draw(st.sampled_from(lines)))
    where = data.draw(st.sampled_from(["", "ev", "intent"]))
    holder = body.get(where, body) if where else body
    name = data.draw(st.sampled_from([*holder, "extra"]))
    if data.draw(st.booleans()):
        holder.pop(name, None)
    else:
        holder[name] = data.draw(VALUES)
    try:
        line = profile_bytes(body)
        check(body)
        admitted = True
    except ValueError:
        admitted = False
        line = msgspec.json.encode(body, order="sorted")
    except Exception as error:
        admitted = False
        assert type(error).__module__ == "toolgate.errors"
        line = msgspec.json.encode(body, order="sorted")
    assert (decode(line) is not None) is admitted, line
    if not admitted:
        assert diagnose(line)[0].startswith("entries.")


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.integers(-(2**53) + 1, 2**53 - 1))
def test_texts_of_any_kind_survive(tmp_path_factory, text, ts):
    made = ledgers.fields("c")._replace(rule=text, ts=ts)
    from toolgate.records import decision_entry, line_of

    line = line_of(decision_entry(made, session=text, turn=1, parents=[digest(b"p")]))
    assert decode(line) is not None


def test_every_kind_is_read():
    from toolgate.verify.read import _KNOWN, _RARE

    assert {kind.decode() for kind in [*_KNOWN, *_RARE]} == set(KINDS)


@given(st.text(max_size=80))
def test_session_names_agree(session):
    from toolgate.ledger.files import session_name as writers

    assert session_name(session) == writers(session)
    assert "/" not in session_name(session)


def test_directory_ignores_other_files(tmp_path):
    for name in ("spine-1.jsonl", "spine-000000000001.jsonl", "spine-000000000001.jsonl.bak", "x"):
        (tmp_path / name).write_bytes(b"")
    assert Directory(str(tmp_path)).spine == ["spine-000000000001.jsonl"]


# -- classes


def classes(*rows):
    from toolgate.verify.policy import ActionClass

    return [msgspec.convert(row, ActionClass) for row in rows]


EFFECT = Effect(1, "unresolved(glob)", "h:" + "a" * 32, False, "home", "fs.delete")


@pytest.mark.parametrize(
    ("row", "holds"),
    [
        ({}, True),
        ({"tools": ["Bash"]}, True),
        ({"tools": ["B*"]}, True),
        ({"tools": ["bash"]}, False),
        ({"tools": []}, True),
        ({"tools": ["B?sh", "[B]ash", "B*a*sh*h", "*Bash*B", "Bas*ash"]}, False),
        ({"tools": ["*", "x"]}, True),
        ({"tools": ["x", "B*a*h"]}, True),
        ({"effects": []}, True),
        ({"effects": [{}]}, True),
        ({"effects": [{"type": ["fs.delete"]}]}, True),
        ({"effects": [{"type": ["fs.write"]}]}, False),
        ({"effects": [{"type": ["fs.write"]}, {"scope": ["home"]}]}, True),
        ({"effects": [{"scope": ["home"], "reversible": [False]}]}, True),
        ({"effects": [{"scope": ["home"], "reversible": [True]}]}, False),
        ({"effects": [{"proof": ["unresolved"]}]}, True),
        ({"effects": [{"proof": ["unresolved(glob)"]}]}, True),
        ({"effects": [{"proof": ["proved"]}]}, False),
    ],
)
def test_class_predicate(row, holds):
    found = class_of(classes({"name": "it", **row}), "Bash", [EFFECT])
    assert found == ("it" if holds else "other")


def test_first_class_that_holds_is_the_class():
    made = classes({"name": "a", "tools": ["X"]}, {"name": "b"}, {"name": "c"})
    assert class_of(made, "Bash", []) == "b"
