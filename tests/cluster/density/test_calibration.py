"""The threshold of prominence: kept where there is one cluster, and not wasted."""

import numpy as np
import pytest
from scipy import stats

from shoal.cluster.density import _calibration
from shoal.cluster.density._calibration import laplace_variance
from shoal.cluster.density._cells import NoisyGrid
from shoal.density import find_merges


def threshold_of(records, side, scale, rng):
    """Return the threshold and the largest prominence of a table's noisy counts."""
    columns = records.shape[1]
    counts, _ = np.histogramdd(records, bins=(side,) * columns, range=[(0, 1)] * columns)
    noise = _calibration._laplace(rng, scale, counts.size).reshape(counts.shape)
    noisy = NoisyGrid(counts.astype(np.int64) + noise, scale)
    threshold, merges = calibrated(noisy, 0.05)
    return threshold, float(merges.prominence.max(initial=0.0))


def calibrated(noisy, alpha):
    estimate = noisy.estimate()
    merges = find_merges(estimate, noisy.cells.edges)
    return noisy.chance(estimate, merges, noisy.cells).threshold(alpha), merges


def uniform(rng):
    return rng.random((2000, 2))


def gaussian(rng):
    return np.clip(rng.normal(0.5, 0.15, (2000, 2)), 0, 1)


def ring(rng):
    angle = 2 * np.pi * rng.random(2000)
    center = 0.5 + 0.4 * np.column_stack([np.cos(angle), np.sin(angle)])
    return center + rng.normal(0, 0.03, (2000, 2))


@pytest.mark.full
@pytest.mark.parametrize("shape", [uniform, gaussian, ring])
def test_one_cluster_is_rarely_split(shape):
    # A rate of alpha fails with probability 1e-4.
    runs, false = 100, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        threshold, largest = threshold_of(shape(rng), 23, 1.0, rng)
        false += largest >= threshold
    assert false <= stats.binom.isf(1e-4, runs, 0.05)


def test_two_clusters_are_found():
    rng = np.random.default_rng(0)
    records = np.clip(rng.normal([[0.3, 0.3], [0.7, 0.7]] * 1000, 0.06), 0, 1)
    threshold, largest = threshold_of(records, 23, 1.0, rng)
    assert 1.9 < threshold < 4 < largest


def test_a_ridge_asks_for_more_than_a_hill():
    rng = np.random.default_rng(0)
    assert threshold_of(ring(rng), 23, 1.0, rng)[0] > threshold_of(gaussian(rng), 23, 1.0, rng)[0]


def test_the_same_counts_give_the_same_threshold_and_less_alpha_a_higher_one():
    rng = np.random.default_rng(0)
    noisy = NoisyGrid(rng.poisson(3.0, size=(20, 20)), 1.0)
    one, other, less = (calibrated(noisy, alpha)[0] for alpha in (0.05, 0.05, 0.001))
    assert one == other < less


@pytest.mark.parametrize("scale", [0.05, 0.5, 10.0])
def test_laplace_variance(scale):
    values = np.arange(-2000, 2001)
    weights = np.exp(-np.abs(values) / scale)
    assert laplace_variance(scale) == pytest.approx((weights * values**2).sum() / weights.sum())


def test_an_empty_grid_needs_a_threshold_too():
    noisy = NoisyGrid(np.zeros((8, 8), dtype=np.int64), 0.01)
    assert calibrated(noisy, 0.05)[0] == pytest.approx(1.96, abs=0.01)
