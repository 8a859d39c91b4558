"""Totals over strata: reference and published values, census strata, laws and refusals."""

from fractions import Fraction
from itertools import product
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.stats.hypergeometric import hypergeometric
from evalkit.stats.stratified import BONFERRONI, stratified
from evalkit.stats.wendell_schmee import total_test, wendell_schmee

stratum = st.integers(1, 40).flatmap(
    lambda size: st.integers(0, size).flatmap(
        lambda n: st.tuples(st.just(size), st.just(n), st.integers(0, n))
    )
)
Strata = list[tuple[int, int, int]]


def of_row(row: dict[str, str]) -> Strata:
    columns = [[int(part) for part in row[name].split(";")] for name in ("N", "n", "x")]
    return list(zip(*columns, strict=True))


def of_inputs(text: str) -> dict[str, list[int]]:
    """Return lists by name from ``N=200;100;n=50;25;x=0;0;G=15``."""
    found: dict[str, list[int]] = {}
    for part in text.split(";"):
        name, equals, value = part.rpartition("=")
        found.setdefault(name if equals else list(found)[-1], []).append(int(value))
    return found


def test_reference_values_of_the_sums(table) -> None:
    for row in table("stratified_upper"):
        strata, level = of_row(row), float(row["conf"])
        sampled = sum(n < size for size, n, _ in strata)
        # The source spends error on census strata as well: what each sampled one is left with.
        same = level ** (sampled / len(strata))
        assert stratified(strata, same).upper == int(row["wright_sidak_upper"]), row
        even = 1 - (1 - level) * sampled / len(strata)
        assert stratified(strata, even, joint=BONFERRONI).upper == int(row["bonferroni_upper"]), row
        assert stratified(strata, level).upper <= int(row["wright_sidak_upper"])


def test_reference_values_of_the_inversion(table) -> None:
    rows = [row for row in table("stratified_upper") if row["wendell_schmee_upper"]]
    assert len(rows) >= 7
    for row in rows:
        found = wendell_schmee(of_row(row), float(row["conf"]))
        assert found.upper == int(row["wendell_schmee_upper"]), row


def test_published_values(table) -> None:
    rows = [
        row for row in table("textbook_values") if "N=" in row["inputs"] and "x=" in row["inputs"]
    ]
    compared = 0
    for row in rows:
        given_ = of_inputs(row["inputs"]) if "alpha" not in row["inputs"] else {}
        strata = list(zip(*(given_.get(name, []) for name in ("N", "n", "x")), strict=True))
        if row["quantity"] == "wendell_schmee_pvalue":
            found: float = total_test(strata, given_["G"][0]).p
        elif row["quantity"] == "wendell_schmee_upper95":
            found = wendell_schmee(strata).upper
        elif row["quantity"] == "wright_sidak_upper95":
            found = stratified(strata).upper
        else:
            continue
        compared += 1
        assert found == pytest.approx(float(row["published"]), abs=float(row["tolerance"])), row
    assert compared == 14


def test_a_stratum_judged_whole_adds_its_events_and_costs_nothing() -> None:
    alone = stratified([(400, 60, 0)])
    both = stratified([(400, 60, 0), (40, 40, 3)])
    assert alone.upper == hypergeometric(0, 60, 400, 0.95, "upper").upper == 18
    assert (both.upper, both.census, both.sampled) == (alone.upper + 3, 1, 1)
    whole = stratified([(7, 7, 2), (5, 5, 1)], side="two")
    assert (whole.lower, whole.upper, whole.estimate, whole.estimand) == (3, 3, 3.0, "census")


def test_a_stratum_not_sampled_leaves_everything_open() -> None:
    found = stratified([(400, 60, 0), (25, 0, 0)], side="two")
    alone = stratified([(400, 60, 0)], side="two")
    assert (found.lower, found.upper) == (alone.lower, alone.upper + 25)
    assert (found.unsampled, found.estimate) == (25, None)
    assert wendell_schmee([(400, 60, 0), (25, 0, 0)]).upper == 18 + 25


def test_the_estimate_weights_each_stratum() -> None:
    found = stratified([(412, 59, 2), (60, 30, 3)])
    assert found.estimate == pytest.approx(412 * 2 / 59 + 60 * 3 / 30)
    rate = found.rate()
    assert rate is not None
    assert (rate.k, rate.n, rate.upper) == (5, 89, found.upper / 472)
    assert stratified([(0, 0, 0)]).rate() is None


@settings(deadline=None)
@given(st.lists(stratum, min_size=1, max_size=4), st.sampled_from([0.8, 0.95]))
def test_laws(strata: Strata, level: float) -> None:
    two, wide = stratified(strata, level, "two"), stratified(strata, 0.99, "two")
    even = stratified(strata, level, "two", joint=BONFERRONI)
    seen, unseen = sum(k for _, _, k in strata), sum(n - k for _, n, k in strata)
    assert seen <= wide.lower <= two.lower <= two.upper <= wide.upper <= two.population - unseen
    assert even.lower <= two.lower <= two.upper <= even.upper
    turned = stratified([(size, n, n - k) for size, n, k in strata], level, "two")
    assert (two.lower, two.upper) == (two.population - turned.upper, two.population - turned.lower)
    if two.estimate is not None:
        assert two.lower - 1e-9 <= two.estimate <= two.upper + 1e-9
    upper, lower = stratified(strata, level), stratified(strata, level, "lower")
    assert two.lower <= lower.lower
    assert upper.upper <= two.upper


def by_definition(strata: Strata, total: int) -> Fraction:
    """Independent route: the largest probability over allocations, sample by sample, exact."""
    seen = sum(Fraction(size * k, n) for size, n, k in strata)
    ranges = [range(k, size - n + k + 1) for size, n, k in strata]
    best = Fraction(0)
    for events in product(*ranges):
        if sum(events) != total:
            continue
        chance = Fraction(0)
        for sample in product(*(range(n + 1) for _, n, _ in strata)):
            if sum(Fraction(s[0] * x, s[1]) for s, x in zip(strata, sample, strict=True)) <= seen:
                ways = 1
                for (size, n, _), x, held in zip(strata, sample, events, strict=True):
                    ways *= comb(held, x) * comb(size - held, n - x)
                chance += ways
        best = max(best, chance)
    whole = 1
    for size, n, _ in strata:
        whole *= comb(size, n)
    return best / whole


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.integers(2, 9).flatmap(
            lambda size: st.integers(1, size - 1).flatmap(
                lambda n: st.tuples(st.just(size), st.just(n), st.integers(0, n))
            )
        ),
        min_size=1,
        max_size=3,
    )
)
def test_the_p_of_a_total_is_the_one_defined(strata: Strata) -> None:
    low = sum(k for _, _, k in strata)
    high = sum(size - n + k for size, n, k in strata)
    for total in {low, (low + high) // 2, high}:
        wanted = by_definition(strata, total)
        assert total_test(strata, total).p == pytest.approx(float(wanted), abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.lists(stratum, min_size=1, max_size=2))
def test_the_inversion_nests_and_mirrors(strata: Strata) -> None:
    found, wide = wendell_schmee(strata, 0.9, "two"), wendell_schmee(strata, 0.99, "two")
    assert wide.lower <= found.lower <= found.upper <= wide.upper
    turned = wendell_schmee([(size, n, n - k) for size, n, k in strata], 0.9, "two")
    assert found.lower == found.population - turned.upper
    assert wendell_schmee(strata, 0.95).upper == found.upper
    assert wendell_schmee(strata, 0.95, "lower").lower == found.lower


BAD = [
    ([], "no stratum"),
    ([(9, 10, 1)], "n of stratum 0 is 10"),
    ([(9, 5, 1), (9, 5, 6)], "k of stratum 1 is 6"),
    ([(9, 5, -1)], "k of stratum 0 is -1"),
    ([(9, 5, 1.0)], "k of stratum 0 is 1.0"),
    ([(9, True, 1)], "n of stratum 0 is True"),
    ([(float("nan"), 5, 1)], "population of stratum 0 is nan"),
]


@pytest.mark.parametrize(("strata", "said"), BAD)
def test_bad_strata_are_refused(strata, said) -> None:
    for method in (stratified, wendell_schmee, lambda bad: total_test(bad, 1)):
        with pytest.raises(UsageError, match=said):
            method(strata)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(UsageError, match="joint is"):
        stratified([(9, 5, 1)], joint="Fisher")
    with pytest.raises(UsageError, match="4 sampled strata"):
        wendell_schmee([(9, 5, 1)] * 4)
    with pytest.raises(UsageError, match="judged whole or not sampled"):
        total_test([(9, 9, 1), (9, 5, 1)], 3)
    with pytest.raises(UsageError, match="total is 9: the sample leaves 1 to 5"):
        total_test([(9, 5, 1)], 9)
    with pytest.raises(UsageError, match="expected at most 4000000000"):
        stratified([(5 * 10**9, 5, 1)])
    with pytest.raises(UsageError, match="side is"):
        wendell_schmee([(9, 5, 1)], 0.95, "up")
    with pytest.raises(UsageError, match="too large"):
        wendell_schmee([(10**6, 3, 1)] * 3)
