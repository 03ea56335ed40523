"""The privacy loss that noise states, against ratios of probabilities computed one by one."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from helpers.cases import case
from helpers.noise_distributions import laplace_pmf, rounded_gaussian_pmf
from shoal.exceptions import ParameterError
from shoal.noise import (
    BoxNoise,
    EllipticNoise,
    ExponentialMechanism,
    LaplaceNoise,
    RoundedGaussianNoise,
    SecureSource,
    SeededSource,
    SparseCounts,
    SparseLaplaceNoise,
    observed,
    privatize,
)
from shoal.privacy import gdp_to_delta

RNG = np.random.default_rng(4)
VALUES = np.arange(-60, 61)


def largest_log_ratio(first, second):
    """Over all outcomes, of two tables of probabilities."""
    return float(np.abs(np.log(first) - np.log(second)).max())


@pytest.mark.parametrize(
    "noise",
    [
        LaplaceNoise(4.0),
        RoundedGaussianNoise(4.0),
        BoxNoise((4.0, 4.0)),
        EllipticNoise(np.array([[4.0, 4.0]])),
        SparseLaplaceNoise(cells=100, threshold=3, scale=4.0),
    ],
)
def test_noise_on_integers_refuses_fractions(noise):
    """250.537 was shown with its .537, and the stated loss was .009 where it is infinite."""
    for kind in [np.float64, np.uint64, np.bool_, object]:
        with case(kind=kind):
            exact: list[Any] = [np.array([[1, value]], dtype=kind) for value in (250, 251)]
            if isinstance(noise, SparseLaplaceNoise):
                exact = [SparseCounts(np.array([3, 4]), table[0]) for table in exact]
            first, second = exact
            with pytest.raises(ParameterError, match="integers"):
                privatize(first, noise, cost=0.25, source=SecureSource())
            assert noise.privacy_loss(first, second) == math.inf
            # One of integers beside one of fractions tells as much.
            whole: list[Any] = [np.array([[1, value]], dtype=np.int64) for value in (250, 251)]
            if isinstance(noise, SparseLaplaceNoise):
                whole = [SparseCounts(np.array([3, 4]), table[0]) for table in whole]
            assert noise.privacy_loss(first, whole[1]) == math.inf
            assert noise.privacy_loss(whole[0], second) == math.inf


def test_narrow_integers_are_integers():
    exact: Any = np.array([250, 3], dtype=np.uint8)
    shown = privatize(exact, LaplaceNoise(4.0), cost=0.25, source=SeededSource(0))
    assert shown.dtype == np.int64
    assert LaplaceNoise(4.0).privacy_loss(exact, np.array([3, 3], dtype=np.uint8)) == 247 / 4


@pytest.mark.parametrize("scale", [0.7, 2.0, 9.5])
def test_laplace(scale):
    for gap in [(1, 0), (-3, 2), (0, 0)]:
        with case(gap=gap):
            exact = np.array([2, -1])
            noise = LaplaceNoise(scale)
            # Noise of the entries is independent: the largest log-ratios of all entries add up.
            ratios = [
                largest_log_ratio(laplace_pmf(VALUES - a, scale), laplace_pmf(VALUES - b, scale))
                for a, b in zip(exact, exact + gap, strict=True)
            ]
            assert noise.privacy_loss(exact, exact + np.array(gap)) == pytest.approx(
                sum(ratios), abs=1e-9
            )
            assert noise.privacy_measure == "epsilon"


def hockey_stick(first, second, epsilon):
    return float(np.maximum(0.0, first - math.exp(epsilon) * second).sum())


EPSILONS = [0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize(
    ("sigmas", "gap"),
    [((0.3,), (1,)), ((1.0,), (1,)), ((4.5,), (3,)), ((0.8, 2.0), (1, -2)), ((1.5, 1.5), (2, 1))],
)
def test_rounded_gaussian_keeps_its_mu_at_every_epsilon(sigmas, gap):
    """The curve of the integers, cell by cell, lies below that of N(0, 1) against N(mu, 1)."""
    noise = RoundedGaussianNoise(np.array(sigmas))
    zeros = np.zeros(len(gap), dtype=np.int64)
    loss = noise.privacy_loss(zeros, np.array(gap))
    assert loss == pytest.approx(sum((g / s) ** 2 for g, s in zip(gap, sigmas, strict=True)))
    assert noise.privacy_measure == "mu^2"
    first = second = np.ones(())
    for sigma, shift in zip(sigmas, gap, strict=True):
        x = np.arange(-int(30 * sigma) - 9, int(30 * sigma) + 10)
        first = np.multiply.outer(first, rounded_gaussian_pmf(x, sigma))
        second = np.multiply.outer(second, rounded_gaussian_pmf(x - shift, sigma))
    for epsilon in EPSILONS:
        with case(epsilon=epsilon):
            result = hockey_stick(first, second, epsilon)
            assert result <= gdp_to_delta(math.sqrt(loss), epsilon) + 1e-15
    x = np.arange(-999, 999)
    wide = hockey_stick(rounded_gaussian_pmf(x, 90.0), rounded_gaussian_pmf(x - 90, 90.0), 1.0)
    assert wide == pytest.approx(gdp_to_delta(1.0, 1.0), rel=1e-3), "and comes close to it"


def test_an_entry_without_noise_tells_everything():
    noise = RoundedGaussianNoise(np.array([0.0, 2.0]))
    assert noise.privacy_loss(np.array([3, 5]), np.array([3, 9])) == 4.0
    assert noise.privacy_loss(np.array([3, 5]), np.array([4, 5])) == math.inf
    with pytest.raises(ParameterError, match="sigmas must be above 0"):
        noise.sample(np.array([3, 5]), SeededSource(0))


def test_rounded_gaussians_are_compared_by_their_sigmas():
    sigmas = np.array([1.0, 2.0])
    noise = RoundedGaussianNoise(sigmas)
    sigmas[0] = 9.0
    assert noise == RoundedGaussianNoise(np.array([1.0, 2.0]))
    assert hash(noise) == hash(RoundedGaussianNoise(np.array([1.0, 2.0])))
    assert noise != RoundedGaussianNoise(sigmas)
    assert RoundedGaussianNoise(1.0) != LaplaceNoise(1.0)
    assert str(noise) == "rounded normal noise, sigma 1 to 2"
    assert str(RoundedGaussianNoise(3.0)) == "rounded normal noise, sigma 3"


def test_tail_of_rounded_gaussian():
    for sigma in [0.3, 2.0, 11.0]:
        with case(sigma=sigma):
            near = np.arange(-300, 301)
            pmf = rounded_gaussian_pmf(near, sigma)
            values = np.arange(-40, 41)
            exact = [pmf[near >= value].sum() for value in values]
            tails = RoundedGaussianNoise(sigma).upper_tail(values)
            assert tails == pytest.approx(exact, rel=1e-9, abs=1e-12)


def test_box():
    """Of the real-valued distribution, which rounding only blurs: density e^(-max |z_j| / s_j)."""
    scales = np.array([2.0, 50.0, 7.0])
    exact, gap = RNG.integers(-9, 9, (4, 3)), RNG.integers(-30, 30, (4, 3))
    shown = np.concatenate(
        [exact + RNG.normal(size=(20_000, 4, 3)) * 200, [exact + 100 * gap, exact - 100 * gap]]
    )

    def log_density(center):
        return -(np.abs(shown - center) / scales).max(axis=2).sum(axis=1)

    seen = np.abs(log_density(exact) - log_density(exact + gap)).max()
    loss = BoxNoise(tuple(scales)).privacy_loss(exact, exact + gap)
    assert seen <= loss * (1 + 1e-12)
    assert seen == pytest.approx(loss, rel=1e-9), "the bound is reached"


@pytest.mark.parametrize("rate", [0.1, 1.3])
def test_choice(rate):
    for _ in range(200):
        first = RNG.integers(0, 6, 5)
        second = first + RNG.integers(-1, 2, 5)
        weights = np.exp(-rate * np.array([first, second]))
        p, q = weights / weights.sum(axis=1, keepdims=True)
        loss = ExponentialMechanism(rate).privacy_loss(first, second)
        assert largest_log_ratio(p, q) <= loss + 1e-12
    shifted = ExponentialMechanism(rate).privacy_loss(first, first + 3)
    assert shifted == 0.0, "what all candidates share tells nothing"
    # Reached in the limit of one good and very many bad candidates.
    many = np.array([0, *[1] * 10**6]), np.array([1, *[0] * 10**6])
    weights = [np.exp(-5 * table) / np.exp(-5 * table).sum() for table in many]
    assert largest_log_ratio(*weights) == pytest.approx(
        ExponentialMechanism(5.0).privacy_loss(*many), rel=1e-3
    )


def sparse_probability(shown, cells, exact, threshold, scale):
    """Chance of exactly these shown values, cell by cell."""
    chance = 1.0
    for cell in range(cells):
        value = exact.get(cell, 0)
        if cell in shown:
            chance *= laplace_pmf(np.array([shown[cell] - value]), scale)[0]
        else:
            below = np.arange(-400, threshold)
            chance *= laplace_pmf(below - value, scale).sum()
    return chance


def test_sparse():
    cells, threshold, scale = 3, 2, 1.5
    noise = SparseLaplaceNoise(cells, threshold, scale)
    one, two = {0: 3}, {0: 3, 2: 1}
    tables = [
        SparseCounts(np.array(list(t)), np.array(list(t.values()), dtype=np.int64))
        for t in (one, two)
    ]
    loss = noise.privacy_loss(*tables)
    assert loss == pytest.approx(1 / 1.5)
    ratios = []
    for shown in itertools.product([None, 2, 3, 7], repeat=cells):
        seen = {cell: value for cell, value in enumerate(shown) if value is not None}
        p, q = (sparse_probability(seen, cells, t, threshold, scale) for t in (one, two))
        ratios.append(abs(math.log(p / q)))
    assert max(ratios) == pytest.approx(loss)
    # A value that reaches the threshold is shown, in an occupied cell as in an empty one.
    silent = SparseLaplaceNoise(cells, threshold, 1e-3)
    occupied = SparseCounts(np.arange(3), np.array([threshold - 1, threshold, threshold + 1]))
    assert silent.sample(occupied, SeededSource(5)).codes.tolist() == [1, 2]
    # And it draws that distribution: frequencies of what is shown, 6 standard errors.
    source = SeededSource(5)
    draws = [noise.sample(tables[1], source) for _ in range(5_000)]
    hits = np.mean([d.codes.tolist() == [0] for d in draws])
    expected = sum(sparse_probability({0: v}, cells, two, threshold, scale) for v in range(2, 60))
    assert hits == pytest.approx(expected, abs=6 * math.sqrt(expected / 5_000))


def test_other_shapes_have_infinite_loss():
    noises: list[Any] = [
        LaplaceNoise(1.0),
        RoundedGaussianNoise(1.0),
        BoxNoise((1.0, 2.0)),
        EllipticNoise(np.array([[1.0, 2.0]])),
    ]
    for noise in noises:
        with case(noise=noise):
            assert (
                noise.privacy_loss(np.zeros((1, 2), np.int64), np.zeros((2, 2), np.int64))
                == math.inf
            )


def test_choice_among_more_candidates_has_infinite_loss():
    assert ExponentialMechanism(1.0).privacy_loss(np.zeros(3), np.zeros(4)) == math.inf


@pytest.mark.parametrize(
    ("noise", "exact"),
    [
        (LaplaceNoise(3.0), np.array([5, 6])),
        (RoundedGaussianNoise(np.array([3.0, 9.0])), np.array([[5, 6], [7, 8]])),
        (BoxNoise((3.0, 4.0)), np.array([[5, 6], [7, 8]])),
        (EllipticNoise(np.array([[3.0, 4.0]])), np.array([[5, 6], [7, 8]])),
        (ExponentialMechanism(0.5), np.array([1, 2, 3])),
    ],
)
def test_privatize_adds_nothing(noise, exact):
    """privatize draws what the distribution draws, and an observer sees all of it."""
    seen = []

    class Observer:
        def release(self, *what):
            seen.append(what)
            return what[-1]

    plain = noise.sample(exact, SeededSource(1))
    assert np.array_equal(privatize(exact, noise, cost=0.5, source=SeededSource(1)), plain)
    with observed(Observer()):
        assert np.array_equal(privatize(exact, noise, cost=0.5, source=SeededSource(1)), plain)
    ((hidden, observed_noise, cost, shown),) = seen
    assert hidden is exact
    assert (observed_noise, cost) == (noise, 0.5)
    assert np.array_equal(shown, plain)
    assert not np.array_equal(plain, exact) or noise == ExponentialMechanism(0.5)


def test_a_failing_observer_is_removed():
    class Failing:
        def release(self, *what):
            raise RuntimeError("stop")

    def release():
        return privatize(np.array([1]), LaplaceNoise(1.0), cost=1.0, source=SeededSource(1))

    with pytest.raises(RuntimeError, match="stop"), observed(Failing()):
        release()
    release()


def test_tail_of_laplace():
    for scale in [0.3, 2.0, 11.0]:
        with case(scale=scale):
            far = np.arange(-2000, 2001)
            pmf = laplace_pmf(far, scale)
            values = np.arange(-40, 41)
            exact = [pmf[far >= value].sum() for value in values]
            assert LaplaceNoise(scale).upper_tail(values) == pytest.approx(
                exact, rel=1e-9, abs=1e-12
            )


@pytest.mark.parametrize("scales", [(0.4,), (2.0, 50.0), (3.0, 70.0, 70.0, 70.0), (2.0,) * 40])
def test_tail_of_box(scales):
    """Against 200,000 draws, at 8 values: 5 standard errors, false alarm below 1e-5."""
    noise, n = BoxNoise(scales), 200_000
    zeros = np.zeros((n, len(scales)), dtype=np.int64)
    noisy = noise.sample(zeros, SeededSource(3))[:, 0]
    values = np.unique(np.quantile(noisy, [0.01, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999]).astype(int))
    for value, tail in zip(values, noise.upper_tail(values), strict=True):
        assert abs((noisy >= value).mean() - tail) <= 5 * np.sqrt(tail * (1 - tail) / n) + 1e-9
    far = noise.upper_tail(np.array([10**6, -(10**6)]))
    assert far == pytest.approx([0.0, 1.0])


def test_no_observer_sees_secure_noise():
    class Blunt:
        def release(self, exact, *what):
            return exact

    with (
        observed(Blunt()),
        pytest.raises(ParameterError, match="random_state must be a seed"),
    ):
        privatize(np.array([1]), LaplaceNoise(1.0), cost=1.0, source=SecureSource())
