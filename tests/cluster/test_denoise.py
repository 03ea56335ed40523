"""Posterior counts against Bayes' rule in full, and at the ends of what may come."""

import numpy as np
import pytest

from shoal.cluster._denoise import posterior_counts
from shoal.cluster._noise import GDPNoise, PureNoise
from shoal.noise import SeededSource

NOISE: dict[str, PureNoise | GDPNoise] = {"laplace": PureNoise(1.0), "gaussian": GDPNoise(1.0)}
SHARES = {"laplace": 0.5, "gaussian": 0.125}  # deviations of 2.8 and 2 counts


def released(true, name, *, seed=0, contribution=1, budget=None):
    budget = budget or SHARES[name]
    noisy = NOISE[name].counts(true, budget, contribution=contribution, source=SeededSource(seed))
    return noisy, posterior_counts(noisy, NOISE[name], budget, contribution=contribution)


def bayes(noisy, name, *, rounds, zeros):
    """Learn the law of whole counts by expectation maximization, cell by cell, in plain loops."""
    most = int(2 * 15 * NOISE[name].count_deviation(SHARES[name], contribution=1)) + 1
    law = np.full(most, 1.0 / most)
    chance = np.empty((len(noisy), most))
    for i, value in enumerate(noisy):
        for true in range(most):
            gap = np.array([float(value - true)])
            chance[i, true] = np.exp(NOISE[name].log_kernel(gap, SHARES[name], contribution=1))[0]
    for _ in range(rounds):
        new = np.zeros(most)
        for row in chance:
            new += row * law / (row * law).sum()
        new[0] += zeros
        law = new / new.sum()
    return np.array([(row * law) @ np.arange(most) / (row * law).sum() for row in chance])


@pytest.mark.parametrize("name", NOISE)
def test_agrees_with_bayes_by_brute_force(name):
    true = np.array([0] * 60 + [3] * 10 + [9, 9, 12, 15, 20])
    noisy, found = released(true, name)
    expected = bayes(noisy, name, rounds=60, zeros=0.5 * np.sqrt(len(true)))
    assert found == pytest.approx(expected, abs=1e-9)  # atoms and bins are whole counts here


@pytest.mark.parametrize("name", NOISE)
def test_coarse_atoms_and_bins_lose_little(name):
    # A deviation of 40 and more counts: candidates and noisy values are then grouped.
    true = np.array([0] * 900 + [300] * 60 + [900] * 40)
    budget = SHARES[name] / (20.0 if name == "laplace" else 400.0)
    noisy, found = released(true, name, budget=budget)
    deviation = NOISE[name].count_deviation(budget, contribution=1)
    assert deviation > 38
    raw = np.sqrt(((noisy - true) ** 2).mean())
    better = np.sqrt(((found - true) ** 2).mean())
    assert better < 0.6 * raw
    assert found.sum() == pytest.approx(true.sum(), rel=0.15)


@pytest.mark.parametrize("name", NOISE)
def test_mass_is_kept_and_none_is_negative(name, subtests):
    for filled in [0.02, 0.3, 1.0]:
        with subtests.test(filled=filled):
            rng = np.random.default_rng(1)
            true = np.where(rng.random(4000) < filled, rng.poisson(30, 4000), 0)
            noisy, found = released(true, name)
            assert (found >= 0).all()
            assert found.sum() == pytest.approx(true.sum(), rel=0.15)
            # Where all cells are full and known well, there is nothing to gain, and little to lose.
            assert ((found - true) ** 2).mean() < 1.1 * ((noisy - true) ** 2).mean()


@pytest.mark.parametrize("name", NOISE)
def test_empty_cells_go_to_nearly_nothing(name):
    true = np.zeros(5000, np.int64)
    true[:10] = 200
    noisy, found = released(true, name)
    assert np.maximum(noisy[10:], 0).sum() > 3000
    assert found[10:].sum() < 400
    assert (found[:10] == noisy[:10]).all()  # far above the noise: as they came


@pytest.mark.parametrize("name", NOISE)
def test_larger_counts_are_larger_and_the_shape_stays(name, subtests):
    for contribution in [1, 3, 256]:
        with subtests.test(contribution=contribution):
            true = contribution * np.random.default_rng(2).poisson(3, (8, 5, 6))
            noisy, found = released(true, name, contribution=contribution)
            assert found.shape == (8, 5, 6)
            order = np.argsort(noisy.ravel())
            assert (np.diff(found.ravel()[order]) >= -1e-9).all()


@pytest.mark.parametrize("name", NOISE)
def test_extremes_give_no_warning(name, subtests):
    for budget in [1e-12, 1e-6, 1e-2, 1.0, 1e3, 1e9]:
        with subtests.test(budget=budget):
            tables = [
                np.array([0]),
                np.array([-1, 0, 1]),
                np.array([-(2**50), 2**50]),
                np.array([2**55] * 3),
                np.array([-(2**55)] * 3),
                np.arange(-50, 50) * 2**40,
            ]
            for noisy in tables:
                for contribution in (1, 256):
                    found = posterior_counts(noisy, NOISE[name], budget, contribution=contribution)
                    assert np.isfinite(found).all()
                    assert (found >= 0).all()
                    assert (
                        found
                        <= np.maximum(noisy, 0) + 30 * 1.5 * contribution / min(budget, budget**0.5)
                    ).all()
