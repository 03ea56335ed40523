"""Vectors of length 1: the same bits wherever a record lies."""

import numpy as np
import pytest

from shoal._directions import unit_length

RNG = np.random.default_rng(0)


def records(d, dtype=np.float64):
    X = RNG.normal(size=(700, d)).astype(dtype)
    X[:3] = [[0.0] * d, [-0.0] * d, [3.0] * d]
    return X


@pytest.mark.parametrize("d", [1, 2, 7, 16, 100])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_same_bits_in_every_layout_and_block(d, dtype):
    X = records(d, dtype)
    whole = unit_length(X.T)
    assert whole.dtype == np.float64
    assert (unit_length(X.astype(np.float64).T) == whole).all()
    assert (unit_length(np.asfortranarray(X).T) == whole).all()
    assert (unit_length([np.ascontiguousarray(column) for column in X.T]) == whole).all()
    for rows in (1, 2, 13, 256):
        cut = [unit_length(X[start : start + rows].T) for start in range(0, len(X), rows)]
        assert (np.concatenate(cut, axis=1) == whole).all()
    every = RNG.permutation(len(X))
    assert (unit_length(X[every].T) == whole[:, every]).all()


def test_squares_are_added_one_column_after_the_other():
    """Any other order gives other bits for some of so many records."""
    X = records(100)
    total = np.zeros(len(X))
    for column in X.T:
        total = total + column * column
    total[total == 0.0] = 1.0
    assert (unit_length(X.T) == X.T / np.sqrt(total)).all()
    assert (X.T / np.linalg.norm(X, axis=1).clip(1e-9) != unit_length(X.T)).any()


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-140, 1.0, 1e140, 1e300, 1e308])
def test_lengths_are_one_at_any_scale(scale):
    directions = np.sign(records(30)[2:])
    lengths = np.sqrt((unit_length((scale * directions).T) ** 2).sum(axis=0))
    np.testing.assert_allclose(lengths, 1.0, rtol=1e-14)


def test_zeros_stay_zeros_and_what_is_not_finite_shows():
    X = np.array([[0.0, 0.0], [np.inf, 1.0], [np.nan, 1.0], [1e308, -np.inf], [3.0, 4.0]])
    found = unit_length(X.T).T
    assert found[0].tolist() == [0.0, 0.0]
    assert found[4].tolist() == [0.6, 0.8]
    assert np.isnan(found[1:4]).any(axis=1).all()


def test_records_are_left_as_they_are():
    X = records(3)
    before = X.copy()
    unit_length(X.T)
    assert (before == X).all()
