"""Rates by session: reference values, the cap, the rules at the edges, laws and refusals."""

from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.stats.binomial import clopper_pearson
from evalkit.stats.clustered import UNCAPPED, clustered, korn_graubard, resampled
from evalkit.stats.sessions import sessions

session = st.integers(1, 30).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
many = st.lists(session, min_size=10, max_size=60)


def of_row(row: dict[str, str]) -> list[tuple[int, int]]:
    events, calls = (map(int, row[name].split(";")) for name in ("x", "n"))
    return list(zip(events, calls, strict=True))


def test_reference_values(table) -> None:
    for row in table("cluster"):
        base = sessions(of_row(row))
        assert base.variance is not None
        assert sqrt(base.variance) == pytest.approx(float(row["se_cluster"]), rel=1e-9)
        assert base.design_effect == pytest.approx(float(row["deff"]), rel=1e-9)
        if row["icc_anova"]:
            assert base.icc == pytest.approx(float(row["icc_anova"]), rel=1e-9)
        else:
            assert base.icc is None
        fitted = korn_graubard(base, cap=False)
        assert fitted is not None
        wanted = (float(row["kg_lower95"]), float(row["kg_upper95"]))
        assert (fitted[0].lower, fitted[0].upper) == pytest.approx(wanted, rel=1e-9), row
        assert fitted[0].method == UNCAPPED


@settings(deadline=None)
@given(many, st.sampled_from([0.8, 0.95]), st.sampled_from(["two", "lower", "upper"]))
def test_it_is_never_narrower_than_for_independent_calls(counts, level, side) -> None:
    found = clustered(counts, level, side)
    assert found.independent == clopper_pearson(found.sessions.k, found.sessions.n, level, side)
    if found.interval is None or found.effective is None:
        assert found.sessions.k in (0, found.sessions.n)
        return
    assert found.interval.lower <= found.independent.lower + 1e-12
    assert found.interval.upper >= found.independent.upper - 1e-12
    assert found.effective <= found.sessions.n


@settings(deadline=None)
@given(many)
def test_it_mirrors_and_does_not_ask_for_an_order(counts) -> None:
    found = clustered(counts).interval
    turned = clustered([(n - k, n) for k, n in counts]).interval
    assert found == clustered(counts[::-1]).interval
    if found is not None and turned is not None:
        assert found.lower == pytest.approx(1 - turned.upper, abs=1e-9)


@settings(deadline=None)
@given(many)
def test_more_sessions_of_the_same_kind_say_more(counts) -> None:
    one, two = clustered(counts).interval, clustered(counts * 2).interval
    if one is not None and two is not None:
        assert two.upper - two.lower <= one.upper - one.lower + 1e-12


def test_sessions_that_agree_fully_count_as_one_call_each() -> None:
    found = clustered([(20, 20)] * 5 + [(0, 20)] * 20)
    assert found.effective is not None
    assert found.sessions.icc == pytest.approx(1, abs=0.02)
    assert found.sessions.design_effect == pytest.approx(20, rel=0.05)
    assert found.effective == pytest.approx(25, rel=0.15)
    assert found.sessions.with_events == 5
    assert any("effective calls" in flag for flag in found.flags)


def test_no_events_bound_the_share_of_sessions_only() -> None:
    found = clustered([(0, 20)] * 40, side="upper")
    assert found.interval is None
    assert found.by_session is not None
    assert found.by_session.estimand == "sessions"
    assert found.by_session.upper == pytest.approx(1 - 0.05 ** (1 / 40))
    assert any("no events" in flag for flag in found.flags)


def test_nothing_but_events_bound_the_share_of_sessions_with_another_call() -> None:
    found = clustered([(20, 20)] * 40, side="lower")
    assert found.interval is None
    assert found.by_session is not None
    assert (found.by_session.k, found.by_session.side) == (0, "upper")
    assert any("nothing but events" in flag for flag in found.flags)


def test_few_sessions_bound_the_share_of_sessions_only() -> None:
    found = clustered([(1, 50), (0, 50), (7, 50)])
    assert found.interval is None
    assert found.by_session is not None
    assert (found.by_session.k, found.by_session.n) == (2, 3)
    assert any("few sessions (3" in flag for flag in found.flags)
    assert clustered([(1, 50)] + [(0, 50)] * 9).interval is not None


def test_one_session_says_nothing_of_others() -> None:
    found = clustered([(3, 50)])
    assert (found.interval, found.by_session, found.sessions.variance) == (None, None, None)
    assert found.flags == (
        "one session: how sessions differ is not known, so nothing is said of others",
    )
    assert korn_graubard(found.sessions) is None


def test_sessions_without_any_difference_are_capped_at_the_calls() -> None:
    base = sessions([(1, 10)] * 12)
    fitted = korn_graubard(base)
    assert fitted is not None
    assert fitted[1] == 120
    assert fitted[0][2:4] == pytest.approx(clopper_pearson(12, 120)[2:4], rel=1e-12)
    assert korn_graubard(base, cap=False) is None


COUNTS = [(int(at % 3 == 0), 5 + at % 7) for at in range(60)]


def test_a_seed_gives_the_same_resamples_everywhere() -> None:
    counts = COUNTS
    found = resampled(counts, seed=7)
    assert found == resampled(counts, seed=7)
    assert found is not None
    # Fixed by Python's promise for random.Random(seed).random(), on every system and version.
    assert (found.interval.lower, found.interval.upper) == (
        0.027896995708154508,
        0.05845511482254697,
    )
    assert found != resampled(counts, seed=8)
    reference = clustered(counts).interval
    assert reference is not None
    assert found.interval.lower == pytest.approx(reference.lower, abs=0.02)
    assert found.interval.upper == pytest.approx(reference.upper, abs=0.02)


def test_resampling_is_no_check_where_it_cannot_see_anything() -> None:
    assert resampled([(0, 5)] * 50, 1) is None
    assert resampled([(5, 5)] * 50, 1) is None
    assert resampled([(1, 5), (0, 5)] * 19, 1) is None


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([], "no session"),
        ([(0, 0)], "session 0 has no calls"),
        ([(1, 2), (3, 2)], "events of session 1 is 3"),
        ([(-1, 2)], "events of session 0 is -1"),
        ([(1.0, 2)], "events of session 0 is 1.0"),
        ([(True, 2)], "events of session 0 is True"),
        ([(1, float("nan"))], "calls of session 0 is nan"),
    ],
)
def test_bad_sessions_are_refused(counts, said) -> None:
    for method in (sessions, clustered, lambda bad: resampled(bad, 1)):
        with pytest.raises(UsageError, match=said):
            method(counts)


def test_bad_seeds_levels_and_sides_are_refused() -> None:
    counts = [(1, 5)] * 50
    for seed in (-1, 1.5, True, None):
        with pytest.raises(UsageError, match="seed is"):
            resampled(counts, seed)
    with pytest.raises(UsageError, match="draws is 10"):
        resampled(counts, 1, draws=10)
    with pytest.raises(UsageError, match="level is"):
        clustered(counts, 1.0)
    with pytest.raises(UsageError, match="side is"):
        clustered(counts, 0.95, "both")
