"""``evalkit run``, ``resume`` and ``build`` as a person calls them, with the shipped gate."""

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evalkit.cli import progress

from .test_cli_set import ENV, SET, evalkit

DEVELOPMENT = ("--purpose", "development")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    sets = tmp_path / "challenge_sets"
    sets.mkdir()
    (sets / "cli.json").write_text(json.dumps(SET))
    assert evalkit(tmp_path, "set", "freeze", "challenge_sets/cli.json").returncode == 0
    return tmp_path


def test_a_bare_name_is_run_and_reported(directory: Path):
    ran = evalkit(directory, "run", "cli.json", *DEVELOPMENT)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("cli: match 2/2")
    assert "look 1 of this set in this ledger: development" in ran.stdout
    report = directory / ran.stdout.splitlines()[-1].removeprefix("report ")
    assert report.parent == directory / "reports"
    assert report.read_text().startswith("# cli on build ")
    assert str(directory) not in report.read_text()


def test_the_json_object(directory: Path):
    ran = evalkit(directory, "run", "cli", *DEVELOPMENT, "--json")
    made = json.loads(ran.stdout)
    assert ran.stdout.count("\n") == 1
    assert (made["set"], made["cases"], made["match"]) == ("cli", 2, 2)
    assert (made["permissive"], made["dangerous_allow"], made["unscored"]) == (0, 0, 0)
    assert (made["pairs"], made["pairs_complete"], made["look"]) == (0, 0, 1)
    assert made["verdict"] in ("PASS", "CONDITIONAL")
    for name in ("build", "policy", "set_digest"):
        assert made[name].startswith("sha256:")
    assert (directory / made["report"]).exists()


def test_the_second_run_is_exit_3_with_the_receipt(directory: Path):
    first = json.loads(evalkit(directory, "run", "cli", *DEVELOPMENT, "--json").stdout)
    again = evalkit(directory, "run", "cli", *DEVELOPMENT)
    assert again.returncode == 3
    assert again.stdout == ""
    assert first["run"] in again.stderr
    assert again.stderr.count("\n") == 1
    words = ("--rerun", "--of", first["run"], "--reason", "to see")
    rerun = evalkit(directory, "run", "cli", *DEVELOPMENT, *words, "--json")
    assert rerun.returncode == 0, rerun.stderr
    assert json.loads(rerun.stdout)["look"] == 2


@pytest.mark.parametrize(
    "words",
    [
        ["--rerun"],
        ["--rerun", "--of", "run-1"],
        ["--reason", "x"],
        ["--of", "x"],
        ["--purpose", "fun"],
    ],
)
def test_options_that_make_no_sense_are_exit_2(directory: Path, words: list[str]):
    ran = evalkit(directory, "run", "cli", *words)
    assert ran.returncode == 2
    assert ran.stderr


def test_an_unfrozen_set_is_exit_3_and_says_how(directory: Path):
    (directory / "new.json").write_text(json.dumps(SET))
    ran = evalkit(directory, "run", "new.json", *DEVELOPMENT)
    assert ran.returncode == 3
    assert "evalkit set freeze new.json" in ran.stderr


def test_no_such_set_is_exit_2(directory: Path):
    ran = evalkit(directory, "run", "none", *DEVELOPMENT)
    assert ran.returncode == 2
    assert ran.stderr == (
        "evalkit: none: expected a challenge set, got no such file "
        "(sought here, in ./challenge_sets and in the package)\n"
    )


@pytest.mark.parametrize("text", ["", "rules: [", "name: 3\nnonsense: true\n"])
def test_a_broken_policy_is_exit_3_as_everywhere(directory: Path, text: str):
    (directory / "policy.yaml").write_text(text)
    ran = evalkit(directory, "run", "cli", *DEVELOPMENT, "--policy", "policy.yaml")
    assert ran.returncode == 3, ran.stderr
    assert "policy.yaml" in ran.stderr


def test_a_missing_policy_is_exit_3(directory: Path):
    ran = evalkit(directory, "run", "cli", *DEVELOPMENT, "--policy", "none.yaml")
    assert ran.returncode == 3
    assert ran.stderr.count("\n") == 1


def test_a_ledger_that_cannot_be_written_is_exit_3_and_nothing_is_left(directory: Path):
    (directory / "file").write_text("")
    ran = evalkit(directory, "run", "cli", *DEVELOPMENT, "--ledger", "file/ledger")
    assert ran.returncode == 3
    assert ran.stderr.count("\n") == 1
    assert not (directory / "reports").exists()


def test_reports_that_cannot_be_written_are_exit_3_before_the_claim(directory: Path):
    (directory / "file").write_text("")
    ran = evalkit(directory, "run", "cli", *DEVELOPMENT, "--reports", "file/reports")
    assert ran.returncode == 3
    assert ran.stderr.count("\n") == 1
    assert not (directory / "ledger").exists()


def test_what_is_no_file_says_what_it_is(directory: Path):
    os.mkfifo(directory / "pipe")
    for name, kind in (("challenge_sets", "a directory"), ("pipe", "a FIFO")):
        ran = evalkit(directory, "run", name, *DEVELOPMENT)
        assert ran.returncode == 2
        assert ran.stderr == f"evalkit: {name}: expected a challenge set file, got {kind}\n"


def test_an_interrupt_stops_in_order_and_the_run_is_resumed(directory: Path):
    cases = [{**SET["cases"][0], "id": str(n), "command": f"ls {n}"} for n in range(20_000)]  # type: ignore[index]
    path = directory / "many.json"
    path.write_text(json.dumps({**SET, "cases": cases}))
    assert evalkit(directory, "set", "freeze", "many.json").returncode == 0
    child = subprocess.Popen(
        [sys.executable, "-m", "evalkit", "run", "many.json", *DEVELOPMENT],
        cwd=directory,
        env={**ENV, "TOOLGATE_LEDGER": str(directory / "ledger")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    runs = directory / "ledger" / "runs"
    while not list(runs.glob("*/journal.jsonl")) and child.poll() is None:
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 4, err
    assert out == ""
    assert "Traceback" not in err
    run = next(runs.iterdir()).name
    assert f"evalkit resume {run}" in err
    twice = [
        subprocess.Popen(
            [sys.executable, "-m", "evalkit", "resume", run, "--json"],
            cwd=directory,
            env={**ENV, "TOOLGATE_LEDGER": str(directory / "ledger")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [(*child.communicate(timeout=60), child.returncode) for child in twice]
    done = [json.loads(out) for out, _, code in said if code == 0]
    assert [code for _, _, code in said if code] in ([3], []), said
    assert all("another process is running it" in err for _, err, code in said if code == 3)
    assert {(made["cases"], made["unscored"]) for made in done} == {(20_000, 0)}
    journal = (runs / run / "journal.jsonl").read_bytes()
    assert journal.count(b'"row":"finished"') == 20_000
    spine = b"".join(path.read_bytes() for path in (directory / "ledger").glob("spine-*.jsonl"))
    assert spine.count(b'"run.sealed"') == 1


def test_resume_of_nothing_is_refused(directory: Path):
    assert evalkit(directory, "resume", "nonsense").returncode == 2
    ran = evalkit(directory, "resume", "run-20260101t000000z-01234567")
    assert ran.returncode == 3
    assert "expected a claim in this ledger, got none" in ran.stderr


def test_build_show(directory: Path):
    ran = evalkit(directory, "build", "show", "--json")
    assert ran.returncode == 0, ran.stderr
    made = json.loads(ran.stdout)
    assert made["build"].startswith("sha256:")
    assert made["pinned"] is (made["refusals"] == [])
    text = evalkit(directory, "build", "show").stdout
    assert made["build"] in text

    from toolgate.gate.open import build_digest

    assert made["hook_build"] == build_digest() != made["build"]
    assert f"hook build  {build_digest()} (expected.build of a window)" in text.splitlines()


def test_two_runs_at_once_get_one_look(directory: Path):
    words = [sys.executable, "-m", "evalkit", "run", "cli", *DEVELOPMENT]
    env = {**ENV, "TOOLGATE_LEDGER": str(directory / "ledger")}
    children = [
        subprocess.Popen(
            words, cwd=directory, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        for _ in range(3)
    ]
    codes = []
    for child in children:
        child.communicate(timeout=60)
        codes.append(child.returncode)
    assert sorted(codes) == [0, 3, 3]


def test_a_terminal_gets_the_same_words(directory: Path):
    main, side = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "evalkit", "run", "cli", *DEVELOPMENT],
        cwd=directory,
        env={**ENV, "TOOLGATE_LEDGER": str(directory / "ledger"), "TERM": "xterm"},
        stdout=side,
        stderr=subprocess.PIPE,
    )
    os.close(side)
    shown = b""
    try:
        while part := os.read(main, 65536):
            shown += part
    except OSError:
        pass  # Linux says so when the other side is closed
    os.close(main)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    text = re.sub(rb"\x1b\[[0-9;]*m", b"", shown).decode()
    assert "cli: match 2/2" in text
    assert "\x1b[1m" in shown.decode()
    assert str(next((directory / "reports").glob("*.md")).name) in text


def test_a_closed_pipe_is_no_error(directory: Path):
    ran = subprocess.run(
        f"{sys.executable} -m evalkit run cli {' '.join(DEVELOPMENT)} | true; "
        "echo ${PIPESTATUS[0]}",
        shell=True,
        executable="/bin/bash",
        cwd=directory,
        env={**ENV, "TOOLGATE_LEDGER": str(directory / "ledger")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "0\n"
    assert ran.stderr == ""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_for_people_who_wait(monkeypatch: pytest.MonkeyPatch):
    quick, slow, piped = Terminal(), Terminal(), io.StringIO()
    bar = progress.Bar(quick)
    bar.show(1, 2)
    bar.close()
    monkeypatch.setattr(progress, "PATIENCE_S", 0.0)
    for stream in (slow, piped):
        bar = progress.Bar(stream)
        bar.show(1, 2)
        bar.close()
    assert quick.getvalue() == ""
    assert piped.getvalue() == ""
    assert "1/2" in slow.getvalue()
    assert not {"allow", "ask", "deny", "match"} & set(slow.getvalue().split())


def test_runs_are_listed_compared_and_their_builds_differ(directory: Path):
    first = json.loads(evalkit(directory, "run", "cli", *DEVELOPMENT, "--json").stdout)
    again = ("--rerun", "--of", first["run"], "--reason", "to see")
    second = json.loads(evalkit(directory, "run", "cli", *DEVELOPMENT, *again, "--json").stdout)
    listed = evalkit(directory, "list")
    assert [line.split()[0] for line in listed.stdout.splitlines()] == [
        first["run"],
        second["run"],
    ]
    told = evalkit(directory, "status", first["run"])
    assert "2 of 2 cases finished" in told.stdout
    compared = evalkit(directory, "compare", first["run"], second["run"])
    assert compared.returncode == 0, compared.stderr
    assert "## Run 2 against run 1: not distinguishable" in compared.stdout
    twin = evalkit(directory, "compare", first["run"], second["run"], "--json")
    assert json.loads(twin.stdout)["against"][0]["same_decision"] == 2
    same = evalkit(directory, "build", "diff", first["run"], "now")
    assert same.stdout == "the two builds are the same\n"
    shown = json.loads(evalkit(directory, "build", "show", "--json").stdout)
    shown["files"]["toolgate/errors.py"] = "sha256:" + "0" * 64
    (directory / "other.json").write_text(json.dumps(shown))
    other = evalkit(directory, "build", "diff", first["run"], "other.json")
    assert other.stdout == "file toolgate/errors.py: changed\n"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("compare", "run-20260101t000000z-01234567", "x"), 3),
        (("compare", "x", "y"), 2),
        (("status", "x"), 2),
        (("status", "run-20260101t000000z-01234567"), 3),
        (("build", "diff", "now", "nothing"), 2),
    ],
)
def test_what_there_is_no_run_of_is_one_message(directory: Path, words: tuple[str, ...], code: int):
    ran = evalkit(directory, *words)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (code, "", 1)


def test_a_threshold_that_is_not_kept_is_exit_1(directory: Path):
    words = ("--fail-if", "match.lower < 0.99", "--junit", "run.xml", "--summary", "summary.md")
    ran = evalkit(directory, "run", "cli", *DEVELOPMENT, *words)
    assert ran.returncode == 1
    assert "threshold not kept: match.lower < 0.99: the run shows 0.158" in ran.stderr
    assert (directory / "run.xml").read_text().count("<testcase") == 3
    assert "**not kept**" in (directory / "summary.md").read_text()
    (directory / "run.xml").unlink()
    run = json.loads(evalkit(directory, "list", "--json").stdout)["run"]
    again = evalkit(directory, "resume", run, "--junit", "run.xml")
    assert again.returncode == 1  # the threshold is the claim's
    assert (directory / "run.xml").read_text().count("<testcase") == 3


@pytest.mark.parametrize("words", [("--junit", "no/x.xml"), ("--summary", "challenge_sets")])
def test_what_could_not_be_written_claims_nothing(directory: Path, words: tuple[str, str]):
    ran = evalkit(directory, "run", "cli", *DEVELOPMENT, *words)
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
    assert "expected a file that can be written" in ran.stderr
    assert evalkit(directory, "list").stdout == "no runs\n"


def test_a_hook_command_is_run_in_our_place(directory: Path):
    hook = directory / "hook.sh"
    hook.write_text("cat > /dev/null; echo no >&2; exit 2\n")
    ran = evalkit(directory, "run", "cli", *DEVELOPMENT, "--gate", f"command:sh {hook}", "-j", "2")
    assert ran.returncode == 0, ran.stderr
    assert "gate sh hook.sh (command, claude-code)" in ran.stdout
    assert "match 1/2" in ran.stdout


def test_verify_and_list_see_a_ledger_cut_short(directory: Path):
    assert evalkit(directory, "verify").returncode == 3  # nothing there yet
    assert evalkit(directory, "run", "cli", *DEVELOPMENT).returncode == 0
    whole = evalkit(directory, "verify")
    assert whole.returncode == 0, whole.stdout + whole.stderr
    assert whole.stdout.splitlines()[-1] == "PASS"
    assert evalkit(directory, "list").returncode == 0
    (spine,) = (directory / "ledger").glob("spine-*.jsonl")
    spine.write_bytes(b"".join(spine.read_bytes().splitlines(keepends=True)[:-1]))
    cut = evalkit(directory, "verify", "--json")
    assert cut.returncode == 1
    assert json.loads(cut.stdout)["verdict"] == "FAIL"
    listed = evalkit(directory, "list")
    assert listed.returncode == 1
    assert listed.stdout.startswith("run-")
    assert "evalkit: the ledger was cut short: ledger-" in listed.stderr
    run = listed.stdout.split()[0]
    again = evalkit(directory, "run", "cli", *DEVELOPMENT, "--rerun", "--of", run, "--reason", "x")
    assert again.returncode == 5
    assert "Nothing was done" in again.stderr


def test_our_own_gate_takes_jobs(directory: Path):
    ran = evalkit(directory, "run", "cli", *DEVELOPMENT, "-j", "2", "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["match"] == 2
    assert evalkit(directory, "run", "cli", *DEVELOPMENT, "-j", "0").returncode == 2


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("status", "run-20260101t000000z-01234567"),
        ("compare", "run-20260101t000000z-01234567", "run-20260101t000000z-01234568"),
        ("build", "diff", "run-20260101t000000z-01234567", "now"),
    ],
)
def test_a_ledger_that_is_named_must_be_there(directory: Path, words: tuple[str, ...]):
    gone = evalkit(directory, *words, "--ledger", "nowhere")
    assert (gone.returncode, gone.stdout, gone.stderr.count("\n")) == (3, "", 1)
    assert "nowhere: expected a decision ledger, got no such directory" in gone.stderr
    other = evalkit(directory, *words, "--ledger", "challenge_sets")
    assert (other.returncode, other.stderr.count("\n")) == (3, 1)
    assert "expected a decision ledger, got a directory without one" in other.stderr


def test_what_is_no_build_is_called_so(directory: Path):
    for name in ("nothing", "challenge_sets"):
        ran = evalkit(directory, "build", "diff", "now", name)
        assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
        assert "challenge set file" not in ran.stderr
