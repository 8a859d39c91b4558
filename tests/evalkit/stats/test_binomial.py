"""Clopper-Pearson: reference values, edges, and refusals."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.stats.binomial import clopper_pearson, clopper_pearson_each
from evalkit.stats.counts import alpha_of
from evalkit.stats.interval import Interval

VECTORS = Path(__file__).parents[2] / "vectors" / "stats"
PUBLISHED = json.loads((VECTORS / "binomial_published.json").read_text())["published"]


def close(found: float, expected: str) -> bool:
    """Compare within the reference's relative precision of 1e-10."""
    wanted = float(expected)
    return abs(found - wanted) <= 1e-10 * abs(wanted)


def agrees(row: dict[str, str]) -> list[str]:
    """Return the columns of a reference row that differ."""
    k, n = int(row["x"]), int(row["n"])
    level = float(1 - Decimal(row["alpha"]))
    found = {
        "lower_two": clopper_pearson(k, n, level).lower,
        "upper_two": clopper_pearson(k, n, level).upper,
        "lower_one": clopper_pearson(k, n, level, "lower").lower,
        "upper_one": clopper_pearson(k, n, level, "upper").upper,
    }
    return [name for name, value in found.items() if not close(value, row[name])]


def test_every_row_of_the_reference_table(table) -> None:
    rows = table("binomial_exact")
    assert len(rows) > 800
    assert [(row, wrong) for row in rows if (wrong := agrees(row))] == []


def test_many_rates_at_once_are_the_same_to_the_last_bit(table) -> None:
    pairs = [(int(row["x"]), int(row["n"])) for row in table("binomial_exact")]
    for side in ("two", "lower", "upper"):
        wanted = [clopper_pearson(k, n, 0.9, side) for k, n in pairs]
        assert clopper_pearson_each(pairs, 0.9, side) == wanted
    assert clopper_pearson_each([]) == []
    assert clopper_pearson_each([(0, 0), (5, 5)]) == [clopper_pearson(0, 0), clopper_pearson(5, 5)]
    with pytest.raises(UsageError, match="k is 6"):
        clopper_pearson_each([(1, 5), (6, 5)])


def test_published_textbook_figures(table) -> None:
    rows = [row for row in table("textbook_values") if row["quantity"].startswith("binomial")]
    assert len(rows) == 2
    for row in rows:
        inputs = dict(part.split("=") for part in row["inputs"].split(";"))
        one = row["quantity"].endswith("one_sided")
        level = 1 - float(inputs["alpha"]) if one else float(inputs["conf"])
        found = clopper_pearson(
            int(inputs["x"]), int(inputs["n"]), level, "upper" if one else "two"
        )
        wanted = [float(part) for part in row["published"].split(";")]
        limits = [found.upper] if one else [found.lower, found.upper]
        assert limits == pytest.approx(wanted, abs=float(row["tolerance"]))


@pytest.mark.parametrize("value", PUBLISHED, ids=lambda value: value["source"][:30])
def test_published_figures(value: dict[str, str | float | int]) -> None:
    side = str(value["side"])
    found = clopper_pearson(int(value["x"]), int(value["n"]), float(value["level"]), side)
    for name in ("lower", "upper"):
        if name in value:
            assert getattr(found, name) == pytest.approx(value[name], abs=value["tolerance"])


def test_edges() -> None:
    assert clopper_pearson(0, 0)[2:4] == (0.0, 1.0)
    assert clopper_pearson(0, 7).lower == 0.0
    assert clopper_pearson(7, 7).upper == 1.0
    assert clopper_pearson(3, 7, side="upper").lower == 0.0
    assert clopper_pearson(3, 7, side="lower").upper == 1.0
    # At no events the two-sided limit keeps alpha/2; the one-sided bound spends alpha.
    assert clopper_pearson(0, 59).upper == pytest.approx(1 - 0.025 ** (1 / 59))
    assert clopper_pearson(0, 59, side="upper").upper == pytest.approx(1 - 0.05 ** (1 / 59))


def test_a_result_says_what_it_is() -> None:
    assert clopper_pearson(3, 412)._replace(lower=0, upper=0) == Interval(
        3, 412, 0, 0, 0.95, "exact Clopper-Pearson", "process", "two"
    )


@pytest.mark.parametrize(
    ("k", "n"),
    [(-1, 5), (1, -5), (6, 5), (1.0, 5), (1, 5.0), (True, 5), (0, False), ("1", 5), (None, 5)],
)
def test_counts_that_are_not_counts_are_refused(k: int, n: int) -> None:
    with pytest.raises(UsageError, match=r"k is|n is"):
        clopper_pearson(k, n)


@pytest.mark.parametrize("level", [0, 1, -0.5, 1.5, 95, float("nan"), float("inf"), "0.95", True])
def test_levels_outside_the_open_interval_are_refused(level: float) -> None:
    with pytest.raises(UsageError, match="level is"):
        clopper_pearson(1, 5, level)


def test_an_unknown_side_is_refused() -> None:
    with pytest.raises(UsageError, match="side is"):
        clopper_pearson(1, 5, 0.95, "both")


def test_alpha_is_taken_in_decimal() -> None:
    assert alpha_of(0.999999) == 1e-06
    assert alpha_of(0.95) == 0.05


counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@settings(deadline=None)
@given(counts, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_the_interval_mirrors_and_holds_the_rate(pair: tuple[int, int], level: float) -> None:
    k, n = pair
    found, mirror = clopper_pearson(k, n, level), clopper_pearson(n - k, n, level)
    assert found.lower <= k / n <= found.upper
    assert found.lower == pytest.approx(1 - mirror.upper, abs=1e-12)


@settings(deadline=None)
@given(counts)
def test_limits_rise_with_events_and_tighten_with_the_level(pair: tuple[int, int]) -> None:
    k, n = pair
    found, wide = clopper_pearson(k, n), clopper_pearson(k, n, 0.99)
    assert wide.lower <= found.lower
    assert found.upper <= wide.upper
    if k < n:
        above = clopper_pearson(k + 1, n)
        assert found.lower <= above.lower
        assert found.upper <= above.upper


@settings(deadline=None)
@given(counts)
def test_a_limit_has_the_tail_probability_it_claims(pair: tuple[int, int]) -> None:
    """Independent route: the binomial tail itself, by exact integer weights."""
    from math import comb

    k, n = pair
    limit = clopper_pearson(k, n).upper
    if k < n:
        tail = sum(comb(n, i) * limit**i * (1 - limit) ** (n - i) for i in range(k + 1))
        assert tail == pytest.approx(0.025, rel=1e-9)
