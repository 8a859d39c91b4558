"""A second parser is asked about the few forms the first is known to misread in silence."""

import json
import sys

import pytest

from toolgate.gate import second
from toolgate.gate.call import Place, ToolCall
from toolgate.gate.catalog.load import read_compiled, shipped
from toolgate.gate.engine import MAX_SECOND_READINGS, Gate
from toolgate.gate.policy.model import Policy
from toolgate.gate.second import second_reading
from toolgate.gate.shell.opinion import Names, difference
from toolgate.gate.shell.parse import read

DOUBTFUL = [
    "echo `date`",
    "cat <<E\n$(date)\nE",
    "cat <<E | sort\nx\nE",
    "coproc cat",
    "! { ls; }",
    "bash -c 'echo `date`'",
]
ORDINARY = ["ls -la", "cat <<'E' > notes.md\n`x` $(y)\nE", "git log | head", "echo $(date)"]


def call(command: str) -> ToolCall:
    place = Place("/home/dev/app", ("/home/dev/app",), "/home/dev")
    given = {"command": command}
    return ToolCall(
        *("test", "s", None, "c", ("main",), "user:dev", "user", "Bash", given, place),
        *("default", None, 0),
    )


def _gate(answer) -> tuple[Gate, list[str]]:
    asked: list[str] = []

    def reader(text: str) -> Names | str:
        asked.append(text)
        return answer(text) if callable(answer) else answer

    return Gate(Policy(read_compiled("balanced.json")), shipped(), reader), asked


@pytest.mark.parametrize("command", DOUBTFUL)
def test_where_both_agree_the_answer_stands(decide, command):
    assert decide(command).state == "allow", decide(command).sentence


@pytest.mark.parametrize("command", DOUBTFUL)
def test_where_they_differ_it_is_asked_about_with_both_readings(command):
    gate, _ = _gate(Names(frozenset(("rm",)), frozenset(), False))
    decision = gate.decide(call(command))
    assert (decision.state, decision.proof) == ("ask", "unresolved(readings-differ)")
    assert "by the second parser: rm" in decision.effects[-1].resource
    assert "read here: " in decision.sentence


@pytest.mark.parametrize("command", DOUBTFUL)
@pytest.mark.parametrize("reason", ["second-reader-missing", "second-reader-too-slow"])
def test_without_a_second_reading_it_is_asked_about_and_says_so(command, reason):
    gate, _ = _gate(reason)
    decision = gate.decide(call(command))
    assert (decision.state, decision.proof) == ("ask", f"unresolved({reason})")


def test_a_gate_without_a_second_reader_is_no_silent_fallback():
    decision = Gate(Policy(read_compiled("balanced.json")), shipped()).decide(call("echo `date`"))
    assert decision.proof == "unresolved(second-reader-missing)"


@pytest.mark.parametrize("command", [*ORDINARY, "rm -rf / `date`", "git push --force `x` main"])
def test_nobody_else_is_asked_about_ordinary_texts_or_what_is_not_allowed(command):
    gate, asked = _gate("second-reader-missing")
    gate.decide(call(command))
    assert asked == []


def test_many_doubtful_texts_in_one_are_asked_about():
    gate, asked = _gate(second_reading)
    texts = [f"bash -c 'echo `date -u +{n}`'" for n in range(MAX_SECOND_READINGS + 2)]
    assert gate.decide(call("; ".join(texts[:2]))).state == "allow"
    decision = gate.decide(call("; ".join(texts)))
    assert decision.state == "ask"
    assert len(asked) <= 2 + 2 + MAX_SECOND_READINGS


@pytest.mark.parametrize(
    ("text", "run", "defined"),
    [
        ("a | b && c", {"a", "b", "c"}, set()),
        ("r\\m x; 'l's; $'\\x63at' y; \"e\"cho", {"rm", "ls", "cat", "echo"}, set()),
        ("f() { a; }; f", {"f"}, {"f", "a"}),
        ("time a; coproc b; export x=1", {"a", "b", "export"}, set()),
        ("cat <<E\n`a` $(b)\nE", {"cat", "a", "b"}, set()),
        ("echo `a \\`b\\``", {"echo", "a", "b"}, set()),
        ("x=$(a) <(b) ${y:-`c`} d $(( $(e) ))", {"a", "b", "c", "e"}, set()),
    ],
)
def test_the_names_shfmt_sees(text, run, defined):
    names = second_reading(text)
    assert isinstance(names, Names), names
    assert (set(names.run), set(names.defined)) == (run, defined)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("time -f %e ls; exec 3>&1; command -v x", "ls exec command time"),
        ("a=ls; $a x", None),
        ("f() { g; }; f; unset x", "f unset"),
        ("~/bin/x", None),
    ],
)
def test_two_right_readings_do_not_differ(text, seen):
    theirs = second_reading(text)
    assert isinstance(theirs, Names)
    if seen is not None:
        theirs = theirs._replace(run=frozenset(seen.split()))
    assert difference(read(text, cwd="/w", home="/h"), theirs) == ""


def test_a_text_that_shfmt_refuses_or_is_too_long_has_no_second_reading():
    assert second_reading("if x") == "second-reader-refused"
    assert second_reading("x" * (second.MAX_TEXT + 1)) == "second-reader-too-long"
    assert second_reading("(" * 4_000) in ("second-reader-refused", "second-reader-too-slow")


def test_the_second_reader_is_bound_in_time_and_output(monkeypatch, tmp_path):
    def stands_in(code: str) -> None:
        program = tmp_path / "shfmt"
        program.write_text(f"#!{sys.executable}\n{code}\n")
        program.chmod(0o755)
        monkeypatch.setattr(second, "_program", lambda: str(program))

    stands_in("import time; time.sleep(20)")
    assert second_reading("x") == "second-reader-too-slow"
    stands_in("print('[' * 100_000)")
    assert second_reading("x") == "second-reader-refused"
    monkeypatch.setattr(second, "MAX_OUTPUT", 10)
    stands_in(f"print({json.dumps(' ' * 100)!r})")
    assert second_reading("x") == "second-reader-too-long"
    monkeypatch.setattr(second, "_program", lambda: "")
    assert second_reading("x") == "second-reader-missing"


def test_the_binary_is_never_taken_from_the_path(monkeypatch, tmp_path):
    (tmp_path / "shfmt").write_text("#!/bin/sh\n")
    (tmp_path / "shfmt").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not second._program().startswith(str(tmp_path))
