"""Scales against the formulas of the proof, written again; deviations and tails against draws."""

import math
from fractions import Fraction

import numpy as np
import pytest

from shoal.cluster._noise import PureNoise, ZCDPNoise, noise_for
from shoal.engines import NearestStatistics
from shoal.noise import SeededSource, distributions
from shoal.privacy import PureEvent, ZCDPEvent, zcdp_to_epsilon

BUDGETS = [float(budget) for budget in np.exp(np.random.default_rng(0).uniform(-9, 3, 40))]
SIZES = [(1, 3, 1), (2, 2**19, 1), (7, 12345, 256), (16, 2**19, 3), (100, 2**18, 768)]
KINDS: dict[str, PureNoise | ZCDPNoise] = {
    "joint": PureNoise(1.0),
    "analytic": PureNoise(1.0, "analytic"),
    "equal": PureNoise(1.0, "equal"),
    "ball": ZCDPNoise(1.0),
    "cube": ZCDPNoise(1.0, cube=True),
    "cube-equal": ZCDPNoise(1.0, "equal", cube=True),
}


def cost(noise, scales, columns, clip_radius, contribution):
    """Exact cost of a pair with these scales, from the sensitivities of a row."""
    count, offset = Fraction(scales.counts), Fraction(scales.sums)
    if isinstance(noise, ZCDPNoise):
        squares = clip_radius**2 * (columns if noise.cube else 1)
        return (
            Fraction(contribution**2, 2) / count**2
            + Fraction(contribution**2 * squares, 2) / offset**2
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
        fast = ZCDPNoise(1.0).scales(0.3, columns=d, clip_radius=100, contribution=1)
        assert fast.counts == pytest.approx(ratio / math.sqrt(0.6))
        assert fast.sums == pytest.approx(100 * ratio / (4 * d) ** 0.25 / math.sqrt(0.6))
        # DP-KCCM: one Gaussian scale for the vector of d + 1 numbers, in units of half a box.
        kccm = ZCDPNoise(1.0, "equal", cube=True).scales(
            0.3, columns=d, clip_radius=100, contribution=1
        )
        assert kccm.counts == pytest.approx(math.sqrt(d + 1) / math.sqrt(0.6))
        assert kccm.sums == pytest.approx(100 * math.sqrt(d + 1) / math.sqrt(0.6))


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
    sigma = contribution / math.sqrt(2 * budget)
    x = np.arange(-math.ceil(12 * sigma) - 2, math.ceil(12 * sigma) + 3)
    law = np.exp(-(x**2) / (2 * sigma**2))
    return law[x > value].sum() / law.sum()


def test_count_tail_is_a_tail_bound(subtests):
    for contribution in [1, 3, 256]:
        for budget in [0.003, 0.1, 1.0, 8.0]:
            with subtests.test(contribution=contribution, budget=budget):
                for noise, tail in (
                    (PureNoise(1.0), laplace_tail),
                    (ZCDPNoise(1.0), gaussian_tail),
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
    sigma = 2 / math.sqrt(1.6)
    gauss = np.exp(ZCDPNoise(1.0).log_kernel(gaps, 0.8, contribution=2))
    assert gauss == pytest.approx(np.exp(-(gaps**2) / (2 * sigma**2)))


def test_privacy_measures_and_events():
    pure, gaussian = noise_for(0.9, 0.0), noise_for(0.9, 1e-6)
    assert (pure.total_budget, pure.approximate, pure.shape) == (0.9, False, "cube")
    assert (gaussian.approximate, gaussian.shape) == (True, "ball")
    assert ZCDPNoise(1.0, cube=True).shape == "cube"
    assert zcdp_to_epsilon(gaussian.total_budget, 1e-6) == pytest.approx(0.9, rel=1e-6)
    assert zcdp_to_epsilon(gaussian.total_budget, 1e-6) <= 0.9
    assert pure.event("x") == PureEvent(epsilon=0.9, purpose="x")
    assert gaussian.event("x") == ZCDPEvent(rho=gaussian.total_budget, purpose="x")
