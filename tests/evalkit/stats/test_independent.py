"""Two windows: reference values, independent routes, laws and refusals."""

from fractions import Fraction
from math import comb, inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.stats.independent import boschloo, independent, newcombe_independent

window = st.integers(0, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_reference_values(table) -> None:
    for row in table("fisher"):
        a, b, c, d = (int(row[name]) for name in "abcd")
        found = independent(a, a + b, c, c + d)
        for value, column in (
            (found.p, "p_two"),
            (found.p_less, "p_less"),
            (found.p_greater, "p_greater"),
            (found.p_central, "p_central"),
        ):
            assert value == pytest.approx(float(row[column]), abs=1e-12), row
        if found.odds is None:
            assert row["or_cmle_hp"] == "", row
            continue
        columns = ("or_cmle_hp", "or_lower95_hp", "or_upper95_hp")
        odds = (found.odds.value, found.odds.lower, found.odds.upper)
        assert odds == pytest.approx(tuple(float(row[name]) for name in columns), rel=1e-7), row


def test_published_values(table) -> None:
    row = next(row for row in table("textbook_values") if row["quantity"] == "fisher_two_sided_p")
    assert row["inputs"] == "3,1/1,3"
    assert independent(3, 4, 1, 4).p == pytest.approx(float(row["published"]), abs=5e-5)
    # Another program's figures for 3/412 against 9/500 (R ratesci, statsmodels).
    difference = newcombe_independent(3, 412, 9, 500)
    assert difference is not None
    assert difference.lower == pytest.approx(-0.0272815, abs=1e-7)
    assert difference.upper == pytest.approx(0.0055801, abs=1e-7)


@settings(deadline=None)
@given(window, window)
def test_the_p_is_the_sum_of_tables_no_likelier(first, second) -> None:
    (k1, n1), (k2, n2) = first, second
    events = k1 + k2
    ways = [
        comb(n1, i) * comb(n2, events - i) for i in range(min(n1, events) + 1) if events - i <= n2
    ]
    observed = comb(n1, k1) * comb(n2, k2)
    wanted = sum(one for one in ways if one <= observed) / sum(ways)
    assert independent(k1, n1, k2, n2).p == pytest.approx(wanted, abs=1e-12)


@settings(deadline=None)
@given(window, window)
def test_exchanging_the_windows_turns_everything_round(first, second) -> None:
    one, other = independent(*first, *second), independent(*second, *first)
    assert one.p == pytest.approx(other.p, abs=1e-12)
    assert one.p_less == pytest.approx(other.p_greater, abs=1e-12)
    assert (one.odds is None) == (other.odds is None)
    if one.odds is not None and other.odds is not None:
        assert one.odds.lower == pytest.approx(1 / other.odds.upper if other.odds.upper else inf)
        assert one.odds.lower <= one.odds.value <= one.odds.upper
    if one.difference is not None and other.difference is not None:
        assert one.difference.lower == pytest.approx(-other.difference.upper, abs=1e-12)
        assert -1 <= one.difference.lower <= one.difference.value <= one.difference.upper <= 1


@settings(deadline=None)
@given(window, window)
def test_the_odds_exclude_1_where_the_central_p_does(first, second) -> None:
    found = independent(*first, *second)
    if found.odds is not None and abs(found.p_central - 0.05) > 1e-9:
        assert (not found.odds.lower <= 1 <= found.odds.upper) == (found.p_central < 0.05)


def by_definition(k1: int, n1: int, k2: int, n2: int) -> float:
    """Independent route: the largest probability, over rates, of tables no larger in the first."""

    def fisher_less(i: int, j: int) -> Fraction:
        ways = [comb(n1, t) * comb(n2, i + j - t) for t in range(min(n1, i + j) + 1)]
        return Fraction(sum(ways[: i + 1]), sum(ways))

    limit = fisher_less(k1, k2)
    inside = [
        (comb(n1, i) * comb(n2, j), i + j)
        for i in range(n1 + 1)
        for j in range(n2 + 1)
        if fisher_less(i, j) <= limit
    ]
    rates = [at / 2000 for at in range(1, 2000)]
    return max(
        sum(ways * r**events * (1 - r) ** (n1 + n2 - events) for ways, events in inside)
        for r in rates
    )


@pytest.mark.parametrize("cells", [(1, 6, 4, 5), (0, 7, 3, 6), (2, 9, 5, 8), (3, 6, 3, 6)])
def test_boschloo_is_the_largest_probability_of_tables_as_extreme(cells) -> None:
    assert boschloo(*cells).p_less == pytest.approx(by_definition(*cells), abs=2e-6)


@settings(max_examples=15, deadline=None)
@given(window, window)
def test_boschloo_is_never_above_the_central_fisher(first, second) -> None:
    found, fisher = boschloo(*first, *second), independent(*first, *second)
    assert found.p_less <= fisher.p_less + 1e-9
    assert found.p_greater <= fisher.p_greater + 1e-9
    assert found.p <= fisher.p_central + 1e-9


@pytest.mark.parametrize("cells", [(0, 5, 0, 9), (5, 5, 9, 9), (0, 0, 3, 9), (0, 0, 0, 0)])
def test_windows_whose_rates_cannot_differ(cells) -> None:
    found = independent(*cells)
    assert (found.p, found.p_less, found.p_greater, found.odds) == (1.0, 1.0, 1.0, None)
    assert boschloo(*cells)[1:4] == (1.0, 1.0, 1.0)
    assert (found.difference is None) == (cells[1] == 0)


def test_an_empty_cell_leaves_an_end_of_the_odds_open() -> None:
    odds = independent(0, 412, 9, 500).odds
    assert odds is not None
    assert (odds.value, odds.lower) == (0.0, 0.0)
    assert 0 < odds.upper < 1
    other = independent(9, 500, 0, 412).odds
    assert other is not None
    assert (other.value, other.upper) == (inf, inf)
    assert other.counts == (9, 500, 0, 412)


@pytest.mark.parametrize(
    "cells",
    [
        (-1, 5, 1, 5),
        (6, 5, 1, 5),
        (1, 5, 1.0, 5),
        (True, 5, 1, 5),
        (1, 5, 1, float("nan")),
        (1, 5, 6, 5),
    ],
)
def test_bad_counts_are_refused(cells) -> None:
    for method in (independent, boschloo, newcombe_independent):
        with pytest.raises(UsageError, match=r"[kn][12] is"):
            method(*cells)


def test_windows_too_large_for_boschloo_are_refused() -> None:
    with pytest.raises(UsageError, match="use Fisher's test"):
        boschloo(3, 100_000, 15, 100_000)
    assert 0 < independent(3, 100_000, 15, 100_000).p < 0.01
    with pytest.raises(UsageError, match="use the difference alone"):
        independent(10**8, 10**9, 10**8, 10**9)
    assert newcombe_independent(10**8, 10**9, 10**8, 10**9) is not None
