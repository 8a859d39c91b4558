"""The shell front end: words, commands, faults, and what must hold for any text."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.gate.shell import words
from toolgate.gate.shell.model import HOLE
from toolgate.gate.shell.parse import read
from toolgate.gate.shell.source import MAX_CHARACTERS, MAX_REPAIRS, REFUSED

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "gate"


def _load(name: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = json.loads((VECTORS / name).read_text())["rows"]
    return rows


def _read(text: str):
    return read(text, cwd="/home/dev/app", home="/home/dev")


@pytest.mark.parametrize("row", _load("shell_words.json"), ids=lambda row: row["text"])
def test_words_are_decoded(row):
    script = _read(row["text"])
    assert [word.text for word in script.commands[-1].words] == row["words"]
    assert script.faults == ()


@pytest.mark.parametrize("row", _load("faults.json"), ids=lambda row: row["fault"])
def test_silent_misses_are_faults(row):
    assert row["fault"] in _read(row["text"]).faults


def test_adjacent_backticks_run_two_commands():
    names = [c.words[0].text for c in _read("echo `true` `rm x`").commands if c.words]
    assert "rm" in names or _read("echo `true` `rm x`").faults


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("a | b && c; d & e", ["a", "b", "c", "d", "e"]),
        ("(a; b) | { c; d; }", ["a", "b", "c", "d"]),
        ("if a; then b; else c; fi", ["a", "b", "c"]),
        ("while a; do b; done < f", ["a", "b", "a", "b"]),  # a later round may differ
        ("case $x in p) a;; q) b;; esac", ["a", "b"]),
        ('echo "$(a $(b))" <(c)', ["b", "a", "c", "echo"]),
        ("! a", ["a"]),
        ("cat <<'E' > f && rm x\nhi\nE\nls", ["cat", "rm", "ls"]),
        ("f() { a; }; f", ["a"]),
        ("x=$(a); y=1 b", ["a", "b"]),
        ("[[ -n $(a) ]] && b", ["a", "b"]),
        ("echo $(( $(a) + 1 ))", ["a", "echo"]),
        ("echo ${x:-$(a)}", ["a", "echo"]),
        ("cat <<E\n$(a)\nE", ["a", "cat"]),
        ("a=($(b) c)", ["b"]),
        ("a | b | c\nd > f", ["a", "b", "c", "d"]),
        ("a | b | c # x\nd > f", ["a", "b", "c", "d"]),
        ("a | b | c\n< f d; e", ["a", "b", "c", "d", "e"]),
        ("a | b | c x && d", ["a", "b", "c", "d"]),
        ("a | b | c # x\n# y\nd 2>&1", ["a", "b", "c", "d"]),
        ("a | b | c\nd > f\ne | f | g\nh 2>&1", ["a", "b", "c", "d", "e", "f", "g", "h"]),
    ],
)
def test_every_command_is_found(text, commands):
    found = [command.words[0].text for command in _read(text).commands if command.words]
    assert found == commands


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rm 2>/dev/null -rf /", ["rm", "-rf", "/"]),
        ("rm -rf >out / <in", ["rm", "-rf", "/"]),
        ("rm <<E -rf /\nbody\nE", ["rm", "-rf", "/"]),
        ("rm <<< x -rf /", ["rm", "-rf", "/"]),
        (">out rm -rf /", ["rm", "-rf", "/"]),
        ("time 2>out r\\\nm -r\\\nf /", ["time", "rm", "-rf", "/"]),
        ("a | x=1 2>out rm -rf /", ["rm", "-rf", "/"]),
        ("rm <&- x", ["rm", "x"]),
    ],
)
def test_words_behind_a_redirection_are_arguments(text, words):
    assert [word.text for word in _read(text).commands[-1].words] == words


def test_a_here_document_behind_a_pipe_feeds_the_last_command():
    script = _read("cat x | bash <<E\nls\nE")
    command = script.commands[-1]
    assert [word.text for word in command.words] == ["bash"]
    assert [redirect.target.text for redirect in command.redirects] == ["ls\n"]


def test_a_here_document_the_grammar_misreads_is_a_fault():
    assert "syntax" in _read("a | b | c\n<<E d\nx\nE\ne").faults
    assert "syntax" in _read("bash <<E\n\\trm -rf /\nE").faults


@pytest.mark.parametrize(
    ("text", "otherwise"),
    [
        ("cd build; rm x", "/home/dev/app"),
        ("cd build\nrm x", "/home/dev/app"),
        ("cd build && rm x", ""),
        ("cd build && ls; rm x", "/home/dev/app"),
        ("cd build || exit 1; rm x", ""),
        ("set -e; cd build; rm x", ""),
        ("set -euo pipefail\ncd build\nrm x", ""),
        ("(cd build); rm x", ""),
    ],
)
def test_a_cd_may_fail_unless_something_stops_the_text(text, otherwise):
    assert _read(text).commands[-1].otherwise == otherwise


def test_more_misreadings_than_are_put_right_are_a_fault():
    few, many = ("; ".join(["echo $x/$y/z"] * count) for count in (MAX_REPAIRS, MAX_REPAIRS + 1))
    assert _read(few).faults == ()
    assert _read(many).faults == ("syntax",)


def test_a_sourced_file_may_set_any_variable():
    script = _read('T=echo; source setup; "$T" -rf /')
    assert not script.commands[-1].words[0].known


def test_cd_is_followed_only_where_it_holds():
    script = _read("cd sub && a; (cd /x; b); c; cd /y | d; e")
    where = {c.words[0].text: c.cwd for c in script.commands if c.words}
    assert where["a"] == "/home/dev/app/sub"
    assert where["b"] == "/x"
    assert where["c"] == where["e"] == "/home/dev/app/sub"


def test_a_variable_set_in_one_branch_is_not_known_after_it():
    script = _read("if a; then D=/tmp; fi; rm -rf $D/x")
    # It is walked once for each value it may have, one of which nobody knows.
    known, unknown = sorted(command.words[-1].text for command in script.commands[-2:])[::-1]
    assert known == "/tmp/x"
    assert HOLE in unknown


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("echo " + "a" * MAX_CHARACTERS, "too-long"),
        ("$(" * 10_000, "too-deep"),
        ("(" * 3_000 + ")" * 3_000, "too-deep"),
        ("echo \x00", "nul-character"),
        ("echo \ud800", "lone-surrogate"),
        ("echo \U0010f02a", "private-use-character"),
    ],
    ids=["long", "deep", "parentheses", "nul", "surrogate", "private"],
)
def test_text_that_is_not_read_says_why(text, fault):
    assert _read(text).faults == (fault,)
    assert fault in REFUSED


def test_a_long_chain_is_walked_without_recursion():
    script = _read(" && ".join(["true"] * 3_000))
    assert len(script.commands) == 3_000
    assert script.faults == ()


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200))
def test_no_text_raises(text):
    _read(text)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from("$(){}[]`'\"\\<>|&;*?~# \nabx=!-"), max_size=60).map("".join))
def test_no_shell_like_text_raises(text):
    _read(text)


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF), min_size=1, max_size=30))
def test_single_quoting_gives_the_text_back(text):
    if "'" in text:
        return
    script = _read(f"x '{text}'")
    assert script.commands[0].words[1].text == text


@settings(max_examples=200, deadline=None)
@given(st.text("abc{},.*", max_size=12))
def test_brace_expansion_ends_and_is_bounded(text):
    assert len(words.braces(text)) <= words.MAX_FIELDS


@pytest.mark.parametrize(
    "text", ["a |\\ rm x", "a ||\\ rm x", "a &&\\ b && c", "a;\\ b", "{ a;\\ }", "a \\ ; b"]
)
def test_bytes_that_no_node_accounts_for_are_a_fault(text):
    assert set(_read(text).faults) & {"unaccounted-bytes", "syntax"}
