"""Paired comparison: reference values, laws, refusals."""

import json
from math import comb
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.stats.paired import fewest_discordant, paired

ROWS = json.loads((Path(__file__).parents[2] / "vectors" / "mcnemar.json").read_text())["rows"]
COUNT = st.integers(0, 60)


def odds(share: float) -> float:
    return share / (1 - share) if share < 1 else float("inf")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(row[key] for key in "abcd"))
def test_reference_values(row: dict[str, str]) -> None:
    found = paired(*(int(row[key]) for key in "abcd"))
    assert found.p_exact == pytest.approx(float(row["p_exact_two"]), abs=1e-12)
    if row["p_midp_two"]:
        assert found.p_mid == pytest.approx(float(row["p_midp_two"]), abs=1e-12)
    assert found.difference is not None
    limits = (float(row["newcombe10_lower95"]), float(row["newcombe10_upper95"]))
    assert (found.difference.lower, found.difference.upper) == pytest.approx(limits, abs=1e-8)
    if row["or_lower95"] and found.share is not None:
        wanted = (float(row["or_lower95"]), float(row["or_upper95"]))
        assert (odds(found.share.lower), odds(found.share.upper)) == pytest.approx(wanted, rel=1e-7)


@given(COUNT, COUNT, COUNT, COUNT)
def test_swapping_the_gates_swaps_the_signs(a: int, b: int, c: int, d: int) -> None:
    one, other = paired(a, b, c, d), paired(a, c, b, d)
    assert (one.p_exact, one.p_mid) == (other.p_exact, other.p_mid)
    if one.difference is not None and other.difference is not None:
        assert one.difference.value == -other.difference.value
        assert one.difference.lower == pytest.approx(-other.difference.upper, abs=1e-12)
        assert one.difference.lower <= one.difference.value <= one.difference.upper


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
