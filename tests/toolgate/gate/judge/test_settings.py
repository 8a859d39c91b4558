"""What a policy may say of its judge: every fault named, defaults written out, pins known."""

import pytest

from toolgate.cli.policy.tell import tell
from toolgate.errors import PolicyError
from toolgate.gate.judge.questions import questions_of
from toolgate.gate.policy.judge import is_pinned, url_fault
from toolgate.gate.policy.lint import lint
from toolgate.views.sheet import Sheet

KEY = {"environment": "JUDGE_KEY"}
HOSTED = {"backend": "typesafe", "model": "jev-1.13.0", "key": KEY}
CHAT = {**HOSTED, "backend": "chat", "url": "https://api.example.com/v1/chat/completions"}
LOCAL = {
    "backend": "local",
    "model": "laya",
    "url": "http://127.0.0.1:8000/v1/systemone",
    "shape": "decisions",
}
MOCK = {"backend": "mock", "model": "mock"}


def test_defaults_are_written_out(policy_of):
    judge = policy_of(HOSTED).judge
    assert judge.url == "https://api.typesafe.ai/v1/systemone"
    assert (judge.shape, judge.fail_mode, judge.deadline_ms) == ("decisions", "ask", 4000)
    assert (judge.key_file, judge.key_variable) == ("", "JUDGE_KEY")
    assert set(judge.asked) == {
        "authorized",
        "destructive",
        "exfiltration",
        "privilege",
        "secret_exposure",
        "off_task",
        "violates_constraint",
        "unresolved_choice",
    }


def test_a_policy_without_a_judge_has_none_and_keeps_its_digest(policy_of):
    assert policy_of(None).judge is None
    assert b"judge" not in policy_of(None).data.replace(b'"name":"judged"', b"")


@pytest.mark.parametrize("judge", [HOSTED, CHAT, LOCAL, MOCK], ids=lambda one: one["backend"])
def test_each_backend_has_a_sufficient_form(policy_of, judge):
    assert policy_of(judge).judge.backend == judge["backend"]


FAULTS = [
    ([], "judge is list; expected a mapping"),
    ({**HOSTED, "modle": "x"}, "judge: unknown key modle"),
    ({**HOSTED, "backend": "openai"}, "judge: backend is 'openai'; expected one of typesafe"),
    ({**HOSTED, "model": ""}, "judge: model is ''"),
    ({**HOSTED, "key": None}, "judge: key is missing; backend typesafe needs one"),
    ({**HOSTED, "key": "sk-abc"}, "and never the key itself"),
    ({**HOSTED, "key": {"file": "judge.key"}}, "file is neither absolute nor below ~/"),
    ({**HOSTED, "key": {"environment": "A-B"}}, "environment is not a variable's name"),
    ({**HOSTED, "key": {"file": "/a", "environment": "B"}}, "expected file or environment"),
    ({**HOSTED, "url": "http://api.typesafe.ai/x"}, "url is neither https nor http on this"),
    ({**HOSTED, "url": "https://me:pw@host/x"}, "url names a user"),
    ({**HOSTED, "url": "https://host/x?key=1"}, "url has a query or a fragment"),
    ({**HOSTED, "url": "ftp://host/x"}, "url is neither https"),
    ({**HOSTED, "url": 7}, "url is int; expected text"),
    ({**CHAT, "url": None}, "url is missing; backend chat has no usual address"),
    ({**LOCAL, "url": "https://example.com/x"}, "url of a local backend is not on this machine"),
    ({**LOCAL, "shape": None}, "shape is None; a local backend speaks decisions or chat"),
    ({**CHAT, "shape": "chat"}, "shape belongs to a local backend"),
    ({**CHAT, "answers": "words"}, "answers is 'words'; expected logprobs or numbers"),
    ({**HOSTED, "answers": "numbers"}, "answers belongs to a chat model"),
    ({**HOSTED, "fail_mode": "allow"}, "fail_mode is 'allow'; expected ask, deny, static"),
    ({**HOSTED, "deadline_ms": 8000}, "deadline_ms is 8000; expected 100 to 6000"),
    ({**HOSTED, "deadline_ms": True}, "deadline_ms is True"),
    ({**HOSTED, "axes": []}, "axes is not a list of at least one axis"),
    ({**HOSTED, "axes": ["harm"]}, "axes: unknown axis harm"),
    ({**HOSTED, "says": {"destructive": 1}}, "says belongs to a mock"),
    ({**MOCK, "says": {"harm": 1}}, "says: unknown axis harm"),
    ({**MOCK, "says": {"destructive": "high"}}, "says: destructive is 'high'; expected a number"),
    ({**MOCK, "url": "https://x.y/z"}, "a mock is asked nowhere"),
    ({**HOSTED, "limits": {"input": 1}}, "limits: unknown key input"),
    ({**HOSTED, "limits": {"input_chars": 1}}, "input_chars is 1; expected 256 to 1000000"),
]


@pytest.mark.parametrize(("judge", "said"), FAULTS, ids=lambda value: str(value)[:50])
def test_faults_are_named(policy_of, judge, said):
    with pytest.raises(PolicyError) as caught:
        policy_of(judge)
    assert said in str(caught.value)
    assert "sk-abc" not in str(caught.value)


@pytest.mark.parametrize("name", ["judge", "judge.off_task"])
def test_the_rule_names_of_what_a_judge_says_are_kept(policy_of, name):
    rules = [{"rule": name, "decide": "ask", "because": "x", "tools": ["X"]}]
    with pytest.raises(PolicyError, match=f"rule {name}: this name is kept"):
        policy_of(None, rules=rules)


def test_an_axis_of_the_policys_own_brings_its_question(policy_of):
    axes = {"licence": {"softened": False, "ceiling": "ask", "question": "Is it copyleft?"}}
    policy = policy_of({**MOCK, "axes": ["licence"], "says": {"licence": 1}}, axes=axes)
    (question,) = questions_of(policy.judge.asked, policy.axes, task=True)
    assert (question.name, question.text) == ("licence", "Is it copyleft?")
    assert "licence" in policy_of(MOCK, axes=axes).judge.asked


@pytest.mark.parametrize(
    ("model", "shape", "pinned"),
    [
        ("jev-1.13.0", "decisions", True),
        ("typesafe/jev-1.13", "decisions", True),
        ("jev-latest", "decisions", False),
        ("~typesafe/jev-latest", "decisions", False),
        ("typesafe/jev", "decisions", False),
        ("jev-1.13-preview", "decisions", False),
        ("gpt-4.1", "chat", False),
        ("gpt-4o-2024-08-06", "chat", True),
        ("claude-x-20250929", "chat", True),
        ("model@sha256:" + "a" * 64, "chat", True),
        ("qwen2.5-7b-instruct.gguf", "chat", False),
        ("qwen2.5:latest", "chat", False),
    ],
)
def test_which_names_pin_a_model(model, shape, pinned):
    assert is_pinned(model, shape) is pinned


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1.example.com/",
        "http://localhost.example.com/",
        "http://127.0.0.1@example.com/",
        "http://[::2]/",
        "http://0.0.0.0/",
        "http://example.com#@127.0.0.1/",
        "https://",
        "https:///x",
        "https://a b/",
        "https://a\n.b/",
        "https://host:port/",
        "//127.0.0.1/",
        "",
    ],
)
def test_addresses_that_are_refused(url):
    assert url_fault(url)


@pytest.mark.parametrize(
    "url", ["https://host/x", "http://127.0.0.1:1/x", "http://[::1]:8000/", "http://localhost/"]
)
def test_addresses_that_are_taken(url):
    assert url_fault(url) == ""


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        (HOSTED, []),
        (MOCK, ["judge: a mock; its answers are made up"]),
        (
            {**HOSTED, "model": "jev-latest"},
            ["judge: model jev-latest is UNPINNED: its name may mean another tomorrow"],
        ),
        ({"backend": "typesafe"}, []),
        ("none", []),
        (None, []),
    ],
)
def test_what_is_remarked_of_a_judge(judge, said):
    assert lint({"judge": judge}, 0) == said


def test_a_policy_is_told_with_its_judge(policy_of):
    sheet = Sheet(400)
    tell(policy_of({**HOSTED, "model": "jev-latest"}), [], sheet)
    told = " ".join(row.text for row in sheet.rows)
    assert "model jev-latest (UNPINNED) of backend typesafe is asked at https://api.type" in told
    assert "What it does not answer falls to ask." in told
