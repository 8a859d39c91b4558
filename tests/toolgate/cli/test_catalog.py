"""``toolgate catalog``: lint, show and coverage."""

import json
import os
import subprocess
import sys

import pytest

GOOD = "programs: {one: {operands: [read*]}}\n"


def run(*words, columns=80):
    return subprocess.run(
        [sys.executable, "-m", "toolgate", "catalog", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": str(columns)},
    )


def test_lint_finds_the_shipped_families_good():
    from toolgate.gate.catalog.load import shipped

    done = run("lint")
    assert (done.returncode, done.stderr) == (0, "")
    catalog = shipped()
    assert f"{len(catalog.names())} programs: good, {catalog.digest}" in done.stdout


def test_lint_tells_every_fault_of_every_file(tmp_path):
    (tmp_path / "a.yaml").write_text("programs: {a: {operands: [odd], does: [odd]}, b: x}\n")
    (tmp_path / "b.yaml").write_text("programs: {c: {}}\nprograms: {d: {special: odd}}\n")
    (tmp_path / "notes.txt").write_text("{")
    done = run("lint", tmp_path)
    assert done.returncode == 3
    assert done.stdout.splitlines() == [
        "a.yaml: b: expected a mapping, got 'x'",
        "b.yaml: line 2: key 'programs' is given twice",
        "a: unknown operand role odd",
        "a: unknown effect type odd",
        "d: unknown special reading odd",
    ]
    assert done.stderr == "toolgate: catalogue: 5 faults\n"


def test_lint_takes_files_and_holds_them_against_each_other(tmp_path):
    (tmp_path / "sub").mkdir()
    one, other = tmp_path / "a.yaml", tmp_path / "sub" / "a.yaml"
    one.write_text(GOOD)
    other.write_text(GOOD)
    assert run("lint", one).returncode == 0
    done = run("lint", one, other)
    assert done.returncode == 3
    assert "program one is described twice" in done.stdout


@pytest.mark.parametrize(("path", "code"), [("nothing.yaml", 3), ("empty", 2)])
def test_lint_says_which_path_holds_nothing(tmp_path, path, code):
    (tmp_path / "empty").mkdir()
    done = run("lint", tmp_path / path)
    assert done.returncode == code
    assert path in done.stderr and "Traceback" not in done.stderr


def test_show_tells_a_program_and_a_subcommand():
    done = run("show", "timeout")
    assert done.stdout.startswith("timeout\n  runs the command that follows one operand\n")
    whole, part = run("show", "git").stdout, run("show", "git", "clean").stdout
    assert part.startswith("git clean\n")
    assert len(part) < len(whole)
    assert "with -f or --force: vcs.discard" in part


@pytest.mark.parametrize("columns", [80, 60])
def test_show_fits_the_terminal(columns):
    lines = run("show", "curl", columns=columns).stdout.splitlines()
    assert len(lines) > 20
    assert max(map(len, lines)) <= columns


def test_show_prints_the_entry_as_json():
    body = json.loads(run("show", "git", "clean", "--json").stdout)
    assert body["name"] == "git clean"
    assert "--dry-run" in body["entry"]["dry"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gitt"], "does not know gitt; did you mean"),
        (["git", "cleen"], "lists no git cleen; did you mean clean"),
        (["ls", "x"], "lists no ls x"),
    ],
)
def test_show_says_what_is_not_known(words, said):
    done = run("show", *words)
    assert done.returncode == 2
    assert said in done.stderr


CALLS = [
    "nosuch1 | sort; nosuch1 -x",
    "sudo nosuch1; echo $(nosuch2)",
    "bash -c 'nosuch2; git nosuchcommand'",
    "for i in a b; do nosuch3; done",
    "./tools/own.sh && /usr/bin/ls && .venv/bin/nosuch4",
    "$PROGRAM x; X=1",
]


@pytest.fixture
def log(tmp_path):
    rows = [{"tool_name": "Bash", "tool_input": {"command": c}, "cwd": "/w"} for c in CALLS]
    rows.append({"tool_name": "Read", "tool_input": {"file_path": "/w/x"}})
    rows.append({"tool_name": "Bash", "tool_input": {"command": "x"}, "truncated": True})
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": "t"}
    rows.append({**payload, "tool_name": "Bash", "tool_input": {"command": "nosuch2"}})
    block = {"type": "tool_use", "id": "f", "name": "Bash", "input": {"command": "nosuch1"}}
    rows.append({"type": "assistant", "sessionId": "s", "message": {"content": [block]}})
    file = tmp_path / "log.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_coverage_counts_what_is_unknown_most_frequent_first(log):
    body = json.loads(run("coverage", log, "--json").stdout)
    assert body["unknown"] == [
        {"name": "nosuch1", "commands": 4, "calls": 3},
        {"name": "nosuch2", "commands": 3, "calls": 3},
        {"name": "nosuch3", "commands": 2, "calls": 1},
    ]
    assert body["unknown_subcommands"] == [{"name": "git nosuchcommand", "commands": 1, "calls": 1}]
    assert [row["name"] for row in body["run_by_path"]] == ["nosuch4", "own.sh"]
    assert (body["shell_calls"], body["other_calls"]) == (8, 1)
    assert body["program_not_known_before_it_runs"] == 1
    assert body["skipped"] == {"cut off in its source": 1}
    # sort, sudo, echo, bash, git, ls
    assert body["known"] == {"commands": 6, "programs": 6}
    assert body["commands"] == 4 + 3 + 2 + 2 + 1 + 6


def test_coverage_as_text(log):
    text = run("coverage", log).stdout
    assert text.startswith("8 shell calls, 18 commands\nknown: 6 commands (33.3%) of 6 programs\n")
    assert "commands   calls  unknown program\n       4       3  nosuch1\n" in text
    assert "skipped: 1 lines (cut off in its source)" in text


def test_coverage_of_nothing_unknown_says_so(tmp_path):
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps({"tool_name": "Bash", "tool_input": {"command": "ls"}}))
    text = run("coverage", file).stdout
    assert "unknown program: none" in text and "unknown subcommand: none" in text


@pytest.mark.parametrize(("content", "said"), [("{", "log.jsonl:1"), (None, "cannot be read")])
def test_coverage_says_what_is_wrong_and_where(tmp_path, content, said):
    file = tmp_path / "log.jsonl"
    if content is not None:
        file.write_text(content)
    done = run("coverage", file)
    assert done.returncode in (2, 3)
    assert said in done.stderr and "Traceback" not in done.stderr


def test_a_hostile_name_obeys_nothing(tmp_path):
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps({"tool_name": "Bash", "tool_input": {"command": "'x\x1b[31my'"}}))
    text = run("coverage", file).stdout
    assert "\x1b" not in text
    assert "x?[31my" in text
