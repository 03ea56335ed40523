import numpy as np
import pytest
from scipy import stats

from shoal.mechanisms import SquareWave

FALSE_ALARM = 1e-6
DRAWS = 1_000_000


def published(epsilon):
    """b, p and q for records in [0, 1]."""
    e = np.exp(epsilon)
    b = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
    p = e / (2 * b * e + 1)
    return b, p, p / e


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("t", [0.0, 0.3, 1.0])
def test_published_law(epsilon, t):
    b, p, q = published(epsilon)
    mechanism = SquareWave(epsilon, bounds=(-10.0, 10.0), random_state=1)
    reports = mechanism.fit_transform(np.full((DRAWS, 1), -10.0 + 20.0 * t))
    units = (reports[:, 0] + 10.0) / 20.0
    heights = np.cumsum([0.0, q * t, 2 * b * p, q * (1 - t)])
    assert heights[-1] == pytest.approx(1.0)
    knots = [-b, t - b, t + b, 1 + b]
    assert stats.kstest(units, lambda z: np.interp(z, knots, heights)).pvalue > FALSE_ALARM
    levels, ends = np.array([q, p, q]), np.array(knots)
    mean = (levels * np.diff(ends**2)).sum() / 2
    square = (levels * np.diff(ends**3)).sum() / 3
    variance = square - mean**2
    assert mechanism.variance([[-10.0 + 20.0 * t]]) == pytest.approx(400 * variance, rel=1e-5)
    assert abs(units.mean() - mean) < 5 * np.sqrt(variance / DRAWS)
    assert mechanism.variance() >= 400 * variance * (1 - 1e-5)


@pytest.mark.parametrize("epsilon", [1e-6, 5e-4, 9.99e-4, 1.001e-3, 1.0, 39.0, 41.0, 1e4])
def test_reports_span_the_published_range_at_any_epsilon(epsilon):
    mechanism = SquareWave(epsilon, bounds=(0.0, 1.0))
    lattice = mechanism.lattice(1)
    b = float(lattice.step[0] * lattice.high[0]) - 0.5
    if epsilon < 0.1:
        assert b == pytest.approx(0.5 - epsilon / 3, abs=1e-6)
    elif epsilon < 40:
        assert b == pytest.approx(published(epsilon)[0], rel=1e-6, abs=2**-24)
    else:
        assert 0 < b < 1e-7


def test_log_density_sums_to_one_and_differs_by_epsilon():
    mechanism = SquareWave(1.0, bounds=(0.0, 1.0))
    lattice = mechanism.lattice(1)
    cells = np.arange(lattice.low[0], lattice.high[0] + 1)[:, np.newaxis]
    logs = mechanism.log_density(lattice.decode(cells), [0.3])
    assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-9)
    assert np.ptp(logs) == pytest.approx(1.0, rel=1e-12)


def test_columns_share_epsilon():
    mechanism = SquareWave(4.0, bounds=(0.0, 1.0), random_state=0)
    corner = mechanism.lattice(4)
    low, high = (corner.decode(np.array([end])) for end in (corner.low, corner.high))
    loss = mechanism.log_density(low, np.zeros(4)) - mechanism.log_density(low, np.ones(4))
    assert loss[0] == pytest.approx(4.0, rel=1e-12)
    loss = mechanism.log_density(high, np.ones(4)) - mechanism.log_density(high, np.zeros(4))
    assert loss[0] == pytest.approx(4.0, rel=1e-12)
