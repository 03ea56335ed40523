import sys

import numpy as np
import pytest
from scipy import stats

from helpers.cases import case
from helpers.noise_distributions import DRAWS, FALSE_ALARM, chi_square_p, gaussian_pmf, two_sample_p
from shoal.exceptions import ParameterError
from shoal.noise import SeededSource, discrete_gaussian

THEIRS = 100_000  # draws of OpenDP, which takes 15 microseconds for each
MODULE = sys.modules["shoal.noise.gaussian_sampler"]


@pytest.mark.parametrize("sigma", [0.3, 1.0, 4.5, 80.0])
def test_chi_square_against_the_exact_distribution(sigma):
    draws = discrete_gaussian(DRAWS, sigma=sigma, source=SeededSource(1))
    assert chi_square_p(draws, lambda x: gaussian_pmf(x, sigma)) > FALSE_ALARM


@pytest.mark.parametrize("sigma", [1e5, 1e8])
def test_kolmogorov_smirnov_where_the_distribution_is_nearly_continuous(sigma):
    draws = discrete_gaussian(DRAWS, sigma=sigma, source=SeededSource(2))
    assert stats.kstest(draws / sigma, stats.norm.cdf).pvalue > FALSE_ALARM


@pytest.mark.full  # their draws have no seed
@pytest.mark.parametrize("sigma", [0.7, 10.0])
def test_same_distribution_as_opendp(sigma):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i32")), dp.l2_distance(T="f64")
    theirs = np.array(dp.m.make_gaussian(*space, scale=sigma)([0] * THEIRS))  # not seedable
    ours = discrete_gaussian(DRAWS, sigma=sigma, source=SeededSource(3))
    assert two_sample_p(ours, theirs) > FALSE_ALARM


@pytest.mark.parametrize("sigma", [0.4, 5.0, 2.0**20, 2.0**50])
def test_doubles_and_intervals_decide_alike(sigma, monkeypatch):
    fast = discrete_gaussian(300, sigma=sigma, source=SeededSource(4))
    monkeypatch.setattr(MODULE, "SLACK", 2.0)  # every acceptance is now settled by intervals
    assert (discrete_gaussian(300, sigma=sigma, source=SeededSource(4)) == fast).all()


def test_error_of_the_doubles_is_far_below_the_slack():
    """Lemma 3 of proofs/noise.md, measured against 120-bit arithmetic."""
    for sigma in [0.3, 7.3, 1e6, 2.0**50]:
        with case(sigma=sigma):
            import mpmath

            proposals = np.unique(np.rint(np.linspace(0, 30 * sigma + 3, 500)).astype(np.int64))
            scale = max(1, int(sigma))
            doubles = np.exp(-0.5 * np.square((proposals - sigma * sigma / scale) / sigma))
            with mpmath.workprec(120):
                s = mpmath.mpf(sigma)
                worst = max(
                    abs(mpmath.exp(-((int(y) - s * s / scale) ** 2) / (2 * s * s)) - float(p))
                    for y, p in zip(proposals, doubles, strict=True)
                )
            assert float(worst) < MODULE.SLACK / 4


def test_shape_of_many_draws():
    assert discrete_gaussian((3, 5000), sigma=2.0, source=SeededSource(1)).shape == (3, 5000)
    assert discrete_gaussian(0, sigma=2.0, source=SeededSource(1)).shape == (0,)


def test_bad_sigma():
    with pytest.raises(ParameterError, match="sigma must be above 0"):
        discrete_gaussian(1, sigma=0.0, source=SeededSource(1))
