"""Reading sets: both forms, and every fault of a file at once."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit.challenge.case import DEFAULT_CWD, SEQUENTIAL, SINGLE_CALL
from evalkit.challenge.lint import lint
from evalkit.challenge.read import MAX_BYTES, load_set, parse_set
from evalkit.errors import SetError, UsageError
from toolgate.gate.task.task import Prompt, Task

from .sets import body, case, encoded, sequence


def read(value: object):
    return parse_set(encoded(value), "s.json")


def test_a_single_call_set():
    made = read(body(case(1, task="first"), case(2, tool="Read", command='{"file_path": "/a"}')))
    assert made.form == SINGLE_CALL
    assert made.cases[0].scored_step().input == {"command": "allow 1"}
    assert made.cases[1].scored_step().tool == "Read"
    assert made.cases[1].scored_step().input == {"file_path": "/a"}
    assert made.fixtures.cwd == "/home/dev/app"


def test_a_command_that_is_an_object_is_the_input():
    made = read(body(case(1, command={"command": "ls", "timeout": 5})))
    assert made.cases[0].scored_step().input == {"command": "ls", "timeout": 5}


@pytest.mark.parametrize("command", ["{ ls; }", "[1]", '"x"', "{", "null", "{}x"])
def test_text_that_is_no_object_is_a_command(command: str):
    made = read(body(case(1, command=command)))
    assert made.cases[0].scored_step().input == {"command": command}


def test_a_sequential_set_is_delivered_up_to_the_scored_step():
    made = read(body(sequence(1)))
    assert made.form == SEQUENTIAL
    assert [step.event for step in made.cases[0].delivered()] == [
        "PreToolUse",
        "PostToolUse",
        "PreToolUse",
    ]
    assert made.cases[0].scored_step().input == {"command": "deny 1"}


def test_an_outcome_that_says_nothing_is_a_success():
    made = read(body({**sequence(1), "steps": [SETUP, {"event": "PostToolUse"}, SETUP, STEP]}))
    assert [step.result for step in made.cases[0].steps] == [None, "success", None, None]


def test_a_task_is_the_prompts_oldest_first_and_apart_from_them_what_is_assumed():
    made = read(body(case(1, task=None, prompts=["one", "two"]), fixtures=["known", "also known"]))
    task = Task((Prompt("one"), Prompt("two")), setting="known\n\nalso known")
    assert made.task_of(made.cases[0]) == task
    assert made.fixtures.cwd == DEFAULT_CWD


def test_rationale_and_unknown_keys_are_kept_and_not_shown():
    made = read(body(case(1, rationale="because", decoded="x")))
    assert made.cases[0].source["decoded"] == "x"
    assert "because" not in str(made.cases[0].steps) + str(made.task_of(made.cases[0]))


def test_ids_and_pairs_may_be_numbers():
    made = read(body({**case(1, pair=7), "id": 1}, {**case(2, "deny", pair="7"), "id": 2}))
    assert [(one.id, one.pair) for one in made.cases] == [("1", "7"), ("2", "7")]


STEP = {"event": "PreToolUse", "tool": "Bash", "input": {"command": "ls"}, "score_this": True}
SETUP = {**STEP, "score_this": False, "setup_only": True}

BAD: dict[str, tuple[Any, str]] = {
    "not an object": ([], "file: expected an object"),
    "no name": ({**body(), "name": " "}, "name: expected non-empty text"),
    "no author": ({**body(), "author": 3}, "author: expected non-empty text, got 3"),
    "bad date": ({**body(), "frozen": "31.1.2026"}, "frozen: expected a date as YYYY-MM-DD"),
    "zero cases": ({**body(), "cases": []}, "cases: expected a non-empty list of cases, got []"),
    "cases is an object": ({**body(), "cases": {"a": 1}}, "cases: expected a non-empty list"),
    "case is text": ({**body(), "cases": ["x"]}, 'cases[0]: expected an object, got "x"'),
    "no categories": ({**body(), "categories": {}}, "categories: expected an object"),
    "category is a number": ({**body(), "categories": {"first": 1}}, "categories.first"),
    "undeclared category": (body(case(1, category="third")), "one of the declared categories"),
    "duplicate id": (body(case(1), case(1)), 'an id of its own, got "c1", also cases[0]'),
    "id with a line break": (body({**case(1), "id": "a\nb"}), "cases[0].id: expected 1 to 100"),
    "id with markup": (body({**case(1), "id": "a|b"}), "cases[0].id: expected 1 to 100"),
    "no id": (body({**case(1), "id": None}), "cases[0].id: expected text or an integer, got noth"),
    "id is true": (body({**case(1), "id": True}), "cases[0].id: expected text or an integer"),
    "unknown label": (body(case(1, "maybe")), 'one of allow, ask, deny, got "maybe"'),
    "half a pair": (body(case(1, pair="p"), case(2)), 'pair "p": expected exactly two cases'),
    "three in a pair": (
        body(case(1, pair="p"), case(2, pair="p"), case(3, pair="p")),
        'pair "p": expected exactly two cases, got 3',
    ),
    "no command": (body({**case(1), "command": None}), "cases[0].command: expected non-empty"),
    "empty command": (body(case(1, command="")), "cases[0].command: expected non-empty text"),
    "number as command": (body(case(1, command=3)), "cases[0].command: expected non-empty text"),
    "other tool, no object": (body(case(1, tool="Read")), "a JSON object, the input of Read"),
    "two readings of one object": (
        body(case(1, command='{"command":"ls","command":"rm"}')),
        "one strict JSON object, got not JSON: duplicate key",
    ),
    "task and prompts": (body(case(1, prompts=["x"])), "either task or prompts, got both"),
    "relative cwd": (body(fixtures={"cwd": "app"}), "fixtures.cwd: expected an absolute"),
    "unnormalized home": (body(fixtures={"home": "/a/../b"}), "fixtures.home: expected an abs"),
    "fixtures number": (body(fixtures=3), "fixtures: expected an object, got 3"),
    "assumption number": (body(fixtures=[3]), "fixtures: expected a list of texts, got [3]"),
    "no scored step": (body({**sequence(1), "steps": [{"event": "PostToolUse"}]}), "got 0"),
    "two scored steps": (body({**sequence(1), "steps": [STEP, STEP]}), "score_this, got 2"),
    "scored answer": (
        body({**sequence(1), "steps": [{"event": "PostToolUse", "score_this": True}]}),
        "a PreToolUse step to be scored",
    ),
    "scored setup": (
        body({**sequence(1), "steps": [{**STEP, "setup_only": True}]}),
        "setup_only or score_this, got both",
    ),
    "unknown event": (
        body({**sequence(1), "steps": [{"event": "Stop"}, STEP]}),
        'one of PreToolUse, PostToolUse, PostToolBatch, got "Stop"',
    ),
    "no steps": (body({**sequence(1), "steps": []}), "a non-empty list of steps"),
    "step without input": (
        body({**sequence(1), "steps": [{**STEP, "input": "ls"}]}),
        "steps[0].input: expected the tool's input, an object",
    ),
    "outcome of no call": (
        body({**sequence(1), "steps": [{"event": "PostToolUse"}, STEP]}),
        "steps[0]: expected a call before it without an outcome, got none",
    ),
    "second outcome": (
        body({**sequence(1), "steps": [SETUP, {"event": "PostToolUse"}, {"event": "PostToolUse"}]}),
        "steps[2]: expected a call before it without an outcome, got none",
    ),
    "unknown outcome": (
        body({**sequence(1), "steps": [SETUP, {"event": "PostToolUse", "result": "ok"}, STEP]}),
        'steps[1].result: expected one of success, failure, denied, got "ok"',
    ),
    "two forms in one set": (body(sequence(1), case(2)), "cases[1].steps: expected"),
}


@pytest.mark.parametrize(("value", "message"), BAD.values(), ids=BAD)
def test_a_fault_names_where_expected_and_got(value: Any, message: str):
    with pytest.raises(SetError) as caught:
        read(value)
    assert any(message in fault for fault in caught.value.faults), caught.value.faults
    assert caught.value.exit_code == 2


def test_all_faults_are_reported_at_once():
    value = body(case(1, "maybe"), case(1, category="third"), frozen="soon")
    with pytest.raises(SetError) as caught:
        read(value)
    assert len(caught.value.faults) == 4


RAW = {
    "empty": b"",
    "not JSON": b"challenge",
    "not UTF-8": b'{"name": "\xff"}',
    "byte order mark": b"\xef\xbb\xbf{}",
    "duplicate key": b'{"name": 1, "name": 2}',
    "NaN": b'{"name": NaN}',
    "lone surrogate": b'{"name": "\\ud800"}',
    "deep": b"[" * 5000 + b"]" * 5000,
    "two values": b"{} {}",
    "huge integer": b'{"name": 9007199254740993}',
}


@pytest.mark.parametrize("data", RAW.values(), ids=RAW)
def test_bytes_that_are_no_strict_json_are_one_fault(data: bytes):
    with pytest.raises(SetError) as caught:
        parse_set(data, "s.json")
    assert len(caught.value.faults) == 1
    assert caught.value.faults[0].startswith("file: expected strict JSON, got: ")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(UsageError, match="at most"):
        load_set(str(path))


@pytest.mark.parametrize("name", ["missing.json", ".", "a\0b"])
def test_what_is_no_file_is_refused(tmp_path: Path, name: str):
    with pytest.raises(UsageError, match="expected a"):
        load_set(str(tmp_path / name))


def test_lint_names_what_a_set_should_not_have():
    same = {"task": "t", "command": "ls"}
    value = body(
        case(1, pair="p", **same),
        case(2, pair="p", **same),
        case(3, command="echo ghp_0123456789abcdefghij"),
    )
    assert [sentence.split(":")[0] for sentence in lint(read(value))] == [
        "category second",
        "pair p",
        "1 case shows the gate the same as an earlier one",
        "case c3",
    ]


def test_lint_tells_of_a_thousand_duplicates_in_one_line():
    same = {"task": "t", "command": "ls"}
    made = read(body(*[case(number, **same) for number in range(1000)]))
    assert lint(made)[1:] == [
        "999 cases show the gate the same as an earlier one: c1 as c0, c2 as c0, c3 as c0, "
        "c4 as c0, c5 as c0, and 994 more"
    ]


@pytest.mark.parametrize("value", [[], [1, 2], "text", 3, None])
def test_what_is_no_object_is_one_fault(value: object):
    with pytest.raises(SetError) as caught:
        read(value)
    assert len(caught.value.faults) == 1


def test_the_shipped_sets_are_read():
    root = Path(__file__).parents[3] / "challenge_sets"
    paths = sorted(root.glob("challenge-set-?.json"))
    assert paths
    for path in paths:
        _, made = load_set(str(path))
        assert len(made.cases) == len(json.loads(path.read_text())["cases"]) >= 20
