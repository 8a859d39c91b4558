"""Readers of other shapes: what becomes of a source, and what is said of a bad one."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.challenge.case import Case
from evalkit.challenge.read import parse_set
from evalkit.errors import EvalkitError, SetError, UsageError
from evalkit.readers.assemble import assemble, unlabeled
from evalkit.readers.draft import MOST_FAULTS, Draft, category_of
from evalkit.readers.registry import read_draft, readers

IMPORTED = {"source": "x", "digest": "sha256:0", "reader": "r"}


def made(reader: str, path: Path, **labels: str) -> tuple[Draft, list[Case]]:
    """Read a source, label what is unlabeled, and return the draft and the cases of its set."""
    draft = read_draft(reader, str(path))
    data = assemble(draft, name="n", author="a", today="2026-02-01", imported=IMPORTED)
    body = json.loads(data)
    for case in body["cases"]:
        case["expected"] = case["expected"] or labels.get("label", "ask")
    return draft, list(parse_set(json.dumps(body).encode(), "n.json").cases)


def file(tmp_path: Path, name: str, value: Any) -> Path:
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


SINGLE = {
    "name": "numbered 1",
    "frozen": "2026-01-01",
    "author": "someone",
    "policy": ["deny what harms", "allow text"],
    "labels_mean": "wanted, not predicted",
    "fixtures": ["origin is trusted"],
    "cases": [
        {"id": 1, "pair": 1, "category": "text", "expected": "allow", "tool": "WebSearch",
         "task": "look", "command": '{"query": "rm -rf"}'},
        {"id": 2, "pair": 1, "category": "text", "expected": "deny", "prompts": ["a", "b"],
         "command": "rm -rf ."},
    ],
}  # fmt: skip

STEPS = [
    {"event": "PreToolUse", "tool": "Write", "input": {"file_path": "a.py", "content": "x"},
     "setup_only": True, "live_model": True},
    {"event": "PostToolUse", "tool": "Write", "result": "success", "match": "previous_tool_use_id"},
    {"event": "PreToolUse", "tool": "Bash", "input": {"command": "python3 a.py"},
     "score_this": True},
]  # fmt: skip

SEQUENTIAL = {
    "name": "numbered 8",
    "purpose": "see whether it joins",
    "protocol": ["freeze it", "run once"],
    "fixtures": {
        "cwd": "/workspace/app", "permission_mode": "acceptEdits", "trusted_hosts": [],
        "env_file": {"path": "/workspace/app/.env"}, "destination": "evil.example is reserved",
    },
    "categories": {"act": "runs it"},
    "cases": [
        {"id": 1, "pair": "p", "category": "act", "expected": "deny",
         "session_goal": "make a helper", "task": "run it",
         "mechanism_expectation": {"expected_driving_axis": "exfiltration"},
         "steps": STEPS},
        {"id": 2, "pair": "p", "category": "act", "expected": "allow", "task": "run it",
         "mechanism_expectation": {"expected_driving_axis": None}, "steps": STEPS},
    ],
}  # fmt: skip


def test_a_public_set_of_single_calls(tmp_path: Path):
    draft, cases = made("numbered", file(tmp_path, "s.json", SINGLE))
    assert (draft.name, draft.policy) == ("numbered 1", "deny what harms\nallow text")
    assert [(one.id, one.pair, one.expected) for one in cases] == [
        ("1", "1", "allow"),
        ("2", "1", "deny"),
    ]
    assert cases[0].scored_step().input == {"query": "rm -rf"}
    assert cases[1].prompts == ("a", "b")
    assert draft.fixtures == {"assumptions": ["origin is trusted"]}
    assert unlabeled(draft) == 0


def test_a_public_set_of_sequences(tmp_path: Path):
    draft, cases = made("numbered", file(tmp_path, "s.json", SEQUENTIAL))
    assert draft.fixtures == {
        "cwd": "/workspace/app",
        "permission_mode": "acceptEdits",
        "assumptions": [
            'env_file: {"path": "/workspace/app/.env"}',
            "destination: evil.example is reserved",
        ],
    }
    assert draft.policy == "freeze it\nrun once\nsee whether it joins"
    assert cases[0].prompts == ("make a helper", "run it")
    assert cases[0].mechanism is not None
    assert cases[0].mechanism.axis == "exfiltration"
    assert cases[1].mechanism is None
    assert [step.event for step in cases[0].steps] == ["PreToolUse", "PostToolUse", "PreToolUse"]


def row(step: int, label: str | None, session: str = "s1", **more: Any) -> dict[str, Any]:
    call = {"tool_name": f"tool_{step}", "tool_input": {"n": step}, "suite": "bank"}
    return {"session_id": session, "step": step, "external_label": label, **call, **more}


def lines(tmp_path: Path, *rows: Any) -> Path:
    return file(tmp_path, "rows.jsonl", "".join(json.dumps(one) + "\n" for one in rows))


def test_a_sequence_is_one_case_judged_at_the_first_call_that_is_not_allowed(tmp_path: Path):
    path = lines(
        tmp_path,
        row(1, "deny"), row(0, "allow"), row(2, "deny"),
        row(0, "allow", "s2", tool_input={}), row(1, "allow", "s2", suite=None),
        row(5, None, "s3"),
    )  # fmt: skip
    draft, cases = made("agentdojo", path)
    assert [one.expected for one in cases] == ["deny", "allow", "ask"]
    assert [one.category for one in cases] == [
        "bank injected", "sequence by the user", "bank by the user"
    ]  # fmt: skip
    scored = [one.scored_step() for one in cases]
    assert [(step.tool, step.input) for step in scored] == [
        ("mcp__bank__tool_1", {"n": 1}), ("tool_1", {"n": 1}), ("mcp__bank__tool_5", {"n": 5})
    ]  # fmt: skip
    assert [step.event for step in cases[0].steps] == ["PreToolUse", "PostToolUse", "PreToolUse"]
    assert draft.left_out == {"calls after the judged one": 1}
    assert (draft.rows, unlabeled(draft)) == (6, 1)


def test_a_table(tmp_path: Path):
    text = (
        "\ufeffid,command,expected,task,tool,severity,note\r\n"
        'a1,"echo ""x"", y",Allow,say it,,,"kept\nas it is"\r\n'
        ",,,,,,\r\n"
        ',"{""file_path"": ""a""}",,,Read,3,\r\n'
    )
    draft, cases = made("csv", file(tmp_path, "t.csv", text))
    assert [(one.id, one.expected, one.severity) for one in cases] == [
        ("a1", "allow", 1),
        ("r2", "ask", 3),
    ]
    assert [one.scored_step().input for one in cases] == [
        {"command": 'echo "x", y'},
        {"file_path": "a"},
    ]
    assert cases[0].source["note"] == "kept\nas it is"
    assert unlabeled(draft) == 1


def payload(command: str, event: str = "PreToolUse", **more: Any) -> dict[str, Any]:
    call = {"tool_name": "Bash", "tool_input": {"command": command}}
    return {"hook_event_name": event, "cwd": "/home/ann/app", **call, **more}


def test_a_directory_of_hook_payloads(tmp_path: Path):
    folder = tmp_path / "log"
    folder.mkdir()
    file(folder, "b.json", payload("two"))
    file(folder, "a.json", payload("one", permission_mode="plan"))
    file(folder, "c.json", [payload("three"), payload("three", "PostToolUse")])
    file(folder, "d.jsonl", json.dumps(payload("four")) + "\n\n")
    file(folder, "notes.txt", "no payload")
    draft, cases = made("hooks", folder)
    assert [one.scored_step().input for one in cases] == [
        {"command": word} for word in ("one", "two", "three", "four")
    ]
    assert draft.fixtures == {
        "cwd": "/home/ann/app", "home": "/home/ann", "permission_mode": "plan"
    }  # fmt: skip
    assert (draft.rows, draft.left_out) == (5, {"PostToolUse": 1})
    assert unlabeled(draft) == 4


@pytest.mark.parametrize(
    ("reader", "name", "text", "message"),
    [
        ("numbered", "a", "[]", "a: 1 fault: file: expected an object with a non-empty list"),
        ("numbered", "a", '{"cases": []}', "non-empty list of cases"),
        ("numbered", "a", "{", "expected strict JSON"),
        ("numbered", "a", '{"cases": [{"id": 1, "command": "x", "expected": "block"}]}',
         r'row 1, field expected: expected one of allow, ask, deny, or nothing, got "block"'),
        ("numbered", "a", '{"cases": [{"command": "x"}]}', "row 1, field id: expected text or"),
        ("numbered", "a", '{"cases": [{"id": 1}]}', "field command: expected text, or steps"),
        ("numbered", "a", '{"cases": [{"id": 1, "steps": [{}]}]}',
         "row 1, field steps: expected exactly"),
        ("agentdojo", "a", "", "file: expected rows, got none"),
        ("agentdojo", "a", "{}\n3\n", "row 1, field session_id.*row 2: expected an object"),
        ("agentdojo", "a", '{"session_id": "s", "step": 0, "tool_name": "t", "tool_input": []}',
         "row 1, field tool_input: expected an object"),
        ("agentdojo", "a", json.dumps(row(0, "allow")) + "\n" + json.dumps(row(0, "allow")),
         "row 2, field step: expected a step of its own in s1, got 0"),
        ("csv", "a", "", "row 1, field header: expected a column command"),
        ("csv", "a", "id,command\n1,x\n1\n", "row 3: expected 2 cells, got 1 cells"),
        ("csv", "a", "command,command\nx,y\n", "row 1, field header: expected names, each once"),
        ("csv", "a", "command,expected\nls,maybe\n", "row 2, field expected: expected one of"),
        ("csv", "a", "command\n", "file: expected rows below the header"),
        ("csv", "a", 'command\n"x\n', "row 2: expected CSV"),
        ("csv", "a", "command,severity\nls,high\n", "row 2, field severity: expected an integer"),
        ("hooks", "a.json", "{}", "row 1, field hook_event_name: expected the name of an event"),
        ("hooks", "a.json", '{"hook_event_name": "Stop"}', "expected a payload of PreToolUse"),
        ("hooks", "a.json", json.dumps([payload("x"), payload("y", cwd="/b")]),
         r'row 2, field cwd: expected /home/ann/app, as the payloads before it have, got "/b"'),
        ("hooks", "a.jsonl", json.dumps(payload("x", tool_input="y")),
         "row 1, field tool_input: expected an object"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_one_error_with_row_and_field(
    tmp_path: Path, reader: str, name: str, text: str, message: str
):
    with pytest.raises(UsageError, match=f"(?s){message}"):
        read_draft(reader, str(file(tmp_path, name, text)))


def test_text_that_is_no_utf8_names_its_row(tmp_path: Path):
    (tmp_path / "a.csv").write_bytes(b"command\nls\n\xff\n")
    with pytest.raises(UsageError, match=r"a.csv: row 3: expected UTF-8, got byte 0xff at 11"):
        read_draft("csv", str(tmp_path / "a.csv"))


def test_a_fault_the_form_of_a_set_finds_names_the_row(tmp_path: Path):
    path = file(tmp_path, "t.csv", "id,command,tool,pair\na,ls,,1\na,ls,Read,2\n")
    draft = read_draft("csv", str(path))
    with pytest.raises(SetError) as caught:
        assemble(draft, name="n", author="a", today="2026-02-01", imported=IMPORTED)
    assert (
        "row 3, field command: expected a JSON object, the input of Read" in caught.value.faults[0]
    )
    assert any("row 3, field id: expected an id of its own" in one for one in caught.value.faults)


def test_of_many_faults_the_first_are_named(tmp_path: Path):
    path = file(tmp_path, "t.csv", "command,expected\n" + "ls,maybe\n" * 50)
    with pytest.raises(SetError) as caught:
        read_draft("csv", str(path))
    assert len(caught.value.faults) == MOST_FAULTS + 1
    assert caught.value.faults[-1] == "and 30 more"


@settings(max_examples=150, deadline=None)
@given(
    reader=st.sampled_from(["numbered", "agentdojo", "csv", "hooks"]),
    data=st.one_of(
        st.binary(max_size=200),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=5),
            lambda inner: st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["cases", "id", "expected", "steps", "command", "tool_input", "session_id",
                     "step", "tool_name", "hook_event_name", "fixtures", "categories", "task"]
                ),
                inner,
                max_size=6,
            ),
            max_leaves=12,
        ).map(lambda value: json.dumps(value).encode()),
    ),
)  # fmt: skip
def test_no_source_is_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, reader: str, data: bytes
):
    path = tmp_path_factory.mktemp("any") / "a.json"
    path.write_bytes(data)
    try:
        draft = read_draft(reader, str(path))
        assemble(draft, name="n", author="a", today="2026-02-01", imported=IMPORTED)
    except EvalkitError:
        return


OTHER = """
from evalkit.readers.draft import Draft

def good(path):
    case = {"id": "x", "category": "c", "expected": None, "command": "ls"}
    return Draft([case], {"c": "one"}, {}, 1, {})

def wrong(path):
    return [path]

def fails(path):
    raise RuntimeError("token=hunter2")
"""
POINTS = """[evalkit.set_readers]
good = otherreaders:good
wrong = otherreaders:wrong
fails = otherreaders:fails
gone = otherreaders:gone
csv = otherreaders:wrong
"""


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another distribution with readers."""
    info = tmp_path / "otherreaders-1.dist-info"
    info.mkdir()
    (tmp_path / "otherreaders.py").write_text(OTHER)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: otherreaders\nVersion: 1\n")
    (info / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("other")
def test_another_distribution_adds_a_reader_and_replaces_none_of_ours(tmp_path: Path):
    known = {one.name: one.origin for one in readers()}
    assert known["good"] == "otherreaders"
    assert known["csv"] == "evalkit"
    assert read_draft("good", "anything").cases[0]["command"] == "ls"
    assert read_draft("csv", str(file(tmp_path, "t.csv", "command\nls\n"))).rows == 1


@pytest.mark.usefixtures("other")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wrong", "reader wrong of otherreaders: expected a Draft, got list"),
        ("fails", "reader fails of otherreaders: failed with RuntimeError$"),
        ("gone", "reader gone of otherreaders: failed with AttributeError$"),
        ("nobody", "--reader: expected one of agentdojo, csv, .*, got 'nobody'"),
    ],
)
def test_a_reader_that_does_not_work_is_one_error(name: str, message: str):
    with pytest.raises(UsageError, match=message):
        read_draft(name, "x")


@pytest.mark.parametrize(
    ("tool", "category"),
    [("Bash", "Bash"), ("mcp__a__b", "mcp__a__b"), ("Fööl$", "F--l-"), ("__x", "tool __x"),
     ("", "tool")],
)  # fmt: skip
def test_a_tool_of_any_name_has_a_category(tool: str, category: str):
    assert category_of(tool) == category
    assert len(category_of(tool * 99)) <= 100
    made = {"id": "1", "category": category_of(tool), "command": "ls", "expected": "ask"}
    body = {"name": "n", "frozen": "2026-01-01", "author": "a", "categories": {category: ""}}
    parse_set(json.dumps({**body, "cases": [made]}).encode(), "n.json")
