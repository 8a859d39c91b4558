"""Patterns of names and paths, against a plain reading of the same words."""

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate.gate.effects.patterns import PathSet, matches, matches_any

HOME = "/home/dev"
COVERED = [
    ("/etc", "/etc", True),
    ("/etc", "/etc/hosts", True),
    ("/etc", "/etcetera", False),
    ("/", "/", True),
    ("~/.ssh", "/home/dev/.ssh/id", True),
    ("~/.ssh", "/home/dev/.ssh", True),
    ("~/.ssh", "/home/other/.ssh/id", True),
    ("~/.ssh", "/Users/other/.ssh/id", True),
    ("~/.ssh", "/root/.ssh/id", True),
    ("~/.ssh", "/srv/.ssh/id", False),
    ("**/.git/hooks", "/a/b/.git/hooks/pre-commit", True),
    ("**/.git/hooks", "/a/b/x.git/hooks/y", False),
    ("**/.claude/*.json", "/a/.claude/settings.json", True),
    ("**/.claude/*.json", "/a/claude/settings.json", False),
    ("~/.config/*.yaml", "/home/dev/.config/a.yaml", True),
    ("/run/*.sock", "/run/docker.sock", True),
    ("/run/*.sock", "/run/x/docker.sock", False),
]


@pytest.mark.parametrize(("pattern", "path", "expected"), COVERED)
def test_covers(pattern, path, expected):
    assert PathSet((pattern,)).covers(path, HOME) is expected
    assert PathSet(("/nowhere", pattern, "~/nothing")).covers(path, HOME) is expected


@given(st.text("ab.*", max_size=8), st.text("ab.", max_size=8))
def test_a_star_is_any_run_of_characters(pattern, name):
    assert matches(name, pattern) == fnmatch.fnmatchcase(name, pattern)
    assert matches_any(name, ("zz", pattern)) == matches(name, pattern)
