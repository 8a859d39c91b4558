"""The specification says what the code does."""

import re
from importlib.resources import files
from itertools import pairwise

from toolgate import records
from toolgate.canonical import digest
from toolgate.verify.faults import FAULTS, FOLLOWS
from toolgate.verify.read import decode

TEXT = (files("toolgate") / "spec" / "decision-ledger.md").read_text("utf-8")


def test_findings_table_is_the_closed_table():
    rows = re.findall(r"^\| `([a-z]+\.[a-z_]+)` \| ([A-Z]+) \| (.+) \|$", TEXT, re.M)
    assert [tuple(row) for row in rows] == [tuple(fault) for fault in FAULTS]


def test_causes_name_known_codes():
    codes = {fault.code for fault in FAULTS}
    assert set(FOLLOWS) <= codes
    assert {code for follows in FOLLOWS.values() for code in follows} <= codes


def test_causes_table_is_the_closed_table():
    begin = TEXT.index("### Order and causes")
    part = TEXT[begin : TEXT.index("\n## ", begin)]
    code = re.compile(r"`([a-z]+\.[a-z_]+)`")
    gaps = set(code.findall(part[part.index("*Gaps* are") :].partition("\n")[0]))
    rows = re.findall(r"^\| `([a-z]+\.[a-z_]+)` \| (.+) \|$", part, re.M)
    told = {
        row: set(code.findall(what)) | (gaps if what.startswith("gaps") else set())
        for row, what in rows
    }
    assert told == {row: set(follows) for row, follows in FOLLOWS.items()}


def test_literal_example_is_a_valid_ledger():
    blocks = re.findall(r"^```\n(.*?)^```", TEXT, re.M | re.S)
    spine, session = [block.encode().strip().split(b"\n") for block in blocks]
    entries = [decode(line) for line in [*spine, *session]]
    assert all(entries)
    for before, line in pairwise(spine):
        assert decode(line).prev_digest == digest(before)
    assert decode(session[1]).parents == [digest(session[0])]


def test_every_kind_and_word_is_named():
    words = [
        *records.KINDS,
        *records.STATES,
        *records.AUTH_MODES,
        *records.TERMINAL_STATES,
        *records.SOURCES,
        *records.JOINS,
        *records.TURN_CLOSED_BY,
        *records.SESSION_CLOSED_BY,
    ]
    assert [word for word in words if f"`{word}`" not in TEXT] == []
