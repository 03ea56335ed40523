from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shoal.exceptions import DataError, DataTypeError, ParameterError
from shoal.metrics import nicv
from shoal.metrics.nicv import CHUNK_VALUES

NUMBERS = st.floats(-1e6, 1e6)


def brute_force(X, centers):
    """Exact rational arithmetic."""
    total = Fraction(0)
    for x in X:
        total += min(
            sum((Fraction(float(a)) - Fraction(float(b))) ** 2 for a, b in zip(x, c, strict=True))
            for c in centers
        )
    return float(total / len(X))


@settings(max_examples=50, deadline=None)
@given(
    st.integers(1, 3).flatmap(
        lambda d: st.tuples(
            arrays(float, st.tuples(st.integers(1, 8), st.just(d)), elements=NUMBERS),
            arrays(float, st.tuples(st.integers(1, 4), st.just(d)), elements=NUMBERS),
        )
    )
)
def test_against_exact_arithmetic(tables):
    X, centers = tables
    assert nicv(X, centers) == pytest.approx(brute_force(X, centers), rel=1e-12, abs=1e-300)


def test_exact_far_from_the_origin():
    """Expanded squares would lose every digit here."""
    X = np.array([[1e8, 1e8], [1e8 + 1, 1e8]])
    assert nicv(X, [[1e8, 1e8]]) == 0.5


def test_pieces_give_the_sum_of_the_whole():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(CHUNK_VALUES // 1000, 2))
    X = rng.normal(size=(2500, 2))
    nearest = ((X[:, None] - centers[None, :300]) ** 2).sum(axis=2).min(axis=1)
    assert nicv(X, centers[:300]) == pytest.approx(nearest.mean(), rel=1e-13)
    whole = [nicv(part, centers) * len(part) for part in (X[:900], X[900:])]
    assert nicv(X, centers) == pytest.approx(sum(whole) / len(X), rel=1e-13)


def test_one_record_and_more_centers_than_records():
    assert nicv([[1.0, 2.0]], [[1.0, 2.0], [5.0, 5.0]]) == 0.0


def test_tables_of_several_kinds():
    X = [[0, 0], [2, 0]]
    for table in (X, np.array(X, dtype=np.int8), pd.DataFrame(X, columns=["a", "b"])):
        assert nicv(table, [[1, 0]]) == 1.0
    assert nicv(np.array(X, dtype=object), [[1, 0]]) == 1.0


@pytest.mark.parametrize("X", [[], [[]], 1.0, [1.0, 2.0], np.zeros((2, 2, 2)), np.zeros((0, 2))])
def test_not_a_table(X):
    with pytest.raises(DataError, match=r"X must (be a table|hold at least one record)"):
        nicv(X, [[0.0, 0.0]])


@pytest.mark.parametrize(
    "X", [[["a"]], [["1"]], np.array([["17.25"]], dtype=object), [[1j]], [[1.0], [1.0, 2.0]]]
)
def test_not_numbers(X):
    with pytest.raises(DataTypeError, match=r"X must (be a table of|hold) numbers") as caught:
        nicv(X, [[0.0]])
    assert "17" not in str(caught.value)


@pytest.mark.parametrize("X", [None, [[None]]])
def test_nothing_where_a_number_should_be(X):
    with pytest.raises(DataError):
        nicv(X, [[0.0]])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite(value):
    with pytest.raises(DataError, match="X must hold finite numbers") as caught:
        nicv([[12.5], [value]], [[0.0]])
    assert "12.5" not in str(caught.value)
    with pytest.raises(ParameterError, match="centers must be a table of finite numbers"):
        nicv([[12.5]], [[value]])


def test_too_large_to_square():
    with pytest.raises(DataError, match="squared distances"):
        nicv([[1e200], [0.0]], [[0.0]])


@pytest.mark.parametrize("centers", [[], [0.0, 1.0], [[0.0]], np.zeros((0, 2)), 3.0])
def test_centers_of_another_shape(centers):
    with pytest.raises(ParameterError, match=r"centers must .* columns, as X has"):
        nicv([[0.0, 0.0]], centers)


def test_centers_that_are_not_numbers():
    with pytest.raises(ParameterError, match="centers must be a table"):
        nicv([[0.0]], [["a"]])
