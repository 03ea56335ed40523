"""The privacy loss and the tail that elliptic noise states, against independent computations."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import kve

from shoal.noise import BoxNoise, EllipticNoise, SeededSource
from shoal.noise.k_norm_sampler import rounding_steps

RNG = np.random.default_rng(4)


def test_elliptic():
    """Of the real-valued distribution, which rounding only blurs: density e^(-||z / scales||)."""
    scales = np.array([[2.0, 50.0, 7.0], [2.0, 5.0, 7.0]])
    exact, gap = RNG.integers(-9, 9, (2, 3)), RNG.integers(-30, 30, (2, 3))
    shown = np.concatenate(
        [exact + RNG.normal(size=(20_000, 2, 3)) * 200, [exact + 100 * gap, exact - 100 * gap]]
    )

    def log_density(center):
        return -np.linalg.norm((shown - center) / scales, axis=2).sum(axis=1)

    seen = np.abs(log_density(exact) - log_density(exact + gap)).max()
    noise = EllipticNoise(scales)
    loss = noise.privacy_loss(exact, exact + gap)
    assert seen <= loss * (1 + 1e-12)
    assert seen == pytest.approx(loss, rel=1e-9), "the bound is reached"
    assert noise == EllipticNoise(scales.copy())
    assert noise != EllipticNoise(scales[:1])
    assert noise != BoxNoise((2.0, 50.0, 7.0))
    assert hash(noise) == hash(EllipticNoise(scales.copy()))


@pytest.mark.parametrize("columns", [1, 2, 3, 10, 102, 200])
@pytest.mark.parametrize("scale", [0.4, 9000.0])
def test_tail_of_elliptic(columns, scale):
    """A bound, at most 5% above P[s Z >= v - step / 2], Z of density t^(d/2) K_(d/2)(t)."""
    order = columns / 2
    log_total = (order - 1) * math.log(2) + math.lgamma(order + 0.5) + math.log(math.pi) / 2

    def density(t):
        return math.exp(order * math.log(t) + math.log(kve(order, t)) - t - log_total) / 2

    noise = EllipticNoise(np.array([[scale, *[1.0] * (columns - 1)]]))
    deviation = math.sqrt(columns + 1) * scale
    values = np.ceil(deviation * np.array([-5, -1, 0.2, 1, 3, 6])).astype(np.int64)
    step = rounding_steps(noise.scales)[0, 0]
    for value, tail in zip(values, noise.upper_tail(values), strict=True):
        t = (value - step / 2) / scale
        ends = np.linspace(abs(t), abs(t) + 40 * math.sqrt(columns + 1), 41)
        beyond = sum(quad(density, *pair)[0] for pair in itertools.pairwise(ends))
        exact = beyond if t >= 0 else 1 - beyond
        assert exact * (1 - 1e-7) <= tail <= 1.05 * exact
    assert noise.upper_tail(np.array([10**9, -(10**9)])) == pytest.approx([0.0, 1.0])
    if columns <= 10:  # and what is drawn has that tail: 6 standard errors
        noisy = noise.sample(np.zeros((50_000, columns), dtype=np.int64), SeededSource(3))[:, 0]
        for value, tail in zip(values, noise.upper_tail(values), strict=True):
            assert abs((noisy >= value).mean() - tail) <= 6 * math.sqrt(tail / 50_000) + 0.01 * tail


def test_tail_in_the_middle_is_a_half():
    """From half a step on, everything is rounded up: the real-valued variable is above 0."""
    noise = EllipticNoise(np.full((1, 3), 1e4))
    step = rounding_steps(noise.scales)[0, 0]
    assert step > 1
    assert noise.upper_tail(np.array([step // 2])) == pytest.approx([0.5])


def test_tail_of_thousands_of_columns_is_nearly_normal():
    columns, deviations = 4000, np.array([-2.0, 0.5, 1.0, 3.0])
    noise = EllipticNoise(np.full((1, columns), 1e3))
    deviation = 1e3 * math.sqrt(columns + 1)
    step = rounding_steps(noise.scales)[0, 0]
    values = np.rint(deviations * deviation + step / 2).astype(np.int64)
    expected = stats.norm.sf(deviations)
    assert noise.upper_tail(values) == pytest.approx(expected, rel=0.01)
