"""Finding a session's entries by an index that is a cache and nothing else."""

import os

import pytest

from toolgate.canonical import digest
from toolgate.ledger.append import Ledger
from toolgate.ledger.recall import MAX_UNINDEXED, Indexed, Scanned

KEYS = ("h:" + letter * 32 for letter in "abc")
A, B, C = (key.encode() for key in KEYS)


def decision(number, key, padding=400):
    ref = digest(str(number).encode()).encode()
    event = b'{"action_ref":"%b","n":%d}' % (ref, number)
    effects = b'"effects":[{"resource":"%b"}]' % key
    pad = b"x" * padding
    return b'{"axis":null,"pad":"%b",%b,"ev":%b,"facts":[],"v":1}' % (pad, effects, event)


def event_digest(line):
    start = line.find(b',"ev":') + len(b',"ev":')
    return digest(line[start : line.find(b',"facts":[', start)]).encode()


def outcome(decided, state):
    ref = digest(b"ref").encode()
    return b'{"ev":{"action_ref":"%b","decision_digest":"%b","terminal_state":"%b"},"v":1}' % (
        ref,
        event_digest(decided),
        state,
    )


def keys_of(line):
    return [key for key in (A, B, C) if key in line]


def needles_of(key):
    return (key,)


@pytest.fixture
def place(tmp_path):
    return tmp_path / "s.jsonl", tmp_path / "s.facts"


def opened(place):
    return Indexed(str(place[0]), str(place[1]), keys_of, needles_of)


def fill(place, count, start=0):
    """Append decisions and their outcomes; return them."""
    made = []
    with open(place[0], "ab") as file:
        for number in range(start, start + count):
            line = decision(number, (A, B, C)[number % 3])
            made += [line, outcome(line, b"ok")]
        file.write(b"".join(line + b"\n" for line in made))
    return made


def check(place, lines):
    """What is found is what looking through all lines finds."""
    plain = Scanned(
        lambda needles: [line for line in lines if any(n in line for n in needles)], needles_of
    )
    recall = opened(place)
    try:
        for keys in ((A,), (B, C)):
            assert recall.decisions(keys) == plain.decisions(keys)
        assert list(recall.latest(A)) == list(plain.latest(A))
        for line in lines[:6:2] + lines[-6::2]:
            assert recall.outcomes(event_digest(line)) == plain.outcomes(event_digest(line))
    finally:
        recall.close()


def test_nothing_is_known_of_a_session_that_has_not_begun(place):
    recall = opened(place)
    assert recall.decisions((A,)) == []
    assert recall.outcomes(event_digest(decision(1, A))) == []
    assert not place[1].exists()


def test_a_short_session_needs_no_index(place):
    lines = fill(place, 6)
    check(place, lines)
    assert not place[1].exists()


def test_an_index_is_made_kept_up_and_says_the_same(place):
    lines = fill(place, 200)
    assert place[0].stat().st_size > MAX_UNINDEXED
    check(place, lines)
    first = place[1].stat().st_size
    assert first > 0
    check(place, lines)
    assert place[1].stat().st_size == first
    lines += fill(place, 3, 200)
    check(place, lines)
    assert place[1].stat().st_size == first  # read from the session's file until it is more
    lines += fill(place, 200, 203)
    check(place, lines)
    assert place[1].stat().st_size > first


@pytest.mark.parametrize("damage", ["gone", "empty", "torn", "noise", "of another session"])
def test_an_index_that_does_not_fit_is_made_again(place, damage):
    lines = fill(place, 200)
    check(place, lines)
    whole = place[1].read_bytes()
    if damage == "gone":
        place[1].unlink()
    elif damage == "of another session":
        place[0].write_bytes(b"")
        lines = fill(place, 150, 1000)
    else:
        broken = {"empty": b"", "torn": whole[:-30], "noise": b"\n= x y\n=1 2\n"}
        place[1].write_bytes(broken[damage])
    check(place, lines)
    check(place, lines)


def test_what_a_dying_writer_left_in_an_index_does_no_harm(place):
    lines = fill(place, 200)
    check(place, lines)
    with open(place[1], "ab") as file:
        file.write(b"\n%b 0 1\n%b 12 7" % (A, B))
    lines += fill(place, 200, 200)
    check(place, lines)
    check(place, lines)


def test_two_writers_of_one_block_do_no_harm(place):
    lines = fill(place, 200)
    check(place, lines)
    block = place[1].read_bytes()
    with open(place[1], "ab") as file:
        file.write(block)
    check(place, lines)


def test_a_last_line_without_its_line_feed_counts_and_is_not_indexed(place):
    lines = fill(place, 200)
    place[0].write_bytes(place[0].read_bytes()[:-1])
    check(place, lines)
    check(place, lines)


def test_a_folder_that_cannot_be_written_costs_only_speed(place):
    lines = fill(place, 200)
    os.mkdir(place[1])
    check(place, lines)


def test_of_a_ledger_nobody_has_written_nothing_is_known(any_empty_ledger):
    from toolgate.gate.facts.session import READ_UNTRUSTED
    from toolgate.hook.facts import LedgerSession

    session = LedgerSession(any_empty_ledger, "s1", "p1", b"s" * 32)
    assert session.artifact("/home/dev/app/run.sh") is None
    assert session.artifact("shell:defined") is None
    assert session.has(READ_UNTRUSTED, 10) is None
    session.close()


@pytest.fixture(params=["directory", "linear", "postgresql"])
def any_empty_ledger(request, tmp_path):
    if request.param == "postgresql":
        pytest.importorskip("psycopg")
        return Ledger(request.getfixturevalue("database"))
    return Ledger(str(tmp_path / "ledger"), shape="linear" if request.param == "linear" else "dag")
