"""``evalkit window`` as a person runs it: words, JSON, exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalkit.windows.state import DONE, DUE, GRACE, OPEN, WAITING, state_of


def evalkit(desk: Any, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    environment = {
        **os.environ,
        "TOOLGATE_LEDGER": desk.root,
    }
    return subprocess.run(
        [sys.executable, "-m", "evalkit", *args],
        capture_output=True,
        text=True,
        check=False,
        cwd=str(Path(desk.folder).parent),
        env=environment,
        timeout=120,
    )


@pytest.fixture
def past(dag_desk: Any, tools: Any) -> Any:
    """Return a desk with a retrospective window over some calls, as a file."""
    for place, state in enumerate(["allowed", "asked", "denied", "denied"]):
        dag_desk.maker.decide(state, tools.start + place)
    dag_desk.maker.close("s1", tools.start + 100)
    text = tools.declaration.replace("2026-", "2020-") + "retrospective: true\n"
    Path(dag_desk.folder).parent.joinpath("past.yaml").write_text(text)
    return dag_desk


def test_declare_status_close_list(past: Any) -> None:
    made = evalkit(past, "window", "declare", "past.yaml", "--json")
    assert made.returncode == 0, made.stderr
    opened = json.loads(made.stdout)
    assert Path(opened["copy"]).name == "w1.declaration.json"

    status = evalkit(past, "window", "status", "w1", "--json")
    body = json.loads(status.stdout)
    assert (body["state"], body["calls"], body["grade"]) == (DUE, 0, None)
    assert not any("rate" in key for key in body)

    closed = evalkit(past, "window", "close", "w1", "--json")
    body = json.loads(closed.stdout)
    assert closed.returncode == (1 if body["grade"] == "VOID" else 0), closed.stderr
    assert body["metrics"][0]["name"] == "ask_rate"
    assert Path(past.folder).parent.joinpath(body["report"]).is_file()

    again = evalkit(past, "window", "close", "w1")
    assert (again.returncode, again.stdout) == (3, "")
    assert body["close"] in again.stderr

    listed = json.loads(evalkit(past, "window", "list", "--json").stdout)
    assert [(item["id"], item["state"], item["grade"]) for item in listed] == [
        ("w1", DONE, body["grade"])
    ]
    assert "w1: closed" in evalkit(past, "window", "list").stdout


def test_refusals_are_one_line_and_exit_3(past: Any, tools: Any) -> None:
    folder = Path(past.folder).parent
    folder.joinpath("now.yaml").write_text(tools.declaration.replace("2026-", "2020-"))
    for args in (
        ("window", "declare", "now.yaml"),
        ("window", "close", "unknown"),
        ("window", "close", "../w"),
        ("window", "status", "../w"),
        ("window", "status", "unknown"),
    ):
        done = evalkit(past, *args)
        code = 2 if "../w" in args else 3  # an id of the wrong form is a usage error everywhere
        assert (done.returncode, done.stdout) == (code, ""), args
        assert len(done.stderr.splitlines()) == 1, done.stderr


def test_bad_files_exit_2_with_every_fault(past: Any) -> None:
    folder = Path(past.folder).parent
    folder.joinpath("bad.yaml").write_text("version: 1\nsurprise: 1\nlevel: 7\n")
    done = evalkit(past, "window", "declare", "bad.yaml")
    assert done.returncode == 2
    assert "surprise" in done.stderr
    assert "level" in done.stderr
    assert evalkit(past, "window", "declare", "absent.yaml").returncode == 2
    assert evalkit(past, "window", "declare").returncode == 2


def test_words_name_what_was_done(past: Any) -> None:
    said = evalkit(past, "window", "declare", "past.yaml").stdout
    assert "sha256:" in said
    assert "retrospective" in said
    Path(past.folder, "w1.declaration.json").unlink()
    again = evalkit(past, "window", "declare", "past.yaml").stdout
    assert again == said.replace("w1: declared,", "w1: declared before, copy restored,")
    said = evalkit(past, "window", "status", "w1").stdout
    assert "ready to close" in said
    said = evalkit(past, "window", "close", "w1").stdout
    assert "ask_rate v1" in said


def test_a_seed_is_written_once_for_its_owner_only(past: Any) -> None:
    made = evalkit(past, "window", "seed", "seed.hex", "--json")
    assert made.returncode == 0, made.stderr
    path = Path(past.folder).parent / "seed.hex"
    assert path.stat().st_mode & 0o777 == 0o600
    from toolgate.canonical import digest

    seed = bytes.fromhex(path.read_text().strip())
    assert json.loads(made.stdout)["seed_commitment"] == digest(seed)
    assert path.read_text().strip() not in made.stdout
    assert evalkit(past, "window", "seed", "seed.hex").returncode == 3


def test_a_copy_this_ledger_does_not_know_is_listed_as_such(past: Any) -> None:
    folder = Path(past.folder)
    folder.mkdir(exist_ok=True)
    folder.joinpath("other.declaration.json").write_text("{}")
    listed = json.loads(evalkit(past, "window", "list", "--json").stdout)
    assert listed[0]["state"] == "not in this ledger"


@pytest.mark.parametrize(
    ("now", "closed", "expected"),
    [
        (9, False, WAITING),
        (10, False, OPEN),
        (19, False, OPEN),
        (20, False, GRACE),
        (24, False, GRACE),
        (25, False, DUE),
        (9, True, DONE),
    ],
)
def test_states_change_at_their_moment(now: int, closed: bool, expected: str) -> None:
    assert state_of(10, 20, 25, closed, now) == expected


HEAVY = ("duckdb", "scipy", "numpy", "pandas", "jinja2", "yaml", "rich", "rfc8785")


@pytest.mark.parametrize("command", [(), ("declare",), ("close",), ("list",), ("status",)])
def test_help_imports_nothing_heavy(command: tuple[str, ...], past: Any) -> None:
    code = (
        "import sys\nfrom evalkit.cli.window import window\n"
        f"window.main({[*command, '--help']!r}, standalone_mode=False)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"
