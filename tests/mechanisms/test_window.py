"""The two-level law that piecewise and square wave share, enumerated on small lattices."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from shoal.mechanisms.windows import Window
from shoal.noise import SeededSource

FALSE_ALARM = 1e-6


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(2), Fraction(30)])
@pytest.mark.parametrize(("positions", "width"), [(2, 1), (4, 3), (10, 5), (6, 11)])
def test_every_window_has_as_many_cells_and_the_ratio_is_exactly_e_to_epsilon(
    epsilon, positions, width
):
    law = Window(epsilon, positions, 1.0, width)
    cells = np.arange(-law.max_index, law.max_index + 1)
    masses = []
    for position in range(-positions // 2, positions // 2 + 1):
        logs = law.log_mass(cells, np.full_like(cells, position))
        assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-12)
        assert (logs > logs.min()).sum() == width
        masses.append(logs)
    table = np.array(masses)
    loss = (table.max(axis=0) - table.min(axis=0)).max()
    assert loss == pytest.approx(float(epsilon), abs=1e-12)


@pytest.mark.parametrize("position", [-5, 0, 3])
def test_draws_follow_the_enumerated_law(position):
    law = Window(Fraction(3, 2), 10, 1.0, 5)
    draws = law.draw(np.full(10**6, position), SeededSource(1))
    cells = np.arange(-law.max_index, law.max_index + 1)
    expected = np.exp(law.log_mass(cells, np.full_like(cells, position))) * len(draws)
    counts = np.bincount(draws + law.max_index, minlength=law.cells)
    assert stats.chisquare(counts, expected).pvalue > FALSE_ALARM


def test_mean_and_variance_by_enumeration():
    step = 2.0 / (10 * Window(Fraction(2), 10, 1.0, 7).weight)  # as Window.unbiased chooses it
    law = Window(Fraction(2), 10, step, 7)
    cells = np.arange(-law.max_index, law.max_index + 1)
    values = cells * step
    for position in range(-5, 6):
        t = np.array([position / 5])
        masses = np.exp(law.log_mass(cells, np.full_like(cells, position)))
        assert (masses * values).sum() == pytest.approx(t[0], abs=1e-12)
        variance = (masses * values**2).sum() - t[0] ** 2
        assert law.variance(t)[0] == pytest.approx(variance, rel=1e-12)


@pytest.mark.parametrize("ratio", [1.0, 7.3, 1e5, 1e12])
def test_ratio_of_positions_is_met_up_to_a_millionth(ratio):
    law = Window.unbiased(Fraction(2), ratio)
    assert law.positions % 2 == 0
    assert law.width % 2 == 1
    assert law.positions / law.width == pytest.approx(min(ratio, 2.0**24), rel=1e-6)


def test_nothing_beyond_the_last_cell():
    law = Window(Fraction(1), 4, 1.0, 3)
    assert law.log_mass(np.array([law.max_index + 1]), np.array([2]))[0] == -np.inf
