"""Arithmetic and defaults over values that are known, held to what bash makes of them."""

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.gate.shell.arithmetic import value_of
from toolgate.gate.shell.parse import read

BASH = shutil.which("bash")
VALUES = {"x": "3", "empty": "", "minus": "-7", "octal": "010", "text": "rm"}
FOLLOWED = [
    *("1+2*3", "(1+2)*3", "x+1", "$x*-2", "-7/2", "-7%2", "7 % -2", "empty+1", "10-3-2"),
    *("minus/2", "2*(x-(4-1))", "- -3", "0", " x "),
]
NOT_FOLLOWED = [
    *("x++", "--x", "x=5", "x+=1", "2**3", "1/0", "octal", "0x10", "1 2", "1)", "(1", "text"),
    *("x>2", "x?1:2", "other", "9999999999999999999", "1+" * 80 + "1", "x[1]", "", "${x}"),
]


def bash(text):
    """Return what bash prints of a text; only ``echo`` and assignments are ever given to it."""
    environment = {**VALUES, "PATH": ""}
    done = subprocess.run(
        [BASH, "-c", f"echo {text}"], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.mark.parametrize("text", FOLLOWED)
@pytest.mark.skipif(BASH is None, reason="needs bash")
def test_it_comes_out_as_in_bash(text):
    assert value_of(text, VALUES.get) == bash(f"$(({text}))")


@pytest.mark.parametrize("text", NOT_FOLLOWED)
def test_what_is_not_followed_is_not_known(text):
    assert value_of(text, VALUES.get) is None


@given(st.text("12345678 +-*/%()x$", max_size=24))
@settings(max_examples=300, deadline=None)
def test_what_comes_out_is_what_python_says_of_whole_numbers(text):
    made = value_of(text, VALUES.get)
    if made is not None and "/" not in text and "%" not in text:
        plain = text.replace("$x", "3").replace("x", "3").strip()
        assert int(made) == eval(plain, {"__builtins__": {}})


def words(text):
    return [word.text for word in read(text, cwd="/w", home="/h").commands[-1].words[1:]]


@pytest.mark.parametrize(
    "text",
    [
        'a=; b=two; echo "${a:-${b}}"',
        'a=one; b=two; echo "${a:-$b}"',
        'a=one; b=two; echo "${a:+${b}}"',
        'a=; b=two; echo "${a:+${b}}"',
        'a=; b=x; echo "${a:-"$b/y"}"',
        "x=3; echo a$((x+1))b",
    ],
)
@pytest.mark.skipif(BASH is None, reason="needs bash")
def test_a_default_is_expanded_as_in_bash(text):
    done = subprocess.run([BASH, "-c", text], capture_output=True, text=True, check=True)
    assert " ".join(words(text)) == done.stdout.strip()


@pytest.mark.parametrize(
    "text",
    [
        'b=two; echo "${a:-${b}}"',
        'a=; b=two; echo "${a-${b}}"',
        'a=; echo "${a:-$(echo x)}"',
        "i=0; while read l; do i=$((i+1)); done; echo $i",
        "i=0; for l in *; do i=$((i+1)); done; echo $i",
    ],
)
def test_what_may_be_another_value_is_not_known(text):
    assert "\0" in words(text)


def test_a_value_that_goes_on_changing_is_not_known_in_later_rounds(decide):
    decision = decide('x=build/a/b; while read l; do rm -rf "$x"; x=${x%/*}; done')
    assert any(effect.proof == "unresolved(path-not-known)" for effect in decision.effects)
    still = decide('x=build/a; while read l; do rm -rf "$x"; x=build/b; done')
    assert still.state == "allow"


def test_a_loop_over_a_pattern_goes_round_more_than_once(decide):
    assert decide('x=build; for f in *.o; do rm -rf "$x"; x=src; done').state == "ask"
    named = decide('n=0; for f in *.o; do rm "$f"; touch "page$n.txt"; n=$((n+1)); done')
    assert named.state == "allow"
