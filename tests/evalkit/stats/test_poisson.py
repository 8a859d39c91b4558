"""Intensities: reference values, published factors, laws and refusals."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.stats.poisson import poisson


def test_reference_values(table) -> None:
    for row in table("poisson_exact"):
        k, exposure, level = int(row["x"]), float(row["exposure"]), float(row["conf"])
        two, one = poisson(k, exposure, "hour", level), poisson(k, exposure, "hour", level, "upper")
        assert two.lower == pytest.approx(float(row["lower_two"]), rel=1e-10)
        assert two.upper == pytest.approx(float(row["upper_two"]), rel=1e-10)
        assert one.upper == pytest.approx(float(row["upper_one"]), rel=1e-10)


def test_published_confidence_factors(table) -> None:
    rows = [row for row in table("textbook_values") if row["quantity"].startswith("poisson")]
    assert len(rows) == 16
    for row in rows:
        inputs = dict(part.split("=") for part in row["inputs"].split(";"))
        level = 1 - float(inputs["alpha"])
        found = poisson(int(inputs["x"]), 1, "window", level, "upper").upper
        assert found == pytest.approx(float(row["published"]), abs=float(row["tolerance"]))


@settings(deadline=None)
@given(st.integers(0, 5000), st.floats(0.01, 1e6))
def test_laws(k: int, exposure: float) -> None:
    found, wide = poisson(k, exposure, "hour"), poisson(k, exposure, "hour", 0.99)
    assert wide.lower <= found.lower <= found.value <= found.upper <= wide.upper
    assert found.upper < poisson(k + 1, exposure, "hour").upper
    assert poisson(k, exposure, "hour", 0.975, "upper").upper == pytest.approx(found.upper)


def test_edges_and_names() -> None:
    found = poisson(0, 12.5, "1,000 calls", side="upper")
    assert (found.lower, found.value, found.unit) == (0.0, 0.0, "1,000 calls")
    assert found.upper == pytest.approx(2.995732273553991 / 12.5)
    assert poisson(4, 2, "hour", side="lower").upper == float("inf")


@pytest.mark.parametrize("k", [-1, 1.0, True, float("nan"), None])
def test_bad_counts_are_refused(k) -> None:
    with pytest.raises(UsageError, match="k is"):
        poisson(k, 1, "hour")


@pytest.mark.parametrize("exposure", [0, -1, float("nan"), float("inf"), True, "1", None])
def test_bad_exposures_are_refused(exposure) -> None:
    with pytest.raises(UsageError, match="exposure is"):
        poisson(1, exposure, "hour")


@pytest.mark.parametrize("unit", ["", None, 3])
def test_an_intensity_names_its_unit(unit) -> None:
    with pytest.raises(UsageError, match="unit is"):
        poisson(1, 1, unit)
