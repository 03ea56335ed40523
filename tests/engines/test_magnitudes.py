"""Counts by powers of two, exact for every double."""

import math
from fractions import Fraction

import numpy as np
import pytest

from shoal.engines import magnitude_counts, magnitude_edges
from shoal.engines.magnitudes import CHUNK

EDGES = magnitude_edges()


def bin_of(value):
    """Find the bin by comparing exact fractions; bins are closed on the side of zero."""
    exact = abs(Fraction(value))
    if exact < Fraction(2) ** -40:
        return 100
    power = -40
    while power < 59 and exact >= Fraction(2) ** (power + 1):
        power += 1
    return 100 + (power + 41) * (1 if value > 0 else -1)


def counted(*values):
    counts = magnitude_counts(np.array(values, dtype=np.float64)[:, None])
    assert counts.shape == (1, 201)
    return counts[0]


def test_edges_are_powers_of_two_around_zero():
    assert len(EDGES) == 202
    assert (np.diff(EDGES) > 0).all()
    assert (EDGES + EDGES[::-1] == 0).all()
    assert all(math.frexp(edge)[0] == 0.5 for edge in EDGES[101:])


def around(power):
    value = 2.0**power
    return (np.nextafter(value, 0.0), value, np.nextafter(value, np.inf), 1.5 * value)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_every_power_of_two_and_its_neighbors(sign):
    for power in range(-45, 65):
        for value in around(power):
            (filled,) = np.flatnonzero(counted(sign * value))
            assert filled == bin_of(sign * value)


def test_bins_hold_what_their_edges_say():
    rng = np.random.default_rng(0)
    values = rng.choice([-1.0, 1.0], 2000) * 2.0 ** rng.uniform(-39, 59, 2000)
    for value in values:
        (filled,) = np.flatnonzero(counted(value))
        assert EDGES[filled] <= value <= EDGES[filled + 1]


def test_zeros_subnormals_and_giants(subtests):
    for value, place in [
        (0.0, 100),
        (-0.0, 100),
        (5e-324, 100),
        (-5e-324, 100),
        (2.0**-1022, 100),
        (-(2.0**-1030), 100),
        (1e-13, 100),
        (1.7e308, 200),
        (-1.7e308, 0),
        (2.0**60, 200),
        (-(2.0**60), 0),
    ]:
        with subtests.test(value=value, place=place):
            assert counted(value)[place] == 1


def test_one_count_for_each_record_and_column(subtests):
    for n in [1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 7]:
        with subtests.test(n=n):
            rng = np.random.default_rng(n)
            X = rng.standard_normal((n, 3)) * [1e-6, 1.0, 1e6]
            counts = magnitude_counts(X)
            assert counts.dtype == np.int64
            assert (counts.sum(axis=1) == n).all()
            weights = rng.integers(0, 257, n).astype(np.int32)
            weighted = magnitude_counts(X, weights)
            assert (weighted.sum(axis=1) == weights.sum()).all()
            assert (magnitude_counts(X, np.full(n, 256, np.int32)) == 256 * counts).all()


def test_weights_repeat_records():
    X = np.array([[3.0, -1.0], [0.0, 8.0], [100.0, 1e-20]])
    weights = np.array([2, 0, 5], np.int32)
    assert (magnitude_counts(X, weights) == magnitude_counts(np.repeat(X, weights, axis=0))).all()


def test_one_record_changes_one_bin_of_each_column_by_its_weight():
    X = np.random.default_rng(1).standard_normal((50, 4))
    more = np.concatenate([X, [[1e9, -1e-9, 0.0, 3.0]]])
    gaps = magnitude_counts(more) - magnitude_counts(X)
    assert (np.abs(gaps).sum(axis=1) == 1).all()
