"""A rate is written counts first, rounded outward, with its method."""

import pytest

from evalkit.stats.binomial import clopper_pearson
from evalkit.stats.present import format_rate, limits, percent, rate_json


def test_the_form() -> None:
    assert format_rate(3, 412) == (
        "3/412 = 0.73 % [95 % CI 0.15, 2.12; exact Clopper-Pearson, calls taken as independent]"
    )


def test_no_events_carry_a_one_sided_bound() -> None:
    assert format_rate(0, 59) == (
        "0/59 = 0 % [95 % CI 0, 6.07; exact Clopper-Pearson, calls taken as independent; "
        "one-sided upper bound 4.96]"
    )


def test_nothing_but_events() -> None:
    assert format_rate(20, 20).startswith("20/20 = 100 % [95 % CI 83.15, 100;")


@pytest.mark.parametrize("n", [1, 5, 9])
def test_no_percentage_under_ten(n: int) -> None:
    assert "%" not in format_rate(1, n)
    assert format_rate(1, n).startswith(f"1/{n} ")


def test_no_trials_are_not_estimated() -> None:
    assert format_rate(0, 0) == "0/0 (not estimated)"
    assert percent(0, 0) == "not estimated"
    assert rate_json(0, 0)["rate"] is None


@pytest.mark.parametrize(
    ("k", "n", "text"),
    [
        (1, 3, "33.33 %"),
        (1, 800, "0.12 %"),  # 0.125 half to even
        (3, 800, "0.38 %"),
        (1, 1_000_000, "0.00010 %"),
        (286, 1369, "20.89 %"),
        (1, 100, "1.00 %"),
        (0, 10, "0 %"),
    ],
)
def test_rounding(k: int, n: int, text: str) -> None:
    assert percent(k, n) == text


def test_limits_are_rounded_outward() -> None:
    for k, n in ((3, 412), (286, 1369), (19, 20), (1, 10_000)):
        interval = clopper_pearson(k, n)
        lower, upper = (float(part) / 100 for part in limits(interval).split(", "))
        assert lower <= interval.lower + 1e-15
        assert upper >= interval.upper - 1e-15


def test_the_level_is_printed_as_given() -> None:
    assert "[99.9 % CI" in format_rate(3, 412, 0.999)
    assert "[90 % CI" in format_rate(3, 412, 0.9)


def test_machines_get_full_precision_and_the_text() -> None:
    found = rate_json(3, 412)
    assert found["lower"] == clopper_pearson(3, 412).lower
    assert found["text"] == format_rate(3, 412)
