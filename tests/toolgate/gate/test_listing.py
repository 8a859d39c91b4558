"""Files a command lists for another, and where what it prints may lie elsewhere."""

import pytest

CHANGE = "xargs sed -i s/a/b/"


@pytest.mark.parametrize(
    "lister",
    [
        "find . -name '*.py' | grep -v test",
        "find . -name '*.py' | grep -iv setup",
        "grep -rl foo src",
        "grep -rl -- foo",
        "rg -l foo -g '*.ts'",
        "rg --files",
        "fd -e py",
        "fd x src",
        "git diff --name-only",
        "git ls-files '*.py'",
        "git show --name-only --format=",
        "ls src",
        "ls src/*.ts",
        "ls -t src/ | head -3",
    ],
)
def test_files_listed_in_the_workspace_are_judged_there(decide, lister):
    assert decide(f"{lister} | {CHANGE}").state == "allow"


@pytest.mark.parametrize(
    "lister",
    [
        # Given a file, ls prints its path; so it does for a folder with -d.
        "ls /etc/hosts",
        "ls -d /etc",
        "ls -ad /etc/*",
        # A folder behind fd's pattern, or named by an option.
        "fd conf /etc",
        "fd -e conf . /etc",
        "fd conf --search-path=/etc",
        "fd --base-directory /etc conf",
        "fd conf -x echo /etc/hosts",
        # The pattern held by an option leaves each operand a file.
        "grep -rl --regexp=foo /etc",
        "grep -rlefoo /etc",
        "grep -rlf patterns /etc",
        # git outside of its tree, or with text of the caller's own.
        "git diff --no-index --name-only old /etc",
        "git diff --name-only /etc ../other",
        "git grep --no-index -l foo /etc",
        "git show --name-only --format=/etc/hosts",
        # Only a part of each line, or lines of another file.
        "find . | grep -io '/etc/.*'",
        "find . | grep --regexp=x /etc/list",
        "find -files0-from list",
    ],
)
def test_files_listed_elsewhere_are_asked_about(decide, lister):
    assert decide(f"{lister} | {CHANGE}").state != "allow"
