import importlib
from fractions import Fraction

import numpy as np
import pytest

from shoal.exceptions import DataError
from shoal.metrics import disclosure_risk

# The function hides the module of the same name.
MODULE = importlib.import_module("shoal.metrics.disclosure_risk")


def brute_force(X, reports):
    """Exact fractions of whole numbers, one report at a time."""
    total = Fraction(0)
    for own, report in enumerate(reports):
        squared = [sum((a - b) ** 2 for a, b in zip(report, x, strict=True)) for x in X]
        if squared[own] == min(squared):
            total += Fraction(1, squared.count(min(squared)))
    return float(total / len(X))


@pytest.fixture(params=["tree", "distances"])
def search(request, monkeypatch):
    """Both ways to find the nearest record, the second in chunks of a few rows."""
    if request.param == "distances":
        monkeypatch.setattr(MODULE, "TREE_COLUMNS", 0)
        monkeypatch.setattr(MODULE, "CHUNK_VALUES", 100)


@pytest.mark.usefixtures("search")
@pytest.mark.parametrize("seed", range(25))
def test_against_exact_fractions_with_many_ties(seed):
    """Whole numbers on a small lattice: copies of records and equal distances everywhere."""
    rng = np.random.default_rng(seed)
    n, columns = rng.integers(1, 60), rng.integers(1, 4)
    X = rng.integers(0, 5, size=(n, columns)) * 2
    reports = X + rng.integers(-2, 3, size=X.shape)
    expected = brute_force(X.tolist(), reports.tolist())
    assert disclosure_risk(X, reports) == pytest.approx(expected, abs=1e-15)


@pytest.mark.usefixtures("search")
def test_ties_survive_rounding():
    """Cells of width 0.1 and reports on their midpoints: no such distance is exact."""
    X = np.array([[0.1 * i, 0.1 * j] for i in range(10) for j in range(10)])
    reports = X + 0.05
    inner, side, corner = 81, 18, 1
    assert disclosure_risk(X, reports) == pytest.approx(
        (inner / 4 + side / 2 + corner) / 100, abs=1e-12
    )


@pytest.mark.usefixtures("search")
def test_no_noise_links_all_and_a_swap_none():
    X = np.random.default_rng(0).random((200, 2))
    assert disclosure_risk(X, X) == 1.0
    assert disclosure_risk(X, np.roll(X, 1, axis=0)) == 0.0


@pytest.mark.usefixtures("search")
def test_equal_records_share_their_risk():
    assert disclosure_risk(np.zeros((8, 2)), np.random.default_rng(0).random((8, 2))) == 1 / 8
    X = np.repeat([[0.0], [10.0]], [4, 1], axis=0)
    assert disclosure_risk(X, X + 1) == (4 * (1 / 4) + 1) / 5
    assert disclosure_risk([[3.0]], [[99.0]]) == 1.0


def test_reports_that_say_nothing_give_the_baseline():
    """Mean of 400 runs of 50 reports: 5 standard errors, false alarm below 10^-6."""
    rng = np.random.default_rng(1)
    risks = [disclosure_risk(*rng.random((2, 50, 2))) for _ in range(400)]
    assert abs(np.mean(risks) - 1 / 50) < 5 * np.std(risks) / 20


@pytest.mark.parametrize("columns", [10, 11])
def test_both_sides_of_the_change_agree(columns, monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.random((300, columns))
    reports = X + rng.normal(scale=0.5, size=X.shape)
    risk = disclosure_risk(X, reports)
    assert 0.05 < risk < 0.95
    monkeypatch.setattr(MODULE, "TREE_COLUMNS", 21 - columns)
    assert disclosure_risk(X, reports) == risk


def test_a_hundred_thousand_records():
    rng = np.random.default_rng(3)
    X = rng.random((100_000, 2))
    assert disclosure_risk(X, X + rng.normal(scale=1e-6, size=X.shape)) > 0.99
    assert disclosure_risk(X, X + rng.laplace(size=X.shape)) < 0.001


def test_shift_and_unit_do_not_matter():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 64, size=(100, 2)) / 64
    reports = X + rng.integers(-9, 10, size=X.shape) / 64
    risk = disclosure_risk(X, reports)
    assert disclosure_risk(X + 2.0**20, reports + 2.0**20) == risk
    assert disclosure_risk(X * 2.0**-200, reports * 2.0**-200) == risk


@pytest.mark.usefixtures("search")
@pytest.mark.parametrize("size", [1e160, 1.5e308])
def test_overflow_is_not_silent(size):
    """Also where only distances to other records are too large."""
    with pytest.raises(DataError, match="X and reports must be small enough"):
        disclosure_risk([[0.0], [size]], [[0.0], [size]])


def test_bad_input():
    with pytest.raises(
        DataError, match=r"reports must have the shape of X, \(1, 2\), got \(1, 1\)"
    ):
        disclosure_risk([[0.0, 1.0]], [[0.0]])
    with pytest.raises(DataError, match="reports must be a table of finite numbers"):
        disclosure_risk([[0.0, 1.0]], [[0.0, np.nan]])
    with pytest.raises(DataError, match="X must hold finite numbers"):
        disclosure_risk([[np.nan]], [[0.0]])
