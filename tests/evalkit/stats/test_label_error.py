"""Rates corrected for label errors: reference and published values, laws, refusals."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import RefusedError, UsageError
from evalkit.stats.binomial import clopper_pearson
from evalkit.stats.label_error import GUARANTEED, KNOWN, rogan_gladen

share = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
good = st.integers(5, 300).flatmap(lambda n: st.tuples(st.integers(n * 3 // 5, n), st.just(n)))


def test_reference_values(table) -> None:
    for row in table("rogan_gladen"):
        counts = (int(row["x"]), int(row["n"]))
        study = (
            (int(row["se_pos"]), int(row["se_n"])),
            (int(row["sp_neg"]), int(row["sp_n"])),
        )
        found, known = rogan_gladen(*counts, *study), rogan_gladen(*counts, *study, method=KNOWN)
        assert found is not None
        assert known is not None
        assert found.raw == pytest.approx(float(row["rogan_gladen_raw"]), abs=1e-9)
        wanted = tuple(float(row[name]) for name in ("lr_est", "lr_lower95", "lr_upper95"))
        assert (found.value, found.lower, found.upper) == pytest.approx(wanted, abs=1e-9), row
        # The tool leaves limits of known error rates uncut.
        for limit, column in ((known.lower, "lower95"), (known.upper, "upper95")):
            uncut = float(row[f"known_sesp_cp_{column}"])
            assert limit == pytest.approx(min(1.0, max(0.0, uncut)), abs=1e-9), row


def test_published_values(table) -> None:
    rows = {row["quantity"]: row for row in table("textbook_values")}
    row = rows["rogan_gladen_known_cp"]
    assert row["inputs"] == "x=20;n=120;se=0.9;sp=0.99;conf=0.95"
    found = rogan_gladen(20, 120, (90, 100), (99, 100), method=KNOWN)
    assert found is not None
    wanted = tuple(float(part) for part in row["published"].split(";"))
    assert (found.value, found.lower, found.upper) == pytest.approx(
        wanted, abs=float(row["tolerance"])
    )


def test_a_rate_at_the_labelers_own_error_is_cut_at_0() -> None:
    found = rogan_gladen(0, 300, (48, 50), (99, 100))
    assert found is not None
    assert found.raw < 0
    assert (found.value, found.lower) == (0.0, 0.0)
    assert 0 < found.upper < 0.02


@settings(deadline=None)
@given(share, good, good)
def test_the_guaranteed_interval_is_wider_than_that_of_known_rates(counts, hits, rights) -> None:
    try:
        wide = rogan_gladen(*counts, hits, rights, method=GUARANTEED)
    except RefusedError:
        return
    known = rogan_gladen(*counts, hits, rights, method=KNOWN)
    assert wide is not None
    assert known is not None
    assert wide.lower <= known.lower + 1e-12
    assert wide.upper >= known.upper - 1e-12
    assert 0 <= wide.lower <= wide.value <= wide.upper <= 1


@settings(deadline=None)
@given(share)
def test_labels_without_error_change_nothing(counts: tuple[int, int]) -> None:
    k, n = counts
    found = rogan_gladen(k, n, (500, 500), (500, 500), method=KNOWN)
    plain = clopper_pearson(k, n)
    assert found is not None
    assert found.value == pytest.approx(k / n, abs=1e-12)
    assert (found.lower, found.upper) == pytest.approx((plain.lower, plain.upper), abs=1e-12)


@settings(deadline=None)
@given(share, good, good)
def test_exchanging_events_and_others_turns_it_round(counts, hits, rights) -> None:
    k, n = counts
    try:
        found = rogan_gladen(k, n, hits, rights)
    except RefusedError:
        return
    turned = rogan_gladen(n - k, n, rights, hits)
    assert found is not None
    assert turned is not None
    assert found.lower == pytest.approx(1 - turned.upper, abs=1e-9)
    assert found.value == pytest.approx(1 - turned.value, abs=1e-9)


@pytest.mark.parametrize(
    "study", [((5, 10), (5, 10)), ((1, 3), (2, 3)), ((0, 10), (10, 10)), ((3, 10), (2, 10))]
)
def test_labels_no_better_than_chance_are_refused(study) -> None:
    with pytest.raises(RefusedError, match="no more than chance"):
        rogan_gladen(3, 100, *study)


def test_without_a_study_or_calls() -> None:
    with pytest.raises(RefusedError, match="no true events"):
        rogan_gladen(3, 100, (0, 0), (9, 10))
    assert rogan_gladen(0, 0, (9, 10), (9, 10)) is None


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ((-1, 5, (9, 10), (9, 10)), "k is -1"),
        ((6, 5, (9, 10), (9, 10)), "k is 6"),
        ((1.0, 5, (9, 10), (9, 10)), "k is 1.0"),
        ((1, 5, (11, 10), (9, 10)), "sensitivity k is 11"),
        ((1, 5, (9, 10), (True, 10)), "specificity k is True"),
        ((1, 5, (9, float("nan")), (9, 10)), "sensitivity n is nan"),
    ],
)
def test_bad_counts_are_refused(given_, said) -> None:
    with pytest.raises(UsageError, match=said):
        rogan_gladen(*given_)


def test_bad_levels_and_methods_are_refused() -> None:
    with pytest.raises(UsageError, match="level is"):
        rogan_gladen(1, 5, (9, 10), (9, 10), 2)
    with pytest.raises(UsageError, match="method is 'Wald'"):
        rogan_gladen(1, 5, (9, 10), (9, 10), method="Wald")
