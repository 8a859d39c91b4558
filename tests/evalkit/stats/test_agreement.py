"""Agreement of labelers: reference and published values, independent routes, laws, refusals."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.stats import kappa as module
from evalkit.stats.agreement import agreement
from evalkit.stats.binomial import clopper_pearson
from evalkit.stats.kappa import kappa, kappa_resampled

COEFFICIENTS = (
    (module.KAPPA, "kappa", "kappa_ase"),
    (module.LINEAR, "wkappa_linear", "wkappa_linear_ase"),
    (module.QUADRATIC, "wkappa_quadratic", "wkappa_quadratic_ase"),
    (module.AC1, "gwet_ac1", "gwet_ac1_se"),
    (module.AC2, "gwet_ac2_linear", None),
    (module.BRENNAN_PREDIGER, "brennan_prediger", "brennan_prediger_se"),
)
NAMES = [name for name, _, _ in COEFFICIENTS]
tables = st.integers(2, 4).flatmap(
    lambda q: st.lists(st.lists(st.integers(0, 60), min_size=q, max_size=q), min_size=q, max_size=q)
)
Cells = list[list[int]]


def of_row(row: dict[str, str]) -> Cells:
    q, cells = int(row["q"]), [int(part) for part in row["cells"].split(";")]
    return [cells[at * q : (at + 1) * q] for at in range(q)]


def test_reference_values(table) -> None:
    for row in table("kappa"):
        cells = of_row(row)
        found = agreement(cells, [str(at) for at in range(len(cells))])
        assert (found.agree, found.n) == (int(row["agree"]), int(float(row["n"])))
        limits = (float(row["agree_lower95"]), float(row["agree_upper95"]))
        assert (found.raw.lower, found.raw.upper) == pytest.approx(limits, rel=1e-10)
        for name, column, error in COEFFICIENTS:
            made = kappa(cells, name)
            if row[column] == "":
                assert made[1:5] == (None, None, None, None), row
                continue
            assert made.value == pytest.approx(float(row[column]), abs=1e-12), (row, name)
            if error is not None:
                # A table without any agreement has an error of 0, which the tool gives as 8e-9.
                assert made.se == pytest.approx(float(row[error]), abs=1e-8), (row, name)


def test_published_values(table) -> None:
    rows = {row["quantity"]: row for row in table("textbook_values")}
    cells = [
        [int(cell) for cell in line.split(",")] for line in rows["kappa_ase"]["inputs"].split("/")
    ]
    value, error = (float(part) for part in rows["kappa_ase"]["published"].split(";"))
    found = kappa(cells)
    assert (found.value, found.se) == pytest.approx((value, error), abs=5e-5)
    linear = float(rows["wkappa_equal_spacing"]["published"])
    assert kappa(cells, module.LINEAR).value == pytest.approx(linear, abs=5e-5)


def test_rare_labels_make_kappa_low_however_well_people_agree() -> None:
    cells = [[118, 5], [2, 0]]
    found = agreement(cells, ("allow", "deny"))
    assert found.agree / found.n > 0.94
    assert kappa(cells).value == pytest.approx(-0.02, abs=0.01)
    assert kappa(cells, module.AC1).value == pytest.approx(0.94, abs=0.01)
    assert [one.value for one in found.each] == [2 * 118 / 243, 0.0]


def test_full_agreement_has_no_large_sample_interval() -> None:
    found = kappa([[37, 0], [0, 13]])
    assert (found.value, found.se, found.lower, found.upper) == (1.0, 0.0, None, None)
    assert kappa_resampled([[37, 0], [0, 13]], seed=1).lower is None


def test_one_label_only_leaves_kappa_undefined() -> None:
    assert kappa([[50, 0, 0], [0, 0, 0], [0, 0, 0]]).value is None
    found = agreement([[50, 0, 0], [0, 0, 0], [0, 0, 0]])
    assert [one.value for one in found.each] == [1.0, None, None]
    assert found.raw.lower == pytest.approx(0.025 ** (1 / 50))
    for name in NAMES:
        assert kappa([[0, 0], [0, 0]], name).value is None


def test_missing_labels_are_counted_both_ways() -> None:
    found = agreement([[40, 2, 0], [1, 5, 0], [0, 0, 3]], missing=4)
    assert (found.worst.k, found.worst.n) == (48, 55)
    assert (found.best.k, found.best.n) == (52, 55)
    assert found.worst == clopper_pearson(48, 55)


@settings(deadline=None)
@given(tables, st.sampled_from(NAMES))
def test_exchanging_the_labelers_changes_nothing(cells: Cells, name: str) -> None:
    found = kappa(cells, name)
    turned = kappa([list(column) for column in zip(*cells, strict=True)], name)
    assert (found.value is None) == (turned.value is None)
    if found.value is not None:
        assert found.value == pytest.approx(turned.value, abs=1e-12)
        assert found.se == pytest.approx(turned.se, abs=1e-8)
        assert found.value <= 1 + 1e-12
    if found.lower is not None and found.value is not None and found.upper is not None:
        assert -1 <= found.lower <= found.value <= found.upper <= 1
        wide = kappa(cells, name, 0.99)
        assert wide.lower is not None
        assert wide.lower <= found.lower


@settings(deadline=None)
@given(st.lists(st.integers(0, 60), min_size=4, max_size=4))
def test_with_two_labels_weights_say_nothing(cells: list[int]) -> None:
    made = [cells[:2], cells[2:]]
    plain = kappa(made)
    for name in (module.LINEAR, module.QUADRATIC):
        assert kappa(made, name)[1:5] == plain[1:5]
    assert kappa(made, module.AC2)[1:5] == kappa(made, module.AC1)[1:5]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 25), min_size=4, max_size=4), st.sampled_from(NAMES))
def test_the_standard_error_is_the_slope_of_the_coefficient(cells: list[int], name: str) -> None:
    """Independent route: the delta method with numerical slopes, for 10,000 times the calls."""
    scale, step = 10_000, 5

    def value(change: dict[int, int]) -> float:
        moved = [cell * scale + change.get(at, 0) for at, cell in enumerate(cells)]
        found = kappa([moved[:2], moved[2:]], name).value
        assert found is not None
        return found

    n = sum(cells) * scale
    slopes = [(value({at: step}) - value({at: -step})) / (2 * step) for at in range(4)]
    shares = [cell * scale / n for cell in cells]
    mean = sum(s * p for s, p in zip(slopes, shares, strict=True))
    variance = n * (sum(s * s * p for s, p in zip(slopes, shares, strict=True)) - mean**2)
    found = kappa([[c * scale for c in cells[:2]], [c * scale for c in cells[2:]]], name).se
    assert found == pytest.approx(variance**0.5, rel=1e-3, abs=1e-9)


def test_a_seed_gives_the_same_resamples() -> None:
    cells = [[30, 2, 0], [3, 25, 0], [0, 0, 0]]
    found, plain = kappa_resampled(cells, seed=1), kappa(cells)
    assert found == kappa_resampled(cells, seed=1)
    assert (found.lower, found.upper) == (0.6610169491525423, 0.9662162162162163)
    assert (found.value, found.se) == (plain.value, plain.se)
    assert plain.lower == pytest.approx(found.lower, abs=0.05)


def test_resamples_without_a_value_leave_no_interval() -> None:
    """Half of the resamples of one rare label hold none of it, and have no kappa."""
    found = kappa_resampled([[40, 1], [0, 1]], seed=1)
    assert found.value is not None
    assert (found.lower, found.upper) == (None, None)


BAD = [
    ([], "expected a square"),
    ([[1]], "expected a square"),
    ([[1, 2], [3]], "hold 2, 1 cells"),
    ([[1, 2, 3], [4, 5, 6]], "expected a square"),
    ([[1, -2], [3, 4]], "row 0 column 1 is -2"),
    ([[1, 2], [3.0, 4]], "row 1 column 0 is 3.0"),
    ([[1, 2], [3, True]], "row 1 column 1 is True"),
    ([[1, float("nan")], [3, 4]], "row 0 column 1 is nan"),
]


@pytest.mark.parametrize(("cells", "said"), BAD)
def test_bad_tables_are_refused(cells, said) -> None:
    for method in (
        lambda bad: agreement(bad, ("a", "b")),
        kappa,
        lambda bad: kappa_resampled(bad, 1),
    ):
        with pytest.raises(UsageError, match=said):
            method(cells)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(UsageError, match="the table has 2 rows: expected 3"):
        agreement([[1, 2], [3, 4]])
    with pytest.raises(UsageError, match="missing is -1"):
        agreement([[1, 2], [3, 4]], ("a", "b"), missing=-1)
    with pytest.raises(UsageError, match="coefficient is 'alpha'"):
        kappa([[1, 2], [3, 4]], "alpha")
    with pytest.raises(UsageError, match="level is"):
        kappa([[1, 2], [3, 4]], level=0)
    with pytest.raises(UsageError, match="seed is"):
        kappa_resampled([[1, 2], [3, 4]], -1)
    with pytest.raises(UsageError, match="draws is 5"):
        kappa_resampled([[1, 2], [3, 4]], 1, draws=5)
