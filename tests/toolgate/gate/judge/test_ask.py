"""Asking over the wire: whatever a server does, there is a judgement in time, and no secret."""

import json
import os
import time

import pytest

from toolgate.gate.judge.ask import ask
from toolgate.gate.judge.cache import MOST_ANSWERS, Cache
from toolgate.gate.judge.failure import JudgeError
from toolgate.gate.judge.key import key_of
from toolgate.gate.judge.request import request_of
from toolgate.gate.task.task import Prompt, Task

KEY = "sk-judge-0123456789abcdef"
AXES = ["destructive", "off_task", "authorized"]
ALL = {"destructive": {"noul": 0.1}, "off_task": {"noul": 0.2}, "authorized": {"noul": 0.9}}


@pytest.fixture
def judge_at(gate_of, call, server):
    """Ask a judge at the server; returns its judgement."""

    def made(cache=None, environ=None, command="git push", **more):
        said = {
            "backend": "local",
            "shape": "decisions",
            "model": "jev-1.13.0",
            "url": server.url,
            "key": {"environment": "JUDGE_KEY"},
            "axes": AXES,
            "deadline_ms": 2000,
            **more,
        }
        gate = gate_of({key: value for key, value in said.items() if value is not None})
        judge, one = gate.policy.judge, call(command)
        task = Task((Prompt("push it"),))
        request = request_of(one, task, gate.decide(one), gate.policy, judge)
        given = {"JUDGE_KEY": KEY} if environ is None else environ
        return ask(judge, request, given, cache)

    return made


def test_an_answer_becomes_readings(judge_at, server):
    server.script = server.reply({"answers": ALL})
    made = judge_at()
    assert {one.axis: one.value for one in made.readings} == {
        "destructive": 0.1,
        "off_task": 0.2,
        "authorized": 0.9,
    }
    assert {one.source for one in made.readings} == {"judge"}
    assert made.whole
    assert made.floor("ask") == "allow"
    (heard,) = server.heard
    assert heard.line == "POST /v1/judge HTTP/1.1"
    assert heard.headers["authorization"] == f"Bearer {KEY}"
    assert heard.headers["accept-encoding"] == "identity"
    assert KEY not in heard.body.decode()


def test_no_key_is_sent_where_none_is_named(judge_at, server):
    server.script = server.reply({"answers": ALL})
    assert judge_at(key=None, environ={}).whole
    assert "authorization" not in server.heard[0].headers


def echo(status):
    def script(server):
        body = f"your key is {KEY}".encode() * 100
        return server.reply(body, f"{status} {KEY}", f"x-key: {KEY}")

    return script


def redirect(server):
    return server.reply(b"", "302 Found", f"location: {server.url}/{KEY}")


def compressed(server):
    return server.reply({"answers": ALL}, "200 OK", "content-encoding: gzip")


def large(server):
    return server.reply(b" " * 70_000 + json.dumps({"answers": ALL}).encode())


def endless(server):
    def script(to):
        to.sendall(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
        while True:
            to.sendall(b" " * 65536)

    return script


def garbage(server):
    return lambda to: to.sendall(b"\x00\x01 what? \r\n\r\n")


def hangs_up(server):
    return lambda to: None


def short(server):
    return lambda to: to.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{")


def no_json(server):
    return server.reply(f"<html>{KEY}</html>".encode())


def other_shape(server):
    return server.reply({"error": KEY})


BAD = [
    (echo(500), "status-500"),
    (echo(503), "status-503"),
    (echo(401), "status-401"),
    (echo(429), "status-429"),
    (echo(204), "status-204"),
    (redirect, "redirect"),
    (compressed, "too-large"),
    (large, "too-large"),
    (endless, "too-large"),
    (garbage, "unreachable"),
    (hangs_up, "unreachable"),
    (short, "unreachable"),
    (no_json, "not-json"),
    (other_shape, "shape"),
]


@pytest.mark.parametrize(("script", "fault"), BAD, ids=lambda one: getattr(one, "__name__", one))
def test_a_server_that_fails(judge_at, server, script, fault):
    server.script = script(server)
    made = judge_at()
    assert made.fault == fault
    assert made.readings == ()
    assert made.answer is None
    assert made.floor("allow") == "ask"
    assert len(server.heard) == 1  # one attempt, and no redirect followed
    assert KEY not in str(made)


def test_nobody_listens(judge_at, server):
    server.close()
    assert judge_at().fault == "unreachable"


def silent(to):
    time.sleep(5)


def slow_head(to):
    for byte in b"HTTP/1.1 200 OK\r\nx: " + b"y" * 100:
        to.sendall(bytes([byte]))
        time.sleep(0.05)


def slow_body(to):
    to.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
    for _ in range(100):
        to.sendall(b" ")
        time.sleep(0.05)


@pytest.mark.parametrize("script", [silent, slow_head, slow_body], ids=lambda one: one.__name__)
def test_the_deadline_is_over_everything(judge_at, server, script):
    server.script = script
    judge_at(deadline_ms=100)  # loads what asking needs
    began = time.monotonic()
    made = judge_at(deadline_ms=400)
    assert made.fault == "timeout"
    assert time.monotonic() - began < 1.5


@pytest.mark.parametrize(
    ("fail_mode", "floor"), [(None, "ask"), ("ask", "ask"), ("deny", "deny"), ("static", "allow")]
)
def test_the_fail_mode_is_a_floor(judge_at, server, fail_mode, floor):
    server.script = server.reply(b"", "500 Oh")
    made = judge_at(fail_mode=fail_mode)
    assert made.floor("allow") == floor
    assert made.floor("ask") == ("ask" if floor == "allow" else floor)


def test_a_partial_answer_keeps_what_is_there(judge_at, server):
    server.script = server.reply({"answers": {"destructive": {"noul": 0.99}}})
    made = judge_at()
    assert [(one.axis, one.value) for one in made.readings] == [("destructive", 0.99)]
    assert made.missing == {"off_task": "missing"}  # nobody authorized it: that softens nothing
    assert made.floor("allow") == "ask"


def test_answers_of_another_model_are_unpinned(judge_at, server):
    server.script = server.reply({"answers": ALL, "model": "jev-1.12.0"})
    made = judge_at()
    assert not made.pinned
    assert "UNPINNED, answered by jev-1.12.0" in made.note()


def test_a_floating_name_is_unpinned_in_every_sentence(judge_at, server):
    server.script = server.reply({"answers": ALL})
    assert "UNPINNED" not in judge_at().note()
    assert "UNPINNED" in judge_at(model="jev-latest").note()
    server.script = server.reply(b"", "500 Oh")
    assert "UNPINNED" in judge_at(model="jev-latest").note()


def test_an_answer_is_kept_and_nobody_is_asked_twice(judge_at, server, tmp_path):
    server.script = server.reply({"answers": ALL})
    cache = Cache(str(tmp_path / "judge"))
    first, second = judge_at(cache), judge_at(cache)
    assert (first.kept, second.kept) == (False, True)
    assert second.readings == first.readings
    assert (second.request, second.answer) == (first.request, first.answer)
    assert len(server.heard) == 1
    assert judge_at(cache, command="git push -f").kept is False
    assert len(server.heard) == 2
    assert os.stat(cache.folder).st_mode & 0o777 == 0o700
    for name in os.listdir(cache.folder):
        assert os.stat(os.path.join(cache.folder, name)).st_mode & 0o777 == 0o600


def test_answers_of_an_unpinned_model_serve_no_other_call(judge_at, server, tmp_path):
    server.script = server.reply({"answers": ALL})
    cache = Cache(str(tmp_path / "judge"))
    made = judge_at(cache, model="jev-latest")
    assert judge_at(cache, model="jev-latest").kept is False
    assert cache.answer(made.request, made.answer) is not None


def test_a_partial_answer_serves_no_other_call(judge_at, server, tmp_path):
    server.script = server.reply({"answers": {"destructive": {"noul": 0.99}}})
    cache = Cache(str(tmp_path / "judge"))
    made = judge_at(cache)
    server.script = server.reply({"answers": ALL})
    assert judge_at(cache).whole
    assert cache.answer(made.request, made.answer) is not None


REQUEST = "sha256:" + "a" * 64


def test_a_kept_answer_counts_only_as_it_was_kept(tmp_path):
    cache = Cache(str(tmp_path / "judge"))
    cache.keep(REQUEST, b'{"answers":{}}')
    (name,) = os.listdir(cache.folder)
    file = os.path.join(cache.folder, name)
    assert cache.latest(REQUEST) == b'{"answers":{}}'
    os.chmod(file, 0o644)
    assert cache.latest(REQUEST) is None
    os.chmod(file, 0o600)
    with open(file, "wb") as handle:
        handle.write(b'{"answers":{"authorized":{"noul":1}}}')
    assert cache.latest(REQUEST) is None
    os.unlink(file)
    os.symlink("/etc/hostname", file)
    assert cache.latest(REQUEST) is None


def test_a_folder_others_can_enter_keeps_nothing(tmp_path):
    (tmp_path / "judge").mkdir(mode=0o755)
    cache = Cache(str(tmp_path / "judge"))
    cache.keep(REQUEST, b"{}")
    assert os.listdir(cache.folder) == []


def test_the_cache_is_bounded_and_the_oldest_go(tmp_path):
    cache = Cache(str(tmp_path / "judge"))
    for number in range(MOST_ANSWERS + 5):
        request = f"sha256:{number:064x}"
        cache.keep(request, b"{}")
        (name,) = [one for one in os.listdir(cache.folder) if one.startswith(request[7:])]
        os.utime(os.path.join(cache.folder, name), ns=(number, number))
    assert len(os.listdir(cache.folder)) == MOST_ANSWERS
    assert cache.latest(f"sha256:{0:064x}") is None
    assert cache.latest(f"sha256:{MOST_ANSWERS:064x}") == b"{}"


@pytest.fixture
def judge_with_file(policy_of):
    def made(file):
        said = {"backend": "typesafe", "model": "jev-1.13.0", "key": {"file": str(file)}}
        return policy_of(said).judge

    return made


def test_a_key_comes_from_a_private_file(judge_with_file, tmp_path):
    file = tmp_path / "judge.key"
    file.write_text(KEY + "\n")
    file.chmod(0o600)
    assert key_of(judge_with_file(file), {}) == KEY
    assert key_of(judge_with_file("~/judge.key"), {"HOME": str(tmp_path)}) == KEY
    file.chmod(0o640)
    with pytest.raises(JudgeError, match="has mode 640; expected 600"):
        key_of(judge_with_file(file), {})


@pytest.mark.parametrize("text", ["", "\n", f"{KEY}\nhost: evil", f"{KEY}\r\nx", "a b", "k\u00e9y"])
def test_what_cannot_be_a_key(judge_with_file, tmp_path, text):
    file = tmp_path / "judge.key"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(JudgeError) as caught:
        key_of(judge_with_file(file), {})
    assert caught.value.kind == "no-key"
    assert KEY not in str(caught.value)


def test_files_that_are_no_key_files(judge_with_file, tmp_path):
    (tmp_path / "link").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name in ("link", "pipe", "none", "."):
        with pytest.raises(JudgeError):
            key_of(judge_with_file(tmp_path / name), {})


def test_without_its_key_a_judge_is_not_asked(judge_at, server):
    made = judge_at(environ={})
    assert made.fault == "no-key"
    assert "environment variable JUDGE_KEY is not set" in made.because()
    assert server.heard == []


def test_a_mock_asks_nobody_and_says_so(gate_of, call):
    said = {"backend": "mock", "model": "mock-1", "says": {"destructive": 0.9}, "axes": AXES}
    gate = gate_of(said)
    judge, one = gate.policy.judge, call("git push")
    task = Task((Prompt("push it"),))
    request = request_of(one, task, gate.decide(one), gate.policy, judge)
    made = ask(judge, request, {}, None)
    assert [(one.axis, one.value) for one in made.readings] == [("destructive", 0.9)]
    assert made.missing == {"off_task": "missing"}
    assert made.note() == "Judge mock-1 is a mock: its answers are made up."
    assert ask(judge, request, {}, None) == made
