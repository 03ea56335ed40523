import numpy as np
import pytest
from scipy import stats

from helpers.estimator_checks import roomy_ledger
from helpers.piecewise_distribution import published_cdf, published_variance
from shoal.exceptions import ParameterError
from shoal.mechanisms import Piecewise

FALSE_ALARM = 1e-6  # of each test of a law, when its seed was chosen
DRAWS = 1_000_000


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 12.0])
@pytest.mark.parametrize("t", [-1.0, 0.0, 0.37])
def test_published_law(epsilon, t):
    """Records in [3, 7], so that the map to [-1, 1] and back is tested as well."""
    mechanism = Piecewise(epsilon, bounds=(3.0, 7.0), random_state=1)
    reports = mechanism.fit_transform(np.full((DRAWS, 1), 5.0 + 2.0 * t))
    units = (reports[:, 0] - 5.0) / 2.0
    assert stats.kstest(units, published_cdf(t, epsilon)).pvalue > FALSE_ALARM
    variance = published_variance(t, epsilon)
    assert abs(units.mean() - t) < 5 * np.sqrt(variance / DRAWS)  # false alarm below 1e-6
    assert mechanism.variance([[5.0 + 2.0 * t]]) == pytest.approx(4.0 * variance, rel=1e-6)
    assert mechanism.variance() == pytest.approx(4 * published_variance(1.0, epsilon), rel=1e-6)
    fourth = ((units - t) ** 4).mean()
    assert abs(((units - t) ** 2).mean() - variance) < 5 * np.sqrt(fourth / DRAWS)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0, 30.0])
def test_reports_span_the_published_range_and_the_two_levels_differ_by_epsilon(epsilon):
    mechanism = Piecewise(epsilon, bounds=(-1.0, 1.0))
    lattice = mechanism.lattice(1)
    s = np.exp(epsilon / 2)
    end = float(lattice.step[0] * lattice.high[0])
    assert end == pytest.approx((s + 1) / (s - 1), rel=1e-6)
    ends = lattice.decode(np.array([[lattice.high[0]], [lattice.low[0]]]))
    high, low = mechanism.log_density(ends, [1.0])
    assert high - low == pytest.approx(epsilon, rel=1e-12)
    assert mechanism.log_density(ends * 1.1, [1.0]).tolist() == [-np.inf, -np.inf]


@pytest.mark.parametrize("x", [-1.0, 0.2])
def test_log_density_sums_to_one_over_the_lattice(x):
    mechanism = Piecewise(1.0, bounds=(-1.0, 1.0))
    lattice = mechanism.lattice(1)
    cells = np.arange(lattice.low[0], lattice.high[0] + 1)[:, np.newaxis]
    logs = mechanism.log_density(lattice.decode(cells), [x])
    assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(("epsilon", "d", "k"), [(1.0, 3, 1), (6.0, 4, 2), (30.0, 3, 3)])
def test_sampled_columns(epsilon, d, k):
    """k columns at epsilon / k times d / k, the center of the box elsewhere."""
    draws = DRAWS // d
    mechanism = Piecewise(epsilon, bounds=(0.0, 10.0), columns="sample", random_state=2)
    record = np.linspace(1.0, 9.0, d)
    reports = mechanism.fit_transform(np.tile(record, (draws, 1)))
    moved = reports != 5.0
    assert (moved.sum(axis=1) == k).all()
    each = stats.binomtest(int(moved[:, 0].sum()), draws, k / d) if k < d else None
    assert each is None or each.pvalue > FALSE_ALARM
    t = (record - 5.0) / 5.0
    expected = 25 * (d / k * (published_variance(t, epsilon / k) + t**2) - t**2)
    assert mechanism.variance([record])[0] == pytest.approx(expected, rel=1e-6)
    assert (np.abs(reports.mean(axis=0) - record) < 5 * np.sqrt(expected / draws)).all()
    assert reports.var(axis=0) == pytest.approx(expected, rel=0.03)


def test_columns_are_chosen_uniformly():
    reports = Piecewise(5.0, bounds=(-1.0, 1.0), columns="sample", random_state=3).fit_transform(
        np.zeros((DRAWS // 4, 4))
    )
    moved = (reports != 0.0) @ [1, 2, 4, 8]
    pairs = np.bincount(moved, minlength=16)[[3, 5, 9, 6, 10, 12]]
    assert pairs.sum() == len(reports)
    assert stats.chisquare(pairs).pvalue > FALSE_ALARM


def test_log_density_of_sampled_columns_by_enumeration():
    """Two of three columns: the report's own columns, or any third that hit the center."""
    mechanism = Piecewise(5.0, bounds=(-1.0, 1.0), columns="sample").fit(np.zeros((1, 3)))
    one = Piecewise(2.5, bounds=(-1.0, 1.0))
    x = np.array([0.3, -0.8, 0.1])
    reports = np.array([[0.5, 0.0, -1.0], [0.0, 0.0, 0.0], [0.5, 0.5, 0.5]])
    singles = np.exp([[one.log_density([[z / 1.5]], [t])[0] for z, t in zip(r, x, strict=True)]
                      for r in reports])  # fmt: skip
    zero = reports == 0.0
    pairs = [(0, 1, 2), (0, 2, 1), (1, 2, 0)]
    expected = sum(singles[:, a] * singles[:, b] * zero[:, c] / 3 for a, b, c in pairs)
    assert np.exp(mechanism.log_density(reports, x)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 40.0, 700.0, 1e4, 1e15])
def test_extreme_epsilons(epsilon):
    mechanism = Piecewise(epsilon, bounds=(-1.0, 1.0), random_state=0)
    reports = mechanism.fit_transform(np.full((1000, 2), 0.5))
    assert np.isfinite(reports).all()
    assert np.isfinite(mechanism.variance())
    if epsilon >= 700.0:
        assert np.abs(reports - 0.5).max() < 1e-6


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"columns": "some"}, "columns must be 'all' or 'sample', got 'some'"),
        ({"columns": None}, "columns must be 'all' or 'sample', got None"),
        ({"epsilon": 1e-13}, r"epsilon must be at least 2\^-40 for each column"),
        ({"epsilon": 1e-9, "bounds": (-1e308, 1e308)}, "bounds must leave room for reports"),
    ],
)
def test_bad_parameters_spend_nothing(words, message):
    ledger = roomy_ledger()
    with pytest.raises(ParameterError, match=message):
        Piecewise(**{"bounds": (-1.0, 1.0), **words}, ledger=ledger).transform(np.zeros((1, 2)))
    assert len(ledger) == 0


def test_the_promise_is_local_and_for_the_whole_record():
    ledger = roomy_ledger()
    mechanism = Piecewise(2.0, bounds=(-1.0, 1.0), ledger=ledger)
    mechanism.randomize(np.zeros(5))
    assert mechanism.guarantee_.notion == "local"
    assert ledger.entries[0].notion == "local"
    assert ledger.spent[0].epsilon == 2.0
