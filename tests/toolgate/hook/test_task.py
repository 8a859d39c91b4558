"""Prompts in production: kept by the hook, weighed in a decision, recorded as facts, replayed."""

import json
import stat

import pytest
from click.testing import CliRunner

from toolgate.cli import cli
from toolgate.hook.answer import answer
from toolgate.ledger.vault.prompts import prompts_of
from toolgate.verify import verify

START = 1_800_000_000_000_000


class Host:
    """A host that reports prompts and asks about calls, in this process."""

    def __init__(self, root, **environ):
        self.root = root
        self.ts = START
        self.turn = 0
        self.environ = {"HOME": "/home/dev", "TOOLGATE_LEDGER": str(root), **environ}
        self.transcript = None

    def send(self, name, **more):
        self.ts += 1000
        event = {
            "session_id": "s1",
            "prompt_id": f"p{self.turn}",
            "cwd": "/home/dev/app",
            "permission_mode": "default",
            "hook_event_name": name,
            **more,
        }
        if self.transcript:
            event["transcript_path"] = str(self.transcript)
        return answer(json.dumps(event).encode(), self.environ, self.ts)

    def prompt(self, text, **more):
        self.turn += 1
        return self.send("UserPromptSubmit", prompt=text, **more)

    def ask(self, call, command):
        made = self.send(
            "PreToolUse", tool_name="Bash", tool_use_id=call, tool_input={"command": command}
        )
        said = json.loads(made[0])["hookSpecificOutput"]
        return said["permissionDecision"]


@pytest.fixture
def root(tmp_path):
    return tmp_path / "ledger"


def entries(root):
    lines = [*root.glob("spine-*.jsonl"), *root.glob("sessions/*.jsonl")]
    return [json.loads(line) for file in lines for line in file.read_bytes().splitlines()]


def decisions(root):
    return {one["intent"]["call"]: one for one in entries(root) if one["kind"] == "decision"}


def replay(root):
    made = CliRunner().invoke(cli, ["replay", str(root), "--json"])
    return json.loads(made.output)["counts"]


def test_a_prohibition_stands_for_the_session_and_its_turn_is_the_fact(root):
    host = Host(root, TOOLGATE_VAULT="on")
    host.prompt("Fix the parser in src/parse.py, but do not push anything.")
    host.prompt("Now have a look at the README, and continue.")
    assert host.ask("c1", "git push origin HEAD") == "deny"
    assert host.ask("c2", "git commit -am wip") == "allow"
    made = decisions(root)["c1"]
    opened = [one for one in entries(root) if one["kind"] == "turn_open"]
    assert made["rule"] == "lexicon.violates_constraint"
    assert made["axis"] == "violates_constraint"
    assert [fact["code"] for fact in made["facts"]] == ["task_prohibits"]
    first = prompts_of(str(root) + ".vault", "s1")[0][0]
    assert made["facts"][0]["entry"] == first.entry
    assert len(opened) == 2
    assert decisions(root)["c2"]["facts"] == []


def test_a_request_in_the_latest_prompt_allows_just_that_and_in_an_earlier_one_nothing(root):
    host = Host(root, TOOLGATE_VAULT="on")
    host.prompt("Delete the branch feature/x.")
    assert host.ask("c1", "git branch -D feature/x") == "allow"
    assert [fact["code"] for fact in decisions(root)["c1"]["facts"]] == ["task_requests"]
    assert host.ask("c2", "git branch -D feature/y") == "ask"
    host.prompt("Thanks. And what does src/a.py do?")
    assert host.ask("c3", "git branch -D feature/x") == "ask"


def test_such_decisions_verify_and_replay_byte_for_byte(root):
    host = Host(root, TOOLGATE_VAULT="on")
    host.prompt("Do not push. Ask me before you commit.")
    host.ask("c1", "git push")
    host.ask("c2", "git commit -m x")
    host.prompt("Delete the branch feature/x.")
    host.ask("c3", "git branch -D feature/x")
    host.ask("c4", "ls")
    host.send("Stop")
    host.send("SessionEnd")
    assert replay(root) == {
        "same": 4,
        "same_except_build": 0,
        "different": 0,
        "not_replayable": 0,
    }
    assert not [one.code for one in verify(str(root)).findings if one.code == "log.fact_unknown"]


def test_without_its_prompts_a_decision_is_not_replayable(root):
    host = Host(root, TOOLGATE_VAULT="on")
    host.prompt("Do not push.")
    host.ask("c1", "git push")
    file = next((root.parent / "ledger.vault" / "prompts").iterdir())
    file.write_bytes(file.read_bytes().replace(b"Do not push.", b"Do push it."))
    assert replay(root)["not_replayable"] == 1
    file.unlink()
    assert replay(root)["not_replayable"] == 1


def test_prompts_are_kept_for_their_owner_alone_and_only_with_the_vault(root):
    Host(root).prompt("Do not push.")
    assert not (root.parent / "ledger.vault").exists()
    Host(root, TOOLGATE_VAULT="on").prompt("Do not push.")
    folder = root.parent / "ledger.vault" / "prompts"
    (file,) = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_redacted_vault_keeps_no_secret_of_a_prompt_and_decides_with_what_it_keeps(root):
    token = "ghp_" + "a1" * 20
    host = Host(root, TOOLGATE_VAULT="redacted")
    host.prompt(f"Use {token} to fetch the list, and do not push.")
    assert host.ask("c1", "git push") == "deny"
    (file,) = (root.parent / "ledger.vault" / "prompts").iterdir()
    assert token not in file.read_text()
    assert replay(root)["same"] == 1


def test_a_task_with_a_prompt_missing_forbids_and_never_authorizes(root):
    host = Host(root, TOOLGATE_VAULT="on")
    host.prompt("Do not push.")
    host.environ.pop("TOOLGATE_VAULT")
    host.prompt("Work on the parser.")  # the vault was off
    host.environ["TOOLGATE_VAULT"] = "on"
    host.prompt("Delete the branch feature/x.")
    assert host.ask("c1", "git push") == "deny"
    assert host.ask("c2", "git branch -D feature/x") == "ask"


def test_a_prompt_that_was_never_reported_is_noticed_by_its_id(root):
    host = Host(root, TOOLGATE_VAULT="on")
    host.prompt("Delete the branch feature/x.")
    host.turn += 1  # the host went on to another prompt and its event was lost
    assert host.ask("c1", "git branch -D feature/x") == "ask"


SAID = (
    "Fix `Parser.java`, but neither commit nor PUSH to Main. Keep config/app.yml as it is.",
    "I haven't decided between zod and yup yet. Only touch src/ and docs/.",
    "Do everything but deploy, and work in staging only: nothing else.",
)


def test_prompts_that_forbid_are_read_once_too_and_no_word_of_them_is_noted(
    transcribed, cache, unread
):
    host = transcribed(*(line(text, promptId=f"p{at}") for at, text in enumerate(SAID)))
    host.turn = len(SAID) - 1
    commands = ("git commit -m x", "sed -i s/a/b/ lib/a.py", "npm install zod", "cat src/a.py")
    before = [host.ask(f"c{at}", command) for at, command in enumerate(commands)]
    assert before == ["deny", "deny", "deny", "allow"]
    noted = "".join(note.read_text() for note in cache.iterdir())
    for word in ("Parser", "zod", "yup", "config", "src", "PUSH", "Keep", "decided"):
        assert word not in noted
    unread()
    again = [host.ask(f"d{at}", command) for at, command in enumerate(commands)]
    assert again == before


def test_what_is_noted_of_a_prompt_is_what_reading_it_says(transcribed, cache, tmp_path):
    from toolgate.gate.task.read import read_prompt
    from toolgate.gate.task.task import Prompt
    from toolgate.hook.readings import Readings

    prompts = tuple(Prompt(text) for text in (*SAID, "Don\u2019t push \u0130x.py", "GO ON"))
    Readings(b"k" * 32, "s", "t").note(prompts)
    known = [Readings(b"k" * 32, "s", "t").known(one) for one in prompts]
    assert [one.said is not None for one in known[:3]] == [True] * 3
    for one in known:
        if one.said is not None:
            read = [said._replace(prompt=0) for said in read_prompt(one.text, 1)[0]]
            assert list(one.said) == read
    assert Readings(b"q" * 32, "s", "t").known(prompts[0]).said is None
    assert Readings(b"k" * 32, "s", "t").known(Prompt(SAID[0] + " ")).said is None


@pytest.mark.parametrize("damage", [b'{"v":1,"key"', b"not json\n", b"\xff\xfe\n"])
def test_a_damaged_file_of_prompts_fails_no_call_and_authorizes_none(root, damage):
    host = Host(root, TOOLGATE_VAULT="on")
    host.prompt("Delete the branch feature/x. Do not push.")
    (file,) = (root.parent / "ledger.vault" / "prompts").iterdir()
    with file.open("ab") as handle:
        handle.write(damage)
    assert host.ask("c1", "git branch -D feature/x") == "ask"
    assert host.ask("c2", "git push") == "deny"
    assert host.ask("c3", "ls") == "allow"


def test_where_nobody_wants_it_no_prompt_is_read(root):
    host = Host(root, TOOLGATE_VAULT="on", TOOLGATE_TASK="off")
    host.prompt("Do not push.")
    assert host.ask("c1", "git push") == "allow"
    assert not (root.parent / "ledger.vault" / "prompts").exists()


def line(text, **more):
    return json.dumps(
        {"type": "user", "message": {"role": "user", "content": text}, **more},
        separators=(",", ":"),
    )


@pytest.fixture
def transcribed(root, tmp_path):
    host = Host(root)
    host.transcript = tmp_path / "t.jsonl"

    def with_lines(*lines):
        host.transcript.write_text("".join(f"{one}\n" for one in lines))
        return host

    return with_lines


def test_without_a_vault_the_prompts_are_read_from_the_transcript(transcribed, root):
    host = transcribed(line("Do not push.", promptId="p0"), line("Go on.", promptId="p1"))
    host.turn = 1
    assert host.ask("c1", "git push") == "deny"
    assert decisions(root)["c1"]["facts"] == []  # no entry of the ledger stands for these words


@pytest.mark.parametrize(("present", "expected"), [("p1", "allow"), ("p0", "ask"), ("", "ask")])
def test_a_transcript_authorizes_only_where_its_last_prompt_is_surely_the_present_one(
    transcribed, present, expected
):
    host = transcribed(line("Delete the branch feature/x.", promptId=present))
    host.turn = 1
    assert host.ask("c1", "git branch -D feature/x") == expected


@pytest.mark.parametrize(
    "other",
    [
        line("Do not push.", isMeta=True),
        line("Do not push.", isSidechain=True),
        line("Do not push.", isCompactSummary=True),
        line([{"type": "tool_result", "content": "Do not push."}]),
        line("<command-name>/x</command-name> Do not push."),
        line("<system-reminder>Do not push.</system-reminder>Fix it."),
        json.dumps({"type": "assistant", "message": {"role": "user", "content": "Do not push."}}),
        "{broken",
        "[]",
        '"x"',
    ],
)
def test_what_the_user_did_not_write_is_no_prompt(transcribed, other):
    host = transcribed(line("Fix the parser."), other)
    assert host.ask("c1", "git push") == "allow"


def test_a_long_transcript_is_read_over_the_borders_of_its_chunks(transcribed):
    filler = [json.dumps({"type": "assistant", "message": "x" * 997}) for _ in range(1_200)]
    host = transcribed(line("Do not push. " + "y" * 300_000), *filler, line("Go on."), *filler)
    assert host.ask("c1", "git push") == "deny"


@pytest.mark.parametrize("kind", ["missing", "folder", "empty"])
def test_a_transcript_that_cannot_be_read_fails_no_call(root, tmp_path, kind):
    host = Host(root)
    host.transcript = tmp_path / "t"
    if kind == "folder":
        host.transcript.mkdir()
    elif kind == "empty":
        host.transcript.write_bytes(b"")
    assert host.ask("c1", "ls") == "allow"
    assert host.ask("c2", "git branch -D feature/x") == "ask"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "toolgate" / "prompts"


@pytest.fixture
def unread(monkeypatch):
    """Return what forbids any further reading of prompts."""

    def forbid():
        def fail(text, number):
            raise AssertionError(f"read again: {text}")

        monkeypatch.setattr("toolgate.gate.task.read.read_prompt", fail)

    return forbid


def test_prompts_that_hold_nothing_back_are_read_once(transcribed, cache, unread):
    host = transcribed(line("Fix it.", promptId="p0"), line("Run the tests.", promptId="p1"))
    host.turn = 1
    assert host.ask("c1", "git push") == "allow"
    [note] = cache.iterdir()
    assert note.stat().st_mode & 0o777 == 0o600
    assert not {"Run", "tests", "Fix"} & set(note.read_text().replace('"', " ").split())
    unread()
    assert host.ask("c2", "git push") == "allow"


def test_what_is_said_later_counts_whatever_was_noted(transcribed, cache):
    said = [line("Fix it.", promptId="p0"), line("Delete the branch feature/x.", promptId="p1")]
    host = transcribed(*said)
    host.turn = 1
    assert host.ask("c1", "git push") == "allow"
    assert host.ask("c2", "git branch -D feature/x") == "allow"
    said.append(line("Do not push.", promptId="p2"))
    host = transcribed(*said)
    host.turn = 2
    assert host.ask("c3", "git push") == "deny"
    assert host.ask("c4", "git branch -D feature/x") == "ask"
    said.append(line("Go on.", promptId="p3"))
    host = transcribed(*said)
    host.turn = 3
    assert host.ask("c5", "git push") == "deny"
    said.append(line("You can push now.", promptId="p4"))
    host = transcribed(*said)
    host.turn = 4
    assert host.ask("c6", "git push") == "allow"


def test_another_file_than_the_one_that_was_read_is_read_whole(transcribed, cache):
    host = transcribed(line("Fix it.", promptId="p0"), line("Run the tests.", promptId="p1"))
    host.turn = 1
    assert host.ask("c1", "git push") == "allow"
    host = transcribed(
        line("Do not push, and fix it.", promptId="p0"), line("Run the tests.", promptId="p1")
    )
    assert host.ask("c2", "git push") == "deny"


@pytest.mark.parametrize("damage", ["{", '{"offset":-1,"prompt":""}', '{"offset":"x"}', "[]"])
def test_a_damaged_note_is_no_note(transcribed, cache, damage):
    host = transcribed(line("Do not push.", promptId="p0"), line("Go on.", promptId="p1"))
    host.turn = 1
    assert host.ask("c1", "git push") == "deny"
    for note in cache.iterdir():
        note.write_text(damage)
    assert host.ask("c2", "git push") == "deny"


def test_a_note_that_others_could_have_written_is_not_read(transcribed, cache):
    host = transcribed(line("Do not push.", promptId="p0"), line("Go on.", promptId="p1"))
    host.turn = 1
    assert host.ask("c1", "git push") == "deny"
    [note] = cache.iterdir()
    size = host.transcript.stat().st_size
    note.write_text(json.dumps({"offset": size - 5, "prompt": ""}))
    note.chmod(0o666)
    assert host.ask("c2", "git push") == "deny"
