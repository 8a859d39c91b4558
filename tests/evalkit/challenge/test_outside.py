"""Runs of gates that are not ours: any hook command, any HTTP hook."""

import json
import os
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from evalkit.errors import RefusedError, UsageError
from evalkit.gates.choice import Choice, open_gate
from evalkit.gates.room import anchor_of, make_room, namespaces

from .place import Place, many
from .sets import body, build_of, case, sequence

HOOK = Path(__file__).with_name("first_word_hook.py")
COMMAND = f"command:{sys.executable} {HOOK}"


def run(place: Place, choice: Choice | None = None, **more: Any) -> dict[str, Any]:
    asked = choice or Choice(gate=COMMAND, **more)
    opened = open_gate(asked)
    return place.run(opened, build_of(policy=opened.policy_bytes), choice=asked).context


def reasons(context: dict[str, Any]) -> list[str]:
    return [row["sentence"] for row in context["results"]]


def test_a_command_is_run_once_a_case_and_its_run_verifies(tmp_path: Path):
    context = run(Place(tmp_path, many(6)))
    assert context["scores"]["match"] == 6
    assert context["verification"]["verdict"] in ("PASS", "CONDITIONAL")
    program = Path(sys.executable).name
    assert context["gate"]["name"] == f"{program} first_word_hook.py (command, claude-code)"
    assert context["gate"]["files"].keys() >= {"first_word_hook.py"}
    assert "The gate is not ours" in context["cannot_say"][0]


def test_no_path_of_this_machine_is_in_report_or_ledger(tmp_path: Path):
    place = Place(tmp_path, many(3))
    run(place)
    for path in (*place.root.rglob("*.md"), *place.root.rglob("*.jsonl")):
        assert str(HOOK.parent) not in path.read_text(), path


def test_every_case_has_an_empty_home_and_only_what_it_may_see(tmp_path: Path):
    context = run(
        Place(tmp_path, body(*[case(n, prompts=["one", "two"], task=None) for n in (1, 2)]))
    )
    for text in reasons(context):
        told = json.loads(text)
        assert told["environ"] == sorted(
            {"HOME", "LANG", "PATH"} | set(told["environ"]) & {"LC_CTYPE"}
        )
        assert (told["events"], told["prompts"]) == ([], 2)
        assert set(told["files"]) - {"app"} == {"seen", "transcript.jsonl"}
        if namespaces():
            assert (told["home"], told["cwd"]) == ("/home/dev", "/home/dev/app")
            assert (told["there"], told["uid"]) == (True, 1000)
        else:
            assert told["home"] != os.environ["HOME"]


def test_a_sequence_keeps_its_home_and_hears_what_became_of_its_calls(tmp_path: Path):
    place = Place(tmp_path, body(sequence(1, "deny"), sequence(2, "allow")))
    context = run(place)
    assert context["scores"]["match"] == 2
    for text in reasons(context):
        assert json.loads(text)["events"] == ["PreToolUse", "PostToolUse"]


def test_what_a_gate_does_wrong_is_an_unscored_case_with_its_reason(tmp_path: Path):
    wrong = ("hang", "die", "garbage", "flood")
    place = Place(tmp_path, body(*[case(n, "deny", command=word) for n, word in enumerate(wrong)]))
    context = run(place, seconds=1.5)
    assert context["scores"]["unscored"] == len(wrong)
    assert reasons(context) == [
        "the gate took longer than 1.5 s",
        "the gate ended with exit code 1 and no decision",
        "the gate printed no JSON object",
        "the gate printed more than 1048576 bytes",
    ]


def test_silence_leaves_the_call_to_the_host_and_is_told_apart(tmp_path: Path):
    place = Place(
        tmp_path, body(case(1, "allow", command="silent"), case(2, "deny", command="block"))
    )
    context = run(place)
    assert [row["rule"] for row in context["results"]] == ["no-opinion", "answered"]
    assert [row["decided"] for row in context["results"]] == ["allow", "deny"]


def test_many_at_a_time_are_recorded_in_order(tmp_path: Path):
    place = Place(tmp_path, many(9))
    context = run(place, jobs=4)
    assert [row["case"] for row in context["results"]] == [f"c{n}" for n in range(9)]
    found = place.decisions(context["run"]["id"])
    assert [row["intent"]["call"] for row in found] == [f"c{n}" for n in range(9)]


def test_the_same_command_again_is_spent_and_another_is_not(tmp_path: Path):
    place = Place(tmp_path, many(3))
    run(place)
    with pytest.raises(RefusedError, match="already run"):
        run(place)
    assert run(place, seconds=9)["run"]["look"] == 2


def test_a_changed_script_is_another_gate(tmp_path: Path):
    script = tmp_path / "hook.py"
    script.write_bytes(HOOK.read_bytes())
    choice = Choice(gate=f"command:{sys.executable} {script}")
    one = open_gate(choice).policy_digest
    script.write_bytes(HOOK.read_bytes() + b"\n")
    assert open_gate(choice).policy_digest != one


def test_an_interrupted_run_is_resumed_with_the_gate_it_was_begun_with(tmp_path: Path):
    from evalkit.challenge.sealing import Watch
    from evalkit.errors import IncompleteError
    from evalkit.runs import resume, start

    place = Place(tmp_path, many(6))
    choice = Choice(gate=COMMAND)
    stops = iter([False, False, True])
    opened = open_gate(choice)
    build = build_of(policy=opened.policy_bytes)
    watch = Watch(lambda: next(stops, True))
    with pytest.raises(IncompleteError):
        start(place.request(choice=choice), opened, build, watch)
    found: list[Choice] = []

    def gate_of(again: Choice) -> Any:
        found.append(again)
        return open_gate(again), build

    done = resume(place.claimed(), place.request(), gate_of, Watch())
    assert found == [choice]
    assert done.context["scores"]["match"] == 6


class Server(BaseHTTPRequestHandler):
    """Answers a posted payload by the first word of its command."""

    def do_POST(self) -> None:
        shown = json.loads(self.rfile.read(int(self.headers["content-length"])))
        word = shown["tool_input"]["command"].split(" ")[0]
        answer = json.dumps({"hookSpecificOutput": {"permissionDecision": word}}).encode()
        if word == "mixed":
            inner = {"permissionDecision": "deny", "tool_use_id": "toolu_of_another"}
            answer = json.dumps({"hookSpecificOutput": inner}).encode()
        if word == "moved":
            self.send_response(302)
            self.send_header("location", "/elsewhere")
        else:
            self.send_response(500 if word == "broken" else 200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        try:
            for part in (
                [answer[n : n + 1] for n in range(len(answer))] if word == "drip" else [answer]
            ):
                self.wfile.write(part)
                self.wfile.flush()
                time.sleep(0.05 if word == "drip" else 0)
        except OSError:
            return  # the client had enough

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/hook"
    server.shutdown()
    server.server_close()


def test_an_http_hook_decides_with_a_2xx_answer_only(tmp_path: Path, url: str):
    cases = [case(1), case(2, "deny"), case(3, command="broken"), case(4, command="moved")]
    choice = Choice(gate=url)
    context = run(Place(tmp_path, body(*cases)), choice)
    assert [row["decided"] for row in context["results"]] == [
        "allow",
        "deny",
        "unscored",
        "unscored",
    ]
    assert reasons(context)[2:] == [
        "the gate answered with status 500",
        "the gate answered with status 302",
    ]


def test_an_http_answer_about_another_call_or_one_that_drips_is_none(tmp_path: Path, url: str):
    cases = [case(1, "deny", command="mixed"), case(2, "deny", command="drip"), case(3, "deny")]
    context = run(Place(tmp_path, body(*cases)), Choice(gate=url, seconds=0.5, jobs=3))
    assert reasons(context)[:2] == [
        "the answer is about another call: its tool_use_id is not ours",
        "the gate took longer than 0.5 s",
    ]
    assert [row["decided"] for row in context["results"]] == ["unscored", "unscored", "deny"]


def test_nobody_behind_an_address_is_unscored(tmp_path: Path):
    choice = Choice(gate="http://127.0.0.1:9/hook")
    context = run(Place(tmp_path, many(3)), choice)
    assert set(reasons(context)) == {"the gate gave no answer: ConnectError"}


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (Choice(gate="command:"), "a program and its arguments, got nothing"),
        (Choice(gate="command:no-such-program-here"), "not found"),
        (Choice(gate="command:sh 'x"), "No closing quotation"),
        (Choice(gate="other"), "expected command:'...' or http:URL"),
        (Choice(gate="http://example.com/x"), "http:// on this machine"),
        (Choice(gate="http:https://me:pw@example.com/x"), "URL without credentials"),
        (Choice(gate="http:"), "got ''"),
        (Choice(gate="command:sh", policy="p.yaml"), "--policy: expected it for our own gate"),
        (Choice(gate="command:sh", seconds=0), "--gate-seconds: expected a number above 0"),
        (Choice(gate="command:sh", seconds=float("nan")), "--gate-seconds"),
        (Choice(gate="command:sh", jobs=0), "--jobs: expected 1 to 64"),
        (Choice(gate="command:sh", environ=("NO_SUCH_NAME_1",)), "got NO_SUCH_NAME_1"),
        (Choice(gate="command:sh", protocol="vim"), "protocol 'vim'"),
        (Choice(jobs=65), "--jobs: expected 1 to 64"),
        (Choice(environ=("PATH",)), "--gate-env: expected --gate beside it"),
    ],
)
def test_what_makes_no_sense_is_one_message(choice: Choice, message: str):
    with pytest.raises(UsageError) as caught:
        open_gate(choice)
    assert message in str(caught.value)


def test_a_place_that_cannot_be_made_is_left_as_it_is(tmp_path: Path):
    assert anchor_of("/no-such-folder-here/dev") is None
    for number, (home, cwd, words) in enumerate(
        [
            ("/no-such-folder-here/dev", "/no-such-folder-here/dev/app", ()),
            ("/home/dev", "/srv/app", ()),
            ("/home/dev", "/home/dev/app", ("/home/dev/bin/gate",)),
        ]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        room = make_room(str(folder), home, cwd, words)
        assert (room.how, room.prefix, room.home) == ("as it is", (), str(folder / "home"))
