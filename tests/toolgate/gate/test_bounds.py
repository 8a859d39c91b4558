"""What is read is bound by work, not by luck: no input makes reading grow without end."""

import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.gate.engine import GATE_FAULT
from toolgate.gate.shell.grammar import parse
from toolgate.gate.shell.parse import MAX_COMMANDS, MAX_STEPS, Walk, read
from toolgate.gate.shell.source import MAX_CHARACTERS
from toolgate.gate.shell.work import UNCOUNTED, SpentError, Work

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from hostile import FORMS

BUSY = {
    "nested loops that run nothing": "for i in 1 2 3;do " * 25 + "[[ x ]];" + "done;" * 25,
    "nested whiles that run nothing": "while [[ x ]];do " * 25 + "[[ x ]];" + "done;" * 25,
    "calls doubled at each level": "f0() { [[ x ]]; };"
    + "".join(f"f{n}() {{ f{n - 1}; f{n - 1}; }};" for n in range(1, 40))
    + "f39",
    "a function that calls itself often": "f() { " + "f; " * 5_000 + "}; f",
    "two functions that call each other": "f() { g; g; g; }; g() { f; f; f; }; f",
    "eval of eval": "eval " * 6_000 + "a",
    "texts in texts": "bash -c 'bash -c \"bash -c ls; bash -c ls; bash -c ls\"';" * 600,
    "redirections": "cat " + ">f " * 8_000,
    "misread line ends": "a|b|c\nd >f\n" * 2_000,
    "a doubled variable": "a=x;" + "a=$a$a;" * 3_000,
}


@pytest.mark.parametrize("text", BUSY.values(), ids=BUSY.keys())
def test_work_is_bound(decide, monkeypatch, text):
    steps = 0
    original = Walk.statement

    def counted(walk, *arguments):
        nonlocal steps
        steps += 1
        return original(walk, *arguments)

    monkeypatch.setattr(Walk, "statement", counted)
    script = read(text[:MAX_CHARACTERS], cwd="/home/dev/app", home="/home/dev")
    assert steps <= MAX_STEPS + 1
    assert len(script.commands) <= MAX_COMMANDS
    decision = decide(text[:MAX_CHARACTERS])
    assert decision.rule != GATE_FAULT


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("size", [200, 2_000])
def test_every_hostile_form_gets_a_decision(decide, name, size):
    assert decide(FORMS[name](size)).rule != GATE_FAULT


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
def test_every_hostile_form_of_full_length_gets_a_decision(decide, name):
    assert decide(FORMS[name](MAX_CHARACTERS)).rule != GATE_FAULT


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from([form(60) for form in FORMS.values()] + list("\n;|&(){}'\"`$<> ")),
        max_size=8,
    ).map("".join)
)
def test_mixed_hostile_forms_get_a_decision(decide, text):
    assert decide(text or ":").rule != GATE_FAULT


def test_a_recursive_function_is_read_and_not_called_a_bomb(decide):
    walk = 'walk() { for d in "$1"/*; do [ -d "$d" ] && walk "$d"; ls "$d"; done; }; walk src'
    assert decide(walk).state == "allow", decide(walk).sentence
    assert decide(":(){ :|:& };:").rule == "fork-bomb"
    assert decide("f() { f & f & }; f").rule == "fork-bomb"
    assert decide('f() { rm -rf "$1"; f "$2"; }; f a b').state == "ask"


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
def test_no_hostile_form_of_full_length_takes_long(decide, name):
    # A decision within its steps takes some 30 ms; what grows with the square took seconds.
    text = FORMS[name](MAX_CHARACTERS)
    begun = time.process_time()
    decide(text)
    assert time.process_time() - begun < 0.25


@pytest.mark.parametrize("count", [900, 2_000])
def test_a_text_that_takes_too_much_work_is_refused(decide, count):
    refused = decide("bash -c 'ls'; " * count)
    assert (refused.state, refused.rule) == ("deny", "unreadable-input")
    assert "unresolved(too-much-work)" in {effect.proof for effect in refused.effects}


def test_code_that_takes_too_much_work_is_asked_about_and_hides_nothing(decide):
    code = "python3 -c '" + "a=a+a\n" * 5_000 + "'"
    asked = decide(code)
    assert (asked.state, asked.rule) == ("ask", "unread-code")
    assert "unresolved(code-too-long)" in {effect.proof for effect in asked.effects}
    assert decide(code + "; rm -rf ~").state == "deny"


def test_long_quoted_text_is_little_work(decide):
    notes = "| a | `b` | (c) | case d in e) ;; esac {f} $g &&\n" * 600
    assert (
        decide(f"gh issue create --body '{notes}'").rule == decide("gh issue create --body x").rule
    )
    body = f"cat <<'EOF' > notes.md\n{notes}EOF"
    assert decide(body).state == "allow"


def _shapes(root):
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        found.append((node.type, node.start_byte, node.end_byte, node.child_count))
        waiting += node.children
    return found


def test_a_counted_parse_gives_the_tree_of_an_uncounted_one():
    for name, form in FORMS.items():
        text = form(1_500).encode()
        counted = _shapes(parse(text, Work(UNCOUNTED)))
        assert counted == _shapes(parse(text)), name


def test_a_parser_that_was_stopped_reads_the_next_text():
    with pytest.raises(SpentError):
        parse(b"[ a = " * 1_000, Work(500))
    assert not parse(b"ls -l").has_error
