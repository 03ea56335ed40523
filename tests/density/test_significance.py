"""The threshold against maxima whose distribution is known."""

import numpy as np
import pytest
from scipy import stats

from shoal.density import Maxima, significance_threshold


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
