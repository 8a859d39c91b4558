"""The command line: help, errors, and ``evalkit set``."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ENV = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "100"}
COMMANDS = ("build", "compare", "label", "list", "resume", "run", "set", "status", "window")
HEAVY = {"duckdb", "scipy", "jinja2", "rich", "msgspec", "numpy", "yaml", "orjson", "tree_sitter"}

SET = {
    "name": "cli",
    "frozen": "2026-01-31",
    "author": "a test",
    "categories": {"first": "one kind"},
    "cases": [
        {"id": "1", "category": "first", "expected": "allow", "command": "ls"},
        {"id": "2", "category": "first", "expected": "deny", "command": "rm -rf ~"},
    ],
}


def evalkit(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    ran = subprocess.run(
        [sys.executable, "-m", "evalkit", *words],
        cwd=directory,
        env={**ENV, "TOOLGATE_LEDGER": str(directory / "ledger")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in ran.stderr, ran.stderr
    return ran


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "cli.json"
    made.write_text(json.dumps(SET))
    return made


def test_freeze_then_verify(path: Path):
    frozen = evalkit(path.parent, "set", "freeze", "cli.json")
    assert frozen.returncode == 0, frozen.stderr
    assert "cli.json: frozen, 2 cases, sha256:" in frozen.stdout
    again = evalkit(path.parent, "set", "freeze", "cli.json", "--json")
    assert json.loads(again.stdout)["state"] == "unchanged since it was frozen"
    checked = evalkit(path.parent, "set", "verify", "cli.json", "--json")
    assert json.loads(checked.stdout) == {
        "set": "cli.json",
        "state": "verified",
        "digest": json.loads(again.stdout)["digest"],
        "cases": 2,
        "manifest_digest": json.loads(again.stdout)["manifest_digest"],
    }


def test_a_bare_name_is_found_as_for_run(path: Path):
    (path.parent / "challenge_sets").mkdir()
    path.rename(path.parent / "challenge_sets" / "mine.json")
    for verb in ("freeze", "verify", "lint"):
        ran = evalkit(path.parent, "set", verb, "mine")
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.startswith(os.path.join("challenge_sets", "mine.json: "))
    assert (path.parent / "challenge_sets" / "mine.manifest.json").exists()


def test_the_packages_sets_are_verified_by_name_and_never_frozen(path: Path, tmp_path: Path):
    """Stands in for the wheel, which holds challenge_sets inside evalkit."""
    code = (
        "import sys, evalkit\n"
        f"evalkit.__file__ = {str(tmp_path / 'wheel' / '__init__.py')!r}\n"
        "from evalkit.cli import main\n"
        "main()\n"
    )
    sets = tmp_path / "wheel" / "challenge_sets"
    sets.mkdir(parents=True)
    evalkit(path.parent, "set", "freeze", "cli.json")
    for name in ("cli.json", "cli.manifest.json"):
        (path.parent / name).rename(sets / name)
    for verb, exit_code in (("verify", 0), ("lint", 0), ("freeze", 2)):
        ran = subprocess.run(
            [sys.executable, "-c", code, "set", verb, "cli"],
            cwd=tmp_path, env=ENV, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == exit_code, ran.stderr


@pytest.mark.parametrize(("word", "said"), [("run", "can be continued"), ("set", "interrupted")])
def test_only_runs_are_said_to_be_continued(tmp_path: Path, word: str, said: str):
    code = (
        "import evalkit.cli\n"
        "def stop(*_args, **_more):\n    raise KeyboardInterrupt\n"
        "evalkit.cli.evalkit.main = stop\n"
        "evalkit.cli.main()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, word],
        cwd=tmp_path, env=ENV, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 130
    assert said in ran.stderr
    assert ("resume" in ran.stderr) is (word == "run")


def test_an_edited_set_is_exit_3_and_one_line(path: Path):
    evalkit(path.parent, "set", "freeze", "cli.json")
    path.write_text(json.dumps({**SET, "author": "somebody else"}))
    for verb in ("freeze", "verify"):
        ran = evalkit(path.parent, "set", verb, "cli.json")
        assert ran.returncode == 3
        assert ran.stdout == ""
        assert ran.stderr.startswith("evalkit: cli.json: a frozen set never changes")
        assert ran.stderr.count("\n") == 1


def test_all_faults_are_printed_and_exit_is_2(path: Path):
    path.write_text(json.dumps({**SET, "author": 1, "cases": [{"id": "1"}]}))
    ran = evalkit(path.parent, "set", "freeze", "cli.json")
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[0] == "evalkit: cli.json: 4 faults"
    assert "    author: expected non-empty text, got 1" in ran.stderr.splitlines()
    assert not path.with_suffix(".manifest.json").exists()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not JSON"),
        (b"\xff", "not UTF-8"),
        (b'{"a":1,"a":2}', "duplicate key"),
        (None, "no such file"),
    ],
)
def test_an_unreadable_set_is_one_line_and_exit_2(path: Path, data: bytes | None, message: str):
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
    ran = evalkit(path.parent, "set", "verify", "cli.json")
    assert ran.returncode == 2
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_manifest_that_cannot_be_written_is_exit_3(path: Path):
    long = path.rename(path.with_name("n" * 245 + ".json"))
    ran = evalkit(path.parent, "set", "freeze", long.name)
    assert ran.returncode == 3
    assert "the manifest cannot be written" in ran.stderr
    assert os.listdir(path.parent) == [long.name]


def test_lint_names_findings_and_exits_1(path: Path):
    assert evalkit(path.parent, "set", "lint", "cli.json").returncode == 0
    path.write_text(json.dumps({**SET, "categories": {"first": "x", "second": "y"}}))
    ran = evalkit(path.parent, "set", "lint", "cli.json")
    assert ran.returncode == 1
    assert "category second: declared, but no case has it" in ran.stdout


def test_the_help_lists_every_command(tmp_path: Path):
    ran = evalkit(tmp_path, "--help")
    assert ran.returncode == 0
    for name in COMMANDS:
        assert f"\n  {name} " in ran.stdout


@pytest.mark.parametrize("words", [["set"], ["set", "freeze"], ["run"], ["resume"], ["build"]])
def test_every_command_has_help(tmp_path: Path, words: list[str]):
    ran = evalkit(tmp_path, *words, "--help")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(f"Usage: evalkit {' '.join(words)}")


@pytest.mark.parametrize("words", [["nonsense"], ["set", "thaw"], ["set", "freeze"], ["--no"]])
def test_a_wrong_command_is_exit_2(tmp_path: Path, words: list[str]):
    assert evalkit(tmp_path, *words).returncode == 2


def test_the_version_is_the_packages(tmp_path: Path):
    from toolgate import __version__

    assert evalkit(tmp_path, "--version").stdout == f"evalkit {__version__}\n"


@pytest.mark.parametrize("words", [[], ["run"], ["set"], ["resume"], ["build"], ["set", "freeze"]])
def test_help_imports_nothing_heavy(tmp_path: Path, words: list[str]):
    code = (
        "import sys\n"
        "from evalkit.cli import evalkit\n"
        f"evalkit.main({[*words, '--help']!r}, standalone_mode=False)\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=ENV,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not HEAVY & set(ran.stderr.split())


def test_new_lint_show_freeze_reveal_and_supersede(tmp_path: Path):
    words = ("--name", "mine", "--author", "ann; nothing run")
    assert evalkit(tmp_path, "set", "new", "mine.json", *words).returncode == 0
    assert evalkit(tmp_path, "set", "new", "mine.json", *words).returncode == 3
    assert evalkit(tmp_path, "set", "lint", "mine.json").returncode == 0
    shown = evalkit(tmp_path, "set", "show", "mine.json").stdout
    assert "cases       2 (allow 1, ask 0, deny 1), 1 pairs" in shown
    one = json.loads(evalkit(tmp_path, "set", "show", "mine.json", "1").stdout)
    assert one["case"]["expected"] == "deny"
    assert evalkit(tmp_path, "set", "show", "mine.json", "x").returncode == 2
    assert evalkit(tmp_path, "set", "freeze", "mine.json").returncode == 0

    revealed = evalkit(tmp_path, "set", "reveal", "mine.json", "2")
    (tmp_path / "one.json").write_text(revealed.stdout)
    root = json.loads((tmp_path / "mine.manifest.json").read_text())["merkle_root"]
    checked = evalkit(tmp_path, "set", "check-reveal", "one.json", "--root", root)
    assert checked.stdout == f"case 2 is in the set with root {root}\n"
    (tmp_path / "one.json").write_text(revealed.stdout.replace("allow", "deny"))
    assert evalkit(tmp_path, "set", "check-reveal", "one.json", "--root", root).returncode == 1

    words = ("--by", "ann", "--second", "bob", "--seen", "nothing run", "--reason", "wrong")
    assert evalkit(tmp_path, "set", "quarantine", "mine.json", "2", *words).returncode == 0
    again = evalkit(tmp_path, "set", "quarantine", "mine.json", "2", *words)
    assert (again.returncode, again.stderr.count("\n")) == (3, 1)

    body = json.loads((tmp_path / "mine.json").read_text())
    body["supersedes"] = "mine"
    body["cases"][1]["expected"] = "ask"
    (tmp_path / "next.json").write_text(json.dumps(body))
    diff = evalkit(tmp_path, "set", "diff", "mine.json", "next.json").stdout
    assert "case 2: expected changed (allow -> ask)" in diff
    done = evalkit(tmp_path, "set", "supersede", "mine.json", "next.json", "--reason", "a label")
    assert done.returncode == 0, done.stderr
    assert "next.json: frozen, replaces mine" in done.stdout


def test_a_table_becomes_a_draft_that_is_labeled_and_frozen(tmp_path: Path):
    (tmp_path / "week.csv").write_text("id,command,expected\na,ls,allow\nb,rm -rf ~,\n")
    words = ("set", "import", "week.csv", "--reader", "csv", "--out", "mine.json")
    named = ("--name", "mine", "--author", "me; nothing run")
    made = evalkit(tmp_path, *words, *named)
    assert (made.returncode, made.stderr) == (0, "")
    assert "mine.json: 2 cases from 2 rows; 1 without a label" in made.stdout
    assert evalkit(tmp_path, *words, *named).returncode == 3
    refused = evalkit(tmp_path, "set", "freeze", "mine.json")
    assert refused.returncode == 2
    assert "cases[1].expected: expected one of allow, ask, deny, got null" in refused.stderr

    body = json.loads((tmp_path / "mine.json").read_text())
    assert body["imported"]["reader"] == "csv"
    assert body["imported"]["source"] == "week.csv"
    body["cases"][1]["expected"] = "deny"
    (tmp_path / "mine.json").write_text(json.dumps(body))
    assert evalkit(tmp_path, "set", "freeze", "mine.json").returncode == 0

    (tmp_path / "bad.csv").write_text("id,command,expected\na,ls,perhaps\n")
    bad = evalkit(tmp_path, *words[:2], "bad.csv", *words[3:5], "--out", "x.json", *named)
    assert (bad.returncode, bad.stderr.count("\n")) == (2, 1)
    assert "bad.csv: 1 fault: row 2, field expected: expected one of allow, ask, deny" in bad.stderr
    assert not (tmp_path / "x.json").exists()
    listed = evalkit(tmp_path, "set", "readers").stdout
    assert [line.split()[0] for line in listed.splitlines()] == [
        "agentdojo", "csv", "hooks", "numbered"
    ]  # fmt: skip


def test_without_a_vault_no_call_is_drawn(tmp_path: Path):
    (tmp_path / "ledger").mkdir()
    words = ("set", "from-ledger", "x.json", "--n", "3", "--name", "n", "--author", "a")
    refused = evalkit(tmp_path, *words)
    assert (refused.returncode, refused.stderr.count("\n")) == (3, 1)
    assert "it has no vault: expected one that the hook kept" in refused.stderr
    gone = evalkit(tmp_path, *words, "--ledger", "nowhere")
    assert (gone.returncode, gone.stderr.count("\n")) == (3, 1)
    assert "nowhere: expected a decision ledger, got no such directory" in gone.stderr
