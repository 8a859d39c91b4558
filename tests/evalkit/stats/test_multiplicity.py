"""Families of tests and intervals: reference values, laws and refusals."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.stats.binomial import clopper_pearson
from evalkit.stats.multiplicity import bonferroni, holm, simultaneous

values = st.lists(st.floats(0, 1), max_size=20)


def test_reference_values(table) -> None:
    rows = table("multiplicity")
    for name, method in (("holm", holm), ("bonferroni", bonferroni)):
        for one in {row["set"] for row in rows}:
            family = [row for row in rows if row["set"] == one and row["method"] == name]
            found = method([float(row["p"]) for row in family])
            assert [made.adjusted for made in found] == pytest.approx(
                [float(row["p_adj"]) for row in family], abs=1e-15
            )


@settings(deadline=None)
@given(values)
def test_laws(read: list[float]) -> None:
    found, all_times = holm(read), bonferroni(read)
    assert [one.p for one in found] == read
    for one, other in zip(found, all_times, strict=True):
        assert one.p <= one.adjusted <= other.adjusted <= 1
        assert one.family == len(read)
    ranked = sorted(found, key=lambda one: one.p)
    assert [one.adjusted for one in ranked] == sorted(one.adjusted for one in found)
    assert [one.adjusted for one in holm(read[::-1])] == [one.adjusted for one in found[::-1]]


def test_intervals_of_a_family_hold_together() -> None:
    found = simultaneous(0.95, 5)
    assert (found.each, found.family) == (0.99, 5)
    assert simultaneous(0.95, 1).each == 0.95
    assert clopper_pearson(3, 412, found.each).upper > clopper_pearson(3, 412).upper


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan"), True, "0.5", None])
def test_bad_p_are_refused(p) -> None:
    for method in (holm, bonferroni):
        with pytest.raises(UsageError, match="p of test 1 is"):
            method([0.5, p])


@pytest.mark.parametrize(("level", "family"), [(1.0, 3), (0.95, 0), (0.95, 1.5), (0.95, True)])
def test_bad_families_are_refused(level, family) -> None:
    with pytest.raises(UsageError, match="is "):
        simultaneous(level, family)
