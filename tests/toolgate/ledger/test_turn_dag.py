"""Laws of a turn's frontier."""

from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.canonical import digest
from toolgate.ledger.merkle import EMPTY_ROOT
from toolgate.ledger.turn_dag import decision_parents, frontier, frontier_root

OPEN = digest(b"turn_open")


@st.composite
def turns(draw):
    """Entries with parents among those before them, or the turn's opening."""
    count = draw(st.integers(0, 24))
    entries: list[tuple[str, list[str]]] = []
    for at in range(count):
        names = [entry for entry, _ in entries] + [OPEN]
        parents = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
        entries.append((digest(b"%d" % at), parents))
    return entries


@settings(max_examples=100, deadline=None)
@given(turns())
def test_every_entry_is_reached_from_the_frontier(entries):
    parents = dict(entries)
    reached: set[str] = set()
    waiting = list(frontier(entries))
    while waiting:
        entry = waiting.pop()
        if entry in parents and entry not in reached:
            reached.add(entry)
            waiting += parents[entry]
    assert reached == set(parents)


@settings(max_examples=100, deadline=None)
@given(turns(), st.randoms(use_true_random=False))
def test_order_of_entries_does_not_matter(entries, random):
    mixed = list(entries)
    random.shuffle(mixed)
    assert frontier(mixed) == frontier(entries)
    assert frontier_root(frontier(mixed)) == frontier_root(frontier(entries))


@settings(max_examples=100, deadline=None)
@given(turns().filter(bool), st.data())
def test_dropping_an_entry_changes_root_or_leaves_a_dangling_parent(entries, data):
    gone = data.draw(st.sampled_from([entry for entry, _ in entries]))
    rest = [(entry, parents) for entry, parents in entries if entry != gone]
    dangling = any(gone in parents for _, parents in rest)
    assert dangling or frontier_root(frontier(rest)) != frontier_root(frontier(entries))


def test_empty_turn():
    assert frontier([]) == []
    assert frontier_root([]) == "sha256:" + EMPTY_ROOT.hex()


def test_parents_of_a_decision():
    earlier = digest(b"earlier")
    assert decision_parents(OPEN, None, True) == [OPEN]
    assert decision_parents(OPEN, earlier, True) == [earlier]
    assert decision_parents(OPEN, earlier, False) == [OPEN, earlier]
