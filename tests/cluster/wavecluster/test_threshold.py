"""A threshold chosen from the noisy band: on bands made by hand, against loops, and on odd ones."""

import math

import numpy as np
import pytest

from shoal.cluster import DPWaveCluster
from shoal.cluster.wavecluster import label_grid
from shoal.cluster.wavecluster._threshold import _climb, _worth, automatic_cells, denoised
from shoal.noise import SeededSource, discrete_laplace

SIDE = 32


def two_hills(valley, *, columns=2, top=100.0):
    """A band with two blocks of one density, and a bridge of another between them."""
    band = np.zeros((SIDE,) * columns)
    middle = (slice(12, 20),) * (columns - 1)
    band[(slice(4, 12), *middle)] = top
    band[(slice(12, 18), *middle)] = valley
    band[(slice(18, 26), *middle)] = top
    return band


def noisy(band, *, epsilon=1.0, seed=0):
    sampled = np.random.default_rng(seed).poisson(band)
    noise = discrete_laplace(band.size, scale=1 / epsilon, source=SeededSource(seed))
    return (sampled + noise.reshape(band.shape)).astype(np.float64)


def clusters(cells, shape):
    mask = np.zeros(shape, dtype=bool)
    mask.ravel()[cells.codes] = True
    return label_grid(mask)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_gaps_with_less_than_half_the_density_are_cut(columns):
    for valley, expected in [(0.0, 2), (25.0, 2), (75.0, 1)]:
        band = two_hills(valley, columns=columns)
        for epsilon in (0.5, math.inf):
            values = noisy(band, epsilon=epsilon) if epsilon < math.inf else band
            cells = automatic_cells(values, scale=1 / epsilon)
            _, count = clusters(cells, band.shape)
            assert count == expected, (valley, epsilon)


def test_hills_are_found_whole():
    band = two_hills(10.0)
    for seed in range(3):
        labels, count = clusters(automatic_cells(noisy(band, seed=seed), scale=1.0), band.shape)
        assert count == 2
        hills = band == 100.0
        assert (labels[hills] >= 0).mean() > 0.98
        assert (labels[~hills] >= 0).mean() < 0.1


def test_noise_alone_is_no_cluster():
    """1,024 empty cells and as many with 30 records each, 5 draws of each: nothing to cut."""
    for seed in range(5):
        empty = automatic_cells(noisy(np.zeros((SIDE, SIDE)), seed=seed), scale=1.0)
        assert len(empty.codes) == 0
        even = automatic_cells(noisy(np.full((SIDE, SIDE), 30.0), seed=seed), scale=1.0)
        assert clusters(even, (SIDE, SIDE))[1] == 1


def test_flat_ground_is_averaged_and_edges_stay():
    flat = noisy(np.full((100, 100), 20.0))
    assert denoised(flat, 1.0).var() < 0.25 * flat.var()
    edge = two_hills(0.0, top=1000.0)
    assert np.abs(denoised(noisy(edge), 1.0) - edge)[edge > 0].max() < 200


def test_worth_by_hand():
    """Three blocks of 10, 11 and 20 records; between the first two a gap of 2.5."""
    band = np.array([0, 10, 2.5, 11, 0, 0, 20, 0])
    levels = _climb(band, band, np.array([1.0, 2.0, 5.0, 15.0]), 0.0)
    levels = [level._replace(proven=np.full(len(level.peaks), np.inf)) for level in levels]
    assert [len(level.peaks) for level in levels] == [2, 2, 3, 1]
    assert levels[2].saddles.tolist() == [2.0, 1.0, 1.0]
    two = 23.5 * math.log(43.5 / 23.5) + 20 * math.log(43.5 / 20)
    assert [_worth(levels[:1]), _worth(levels[:2])] == pytest.approx([two, two])
    # The gap is seen at 2.0, a fifth of 10: three fifths of the way from a half to nothing.
    split = 10 * math.log(21 / 10) + 11 * math.log(21 / 11)
    three = 21 * math.log(41 / 21) + 20 * math.log(41 / 20) + 0.6 * split
    assert _worth(levels[:3]) == pytest.approx(three)
    assert _worth(levels) == 0.0


def test_no_cluster_without_records(subtests):
    for values in (np.zeros(4), np.full((4, 4), -3.0), np.zeros((1, 1)), np.ones((2, 2, 2))):
        for scale in (0.0, 1.0, 1e6):
            with subtests.test(shape=values.shape, scale=scale):
                cells = automatic_cells(values, scale=scale, signed=True)
                assert clusters(cells, values.shape)[1] <= 1


# The estimator


def test_two_crowds_that_a_share_of_a_tenth_joins():
    rng = np.random.default_rng(0)
    crowds = rng.uniform(-0.2, 0.2, (8000, 2)) + np.repeat([[-0.5, 0], [0.5, 0]], 4000, axis=0)
    X = np.concatenate([crowds, rng.uniform(-1, 1, (3000, 2))])
    kwargs = {"epsilon": 1.0, "bounds": (-1.0, 1.0), "random_state": 0}
    usual = DPWaveCluster(**kwargs).fit(X)
    assert len(set(usual.predict([[-0.5, 0], [0.5, 0]]))) == 1
    for grid in (64, "auto"):
        chosen = DPWaveCluster(threshold="auto", grid=grid, **kwargs).fit(X)
        assert chosen.n_clusters_ == 2
        assert set(chosen.predict([[-0.5, 0], [0.5, 0]]).tolist()) == {0, 1}
        assert chosen.release_.values["threshold_setting"] == "auto"
        assert chosen.release_.values["threshold"] == chosen.threshold_
        assert chosen.release_.values["band"].shape == chosen.band_shape_
    assert "threshold_setting" not in usual.release_.values
