"""What is read is bound by work, not by luck: no input makes reading grow without end."""

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.gate.engine import GATE_FAULT
from toolgate.gate.shell.parse import MAX_COMMANDS, MAX_STEPS, Walk, read
from toolgate.gate.shell.source import MAX_CHARACTERS

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
