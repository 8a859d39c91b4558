"""What occurs twice is found whatever fits into memory."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.canonical import digest
from toolgate.errors import LedgerError
from toolgate.verify import sorted_runs
from toolgate.verify.sorted_runs import SortedRuns

SETS = st.lists(st.sets(st.integers(0, 40), max_size=12), max_size=12)


def expected(sets):
    times = Counter(digest(b"%d" % one) for items in sets for one in items)
    return sorted(one for one, count in times.items() for _ in range(count - 1))


def fill(runs, sets):
    for items in sets:
        runs.add(digest(b"%d" % one) for one in items)


@settings(max_examples=200, deadline=None)
@given(SETS, st.sampled_from([1, 2, 7, 1000]), st.sampled_from([1, 32, 100, 10_000]))
def test_repeated_digests_are_found(sets, run, merge):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_runs, "_RUN", run)
        patch.setattr(sorted_runs, "_MERGE_BYTES", merge)
        runs = SortedRuns()
        fill(runs, sets)
        assert list(runs.repeated()) == expected(sets)
        runs.close()


@settings(max_examples=50, deadline=None)
@given(SETS, SETS, SETS)
def test_what_others_wrote_is_compared_too(mine, second, third):
    runs, others = SortedRuns(), []
    fill(runs, mine)
    runs.open(2)
    for process, sets in ((1, second), (2, third)):
        other = SortedRuns()
        other._files = runs._files  # as a forked process has them
        fill(other, [{99}])
        other.begin(process)
        fill(other, sets)
        others.append(other.written())
    for written in others:
        runs.take(written)
    assert list(runs.repeated()) == expected([*mine, *second, *third])
    runs.close()


def test_few_digests_need_no_file(monkeypatch):
    monkeypatch.setattr(sorted_runs.tempfile, "tempdir", "/nonexistent")
    runs = SortedRuns()
    fill(runs, [{1, 2}, {2}])
    assert list(runs.repeated()) == [digest(b"2")]
    runs.close()


def test_no_place_for_a_temporary_file_is_an_error(monkeypatch):
    monkeypatch.setattr(sorted_runs.tempfile, "tempdir", "/nonexistent")
    with pytest.raises(LedgerError, match="cannot create a temporary file"):
        SortedRuns().open(1)
