"""The second verifier, in another language, says the same as the first: on every frozen case,
on ledgers the writer makes, and on random damage, finding by finding."""

import gzip
import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from random import Random

import checkpoints
import freeze
import ledgers
import mutations
import pytest
import systems
import vectors
import vendors
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plays import OPERATIONS, play

from toolgate.canonical import digest, profile_bytes
from toolgate.errors import CanonicalizationError, LedgerError, UnavailableError
from toolgate.ledger import packs
from toolgate.ledger.seal import seal, unpack
from toolgate.verify import verify
from toolgate.verify.system import verify_system
from toolgate.verify.traces.lines import MOST_MARKS
from toolgate.verify.traces.load import load_trace

NODE = shutil.which("node")
VERIFIER = Path(str(files("toolgate") / "spec" / "verifier.mjs"))
pytestmark = pytest.mark.skipif(NODE is None, reason="node (18 or later) is missing")

_UNWRITABLE = (AttributeError, CanonicalizationError, IndexError, KeyError, TypeError, ValueError)
"""What a change can make of a ledger that the rewriter of the tests cannot follow."""


def second(*args) -> subprocess.CompletedProcess:
    command = [str(NODE), str(VERIFIER), *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)


def agree(folder: Path, count: int) -> None:
    run = second("--vectors", folder)
    assert (run.stdout.splitlines()[-1], run.stderr) == (f"{count} agree, 0 differ", ""), run.stdout
    assert run.returncode == 0


def put(folder: Path, name: str, root: Path, spans=None, pin=None) -> int:
    """Write a case that expects of a ledger what the first verifier says; return how many."""
    try:
        report = verify(str(root), spans=spans, expect_head=pin)
    except LedgerError:  # damage left nothing to verify
        assert second(root).returncode == 3
        return 0
    case = {
        "ledgers": {"ledger": freeze.ledger_of(root, "", {})},
        "spans": None if spans is None else [freeze.said_of(span) for span in spans],
        "traces": {},
        "args": {} if pin is None else {"expect_head": f"{pin[0]}:{pin[1]}"},
        "pin_needed": False,
        "expected": vectors.expected_of(report),
    }
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(case), "ascii")
    return 1


def test_every_frozen_case():
    agree(vectors.FOLDER, len(vectors.cases()))


def test_a_case_that_differs_is_told(tmp_path):
    case = json.loads((vectors.FOLDER / "count-altered.json").read_bytes())
    shutil.copytree(vectors.FOLDER / "base", tmp_path / "base")
    (tmp_path / "same.json").write_text(json.dumps(case))
    case["expected"]["findings"][0]["code"] = "log.root"
    case["expected"]["verdict"] = "PASS"
    (tmp_path / "other.json").write_text(json.dumps(case))
    run = second("--vectors", tmp_path)
    assert run.returncode == 1
    lines = run.stdout.splitlines()
    assert lines[0] == "other: verdict is FAIL; expected PASS"
    assert lines[1].startswith("other: found log.count sha256:")
    assert lines[2].startswith("other: lacks log.root sha256:")
    assert lines[-1] == "1 agree, 1 differ"


def damage_many(folder: Path, count: int, first: int = 0) -> int:
    """Damage a ledger at random, over and over; return how many cases were written."""
    sound = folder / "sound"
    ledgers.build(sound)
    written = 0
    for seed in range(first, first + count):
        rng = Random(seed)
        root = folder / "work"
        shutil.copytree(sound, root)
        kit = ledgers.Kit(root)
        spans = kit.trace() if rng.random() < 0.5 else None
        pin = kit.head if rng.random() < 0.3 else None
        try:
            mutations.damage(rng, kit)
        except _UNWRITABLE:
            shutil.rmtree(root)
            continue
        if spans is not None and rng.random() < 0.7:
            spans = mutations.change_trace(rng, spans)
        written += put(folder / "cases", str(seed), root, spans, pin)
        shutil.rmtree(root)
    return written


def test_random_damage(tmp_path):
    agree(tmp_path / "cases", damage_many(tmp_path, 150))


@pytest.mark.slow
def test_random_damage_at_length(tmp_path):
    agree(tmp_path / "cases", damage_many(tmp_path, 5_000, first=1_000))


def damage_traces(folder: Path, count: int, first: int = 0) -> int:
    """Change the text of frozen cases' traces at random; return how many can be read."""
    frozen = [case for case in vectors.cases() if case["traces"]]
    shutil.copytree(vectors.FOLDER / "base", folder / "base")
    read = 0
    for seed in range(first, first + count):
        rng = Random(seed)
        case = json.loads(json.dumps(rng.choice(frozen)))
        name = rng.choice(list(case["traces"]))
        data = vectors.data_of(case["traces"][name], [])
        for _ in range(rng.randrange(1, 3)):
            change = mutations.change_json if rng.random() < 0.6 else mutations.change_bytes
            data = change(rng, data or b"{}")
        case["traces"][name] = vectors.items_of(data, [])
        work = folder / "work"
        vectors.write_ledgers(case, work)
        try:
            case["expected"] = vectors.expected_of(vectors.verify_case(case, work))
        except UnavailableError:
            pass  # no trace that any reader knows: test_bytes_that_are_no_trace
        else:
            case["pin_needed"] = False
            (folder / f"{seed}.json").write_text(json.dumps(case), "ascii")
            read += 1
        shutil.rmtree(work)
    return read


def test_random_damage_to_traces(tmp_path):
    agree(tmp_path, damage_traces(tmp_path, 150))


@pytest.mark.slow
def test_random_damage_to_traces_at_length(tmp_path):
    agree(tmp_path, damage_traces(tmp_path, 5_000, first=1_000))


_DAY = 86_400_000_000


def seal_twice(root: Path, *, with_twin: bool) -> None:
    """Write the sound ledger, seal it, let a session go on and seal it again."""
    ledgers.build(root)
    seal(str(root), ts=ledgers.START + 30 * _DAY, with_twin=with_twin)
    writer = ledgers.Writer(root, "alpha")
    writer.ts = ledgers.START + 31 * _DAY
    writer.decide("later", "denied")
    writer.close()
    seal(str(root), ts=ledgers.START + 60 * _DAY, with_twin=with_twin)


def damage_segments(folder: Path, count: int, first: int = 0) -> int:
    """Damage a sealed ledger at random, over and over; return how many cases were written."""
    for with_twin in (True, False):
        seal_twice(folder / str(with_twin), with_twin=with_twin)
    written = 0
    for seed in range(first, first + count):
        rng = Random(seed)
        root = folder / "work"
        shutil.copytree(folder / str(rng.random() < 0.3), root)
        if rng.random() < 0.2:
            unpack(str(root), keep=True)
        for _ in range(rng.randrange(1, 3)):
            place = rng.choice(["segments", "segments", "segments", "sessions"])
            path = rng.choice(sorted(path for path in (root / place).rglob("*.*") if path.stem))
            if path.is_dir() or not path.stat().st_size:
                continue
            if path.name != "manifest.json" or rng.random() < 0.1:
                path.write_bytes(mutations.change_bytes(rng, path.read_bytes()))
                continue
            try:
                body = json.loads(mutations.change_json(rng, path.read_bytes()[:-1]))
                path.write_bytes(profile_bytes(body) + b"\n")
            except (CanonicalizationError, ValueError):  # other damage came first
                path.unlink()
        written += put(folder / "cases", str(seed), root)
        shutil.rmtree(root)
    return written


def test_random_damage_to_segments(tmp_path):
    agree(tmp_path / "cases", damage_segments(tmp_path, 150))


@pytest.mark.slow
def test_random_damage_to_segments_at_length(tmp_path):
    agree(tmp_path / "cases", damage_segments(tmp_path, 3_000, first=1_000))


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(OPERATIONS, st.sampled_from(["dag", "linear"]), st.booleans(), st.integers(0)),
        min_size=4,
        max_size=8,
    )
)
def test_generated_sessions_and_damage_to_them(tmp_path_factory, plays):
    folder = tmp_path_factory.mktemp("plays")
    count = 0
    for number, (operations, shape, damaged, seed) in enumerate(plays):
        root = folder / str(number)
        play(root, shape, operations)
        kit = ledgers.Kit(root)
        spans = kit.trace()
        if damaged:
            try:
                mutations.damage(Random(seed), kit)
            except _UNWRITABLE:
                continue
        count += put(folder / "cases", str(number), root, spans if seed % 2 else None)
    if count:
        agree(folder / "cases", count)
    shutil.rmtree(folder)


ODD = (
    b'{"a":1,"a":2}',
    b'{"v":2}',
    b"[1.0]",
    b"-0",
    b"1e400",
    b'"\\ud800"',
    b"[9007199254740993]",
    b'{"\xc3\xa9":1}',
    b"\xef\xbb\xbf{}",
    b'{"kind":"decision"}',
    b"[" * 201 + b"]" * 201,
)
LINES = st.binary(max_size=120) | st.sampled_from(ODD)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.lists(LINES, min_size=1, max_size=12), min_size=10, max_size=20))
def test_any_bytes(tmp_path_factory, cases):
    folder = tmp_path_factory.mktemp("bytes")
    for number, lines in enumerate(cases):
        root = folder / str(number)
        (root / "sessions").mkdir(parents=True)
        data = b"\n".join(lines) + b"\n" * (number % 2) + b"x"
        (root / ledgers.SPINE).write_bytes(data if number % 3 else b"")
        (root / "sessions" / "s.jsonl").write_bytes(data)
        put(folder / "cases", str(number), root)
    agree(folder / "cases", len(cases))
    shutil.rmtree(folder)


# -- from the command line


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    root = tmp_path_factory.mktemp("sound") / "ledger"
    ledgers.build(root)
    return root


@pytest.fixture
def kit(sound, tmp_path):
    shutil.copytree(sound, tmp_path / "ledger")
    return ledgers.Kit(tmp_path / "ledger")


def test_report_on_a_directory(kit):
    head = f"{kit.head[0]}:{kit.head[1]}"
    run = second(kit.root, "--expect-head", head, "--json")
    report = json.loads(run.stdout)
    assert run.returncode == 0
    assert report["verdict"] == "CONDITIONAL"
    assert report["findings"] == []
    assert report["head"] == {"seq": kit.head[0], "digest": kit.head[1]}
    assert len(report["conditions"]) == 1
    assert report["unchecked"][0] == "execution against a trace: none was given"
    assert second(kit.root, "--expect-head", head, "--require-pin").returncode == 1


def test_segments_of_a_directory(tmp_path):
    seal_twice(tmp_path / "ledger", with_twin=True)
    report = json.loads(second(tmp_path / "ledger", "--json").stdout)
    assert (report["verdict"], report["findings"]) == ("CONDITIONAL", [])
    said = "what 2 Parquet twin(s) of segments say: only their digests were compared"
    assert report["unchecked"][-1] == said
    pack = tmp_path / "ledger" / "segments" / "2027-01-15-1" / "sessions.jsonl.gz"
    pack.unlink()
    run = second(tmp_path / "ledger")
    assert run.returncode == 1
    assert "log.segment  segments/2027-01-15-1/sessions.jsonl.gz" in run.stdout


def test_exit_codes(kit, tmp_path):
    (tmp_path / "empty").mkdir()
    assert second(tmp_path / "empty").returncode == 3
    assert second(tmp_path / "none").returncode == 3
    (tmp_path / "empty" / ledgers.SPINE).write_bytes(b"")
    run = second(tmp_path / "empty")
    assert (run.returncode, run.stdout) == (3, "")
    assert run.stderr == "error: nothing to verify: the ledger has no entry\n"
    assert second().returncode == 2
    assert second(kit.root, "--expect-head", "1").returncode == 2
    assert second(kit.root, "--unknown").returncode == 2
    assert second(kit.root, "--spans", tmp_path / "none").returncode == 3
    kit.drop(kit.spine[-1])
    kit.write()
    assert second(kit.root).returncode == 4
    kit.drop(kit.spine[0])
    kit.write()
    run = second(kit.root)
    assert run.returncode == 1
    assert run.stdout.splitlines()[-1] == "Verdict  FAIL"


def test_a_trace_of_too_many_values(kit, tmp_path):
    path = tmp_path / "t.json"
    for marks, code in ((MOST_MARKS, 1), (MOST_MARKS + 1, 3)):
        path.write_bytes(vendors.crowded("nobody", "alpha", marks))
        run = second(kit.root, "--spans", path)
        assert run.returncode == code, run.stdout + run.stderr
    assert run.stderr.startswith("error: cannot read the trace t.json: expected OTLP/JSON")


def test_checkpoints_from_the_command_line(kit, tmp_path):
    kept = checkpoints.checkpointed(kit)
    (tmp_path / "kept").write_bytes(kept)
    key = checkpoints.public(checkpoints.ORIGIN, checkpoints.FIRST).text
    args = ("--checkpoint", tmp_path / "kept", "--checkpoint-key", key)
    report = json.loads(second(kit.root, *args, "--json").stdout)
    assert report["findings"] == []
    assert len(report["conditions"]) == 1  # the ask that only its execution answered
    kit.decision("a0").body["ev"]["principal"] = "mallory"
    checkpoints.resign(kit, checkpoints.last(kit))
    assert json.loads(second(kit.root, "--json").stdout)["findings"] == []
    report = json.loads(second(kit.root, *args, "--json").stdout)
    found = {"code": "log.equivocation", "entry": "checkpoint kept", "cause": None}
    assert report["findings"] == [found]
    assert second(kit.root, "--checkpoint-key", "x").returncode == 2
    (tmp_path / "kept").write_bytes(kept[:-1])
    assert second(kit.root, *args).returncode == 3


def test_several_ledgers_from_the_command_line(tmp_path):
    systems.build(tmp_path)
    roots = [tmp_path / name for name in systems.NAMES]
    first = verify_system([str(root) for root in roots])
    runs = [second("--system", *order, "--json") for order in (roots, [*roots[::-1], roots[0]])]
    report = json.loads(runs[0].stdout)
    assert runs[0].stdout == runs[1].stdout
    assert (report["verdict"], report["root"]) == (first.verdict, first.root)
    assert report["findings"] == []
    shutil.rmtree(roots[0])
    run = second("--system", *roots)
    assert run.returncode == 4
    assert f"log.ledger_missing  {roots[0].resolve()}" in run.stdout
    assert second(*roots[1:]).returncode == 2


@pytest.mark.parametrize("data", [b"", b"hello", b"[]", b'{"a":1}', b"\xff\n{", b'{"type":1}\n'])
def test_bytes_that_are_no_trace(sound, tmp_path, data):
    (tmp_path / "trace").write_bytes(data)
    with pytest.raises(UnavailableError):
        load_trace([str(tmp_path / "trace")])
    run = second(sound, "--spans", tmp_path / "trace")
    assert (run.returncode, run.stdout) == (3, "")
    assert "cannot read the trace trace: expected OTLP/JSON" in run.stderr


def test_what_a_terminal_obeys_is_not_shown(tmp_path):
    (tmp_path / "sessions").mkdir()
    (tmp_path / ledgers.SPINE).write_bytes(b"x\n")
    (tmp_path / "sessions" / "a\x1b[2J.jsonl").write_bytes(b"x\n")
    run = second(tmp_path)
    assert "\x1b" not in run.stdout
    assert "sessions/a?[2J.jsonl" in run.stdout


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="/proc is missing")
def test_long_garbage_is_read_in_bounded_memory(tmp_path):
    (tmp_path / ledgers.SPINE).write_bytes(b"x" * 100_000_000 + b"\n" + b"\n" * 5000 + b"[" * 9)
    assert found_within(tmp_path, 100_000) == {"entries.parse", "log.fragment"}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="/proc is missing")
def test_a_segment_is_unpacked_in_bounded_memory(tmp_path):
    seal_twice(tmp_path, with_twin=False)
    data = b"x" * 300_000_000
    member = gzip.compress(data, 1, mtime=0)
    said = packs.Packed("big", "big", 0, len(member), len(data), digest(data), 0, 0, digest(b""))
    kept = packs.Kept(len(member), digest(member))
    made = packs.Manifest("2027-03-01", 1, kept, None, (said,))
    folder = Path(packs.folder_of(str(tmp_path), made.stem))
    folder.mkdir()
    (folder / packs.PACK).write_bytes(member)
    (folder / packs.MANIFEST).write_bytes(made.encoded())
    found = {"log.segment", "log.session_unknown", "log.fragment"}
    assert found_within(tmp_path, 150_000) == found  # zlib leaves 64,000 to be collected


def found_within(root: Path, limit: int) -> set[str]:
    """Verify a ledger in so many kilobytes (Node itself takes 40,000); return the codes found."""
    code = f"process.argv.push('-', '--json', {json.dumps(str(root))});"
    code += f"await import({json.dumps(VERIFIER.as_uri())});"
    code += "const fs = await import('node:fs');"
    code += "console.error(/VmHWM:\\s+(\\d+)/.exec(fs.readFileSync('/proc/self/status'))[1])"
    run = subprocess.run(
        [str(NODE), "--input-type=module", "-e", code], capture_output=True, text=True, check=False
    )
    assert int(run.stderr) < limit
    return {item["code"] for item in json.loads(run.stdout)["findings"]}
