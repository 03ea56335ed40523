from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import stats

from helpers import sizes
from helpers.cases import case
from shoal.exceptions import ParameterError
from shoal.mechanisms import Duchi

FALSE_ALARM = 1e-6
DRAWS = sizes.draws(1_000_000, quick=100_000)


def corners(d):
    return np.array(list(product((-1.0, 1.0), repeat=d)))


def published_masses(t, epsilon):
    """P[s | t] by enumeration of v and s, in the words of MATH.md."""
    signs = corners(len(t))
    masses = np.zeros(len(signs))
    for v in signs:
        chance = np.prod((1 + v * t) / 2)
        sides = signs @ v
        high = sides >= 0
        weights = np.where(high, np.exp(epsilon), 1.0)
        masses += chance * weights / weights.sum()
    return masses


def published_value(d, epsilon):
    near = sum(comb(d, k) for k in range((d + 1) // 2, d + 1))
    far = 2**d - near
    e = np.exp(epsilon)
    return (e * near + far) / ((e - 1) * comb(d - 1, d // 2))


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_the_largest_ratio_is_exactly_e_to_epsilon(d):
    """Must show: over all corners as records, which are extreme, and all reports."""
    for epsilon in [0.2, 1.0, 3.0]:
        with case(epsilon=epsilon):
            mechanism = Duchi(epsilon, bounds=(-1.0, 1.0))
            reports = corners(d) * published_value(d, epsilon)
            logs = np.array([mechanism.log_density(reports, t) for t in corners(d)])
            assert np.exp(logs).sum(axis=1) == pytest.approx(np.ones(2**d), abs=1e-12)
            loss = (logs.max(axis=0) - logs.min(axis=0)).max()
            assert loss == pytest.approx(epsilon, abs=1e-12)


def test_ties_on_both_sides_overspend_for_even_d():
    """As published: s uniform on s.v >= 0 with the large probability, else on s.v <= 0."""
    for d in [2, 4]:
        with case(d=d):
            epsilon = 1.0
            large = np.exp(epsilon) / (np.exp(epsilon) + 1)
            signs = corners(d)
            sides = signs @ signs.T
            masses = sum(
                chance * (side * sides >= 0) / (side * sides >= 0).sum(axis=1, keepdims=True)
                for side, chance in ((1, large), (-1, 1 - large))
            )
            loss = np.log(masses.max(axis=0) / masses.min(axis=0)).max()
            assert loss == pytest.approx(np.log(np.exp(epsilon) + 1))  # not epsilon: 1.31 for 1


def test_log_density_by_enumeration():
    for d in [1, 2, 3, 4, 5]:
        with case(d=d):
            t = np.linspace(-0.9, 0.7, d)
            mechanism = Duchi(1.5, bounds=(-1.0, 1.0))
            reports = corners(d) * published_value(d, 1.5)
            assert np.exp(mechanism.log_density(reports, t)) == pytest.approx(
                published_masses(t, 1.5), abs=1e-9
            )


@pytest.mark.parametrize(("d", "epsilon"), [(1, 1.0), (2, 0.5), (2, 3.0), (3, 1.0), (4, 2.0)])
def test_draws_follow_the_enumerated_distribution_and_are_unbiased(d, epsilon):
    t = np.linspace(-0.9, 0.7, d)
    mechanism = Duchi(epsilon, bounds=(0.0, 4.0), random_state=d)
    record = 2.0 + 2.0 * t
    reports = mechanism.fit_transform(np.tile(record, (DRAWS, 1)))
    value = published_value(d, epsilon)
    assert np.allclose(np.abs(reports - 2.0), 2 * value, rtol=1e-12, atol=0)
    codes = (reports > 2.0) @ (2 ** np.arange(d)[::-1])
    counts = np.bincount(codes, minlength=2**d)
    assert stats.chisquare(counts, DRAWS * published_masses(t, epsilon)).pvalue > FALSE_ALARM
    variance = np.asarray(mechanism.variance([record]))[0]
    assert variance == pytest.approx(4 * (value**2 - t**2), rel=1e-12)
    assert (np.abs(reports.mean(axis=0) - record) < 5 * np.sqrt(variance / DRAWS)).all()
    assert reports.var(axis=0) == pytest.approx(variance, rel=10 / np.sqrt(DRAWS))
    assert mechanism.variance() == pytest.approx(4 * value**2, rel=1e-12)


def test_many_columns():
    """Numbers of corners beyond float64 are handled as integers."""
    mechanism = Duchi(1.0, bounds=(-1.0, 1.0), random_state=0)
    reports = mechanism.fit_transform(np.zeros((200, 1500)))
    assert np.isfinite(reports).all()
    assert np.isfinite(mechanism.log_density(reports[:3], np.zeros(1500))).all()


def test_extreme_epsilons():
    for epsilon in [1e-9, 800.0, 1e15]:
        with case(epsilon=epsilon):
            mechanism = Duchi(epsilon, bounds=(-1.0, 1.0), random_state=0)
            reports = mechanism.fit_transform(np.ones((1000, 3)))
            assert np.isfinite(reports).all()
            assert np.isfinite(mechanism.log_density(reports, np.ones(3))).all()


def test_points_that_are_no_report():
    mechanism = Duchi(1.0, bounds=(-1.0, 1.0))
    assert mechanism.log_density([[0.0, 0.0], [1e300, 3.0]], [0.0, 0.0]).tolist() == [-np.inf] * 2


def test_epsilon_too_small():
    with pytest.raises(ParameterError, match=r"epsilon must be at least 2\^-40"):
        Duchi(1e-14, bounds=(-1.0, 1.0)).fit(np.zeros((1, 1)))
