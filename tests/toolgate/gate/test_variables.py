"""Variables of a shell text: local ones, names for others, several values, blanks in the midst."""

import pytest

from toolgate.gate.shell.model import HOLE
from toolgate.gate.shell.parse import read


def _runs(text: str) -> list[list[str]]:
    script = read(text, cwd="/home/dev/app", home="/home/dev")
    return [[word.text for word in c.words] for c in script.commands if c.words]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ('T=rm; f(){ local T=echo; }; f; "$T" x', ["rm", "x"]),
        ('T=echo; f(){ local T=rm; }; f; "$T" x', ["echo", "x"]),
        ('T=echo; f(){ T=rm; local T=ls; }; f; "$T" x', ["rm", "x"]),
        ('T=echo; f(){ declare -g T=rm; }; f; "$T" x', ["rm", "x"]),
        ('T=echo; f(){ (local T=ls); T=rm; }; f; "$T" x', ["rm", "x"]),
        ('T=echo; g(){ "$T" x; }; f(){ local T=rm; g; }; f', ["rm", "x"]),
        ('T=echo; export "T=rm"; $T x', ["rm", "x"]),
        ("T=echo; builtin declare T=rm; $T x", ["rm", "x"]),
        ("declare -n R=T; T=echo; R=rm; $T x", ["rm", "x"]),
        ("declare -n R=T; T=rm; $R x", ["rm", "x"]),
        ("f(){ local -n a=$1; a=rm; }; f T; $T x", ["rm", "x"]),
        ("rm${IFS}-rf$IFS/usr", ["rm", "-rf", "/usr"]),
        ("X=; $X ls $X -l", ["ls", "-l"]),
        ('set -- a; for f do rm "$f"; done', ["rm", "a"]),
        ('set -- a; for f; do rm "$f"; done', ["rm", "a"]),
        ('X="rm -rf $Y"; $X z', ["rm", "-rf", HOLE, "z"]),
    ],
)
def test_the_last_command_is(text, last):
    assert _runs(text)[-1] == last


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("X=ls; if a; then X=rm; else X=echo; fi; $X x", [["echo", "x"], ["rm", "x"]]),
        ("X=ls; if a; then X=rm; elif b; then X=wc; fi; $X x", [["ls"], ["rm"], ["wc"]]),
        ("X=ls; t && X=rm; $X x", [["ls", "x"], ["rm", "x"]]),
        ('D=a; t && D=b; cp x "$D/y"', [["cp", "x", "a/y"], ["cp", "x", "b/y"]]),
        ("f(){ if a; then local X; fi; X=rm; }; X=ls; f; $X x", [["ls", "x"], ["rm", "x"]]),
    ],
)
def test_a_command_is_walked_once_for_each_value_a_variable_may_have(text, ways):
    found = sorted(run for run in _runs(text) if run[-1].startswith(("x", "a/", "b/")))
    assert [run[: len(way)] for run, way in zip(found, ways, strict=True)] == ways


def test_more_ways_than_are_walked_are_not_known():
    text = "".join(f"{n}=1; t && {n}=2; " for n in "ABCD") + "rm $A $B $C $D"
    assert _runs(text)[-1] == ["rm", HOLE, HOLE, HOLE, HOLE]


@pytest.mark.parametrize(
    "text", ["declare -n R; R=T", "declare -n R=$1", "declare -n R=T; declare +n R"]
)
def test_a_name_that_stands_for_nobody_knows_what_is_a_fault(text):
    assert "name-reference" in read(text, cwd="/home/dev/app", home="/home/dev").faults


def test_a_text_stops_on_failure_only_where_every_way_says_so(decide):
    assert decide("set -e; cd sub; rm -rf *").rule == "delete-tree"
    assert decide("if a; then set -e; fi; cd sub; rm -rf *").rule == "delete-whole-tree"
