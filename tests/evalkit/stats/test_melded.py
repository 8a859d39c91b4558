"""The melded interval: reference values, agreement with McNemar, laws and refusals."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.stats import melded as module
from evalkit.stats.binomial import clopper_pearson
from evalkit.stats.melded import melded
from evalkit.stats.paired import paired

COUNT = st.integers(0, 40)


def test_reference_values(table) -> None:
    for row in table("mcnemar"):
        found = melded(*(int(row[key]) for key in "abcd"))
        assert found is not None
        wanted = (float(row["exactdp_lower95"]), float(row["exactdp_upper95"]))
        assert (found.lower, found.upper) == pytest.approx(wanted, abs=1e-4), row


@settings(max_examples=40, deadline=None)
@given(COUNT, COUNT, COUNT, COUNT)
def test_it_excludes_0_exactly_where_the_exact_p_does(a: int, b: int, c: int, d: int) -> None:
    found = melded(a, b, c, d)
    if found is None:
        assert a + b + c + d == 0
        return
    assert (not found.lower <= 0 <= found.upper) == (paired(a, b, c, d).p_exact <= 0.05)


@settings(max_examples=25, deadline=None)
@given(COUNT, COUNT, COUNT, COUNT)
def test_it_mirrors_nests_and_holds_the_difference(a: int, b: int, c: int, d: int) -> None:
    found, turned, wide = melded(a, b, c, d), melded(a, c, b, d), melded(a, b, c, d, 0.99)
    if found is None or turned is None or wide is None:
        assert a + b + c + d == 0
        return
    assert found.lower == pytest.approx(-turned.upper, abs=1e-12)
    assert -1 <= wide.lower <= found.lower <= found.value <= found.upper <= wide.upper <= 1


@pytest.mark.parametrize("cells", [(3, 9, 2, 30), (0, 300, 100, 0), (1, 0, 4, 2), (0, 0, 3, 0)])
def test_more_nodes_change_nothing(cells, monkeypatch) -> None:
    found = melded(*cells)
    monkeypatch.setattr(module, "_PANELS", 60)
    monkeypatch.setattr(module, "_NODES", 30)
    finer = melded(*cells)
    assert found is not None
    assert finer is not None
    assert (found.lower, found.upper) == pytest.approx((finer.lower, finer.upper), abs=1e-10)


def test_without_discordant_cases_only_their_share_is_bounded() -> None:
    found = melded(42, 0, 0, 18)
    assert found is not None
    assert found.upper == pytest.approx(clopper_pearson(0, 60).upper, rel=1e-12)
    assert found.lower == -found.upper
    assert found.counts == (42, 0, 0, 18)


def test_the_approximate_intervals_can_disagree_with_the_p() -> None:
    """Of 44 cases 9 and 2 changed: p is .065; the score intervals exclude 0, this one does not."""
    comparison, exact = paired(20, 9, 2, 13), melded(20, 9, 2, 13)
    assert comparison.difference is not None
    assert exact is not None
    assert comparison.p_exact > 0.05
    assert comparison.difference.lower > 0 > exact.lower


@pytest.mark.parametrize("cells", [(-1, 0, 0, 0), (0, 1.0, 0, 0), (0, 0, True, 0), (0, 0, 0, None)])
def test_counts_that_are_none_are_refused(cells) -> None:
    with pytest.raises(UsageError, match="expected a"):
        melded(*cells)
