"""Paired comparison: reference values, laws, refusals."""

from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.stats.paired import fewest_discordant, newcombe, paired, tango

COUNT = st.integers(0, 60)


def odds(share: float) -> float:
    return share / (1 - share) if share < 1 else float("inf")


def test_reference_values(table) -> None:
    rows = table("mcnemar")
    assert len(rows) > 60
    for row in rows:
        cells = [int(row[key]) for key in "abcd"]
        found, score = paired(*cells), tango(*cells)
        for value, column in (
            (found.p_exact, "p_exact_two"),
            (found.p_mid, "p_midp_two"),
            (found.p_less, "p_less"),
            (found.p_greater, "p_greater"),
        ):
            assert value == pytest.approx(float(row[column]), abs=1e-12), row
        assert found.difference is not None
        assert score is not None
        assert found.difference.value == pytest.approx(float(row["diff"]), abs=1e-14)
        for made, name in ((found.difference, "newcombe10"), (score, "tango")):
            limits = (float(row[f"{name}_lower95"]), float(row[f"{name}_upper95"]))
            assert (made.lower, made.upper) == pytest.approx(limits, abs=1e-8), row
        if found.share is not None:
            wanted = (float(row["or_lower95"]), float(row["or_upper95"]))
            limits = (odds(found.share.lower), odds(found.share.upper))
            assert limits == pytest.approx(wanted, rel=1e-7), row


@settings(deadline=None)
@given(COUNT, COUNT, COUNT, COUNT)
def test_swapping_the_gates_swaps_the_signs(a: int, b: int, c: int, d: int) -> None:
    one, other = paired(a, b, c, d), paired(a, c, b, d)
    assert (one.p_exact, one.p_mid) == (other.p_exact, other.p_mid)
    if one.difference is not None and other.difference is not None:
        assert one.difference.value == -other.difference.value
        assert one.difference.lower == pytest.approx(-other.difference.upper, abs=1e-12)
        assert one.difference.lower <= one.difference.value <= one.difference.upper


@settings(deadline=None)
@given(COUNT, COUNT, COUNT, COUNT)
def test_the_score_interval_mirrors_and_nests(a: int, b: int, c: int, d: int) -> None:
    found, turned, wide = tango(a, b, c, d), tango(a, c, b, d), tango(a, b, c, d, 0.99)
    if found is None or turned is None or wide is None:
        assert a + b + c + d == 0
        return
    assert found.lower == pytest.approx(-turned.upper, abs=1e-9)
    assert -1 <= wide.lower <= found.lower <= found.value <= found.upper <= wide.upper <= 1


@settings(deadline=None)
@given(COUNT, COUNT)
def test_the_one_sided_p_share_the_observed_count(b: int, c: int) -> None:
    found = paired(1, b, c, 1)
    at = comb(b + c, b) / 2 ** (b + c)
    assert found.p_less + found.p_greater == pytest.approx(1 + at, abs=1e-12)
    assert found.p_exact == pytest.approx(min(1, 2 * min(found.p_less, found.p_greater)), abs=1e-12)


@settings(deadline=None)
@given(COUNT, COUNT)
def test_the_p_is_the_sum_of_tables_no_likelier(b: int, c: int) -> None:
    n = b + c
    likely = comb(n, b)
    wanted = sum(comb(n, k) for k in range(n + 1) if comb(n, k) <= likely) / 2**n
    assert paired(0, b, c, 0).p_exact == pytest.approx(wanted, abs=1e-12)


def test_no_discordant_case_says_nothing_about_who_is_better() -> None:
    found = paired(3, 0, 0, 4)
    assert (found.p_exact, found.p_mid, found.share) == (1.0, 1.0, None)
    assert paired(0, 0, 0, 0).difference is None
    assert newcombe(0, 0, 0, 0) is None
    assert tango(0, 0, 0, 0) is None


def test_a_result_says_what_it_rests_on() -> None:
    for made in (newcombe(5, 3, 1, 9), tango(5, 3, 1, 9)):
        assert made is not None
        assert made.counts == (5, 3, 1, 9)
        assert made.method.endswith("approximate")


def test_many_discordant_cases_keep_their_p() -> None:
    assert paired(0, 10_000, 10_000, 0).p_exact == 1.0
    assert 0 < paired(0, 9_800, 10_200, 0).p_exact < 0.005
    # Integers up to 20,000 of the smaller count, the beta function beyond: no step between them.
    near, far = paired(0, 20_000, 20_400, 0), paired(0, 20_001, 20_401, 0)
    for name in ("p_exact", "p_mid", "p_less", "p_greater"):
        assert getattr(near, name) == pytest.approx(getattr(far, name), rel=1e-3)
    assert far.p_less + far.p_greater == pytest.approx(1, abs=0.001)
    assert paired(0, 10**9, 10**9, 0).p_exact == 1.0


def test_six_changes_one_way_are_the_fewest_that_tell() -> None:
    assert fewest_discordant() == 6
    assert paired(0, 5, 0, 15).p_exact == 0.0625
    assert paired(0, 6, 0, 14).p_exact == 0.03125


@pytest.mark.parametrize("counts", [(-1, 0, 0, 0), (0, 1.0, 0, 0), (0, 0, True, 0)])
def test_counts_that_are_none_are_refused(counts: tuple[int, int, int, int]) -> None:
    with pytest.raises(UsageError, match="expected a"):
        paired(*counts)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 1, "x"])
def test_an_error_outside_0_and_1_is_refused(alpha: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        fewest_discordant(alpha)
