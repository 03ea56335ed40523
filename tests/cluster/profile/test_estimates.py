"""Consistent counts are least squares, and intervals hold the exact values as often as they say."""

import numpy as np
import pytest

from shoal.cluster._noise import noise_for
from shoal.cluster.profile._estimates import Consistent, Tail, consistent_counts, project
from shoal.noise import SeededSource

SIZES = np.array([30, 300, 3000])
LEVELS = (3, 12, 33)
FITS = 60


def exact_tables():
    rng = np.random.default_rng(3)
    shares = [[rng.dirichlet(np.full(m, 0.5)) for _ in SIZES] for m in LEVELS]
    return [np.stack([rng.multinomial(*one) for one in zip(SIZES, p, strict=True)]) for p in shares]


def test_consistent_counts_are_weighted_least_squares():
    """The same as solving the normal equations of all counts with one size for all fields."""
    rng = np.random.default_rng(0)
    noisy = [rng.integers(0, 50, (1, m)) for m in (2, 5)]
    deviations = [1.0, 3.0]
    found = consistent_counts(noisy, deviations)
    # Unknowns: the counts of both fields; the constraint: their sums are equal.
    y = np.concatenate([table[0] for table in noisy]).astype(float)
    variance = np.repeat(np.square(deviations), [2, 5])
    a = np.concatenate([np.ones(2), -np.ones(5)])
    by_hand = y - variance * a * (a @ y) / (a @ (variance * a))
    np.testing.assert_allclose(np.concatenate([one.counts[0] for one in found]), by_hand)
    assert found[0].size_variance == pytest.approx(1 / (1 / (2 * 1.0) + 1 / (5 * 9.0)))


def test_variance_of_a_linear_function_is_that_of_many_draws():
    """Of a count and of a size, from 20,000 normal draws: within 5% (5 deviations)."""
    rng = np.random.default_rng(1)
    draws = [rng.normal(0, s, (20_000, m)) for s, m in ((1.0, 3), (2.0, 6))]
    found = consistent_counts(draws, [1.0, 2.0])
    assert found[0].sizes.var() == pytest.approx(found[0].size_variance, rel=0.05)
    for one, m in zip(found, (3, 6), strict=True):
        variance = one.count_variance * (1 - 1 / m) + one.size_variance / m**2
        assert one.counts[:, 0].var() == pytest.approx(variance, rel=0.05)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        (0.3, 0.0),
        pytest.param(2.0, 0.0, marks=pytest.mark.full),
        (10.0, 0.0),
        (1.0, 1e-6),
        (20.0, 1e-6),
    ],
)
def test_intervals_hold_the_exact_values(epsilon, delta):
    """Of 60 fits at least 94% of all intervals hold; seeds are fixed."""
    exact = exact_tables()
    noise = noise_for(epsilon, delta)
    budget = noise.total_budget / len(exact)
    deviations = [noise.count_deviation(budget, contribution=1)] * len(exact)
    tail = Tail(0.05, approximate=noise.approximate)
    source = SeededSource(2)
    held = {"size": [], "share": [], "overall": [], "quantile": []}
    for _ in range(FITS):
        noisy = [noise.counts(one, budget, contribution=1, source=source) for one in exact]
        for table, counts in zip(exact, consistent_counts(noisy, deviations), strict=True):
            held["size"].append(inside(counts.size_interval(tail), SIZES))
            shares = table / SIZES[:, None]
            held["share"].append(inside(counts.share_interval(tail), shares))
            overall = table.sum(axis=0) / SIZES.sum()
            held["overall"].append(inside(counts.total.share_interval(tail), overall))
            bins = table.shape[1] - 1
            below = np.cumsum(table[:, :bins], axis=1)
            for q in (0.1, 0.5, 0.9):
                first, last = counts.quantile_bins(q, bins, tail)
                at = (below >= q * below[:, -1:]).argmax(axis=1)
                held["quantile"].append(np.mean((first <= at) & (at <= last)))
    for name, parts in held.items():
        assert np.mean(parts) >= 0.94, name


def inside(interval, exact):
    return np.mean((interval.low <= exact + 1e-9) & (exact - 1e-9 <= interval.high))


def test_intervals_hold_what_is_shown_and_stay_possible():
    counts = Consistent(np.array([[-40.0, 50.0, 10.0]]), np.array([20.0]), 25.0, 30.0, 5.0)
    shares = counts.share_interval(Tail(0.05, approximate=True))
    assert (shares.low <= shares.value).all()
    assert (shares.value <= shares.high).all()
    assert shares.low.min() >= 0
    assert shares.high.max() <= 1
    assert shares.value.sum() == pytest.approx(1)
    nobody = Consistent(np.array([[-4.0, 1.0]]), np.array([-3.0]), 25.0, 30.0, 5.0)
    assert nobody.share_interval(Tail(0.05, approximate=True)).high.tolist() == [[1.0, 1.0]]
    assert nobody.size_interval(Tail(0.05, approximate=True)).low.tolist() == [0.0]


@pytest.mark.parametrize("terms", [1, 2, 5, 40])
@pytest.mark.parametrize("miss", [0.05, 1e-3])
def test_tails_of_sums_of_laplace_noises(terms, miss):
    """From 400,000 draws: beyond the bound no more than `miss`, up to 5 deviations of a count."""
    draws = np.random.default_rng(4).laplace(size=(400_000, terms)).sum(axis=1)
    bound = float(Tail(miss, approximate=False).deviations(float(terms))) * np.sqrt(2 * terms)
    beyond = np.mean(np.abs(draws) > bound)
    assert beyond <= miss + 5 * np.sqrt(miss / len(draws))


def test_tails_are_quantiles():
    assert Tail(0.05, approximate=True).deviations() == pytest.approx(1.96, abs=0.001)
    # P(|Laplace| > t) = exp(-t / scale), and the standard deviation is sqrt(2) scales.
    single = Tail(0.05, approximate=False).deviations()
    assert np.exp(-single * np.sqrt(2)) == pytest.approx(0.05)
    many = Tail(1e-5, approximate=False).deviations(np.array([1.0, 1e6]))
    assert many[0] == pytest.approx(np.log(1e5) / np.sqrt(2))
    assert many[1] == pytest.approx(np.sqrt(2 * np.log(2e5)), rel=1e-3)  # Chernoff, normal


def test_projection_is_the_nearest_possible_row():
    np.testing.assert_allclose(project(np.array([0.2, 0.3, 0.5])), [0.2, 0.3, 0.5])
    np.testing.assert_allclose(project(np.array([-0.2, 0.4, 0.8])), [0.0, 0.3, 0.7])
