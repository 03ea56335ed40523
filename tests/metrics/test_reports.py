"""The distance between records and reports."""

import math

import numpy as np
import pandas as pd
import pytest

from shoal.exceptions import DataError, DataTypeError
from shoal.metrics import privacy_distance


@pytest.mark.parametrize("columns", [1, 2, 7])
def test_against_a_loop(columns):
    rng = np.random.default_rng(columns)
    X, reports = rng.normal(size=(2, 50, columns))
    distances = [math.dist(a, b) for a, b in zip(X.tolist(), reports.tolist(), strict=True)]
    assert privacy_distance(X, reports) == pytest.approx(math.fsum(distances) / 50, rel=1e-13)


def test_all_chunks_count(monkeypatch):
    rng = np.random.default_rng(0)
    X, reports = rng.normal(size=(2, 101, 3))
    whole = privacy_distance(X, reports)
    monkeypatch.setattr("shoal.metrics.reports.CHUNK_VALUES", 30)
    assert privacy_distance(X, reports) == pytest.approx(whole, rel=1e-14)


def test_far_from_the_origin_nothing_is_lost():
    X = np.full((4, 2), 2.0**40)
    assert privacy_distance(X, X + np.array([3.0, 4.0])) == 5.0
    assert privacy_distance(X, X) == 0.0


def test_unit_and_tables():
    X = pd.DataFrame({"a": [0, 1], "b": [0, 1]})
    assert privacy_distance(X, [[3, 4], [1, 1]]) == 2.5
    assert privacy_distance(X * 2, [[6, 8], [2, 2]]) == 5.0


@pytest.mark.parametrize("size", [1e160, 1.5e308])
def test_overflow_is_not_silent(size):
    with pytest.raises(DataError, match="X and reports must be small enough"):
        privacy_distance([[0.0], [-size]], [[0.0], [size]])


@pytest.mark.parametrize(
    ("reports", "words"),
    [
        ([[1.0, 2.0]], r"reports must have the shape of X, \(2, 2\), got \(1, 2\)"),
        ([[1.0], [2.0]], r"reports must have the shape of X, \(2, 2\), got \(2, 1\)"),
        ([[12.5, np.nan], [0, 0]], "reports must be a table of finite numbers of the shape of X"),
        ([["a", "b"], ["c", "d"]], "reports must be a table of finite numbers"),
        ([1.0, 2.0], "reports must be a table of finite numbers"),
        (None, "reports must be a table of finite numbers"),
    ],
)
def test_bad_reports(reports, words):
    with pytest.raises(DataError, match=words) as caught:
        privacy_distance([[0.0, 0.0], [1.0, 1.0]], reports)
    assert "12.5" not in str(caught.value)


def test_bad_records():
    with pytest.raises(DataError, match="X must hold finite numbers"):
        privacy_distance([[np.inf]], [[0.0]])
    with pytest.raises(DataTypeError, match="X must be a table of numbers"):
        privacy_distance([["a"]], [[0.0]])
