"""Parts of the verifier that no ledger reaches in all their forms."""

import pytest

from toolgate.verify.findings import Found, Seen, finding
from toolgate.verify.listed import Listed
from toolgate.verify.words import counted, printable

CODES = [
    ("entries", "entries.parse"),
    ("log", "log.fork"),
    ("execution", "execution.after_deny"),
]


def test_numbers_in_sentences():
    assert counted(1, "spine entry") == "1 spine entry"
    assert counted(2, "spine entry") == "2 spine entries"
    assert counted(0, "copy") == "0 copies"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a b", "a b"), ("a\x1b[31mb", "a?[31mb"), ("\n\t", "??"), ("é\u202ex", "é?x")],
)
def test_what_a_terminal_obeys_is_not_printed(text, shown):
    assert printable(text) == shown


def test_a_finding_names_the_layer_of_its_code():
    found = [finding(code, "e", "a\x1bb") for _, code in CODES]
    assert [item.layer for item in found] == [layer for layer, _ in CODES]
    assert {item.message for item in found} == {"a?b"}


def test_what_is_taken_counts_still():
    """One of several processes hands over what it found, session by session."""
    found = Found(2)
    items = [Seen(finding("log.fork", str(number), "m")) for number in range(4)]
    found.extend(items[:1])
    assert found.take() == items[:1]
    found.extend(items[1:])
    assert (found.take(), found.more) == (items[1:2], {"log.fork": 2})
    assert list(found) == []
    found.begin()
    found.append(items[3])
    assert (list(found), found.more) == (items[3:], {})


def test_a_list_that_was_taken_counts_still():
    listed = Listed(2)
    assert [listed.append(item) for item in "a"] == [True]
    assert listed.take() == ["a"]
    assert [listed.append(item) for item in "bc"] == [True, False]
    assert (listed.take(), listed.more) == (["b"], 1)
    listed.begin()
    assert [listed.append(item) for item in "def"] == [True, True, False]
    assert (list(listed), listed.more) == (["d", "e"], 1)


def test_a_list_without_a_limit_holds_all():
    listed = Listed(None)
    assert all(listed.append(item) for item in range(5))
    assert (list(listed), listed.more) == ([0, 1, 2, 3, 4], 0)
