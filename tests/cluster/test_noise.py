"""Scales against the formulas of the proof, written again; deviations and tails against draws."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from shoal.cluster._noise import GDPNoise, NoisyWindows, PureNoise, WindowWeights, noise_for
from shoal.engines import MOMENT_UNIT, NearestStatistics, WindowStatistics
from shoal.noise import RoundedGaussianNoise, SeededSource, distributions, observed
from shoal.privacy import GDPEvent, PureEvent, gdp_to_epsilon

BUDGETS = [float(budget) for budget in np.exp(np.random.default_rng(0).uniform(-9, 3, 40))]
SIZES = [(1, 3, 1), (2, 2**19, 1), (7, 12345, 256), (16, 2**19, 3), (100, 2**18, 768)]
KINDS: dict[str, PureNoise | GDPNoise] = {
    "joint": PureNoise(1.0),
    "analytic": PureNoise(1.0, "analytic"),
    "equal": PureNoise(1.0, "equal"),
    "ball": GDPNoise(1.0),
    "cube": GDPNoise(1.0, cube=True),
    "cube-equal": GDPNoise(1.0, "equal", cube=True),
}


def cost(noise, scales, columns, clip_radius, contribution):
    """Exact cost of a pair with these scales, from the sensitivities of a row."""
    count, offset = Fraction(scales.counts), Fraction(scales.sums)
    if isinstance(noise, GDPNoise):
        squares = clip_radius**2 * (columns if noise.cube else 1)
        return (
            Fraction(contribution**2) / count**2 + Fraction(contribution**2 * squares) / offset**2
        )
    if noise.split == "joint":
        assert columns < 256
        return max(contribution / count, contribution * clip_radius / offset)
    return contribution / count + columns * contribution * clip_radius / offset


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_cost_their_share_and_never_more(kind):
    noise = KINDS[kind]
    for columns, clip_radius, contribution in SIZES:
        for budget in BUDGETS:
            scales = noise.scales(
                budget, columns=columns, clip_radius=clip_radius, contribution=contribution
            )
            paid = cost(noise, scales, columns, clip_radius, contribution)
            assert paid <= Fraction(budget)
            assert paid >= Fraction(budget) * (1 - Fraction(1, 10**14))


def test_counts_and_sums_are_divided_as_published():
    for d in (1, 2, 10):
        q = (4 * d * 0.225**2) ** (1 / 3)
        analytic = PureNoise(1.0, "analytic").scales(
            0.3, columns=d, clip_radius=100, contribution=1
        )
        assert analytic.counts == pytest.approx((d + q) / (0.3 * q))
        assert analytic.sums == pytest.approx(100 * (d + q) / 0.3)
        equal = PureNoise(1.0, "equal").scales(0.3, columns=d, clip_radius=100, contribution=1)
        assert equal.counts == pytest.approx((d + 1) / 0.3)
        assert equal.sums == pytest.approx(100 * (d + 1) / 0.3)
        ratio = math.sqrt(1 + math.sqrt(4 * d))  # FastLloyd
        fast = GDPNoise(1.0).scales(0.3, columns=d, clip_radius=100, contribution=1)
        assert fast.counts == pytest.approx(ratio / math.sqrt(0.3))
        assert fast.sums == pytest.approx(100 * ratio / (4 * d) ** 0.25 / math.sqrt(0.3))
        # DP-KCCM: one Gaussian scale for the vector of d + 1 numbers, in units of half a box.
        kccm = GDPNoise(1.0, "equal", cube=True).scales(
            0.3, columns=d, clip_radius=100, contribution=1
        )
        assert kccm.counts == pytest.approx(math.sqrt(d + 1) / math.sqrt(0.3))
        assert kccm.sums == pytest.approx(100 * math.sqrt(d + 1) / math.sqrt(0.3))


@pytest.mark.parametrize("columns", [254, 255, 256, 300, 511, 512, 1000])
def test_wide_joint_noise_is_paid_for_block_by_block(columns, monkeypatch):
    drawn = []
    real = distributions.box_norm

    def listen(count, *, scales, source):
        drawn.append(scales)
        return real(count, scales=scales, source=source)

    monkeypatch.setattr(distributions, "box_norm", listen)
    exact = NearestStatistics(np.zeros(1, np.int64), np.zeros((1, columns), np.int64))
    noisy = PureNoise(1.0).pairs(
        exact, 0.7, clip_radius=1000, contribution=3, source=SeededSource(0)
    )
    assert noisy.sums.shape == (1, columns)
    moves = iter([3, *[3000] * columns])
    paid = sum(max(Fraction(next(moves)) / Fraction(s) for s in block) for block in drawn)
    assert next(moves, None) is None, "a column has no noise"
    assert max(map(len, drawn)) <= 256
    assert Fraction(0.7) * (1 - Fraction(1, 10**14)) <= paid <= Fraction(0.7)


@pytest.mark.parametrize("kind", KINDS)
def test_deviations_are_those_of_draws(kind, subtests):
    for columns in [1, 4]:
        with subtests.test(columns=columns):
            # Standard error of a deviation from 10^5 draws: below 0.6% even for Laplace; 5 of them.
            noise, rows = KINDS[kind], 100_000
            exact = NearestStatistics(np.full(rows, 7), np.full((rows, columns), -3))
            noisy = noise.pairs(exact, 0.5, clip_radius=50, contribution=2, source=SeededSource(1))
            said = noise.pair_deviations(0.5, columns=columns, clip_radius=50, contribution=2)
            assert noisy.deviations == said
            assert np.std(noisy.counts - 7) == pytest.approx(said.counts, rel=0.03)
            assert np.std(noisy.sums + 3, axis=0) == pytest.approx(said.sums, rel=0.03)
            counts = noise.counts(
                np.zeros(rows, np.int64), 0.1, contribution=2, source=SeededSource(2)
            )
            assert counts.std() == pytest.approx(
                noise.count_deviation(0.1, contribution=2), rel=0.03
            )


def test_wide_deviations_are_those_of_draws():
    rows, columns = 4000, 300
    exact = NearestStatistics(np.zeros(rows, np.int64), np.zeros((rows, columns), np.int64))
    noisy = PureNoise(1.0).pairs(exact, 0.5, clip_radius=50, contribution=1, source=SeededSource(1))
    assert noisy.sums.std() == pytest.approx(noisy.deviations.sums, rel=0.03)


def laplace_tail(budget, contribution, value):
    """P[X > value] of the two-sided geometric law, to the last term."""
    q = math.exp(-budget / contribution)
    return q ** (math.floor(value) + 1) / (1 + q)


def gaussian_tail(budget, contribution, value):
    """P[X > value] of a normal variable that is rounded."""
    sigma = contribution / math.sqrt(budget)
    return stats.norm.sf((math.floor(value) + 0.5) / sigma)


def test_count_tail_is_a_tail_bound(subtests):
    for contribution in [1, 3, 256]:
        for budget in [0.003, 0.1, 1.0, 8.0]:
            with subtests.test(contribution=contribution, budget=budget):
                for noise, tail in (
                    (PureNoise(1.0), laplace_tail),
                    (GDPNoise(1.0), gaussian_tail),
                ):
                    for probability in (0.3, 0.05, 1e-3, 1e-6, 1e-9):
                        value = noise.count_tail(budget, probability, contribution=contribution)
                        assert tail(budget, contribution, value) <= probability
                        assert (
                            tail(budget, contribution, value - 2.5 - contribution / budget)
                            > probability / 100
                        )


def test_log_kernel_is_the_law_of_the_counts():
    gaps = np.arange(-6.0, 7.0)
    pure = np.exp(PureNoise(1.0).log_kernel(gaps, 0.8, contribution=2))
    assert pure == pytest.approx(np.exp(-np.abs(gaps) / 2.5))
    sigma = 2 / math.sqrt(0.8)
    gauss = np.exp(GDPNoise(1.0).log_kernel(gaps, 0.8, contribution=2))
    assert gauss == pytest.approx(np.exp(-(gaps**2) / (2 * sigma**2)))


def test_privacy_measures_and_events():
    pure, gaussian = noise_for(0.9, 0.0), noise_for(0.9, 1e-6)
    assert (pure.total_budget, pure.approximate, pure.shape) == (0.9, False, "cube")
    assert (gaussian.approximate, gaussian.shape) == (True, "ball")
    assert GDPNoise(1.0, cube=True).shape == "cube"
    mu = math.sqrt(gaussian.total_budget)
    assert (pure.mu, gaussian.mu) == (None, mu)
    assert gdp_to_epsilon(mu, 1e-6) == pytest.approx(0.9, rel=1e-9)
    assert pure.event("x") == PureEvent(epsilon=0.9, purpose="x")
    assert gaussian.event("x") == GDPEvent(mu=mu, purpose="x")


class Releases:
    """Lists what passes privatize."""

    def __init__(self):
        self.seen = []

    def release(self, exact, noise, cost, released):
        self.seen.append((exact, noise, cost))
        return released


@pytest.mark.parametrize("columns", [1, 2, 100, 784])
def test_windows_cost_their_budget_and_never_more(columns):
    """The worst record: as far from its center as the window reaches, with its whole weight."""
    radii = np.array([1000, 7, 2**24])
    for budget, contribution in [(0.05, 1), (1e-5, 7), (3.0, 256)]:
        zeros = WindowStatistics(
            np.zeros(3, np.int64), np.zeros((3, columns), np.int64), np.zeros(3, np.int64)
        )
        releases = Releases()
        with observed(releases):
            noisy = GDPNoise(1.0).windows(
                zeros, radii, budget, contribution=contribution, source=SeededSource(0)
            )
        ((exact, noise, cost),) = releases.seen
        assert isinstance(noisy, NoisyWindows)
        assert (cost, exact.shape) == (budget, (3, columns + 2))
        for cell, radius in enumerate(radii):
            other = np.zeros_like(exact)
            other[cell, [0, 1, -1]] = contribution * np.array([1, radius, MOMENT_UNIT // 2])
            loss = sum(
                Fraction(int(gap)) ** 2 / Fraction(float(sigma)) ** 2
                for gap, sigma in zip(other.ravel(), noise.sigmas.ravel(), strict=True)
                if gap
            )
            assert Fraction(budget) * (1 - Fraction(1, 10**13)) <= loss <= Fraction(budget)


def test_windows_are_divided_as_published():
    """Delta = sqrt(1 + a^2 + b^2/4): noise Delta sigma / a, Delta sigma r and Delta sigma / b."""
    (a, b), sigma = WindowWeights.of(16), 1 / math.sqrt(0.02)
    delta = math.sqrt(1 + a**2 + b**2 / 4)
    said = GDPNoise(1.0).window_deviations(
        0.02, columns=16, radii=np.array([10, 300]), contribution=3
    )
    assert said.counts == pytest.approx(3 * delta * sigma / a)
    assert said.sums == pytest.approx(3 * delta * sigma * np.array([10, 300]))
    assert said.moments == pytest.approx(3 * delta * sigma * MOMENT_UNIT / b)


def test_deviations_of_windows_are_those_of_draws():
    rows = 50_000  # standard error of a deviation: 0.32%; 5 of them
    exact = WindowStatistics(np.full(rows, 7), np.full((rows, 2), -3), np.full(rows, 5))
    radii = np.where(np.arange(rows) % 2 == 0, 50, 5000)
    noisy = GDPNoise(1.0).windows(exact, radii, 0.5, contribution=2, source=SeededSource(1))
    said = noisy.deviations
    assert np.std(noisy.counts - 7) == pytest.approx(said.counts, rel=0.016)
    assert np.std(noisy.moments - 5) == pytest.approx(said.moments, rel=0.016)
    assert np.std((noisy.sums + 3) / said.sums[:, None], axis=0) == pytest.approx(1, rel=0.016)
    none = RoundedGaussianNoise(said.counts).upper_tail(noisy.counts)
    assert np.array_equal(noisy.tails, none)


def test_a_matrix_costs_its_budget_whatever_the_direction():
    """One record adds y y^T: for a length of clip_radius it costs the budget, in any direction."""
    rng = np.random.default_rng(0)
    for contribution, budget in [(1, 0.03), (5, 2.0)]:
        releases = Releases()
        zeros = np.zeros((6, 6), np.int64)
        with observed(releases):
            noisy = GDPNoise(1.0).second_moments(
                zeros, budget, clip_radius=4096, contribution=contribution, source=SeededSource(0)
            )
        ((exact, noise, cost),) = releases.seen
        assert (cost, exact.shape) == (budget, (21,))
        assert np.array_equal(noisy.matrix, noisy.matrix.T)
        rows, columns = np.triu_indices(6)
        for direction in [*np.eye(6)[:2], np.ones(6), *rng.normal(size=(5, 6))]:
            y = (4096 * direction / np.linalg.norm(direction)).astype(np.int64)
            other = contribution * np.outer(y, y)[rows, columns]
            loss = noise.privacy_loss(exact, other)
            assert loss <= budget
            assert loss >= budget * (1 - 4 * 6 / 4096), "the length is truncated"


def test_every_entry_of_a_matrix_has_its_noise():
    """Standard errors of 2,000 draws: 1.6% of each deviation; 5 of them, 10 entries."""
    draws = np.array(
        [
            GDPNoise(1.0)
            .second_moments(
                np.zeros((4, 4), np.int64),
                0.25,
                clip_radius=100,
                contribution=1,
                source=SeededSource(seed),
            )
            .matrix
            for seed in range(2000)
        ]
    )
    expected = np.where(np.eye(4) == 1, 20_000.0, 20_000 / math.sqrt(2))
    assert draws.std(axis=0) == pytest.approx(expected, rel=0.08)
