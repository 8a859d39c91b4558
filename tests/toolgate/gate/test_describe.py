"""What an entry says in plain words."""

import pytest

from toolgate.gate.catalog.describe import ROLES, describe
from toolgate.gate.catalog.load import shipped
from toolgate.gate.catalog.schema import ROLES as ALL_ROLES


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({}, ["looks only"]),
        ({"values": {"-m": "text"}}, ["-m VALUE: text", "looks only"]),
        (
            {"values": {"-o": "write", "--out": "write"}},
            ["-o, --out VALUE: a file that is written", "looks only, but for what is said above"],
        ),
        (
            {"operands": ["read*", "write"]},
            ["operands: any number, each a file that is read; a file that is written"],
        ),
        (
            {"operands": ["url?", "text*"]},
            ["operands: a URL that is fetched, if given; any number, each text"],
        ),
        ({"operands": ["exec"]}, ["operands: a file that is run; further ones as the last"]),
        ({"does": ["vcs.discard:hard"]}, ["always: vcs.discard [hard]"]),
        (
            {"does": ["infra.destroy:a,b@outside=cluster"]},
            ["always: infra.destroy of cluster [a b] (outside)"],
        ),
        ({"wraps": 0}, ["runs the command that follows"]),
        (
            {"wraps": 1, "assigns": True, "inside": "container", "stop": True},
            [
                "runs the command that follows one operand in a container; "
                "NAME=value words may stand before it",
                "options end at the first operand",
            ],
        ),
        ({"wraps": 2}, ["runs the command that follows 2 operands"]),
        (
            {"stdin": "sql", "special": "unread", "whole": True},
            [
                "standard input is run as sql where no code and no file is named",
                "read by code of its own (unread)",
                "-name is one option, no cluster of letters",
            ],
        ),
        (
            {"does": ["fs.write@home=~/x"], "dry": ["-n", "--dry-run"], "how": ["force"]},
            [
                "always: fs.write of ~/x (home)",
                "all of it: force",
                "with -n or --dry-run: nothing is changed",
            ],
        ),
        (
            {
                "when": [
                    {"any": ["-a", "-b"], "none": ["-c"], "does": ["pkg.publish"], "how": ["x"]},
                    {"value": {"-X": ["post"]}, "operands": ["delete*"]},
                    {"words": ["prod*"], "inspect": True},
                ]
            },
            [
                "with -a or -b, without -c: pkg.publish; all of it: x",
                "where -X is post or not known: operands: any number, each a file that is deleted",
                "where an operand is like prod*: looks only",
                "looks only, but for what is said above",
            ],
        ),
        (
            {"subcommands": {"ls": {}, "rm": {"does": ["infra.destroy"]}, "ps": {}}},
            [
                "p ls, ps",
                "  looks only",
                "p rm",
                "  always: infra.destroy",
                "any other subcommand: not known, so unresolved",
            ],
        ),
        (
            {"subcommands": {"ls": {}}, "other": {"does": ["exec.code:project"]}},
            [
                "p ls",
                "  looks only",
                "p (any other subcommand)",
                "  always: exec.code [project]",
            ],
        ),
    ],
)
def test_an_entry_in_words(entry, said):
    assert describe("p", entry) == ["p", *("  " + line for line in said)]


def test_every_role_has_words():
    languages = {"python", "javascript", "ruby", "perl", "php", "awk", "sed", "sql", "lua"}
    assert set(ROLES) | languages == ALL_ROLES


def test_every_shipped_entry_is_told_with_all_its_options_and_subcommands():
    catalog = shipped()
    for name in catalog.names():
        entry = catalog.get(name)
        text = "\n".join(describe(name, entry))
        words = [*entry.get("values", {}), *entry.get("subcommands", {}), *entry.get("dry", [])]
        assert [word for word in words if word not in text] == []
