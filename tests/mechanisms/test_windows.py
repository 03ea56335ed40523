"""Piecewise and SquareWave, and the two-level distribution on a window that they share."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from helpers import sizes
from helpers.cases import case
from helpers.ledgers import roomy_ledger
from helpers.piecewise_distribution import published_cdf, published_variance
from shoal.mechanisms import Piecewise, SquareWave
from shoal.mechanisms.windows import Window
from shoal.noise import SeededSource

FALSE_ALARM = 1e-6  # of each test of a distribution, when its seed was chosen
DRAWS = sizes.draws(1_000_000, quick=100_000)


@pytest.mark.parametrize(("positions", "width"), [(2, 1), (4, 3), (10, 5), (6, 11)])
def test_every_window_has_as_many_cells_and_the_ratio_is_exactly_e_to_epsilon(positions, width):
    for epsilon in [Fraction(1, 10), Fraction(2), Fraction(30)]:
        with case(epsilon=epsilon):
            distribution = Window(epsilon, positions, 1.0, width)
            cells = np.arange(-distribution.max_index, distribution.max_index + 1)
            masses = []
            for position in range(-positions // 2, positions // 2 + 1):
                logs = distribution.log_mass(cells, np.full_like(cells, position))
                assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-12)
                assert (logs > logs.min()).sum() == width
                masses.append(logs)
            table = np.array(masses)
            loss = (table.max(axis=0) - table.min(axis=0)).max()
            assert loss == pytest.approx(float(epsilon), abs=1e-12)


@pytest.mark.parametrize("position", [-5, 0, 3])
def test_draws_follow_the_enumerated_window(position):
    distribution = Window(Fraction(3, 2), 10, 1.0, 5)
    draws = distribution.draw(np.full(DRAWS, position), SeededSource(1))
    cells = np.arange(-distribution.max_index, distribution.max_index + 1)
    expected = np.exp(distribution.log_mass(cells, np.full_like(cells, position))) * len(draws)
    counts = np.bincount(draws + distribution.max_index, minlength=distribution.cells)
    assert stats.chisquare(counts, expected).pvalue > FALSE_ALARM


def test_mean_and_variance_of_a_window_by_enumeration():
    step = 2.0 / (10 * Window(Fraction(2), 10, 1.0, 7).weight)  # as Window.unbiased chooses it
    distribution = Window(Fraction(2), 10, step, 7)
    cells = np.arange(-distribution.max_index, distribution.max_index + 1)
    values = cells * step
    for position in range(-5, 6):
        t = np.array([position / 5])
        masses = np.exp(distribution.log_mass(cells, np.full_like(cells, position)))
        assert (masses * values).sum() == pytest.approx(t[0], abs=1e-12)
        variance = (masses * values**2).sum() - t[0] ** 2
        assert distribution.variance(t)[0] == pytest.approx(variance, rel=1e-12)


def test_ratio_of_positions_is_met_up_to_a_millionth():
    for ratio in [1.0, 7.3, 1e5, 1e12]:
        with case(ratio=ratio):
            distribution = Window.unbiased(Fraction(2), ratio)
            assert distribution.positions % 2 == 0
            assert distribution.width % 2 == 1
            assert distribution.positions / distribution.width == pytest.approx(
                min(ratio, 2.0**24), rel=1e-6
            )


def test_nothing_beyond_the_last_cell():
    distribution = Window(Fraction(1), 4, 1.0, 3)
    assert (
        distribution.log_mass(np.array([distribution.max_index + 1]), np.array([2]))[0] == -np.inf
    )


@pytest.mark.parametrize(("epsilon", "t"), [(0.1, -1.0), (1.0, 0.37), (4.0, 0.0), (12.0, 0.37)])
def test_published_piecewise_distribution(epsilon, t):
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


def test_piecewise_reports_span_the_published_range_and_two_levels_differ_by_epsilon():
    for epsilon in [0.1, 1.0, 8.0, 30.0]:
        with case(epsilon=epsilon):
            mechanism = Piecewise(epsilon, bounds=(-1.0, 1.0))
            lattice = mechanism.lattice(1)
            s = np.exp(epsilon / 2)
            end = float(lattice.step[0] * lattice.high[0])
            assert end == pytest.approx((s + 1) / (s - 1), rel=1e-6)
            ends = lattice.decode(np.array([[lattice.high[0]], [lattice.low[0]]]))
            high, low = mechanism.log_density(ends, [1.0])
            assert high - low == pytest.approx(epsilon, rel=1e-12)
            assert mechanism.log_density(ends * 1.1, [1.0]).tolist() == [-np.inf, -np.inf]


def test_piecewise_log_density_sums_to_one_over_the_lattice():
    for x in [-1.0, 0.2]:
        with case(x=x):
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
    assert np.asarray(mechanism.variance([record]))[0] == pytest.approx(expected, rel=1e-6)
    assert (np.abs(reports.mean(axis=0) - record) < 5 * np.sqrt(expected / draws)).all()
    fourth = ((reports - record) ** 4).mean(axis=0)
    assert (np.abs(reports.var(axis=0) - expected) < 5 * np.sqrt(fourth / draws)).all()


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


def test_extreme_epsilons():
    for epsilon in [1e-9, 1e-3, 40.0, 700.0, 1e4, 1e15]:
        with case(epsilon=epsilon):
            mechanism = Piecewise(epsilon, bounds=(-1.0, 1.0), random_state=0)
            reports = mechanism.fit_transform(np.full((1000, 2), 0.5))
            assert np.isfinite(reports).all()
            assert np.isfinite(mechanism.variance())
            if epsilon >= 700.0:
                assert np.abs(reports - 0.5).max() < 1e-6


def test_the_promise_is_local_and_for_the_whole_record():
    ledger = roomy_ledger()
    mechanism = Piecewise(2.0, bounds=(-1.0, 1.0), ledger=ledger)
    mechanism.randomize(np.zeros(5))
    assert mechanism.guarantee_.notion == "local"
    assert ledger.entries[0].notion == "local"
    assert ledger.spent[0].epsilon == 2.0


def published_square_wave(epsilon):
    """b, p and q for records in [0, 1]."""
    e = np.exp(epsilon)
    b = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
    p = e / (2 * b * e + 1)
    return b, p, p / e


@pytest.mark.parametrize(("epsilon", "t"), [(0.3, 0.3), (1.0, 0.0), (1.0, 0.3), (4.0, 1.0)])
def test_published_square_wave_distribution(epsilon, t):
    b, p, q = published_square_wave(epsilon)
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


def test_square_wave_reports_span_the_published_range_at_any_epsilon():
    for epsilon in [1e-6, 5e-4, 9.99e-4, 1.001e-3, 1.0, 39.0, 41.0, 1e4]:
        with case(epsilon=epsilon):
            mechanism = SquareWave(epsilon, bounds=(0.0, 1.0))
            lattice = mechanism.lattice(1)
            b = float(lattice.step[0] * lattice.high[0]) - 0.5
            if epsilon < 0.1:
                assert b == pytest.approx(0.5 - epsilon / 3, abs=1e-6)
            elif epsilon < 40:
                assert b == pytest.approx(published_square_wave(epsilon)[0], rel=1e-6, abs=2**-24)
            else:
                assert 0 < b < 1e-7


def test_square_wave_log_density_sums_to_one_and_differs_by_epsilon():
    mechanism = SquareWave(1.0, bounds=(0.0, 1.0))
    lattice = mechanism.lattice(1)
    cells = np.arange(lattice.low[0], lattice.high[0] + 1)[:, np.newaxis]
    logs = mechanism.log_density(lattice.decode(cells), [0.3])
    assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-9)
    assert np.ptp(logs) == pytest.approx(1.0, rel=1e-12)


def test_square_wave_columns_share_epsilon():
    mechanism = SquareWave(4.0, bounds=(0.0, 1.0), random_state=0)
    corner = mechanism.lattice(4)
    low, high = (corner.decode(np.array([end])) for end in (corner.low, corner.high))
    loss = mechanism.log_density(low, np.zeros(4)) - mechanism.log_density(low, np.ones(4))
    assert loss[0] == pytest.approx(4.0, rel=1e-12)
    loss = mechanism.log_density(high, np.ones(4)) - mechanism.log_density(high, np.zeros(4))
    assert loss[0] == pytest.approx(4.0, rel=1e-12)
