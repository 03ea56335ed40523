import numpy as np
import pytest
from scipy.stats import binom, binomtest

from shoal._statistics import clopper_pearson
from shoal.audit.bounds._search import log_ratio_bound


@pytest.mark.parametrize(
    ("trials", "error"), [(1, 0.2), (1, 0.0005), (7, 0.025), (50, 0.2), (50, 0.0005), (1000, 0.025)]
)
def test_limits_are_those_of_scipy(trials, error):
    for hits in sorted({0, 1, trials // 3, trials - 1, trials}):
        low, high = clopper_pearson(hits, trials, error=error)
        expected = binomtest(hits, trials).proportion_ci(1 - 2 * error, method="exact")
        assert low == pytest.approx(expected.low, rel=1e-6)
        assert high == pytest.approx(expected.high, rel=1e-6)


def test_limits_solve_the_exact_tail_sums():
    trials, error = 5000, 0.0005
    hits = np.array([1, 3, 40, 2500, 4999])
    low, high = clopper_pearson(hits, trials, error=error)
    np.testing.assert_allclose(binom.sf(hits - 1, trials, low), error, rtol=1e-6)
    np.testing.assert_allclose(binom.cdf(hits, trials, high), error, rtol=1e-6)


def test_each_limit_fails_no_more_often_than_asked():
    trials, error = 60, 0.05
    hits = np.arange(trials + 1)
    low, high = clopper_pearson(hits, trials, error=error)
    for p in np.linspace(0.01, 0.99, 99):
        weight = binom.pmf(hits, trials, p)
        assert weight[low > p].sum() <= error
        assert weight[high < p].sum() <= error


def test_ratio_bound_takes_delta_off_the_likely_side():
    low = clopper_pearson(600, 1000, error=0.005).low
    high = clopper_pearson(100, 1000, error=0.005).high
    found = log_ratio_bound(600, 100, 1000, delta=0.2, error=0.01)
    assert found == pytest.approx(np.log((low - 0.2) / high))
    assert log_ratio_bound(600, 100, 1000, delta=0.7, error=0.01) == -np.inf


def test_ratio_bound_is_finite_where_the_other_record_never_hits():
    ceiling = log_ratio_bound(50_000, 0, 50_000, delta=0.0, error=0.001)
    assert 8.5 < ceiling < 9.0
