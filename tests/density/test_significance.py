"""The threshold against maxima whose distribution is known."""

import numpy as np
import pytest
from scipy import stats

from shoal.density import (
    DensityEstimate,
    GridCells,
    Maxima,
    chance_prominence,
    cut_peaks,
    find_merges,
    significance_threshold,
)


@pytest.mark.parametrize("patches", [1.0, 30.0])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
def test_maxima_of_normal_draws_exceed_it_as_often_as_alpha_says(patches, alpha):
    # Largest of 2,000 normal draws, by the inverse of its distribution. Gumbel's distribution is
    # the limit of many more draws, so that the rate is smaller than alpha.
    draws = np.random.default_rng(0).uniform(size=4000)
    values = stats.norm.ppf(draws ** (1 / 2000))
    threshold = significance_threshold([Maxima(values, patches)], alpha)
    rate = 1 - stats.norm.cdf(threshold) ** (2000 * patches)
    assert alpha / 10 < rate < 1.1 * alpha


def test_the_worst_density_counts():
    rng = np.random.default_rng(0)
    low, high = (rng.gumbel(mean, 0.3, size=200) for mean in (2.0, 3.0))
    both = significance_threshold([Maxima(low, 1.0), Maxima(high, 1.0)], 0.05)
    assert both == significance_threshold([Maxima(high, 1.0)], 0.05)


def test_equal_maxima_are_no_certainty():
    assert significance_threshold([Maxima(np.full(10, 2.0), 1.0)], 0.05) > 2.0


def slow_pass(density, one, other):
    """Return the highest level at which two cells of a row are joined."""
    low, high = sorted((one, other))
    return density[low : high + 1].min()


@pytest.mark.parametrize("seed", range(5))
def test_chance_is_what_the_truth_does_not_have(seed):
    rng = np.random.default_rng(seed)
    edges, deviation = GridCells((60,)).edges, np.full(60, 0.5)
    truth = DensityEstimate(rng.uniform(0, 9, size=60), deviation)
    copy = DensityEstimate(truth.density + rng.normal(0, 1, size=60), deviation)
    merges = find_merges(copy, edges)
    chance = chance_prominence(copy, merges, truth, find_merges(truth, edges))
    for index, (low, high) in enumerate(zip(merges.lower, merges.higher, strict=True)):
        one, other = merges.peaks[low], merges.peaks[high]
        height = min(truth.density[one], truth.density[other])
        rise = height - slow_pass(truth.density, one, other)
        assert chance[index] == pytest.approx(merges.prominence[index] - rise / np.sqrt(0.5))


def test_a_copy_like_the_truth_has_no_chance_in_it():
    rng = np.random.default_rng(0)
    estimate = DensityEstimate(rng.uniform(0, 9, size=100), np.ones(100))
    merges = find_merges(estimate, GridCells((10, 10)).edges)
    np.testing.assert_allclose(chance_prominence(estimate, merges, estimate, merges), 0, atol=1e-12)


@pytest.mark.parametrize("prominence", [0.0, 2.0, np.inf])
def test_cut_peaks_are_gone_and_the_others_stay(prominence):
    rng = np.random.default_rng(0)
    estimate = DensityEstimate(rng.uniform(0, 9, size=400), np.ones(400))
    edges = GridCells((20, 20)).edges
    merges = find_merges(estimate, edges)
    cut = estimate._replace(density=cut_peaks(estimate, merges, prominence))
    assert (cut.density <= estimate.density).all()
    assert cut.density.max() == estimate.density.max()
    left = find_merges(cut, edges).prominence
    kept = np.sort(merges.prominence[merges.prominence >= prominence])
    np.testing.assert_allclose(np.sort(left[left > 1e-9]), kept[kept > 1e-9])
