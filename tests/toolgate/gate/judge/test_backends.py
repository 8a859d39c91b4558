"""Each shape as it is documented: what goes out, and what every kind of answer comes to."""

import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolgate.gate.judge.answers import unanswered
from toolgate.gate.judge.backends import backend_of
from toolgate.gate.judge.failure import JudgeError
from toolgate.gate.judge.request import request_of
from toolgate.gate.task.task import Prompt, Task

KEY = {"environment": "JUDGE_KEY"}
TYPESAFE = {"backend": "typesafe", "model": "jev-1.13.0", "key": KEY}
OPENROUTER = {"backend": "openrouter", "model": "typesafe/jev-1.13", "key": KEY}
LOCAL = {
    "backend": "local",
    "model": "laya",
    "url": "http://127.0.0.1:8000/v1/systemone",
    "shape": "decisions",
}
LIKELY = {
    "backend": "chat",
    "model": "m",
    "url": "https://api.example.com/v1/chat/completions",
    "key": KEY,
}
NUMBERS = {**LIKELY, "answers": "numbers"}
AXES = ["destructive", "off_task", "authorized"]


@pytest.fixture
def asked(gate_of, call):
    def made(said):
        gate = gate_of({**said, "axes": AXES})
        judge, one = gate.policy.judge, call("git push")
        task = Task((Prompt("push it"),))
        request = request_of(one, task, gate.decide(one), gate.policy, judge)
        return backend_of(judge), request, judge

    return made


@pytest.fixture
def sent(asked):
    def made(said):
        backend, request, judge = asked(said)
        wire = backend.encode(request, judge)
        return wire, json.loads(wire.body)

    return made


@pytest.fixture
def read(asked):
    def made(said, body):
        backend, request, judge = asked(said)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        answers = backend.decode(data, request, judge)
        return answers.values, unanswered(request.questions, answers)

    return made


def test_typesafe_folds_criteria_into_the_text(sent):
    wire, body = sent(TYPESAFE)
    assert wire.url == "https://api.typesafe.ai/v1/systemone"
    assert body.keys() == {"model", "state", "questions"}
    question = body["questions"]["destructive"]
    assert question.keys() == {"type", "instructions"}
    assert question["type"] == "noul"
    assert "\nYes: " in question["instructions"]
    assert "\nNo: " in question["instructions"]


def test_openrouter_and_a_local_server_take_criteria_apart(sent):
    for said in (OPENROUTER, LOCAL):
        wire, body = sent(said)
        question = body["questions"]["destructive"]
        assert question["criteria"].keys() == {"true", "false"}
        assert "\nYes: " not in question["instructions"]
    assert ("x-title", "toolgate-evalkit") not in wire.headers
    assert ("x-title", "toolgate-evalkit") in sent(OPENROUTER)[0].headers


def test_a_request_is_the_same_bytes_each_time_and_holds_no_key(sent):
    wire, _ = sent(OPENROUTER)
    assert wire == sent(OPENROUTER)[0]
    assert all(name != "authorization" for name, _ in wire.headers)


ALL = {"destructive": {"noul": 0.4996}, "off_task": {"noul": 0}, "authorized": {"noul": 1.0}}


def test_decisions_are_read_unrounded(read):
    values, missing = read(OPENROUTER, {"model": "x", "answers": ALL, "usage": {"cost": 0.1}})
    assert values == {"destructive": 0.4996, "off_task": 0.0, "authorized": 1.0}
    assert missing == {}


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (None, "not-a-number"),
        ({}, "not-a-number"),
        ({"noul": None}, "not-a-number"),
        ({"noul": "0.9"}, "not-a-number"),
        ({"noul": True}, "not-a-number"),
        ({"noul": [0.9]}, "not-a-number"),
        (0.9, "not-a-number"),
        ({"noul": 1.0001}, "out-of-range"),
        ({"noul": -0.0001}, "out-of-range"),
        ({"noul": 90}, "out-of-range"),
    ],
)
def test_one_bad_answer_leaves_the_others(read, item, why):
    values, missing = read(OPENROUTER, {"answers": {**ALL, "off_task": item}})
    assert values == {"destructive": 0.4996, "authorized": 1.0}
    assert missing == {"off_task": why}


def test_missing_is_not_zero(read):
    values, missing = read(OPENROUTER, {"answers": {"destructive": {"noul": 0.99}, "else": 1}})
    assert values == {"destructive": 0.99}
    assert missing == {"off_task": "missing", "authorized": "missing"}


GARBAGE = [
    b"",
    b"<html>busy</html>",
    b"[]",
    b"null",
    b'{"answers": []}',
    b'{"answers": {"destructive": {"noul": NaN}}}',
    b'{"answers": {"destructive": {"noul": 1e999}}}',
    b'{"answers": {}, "answers": {}}',
    b'{"answers": {"destructive": {"noul": 0.1, "noul": 0.9}}}',
    b"\xff\xfe",
    b"[" * 50_000,
    b'{"error": {"message": "no"}}',
]


@pytest.mark.parametrize("data", GARBAGE, ids=lambda data: repr(data[:30]))
@pytest.mark.parametrize("said", [OPENROUTER, LIKELY, NUMBERS], ids=["decisions", "chat", "json"])
def test_garbage_is_no_answer(read, said, data):
    with pytest.raises(JudgeError) as caught:
        read(said, data)
    assert caught.value.kind in ("not-json", "shape")


def test_a_chat_model_is_asked_for_lines_with_their_likelihood(sent):
    _, body = sent(LIKELY)
    assert (body["logprobs"], body["top_logprobs"], body["temperature"]) == (True, 20, 0)
    assert "response_format" not in body
    assert [one["role"] for one in body["messages"]] == ["system", "user"]


def test_a_chat_model_is_asked_for_numbers_under_a_schema(sent):
    _, body = sent(NUMBERS)
    schema = body["response_format"]["json_schema"]["schema"]
    assert set(schema["required"]) == set(AXES)
    assert schema["additionalProperties"] is False
    assert "logprobs" not in body


def token(text, logprob=0.0, **top):
    others = [{"token": one, "logprob": value} for one, value in top.items()]
    return {"token": text, "logprob": logprob, "top_logprobs": others}


def likely(*tokens, **more):
    text = "".join(str(one.get("token")) for one in tokens)
    choice = {"message": {"content": text}, "logprobs": {"content": list(tokens)}, **more}
    return {"choices": [choice]}


def test_the_likelihood_is_taken_where_the_model_chose(read):
    yes = token(" yes", math.log(0.6), **{" yes": math.log(0.6), " no": math.log(0.2), "Yes": -30})
    no = token("no", math.log(0.9), no=math.log(0.9), yes=math.log(0.1))
    tokens = [token("destructive"), token(":"), yes, token("\n"), token("off_task: "), no]
    values, missing = read(LIKELY, likely(*tokens))
    assert values["destructive"] == pytest.approx(0.75)
    assert values["off_task"] == pytest.approx(0.1)
    assert missing == {"authorized": "missing"}


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (token(" yes", math.log(0.3), maybe=math.log(0.7)), "unsure"),
        (token(" yes", 0.5), "out-of-range"),
        (token(" yes", "high"), "not-a-number"),
        ({"token": " yes"}, "not-a-number"),
        (token(" yes", True), "not-a-number"),
    ],
)
def test_a_likelihood_that_cannot_be_relied_on(read, one, why):
    _, missing = read(LIKELY, likely(token("destructive:"), one))
    assert missing["destructive"] == why


def test_a_question_answered_twice_is_not_answered(read):
    line = [token("destructive:"), token(" no", math.log(0.99)), token("\n")]
    again = [token("destructive:"), token(" yes", math.log(0.99)), token("\n")]
    _, missing = read(LIKELY, likely(*line, *again))
    assert missing["destructive"] == "unsure"


def test_talk_around_the_lines_is_no_answer(read):
    said = "Sure! The user approved it, so destructive: no, everything is fine."
    _, missing = read(LIKELY, likely(token(said, -0.1)))
    assert set(missing) == set(AXES)


@pytest.mark.parametrize(
    "choice",
    [
        {"message": {"content": "destructive: yes"}},
        {"message": {"content": "x"}, "logprobs": None},
        {"message": {"content": "x"}, "logprobs": {"content": []}},
        {"message": {"content": "x"}, "logprobs": {"content": [{"logprob": -1}]}},
        {"text": "x"},
    ],
)
def test_no_likelihoods_is_no_answer(read, choice):
    with pytest.raises(JudgeError) as caught:
        read(LIKELY, {"choices": [choice]})
    assert caught.value.kind == "shape"


def test_numbers_are_read_from_the_text(read):
    content = json.dumps({"destructive": 0.2, "off_task": 1, "authorized": 1.5, "more": 1})
    values, missing = read(NUMBERS, {"choices": [{"message": {"content": content}}]})
    assert values == {"destructive": 0.2, "off_task": 1.0}
    assert missing == {"authorized": "out-of-range"}


@pytest.mark.parametrize("content", [None, "yes", "[0.1]", '{"destructive": 0.1,}', 7])
def test_a_text_that_is_no_object_is_no_answer(read, content):
    with pytest.raises(JudgeError):
        read(NUMBERS, {"choices": [{"message": {"content": content}}]})


def test_time_over_an_answer_is_linear(read):
    import time

    lines = [token("x: yes\n", -0.1)] * 20_000
    began = time.process_time()
    read(LIKELY, likely(*lines))
    assert time.process_time() - began < 2


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(
            ("answers", "noul", "choices", "message", "content", "logprobs", "token", "logprob",
             "top_logprobs", "model", *AXES)
        ),
        inner,
        max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip
TOKENS = st.lists(
    st.fixed_dictionaries(
        {"token": st.sampled_from(("destructive", ":", " yes", "no", "\n", "off_task: ", "x"))},
        optional={"logprob": JSON, "top_logprobs": JSON},
    ),
    max_size=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    JSON
    | st.fixed_dictionaries({"answers": st.dictionaries(st.sampled_from(AXES), JSON)})
    | TOKENS.map(lambda tokens: likely(*tokens))
)
@pytest.mark.parametrize("said", [OPENROUTER, LIKELY, NUMBERS], ids=["decisions", "chat", "json"])
def test_any_json_is_read_or_refused_and_every_number_is_a_probability(asked, said, body):
    backend, request, judge = asked(said)
    try:
        answers = backend.decode(json.dumps(body).encode(), request, judge)
    except JudgeError:
        return
    assert all(0 <= value <= 1 for value in answers.values.values())
    assert not set(answers.values) & set(answers.faults)
    assert {*answers.values, *unanswered(request.questions, answers)} == set(AXES)
