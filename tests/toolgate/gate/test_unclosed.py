"""Shell text that ends inside a quotation, which no shell runs: read as closed, never as less."""

import shutil
import subprocess

import pytest

from toolgate.gate.shell.parse import read
from toolgate.gate.shell.unclosed import missing_mark

OPEN = [
    ("git add x && git commit -m \"docs: it's (new)\n\nmore", '"'),
    ("echo 'open", "'"),
    ('echo \'a "b" $(rm x) `y`', "'"),
    ('echo "a $(rm x) \\" b', '"'),
    ('X=$HOME echo a\\"b c#d "e', '"'),
]
NOT_PLAIN = [
    'echo "a\\',
    "echo $'a' \"b",
    'echo `x` "b',
    'echo $(x "b',
    "cat <<E\n'\nE",
    "ls # don't",
    "echo ok",
    'echo "closed"',
    'echo "a"b"$(x)" "c',
]


@pytest.mark.parametrize(("text", "mark"), OPEN)
def test_the_missing_mark_is_found(text, mark):
    assert missing_mark(text) == mark


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_where_a_mark_may_mean_something_else_none_is_supplied(text):
    assert missing_mark(text) == ""


@pytest.mark.parametrize(("text", "mark"), OPEN)
@pytest.mark.parametrize("shell", ["bash", "sh", "zsh"])
def test_no_shell_runs_such_a_text(text, mark, shell):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell} here")
    only_reads = subprocess.run([program, "-n", "-c", text], capture_output=True, check=False)
    assert only_reads.returncode != 0
    closed = subprocess.run([program, "-n", "-c", text + mark], capture_output=True, check=False)
    assert closed.returncode == 0


def test_what_it_would_do_closed_counts():
    script = read('bash -c "rm -rf /', cwd="/home/dev/app", home="/home/dev")
    assert [word.text for word in script.commands[-1].words] == ["bash", "-c", "rm -rf /"]
    script = read("rm -rf / && git commit -m 'x", cwd="/home/dev/app", home="/home/dev")
    assert script.faults == ()
    assert [word.text for word in script.commands[0].words] == ["rm", "-rf", "/"]
