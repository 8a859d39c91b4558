"""The laws of what a file holds after its writes."""

from hypothesis import given
from hypothesis import strategies as st

from toolgate.gate.facts.artifacts import (
    ALL_OR_NOTHING,
    CONFIRMED,
    MAX_CHAIN,
    PENDING,
    RUNS,
    UNREAD,
    VOID,
    Write,
    followed,
    held,
    state_of,
)
from toolgate.gate.facts.session import SECRET

NOTES = ("net.send:secret@outside", "fs.delete:recursive@home", "inspect", UNREAD, SECRET)

write = st.builds(
    Write,
    entry=st.sampled_from([f"e{n}" for n in range(6)]),
    state=st.sampled_from((CONFIRMED, PENDING, VOID)),
    holds=st.lists(st.sampled_from(NOTES), min_size=1, max_size=2, unique=True).map(tuple),
    whole=st.booleans(),
    ends=st.booleans(),
)
writes = st.lists(write, max_size=8)


def notes(found):
    return set() if found is None else {note for note, _ in found.holds}


@given(writes, writes)
def test_a_void_write_changes_nothing_and_hides_nothing(before, after):
    denied = Write("x", VOID, ("inspect",), whole=True)
    assert held([*before, denied, *after]) == held([*before, *after])


@given(writes, write)
def test_a_pending_write_only_adds(before, one):
    one = one._replace(state=PENDING, ends=False)
    assert notes(held([*before, one])) == notes(held(before)) | set(one.holds)


@given(writes, write)
def test_an_edit_launders_nothing(before, one):
    one = one._replace(whole=False, ends=False)
    assert notes(held([*before, one])) >= notes(held(before))


@given(writes, write)
def test_a_confirmed_whole_write_begins_anew(before, one):
    one = one._replace(whole=True, state=CONFIRMED, ends=False)
    assert held([*before, one]) == held([one])


@given(writes, writes)
def test_a_confirmed_delete_ends_the_file(before, after):
    gone = Write("x", CONFIRMED, (), whole=True, ends=True)
    assert held([*before, gone, *after]) == held(after)


@given(writes)
def test_a_delete_that_is_not_confirmed_ends_nothing(before):
    gone = Write("x", PENDING, (), whole=True, ends=True)
    assert held([*before, gone]) == held(before)


@given(writes)
def test_every_note_and_pending_entry_names_a_write_that_counts(made):
    found = held(made)
    if found is not None:
        assert {entry for _, entry in found.holds} <= set(found.entries)
        assert set(found.pending) <= set(found.entries)


def test_order_decides_which_write_is_the_latest():
    bad = Write("bad", CONFIRMED, ("fs.delete:recursive@home",), whole=True)
    good = Write("good", CONFIRMED, ("inspect",), whole=True)
    assert notes(held([bad, good])) == {"inspect"}
    assert notes(held([good, bad])) == {"fs.delete:recursive@home"}


def test_how_a_write_ended_says_whether_it_counts():
    assert state_of("allowed", "Write", "ok") == CONFIRMED
    assert state_of("denied", "Bash", "ok") == CONFIRMED  # it ran nevertheless
    assert state_of("allowed", "Bash", "error") == PENDING
    assert {state_of("allowed", tool, "error") for tool in ALL_OR_NOTHING} == {VOID}
    assert state_of("allowed", "Write", "timeout") == PENDING
    assert state_of("asked", "Write", None) == PENDING
    assert state_of("asked", "Write", "refused") == VOID
    assert state_of("denied", "Write", None) == VOID
    assert state_of("allowed", "Write", "unresolved") == PENDING


def test_what_a_file_runs_is_found_whichever_was_written_first():
    files = {
        "main": [Write("m", CONFIRMED, (RUNS + "gone,part",), whole=True)],
        "part": [Write("p", PENDING, ("exec.code:remote@outside", SECRET, RUNS + "main"), True)],
    }
    found = followed("main", lambda key: files.get(key, []))
    assert notes(found) == {RUNS + "main", RUNS + "gone,part", "exec.code:remote@outside"}
    assert found.pending == ("p",)
    assert followed("other", lambda key: files.get(key, [])) is None


def test_a_chain_too_long_to_follow_is_unread():
    def files(key):
        return [Write(key, CONFIRMED, (f"{RUNS}{int(key) + 1}",), whole=True)]

    assert UNREAD in notes(followed("0", files))
    assert len(followed("0", files).entries) <= MAX_CHAIN + 1
