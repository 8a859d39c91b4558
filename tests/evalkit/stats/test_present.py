"""A rate is written counts first, rounded outward, with its method."""

import pytest

from evalkit.stats.binomial import clopper_pearson
from evalkit.stats.clustered import clustered
from evalkit.stats.hypergeometric import hypergeometric
from evalkit.stats.present import (
    format_rate,
    format_sessions,
    format_total,
    limits,
    percent,
    rate_json,
)
from evalkit.stats.stratified import stratified


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


def test_a_sampled_population() -> None:
    assert format_total(hypergeometric(2, 50, 412)) == (
        "2 of 50 drawn from 412: 3 to 54 events, 0.72 to 13.11 % "
        "[95 % CI; exact hypergeometric, simple random sample of this population]"
    )
    assert format_total(hypergeometric(0, 0, 412)) == "0 of 0 drawn from 412 (not estimated)"
    assert format_total(hypergeometric(0, 0, 0)) == "0/0 (not estimated)"


def test_a_census_has_no_interval() -> None:
    assert format_total(hypergeometric(3, 412, 412)) == (
        "3/412 = 0.73 % (census: no sampling error)"
    )


def test_a_population_sampled_by_strata() -> None:
    assert format_total(stratified([(400, 60, 0), (40, 40, 3)])).startswith(
        "3 of 100 drawn from 440: 3 to 21 events, 0.68 to 4.78 % [95 % one-sided upper bound; sum"
    )


def test_a_rate_by_session_names_its_sessions() -> None:
    shown = format_sessions(clustered([(3, 20), (0, 40), *[(0, 10)] * 20, *[(1, 10)] * 3]))
    assert shown.startswith(
        "6/290 = 2.07 % in 4 of 25 sessions, the largest with 40 calls; [95 % CI "
    )
    assert "Korn-Graubard by session, capped, sessions taken as independent]; ICC " in shown


def test_no_events_in_any_session() -> None:
    assert format_sessions(clustered([(0, 20)] * 40)) == (
        "0/800 = 0 % in 0 of 40 sessions, the largest with 20 calls; sessions [95 % CI 0, 8.81; "
        "exact Clopper-Pearson, share of sessions, not of calls]; no events: only the share of "
        "sessions is bounded; it bounds the call rate where all sessions are of one size"
    )


def test_one_session_says_so() -> None:
    assert format_sessions(clustered([(3, 20)])) == (
        "3/20 = 15.00 % in 1 of 1 session, the largest with 20 calls; one session: how sessions "
        "differ is not known, so nothing is said of others"
    )
