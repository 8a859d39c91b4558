"""A redirection belongs to its statement wherever the statement stands."""

import pytest

from toolgate.gate.shell.parse import read

COMPOUND = [
    "{ echo x; }",
    "( echo x )",
    "for i in a b; do echo $i; done",
    "while read line; do echo $line; done",
    "until true; do echo x; done",
    "select i in a b; do echo $i; done",
    "if true; then echo x; fi",
    "case x in x) echo x;; esac",
    "[[ -f x ]]",
    "((1))",
    "export x=1",
    "declare x",
    "unset x",
    "! echo x",
    "time { echo x; }",
    "echo x",
]
BEFORE = ["", "true && ", "false || ", "true | ", "true; ", "! ", "a | b && c | "]


def redirections(text: str) -> list[tuple[str, str]]:
    script = read(text, cwd="/home/dev/app", home="/home/dev")
    return [(r.op, r.target.text) for command in script.commands for r in command.redirects]


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("statement", COMPOUND)
def test_it_is_seen_behind_anything(before, statement):
    assert (">>", "/home/dev/.bashrc") in redirections(f"{before}{statement} >> ~/.bashrc")


@pytest.mark.parametrize("before", BEFORE)
def test_the_inner_one_stays(before):
    found = redirections(f"{before}{{ echo x > inner; }} > outer 2> errors")
    assert sorted(found) == [(">", "errors"), (">", "inner"), (">", "outer")]


@pytest.mark.parametrize("statement", COMPOUND)
def test_writing_a_startup_file_is_asked_about(decide, statement):
    assert decide(f"true && {statement} >> ~/.bashrc").state == "ask"


def test_what_is_fed_into_a_compound_behind_a_list_is_code(decide):
    assert decide("true && { bash; } <<'E'\nrm -rf ~/\nE").state == "deny"
