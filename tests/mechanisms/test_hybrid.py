from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from helpers import sizes
from helpers.cases import case
from helpers.piecewise_distribution import published_cdf, published_variance
from shoal.mechanisms import Duchi, Hybrid

FALSE_ALARM = 1e-6
DRAWS = sizes.draws(1_000_000, quick=100_000)


def of_duchi(reports):
    """Which reports are Duchi's: those on the two most frequent values."""
    values, counts = np.unique(np.abs(reports[:, 0]), return_counts=True)
    return np.abs(reports[:, 0]) == values[counts.argmax()]


@pytest.mark.parametrize(("epsilon", "t"), [(0.7, 0.25), (2.0, -1.0), (6.0, 0.25)])
def test_distribution_is_a_mixture_of_the_two(epsilon, t):
    mechanism = Hybrid(epsilon, bounds=(-1.0, 1.0), random_state=1)
    reports = mechanism.fit_transform(np.full((DRAWS, 1), t))
    duchi = of_duchi(reports)
    coin = stats.binomtest(int(duchi.sum()), DRAWS, np.exp(-epsilon / 2))
    assert coin.pvalue > FALSE_ALARM
    wide = reports[~duchi, 0]
    assert stats.kstest(wide, published_cdf(t, epsilon)).pvalue > FALSE_ALARM
    two = reports[duchi, 0]
    share = 0.5 + t * np.tanh(epsilon / 2) / 2
    assert stats.binomtest(int((two > 0).sum()), len(two), share).pvalue > FALSE_ALARM
    assert two.max() == pytest.approx(1 / np.tanh(epsilon / 2), rel=1e-5)
    variance = np.asarray(mechanism.variance([[t]]))[0, 0]
    assert abs(reports.mean() - t) < 5 * np.sqrt(variance / DRAWS)
    assert reports.var() == pytest.approx(variance, rel=10 / np.sqrt(DRAWS))


def test_variance_is_the_published_one_and_the_same_everywhere():
    for epsilon in [0.7, 2.0, 6.0]:
        with case(epsilon=epsilon):
            t = np.linspace(-1, 1, 5)
            odds = np.exp(-epsilon / 2)
            two = 1 / np.tanh(epsilon / 2) ** 2 - t**2
            expected = (1 - odds) * published_variance(t, epsilon) + odds * two
            mechanism = Hybrid(epsilon, bounds=(-1.0, 1.0))
            result = np.asarray(mechanism.variance(t[:, np.newaxis]))[:, 0]
            assert result == pytest.approx(expected, rel=1e-5)
            assert np.ptp(expected) < 1e-9


def test_small_epsilon_is_duchi_alone():
    mechanism = Hybrid(0.61, bounds=(-1.0, 1.0), random_state=0)
    reports = mechanism.fit_transform(np.full((1000, 1), 0.3))
    assert len(np.unique(np.abs(reports))) == 1
    other = Duchi(0.61, bounds=(-1.0, 1.0)).fit(np.zeros((1, 1)))
    assert mechanism.variance() == pytest.approx(other.variance(), rel=1e-5)


def test_loss_of_every_report_is_at_most_epsilon():
    """Both values, their neighbors, and cells all over the range; a hair below epsilon."""
    for epsilon in [0.3, 0.62, 1.0, 5.0, 20.0]:
        with case(epsilon=epsilon):
            distribution = Hybrid(epsilon, bounds=(-1.0, 1.0))._distribution(Fraction(epsilon))
            last, value = distribution.max_index, distribution.value
            cells = np.unique(
                np.concatenate(
                    [
                        np.linspace(-last, last, 1001).astype(np.int64),
                        *[[s * value - 1, s * value, s * value + 1] for s in (-1, 1)],
                    ]
                )
            )
            positions = np.linspace(
                -(distribution.positions // 2), distribution.positions // 2, 101
            ).astype(np.int64)
            with np.errstate(invalid="ignore"):
                logs = np.array(
                    [distribution.log_mass(cells, np.full_like(cells, p)) for p in positions]
                )
                losses = np.nan_to_num(logs.max(axis=0) - logs.min(axis=0))
            assert losses.max() <= epsilon * (1 + 1e-12)
            assert losses.max() >= epsilon - 1e-4


def test_truthful_sign_is_never_more_likely_than_epsilon_allows():
    import mpmath

    for epsilon in np.concatenate([np.geomspace(1e-9, 1e3, 60), np.linspace(0.5, 40, 60)]):
        distribution = Hybrid(float(epsilon), bounds=(-1.0, 1.0))._distribution(Fraction(epsilon))
        with mpmath.workprec(3000):
            allowed = mpmath.tanh(mpmath.mpf(float(epsilon)) / 2)
            assert mpmath.mpf(distribution.truthful) / 2**53 <= allowed
        assert distribution.value <= distribution.max_index


@pytest.mark.parametrize("epsilon", [pytest.param(0.5, marks=pytest.mark.full), 2.0])
def test_log_density_sums_to_one_over_the_lattice(epsilon):
    mechanism = Hybrid(epsilon, bounds=(-1.0, 1.0))
    lattice = mechanism.lattice(1)
    cells = np.arange(lattice.low[0], lattice.high[0] + 1)[:, np.newaxis]
    assert np.exp(mechanism.log_density(lattice.decode(cells), [0.4])).sum() == pytest.approx(1.0)


def test_extreme_epsilons():
    for epsilon in (1e-9, 50.0, 1e4):
        mechanism = Hybrid(epsilon, bounds=(-1.0, 1.0), random_state=0)
        assert np.isfinite(mechanism.fit_transform(np.full((100, 2), 0.5))).all()
