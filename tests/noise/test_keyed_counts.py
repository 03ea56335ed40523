"""Noisy counts of keys above a threshold, against sums over all outcomes."""

import itertools
import math

import mpmath
import numpy as np
import pytest

from helpers.cases import case
from helpers.noise_distributions import laplace_pmf, rounded_gaussian_pmf
from shoal.exceptions import ParameterError
from shoal.noise import (
    ApproximateNoise,
    KeyCounts,
    LaplaceNoise,
    RoundedGaussianNoise,
    SeededSource,
    ThresholdedNoise,
    key_threshold,
    keyed_counts,
)
from shoal.privacy import gdp_to_delta

NOISES = [
    (LaplaceNoise(0.3), lambda x: laplace_pmf(x, 0.3)),
    (LaplaceNoise(2.0), lambda x: laplace_pmf(x, 2.0)),
    (LaplaceNoise(7.3), lambda x: laplace_pmf(x, 7.3)),
    (RoundedGaussianNoise(0.9), lambda x: rounded_gaussian_pmf(x, 0.9)),
    (RoundedGaussianNoise(4.4), lambda x: rounded_gaussian_pmf(x, 4.4)),
]


@pytest.mark.parametrize(("noise", "pmf"), NOISES)
def test_threshold_is_the_smallest_by_summed_probabilities(noise, pmf):
    values = np.arange(0, 2000)
    for keys, delta in itertools.product([1, 3, 40], [0.3, 1e-3, 1e-9]):
        with case(keys=keys, delta=delta):
            threshold = key_threshold(noise, max_keys=keys, delta=delta)

            def shown(smallest, keys=keys):
                passes = math.fsum(pmf(values[values >= smallest - 1]))
                return -math.expm1(keys * math.log1p(-passes))

            assert shown(threshold) <= delta * (1 + 1e-9)
            assert threshold == 2 or shown(threshold - 1) > delta * (1 - 1e-9)


def test_threshold_of_laplace_noise_in_closed_form():
    """For one key: the least whole t with e^(-(t - 1) / s) <= delta (1 + e^(-1/s))."""
    for scale, delta in [(1.0, 1e-6), (20.0, 1e-12), (0.1, 1e-300), (3e4, 1e-8)]:
        with case(scale=scale, delta=delta):
            least = 1 - scale * (math.log(delta) + math.log1p(math.exp(-1 / scale)))
            assert key_threshold(LaplaceNoise(scale), max_keys=1, delta=delta) == math.ceil(least)


def test_boundary_is_taken_when_delta_is_just_enough():
    """The tail at t = 11 rounded up is a delta for 11, and rounded down one for 12."""
    tail = math.exp(-10 / 2.0) / (1 + math.exp(-1 / 2.0))
    noise = LaplaceNoise(2.0)
    assert key_threshold(noise, max_keys=1, delta=tail * (1 + 1e-14)) == 11
    assert key_threshold(noise, max_keys=1, delta=tail * (1 - 1e-14)) == 12


def test_intervals_that_are_wide_leave_no_threshold_too_low(monkeypatch):
    """With few guard bits each probability is known roughly: the threshold is one that holds."""
    cases = list(itertools.product([0.3, 2.0, 7.3, 40.0], [1, 3, 40], [0.3, 1e-3, 1e-9]))
    exact = [key_threshold(LaplaceNoise(s), max_keys=k, delta=d) for s, k, d in cases]
    monkeypatch.setattr(keyed_counts, "GUARD_BITS", 10)
    keyed_counts._smallest.cache_clear()
    rough = [key_threshold(LaplaceNoise(s), max_keys=k, delta=d) for s, k, d in cases]
    keyed_counts._smallest.cache_clear()
    assert all(one >= other for one, other in zip(rough, exact, strict=True))
    assert rough != exact


@pytest.mark.parametrize("max_keys", [1, 3, 7, 40])
@pytest.mark.parametrize("scale", [0.3, 2.0, 7.3])
def test_doubles_find_no_fault_with_a_delta_that_is_just_enough(max_keys, scale):
    """They bound the failure of keys that one person alone has by a little more than it is."""
    noise, lone = LaplaceNoise(scale), KeyCounts(tuple(range(max_keys)), np.ones(max_keys, int))
    for threshold in range(3, 40):
        with mpmath.workprec(600):
            width = mpmath.mpf(scale)
            tail = mpmath.exp(-(threshold - 1) / width) / (1 + mpmath.exp(-1 / width))
            shown = 1 - (1 - tail) ** max_keys
            delta = float(shown) if float(shown) >= shown else math.nextafter(float(shown), 1.0)
        assert key_threshold(noise, max_keys=max_keys, delta=delta) == threshold
        nobody = KeyCounts((), np.zeros(0, int))
        thresholded = ThresholdedNoise(noise, threshold, delta)
        assert thresholded.privacy_loss(lone, nobody) == 0
        less = ThresholdedNoise(noise, threshold, delta * (1 - 1e-6))
        assert less.privacy_loss(lone, nobody) == math.inf


def outcomes(noise, pmf, counts):
    """Probabilities of all that a release of keys can show: each absent, or a noisy count."""
    table = np.ones(())
    for count in counts:
        values = np.arange(noise.threshold, noise.threshold + 120)
        shown = pmf(values - count) if count else np.zeros(len(values))
        table = np.multiply.outer(table, np.array([1 - shown.sum(), *shown]))
    return table


def true_delta(first, second, epsilon):
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


@pytest.mark.parametrize("max_keys", [1, 2])
@pytest.mark.parametrize("others", [0, 1, 5, 12])
def test_promise_holds_over_all_outcomes(max_keys, others):
    """A person's keys: all new, or some that others have; both directions, summed exactly."""
    epsilon, delta = 1.0, 1e-3
    laplace = LaplaceNoise(max_keys / epsilon)
    sigma = 4.0
    gaussian = RoundedGaussianNoise(sigma)
    for noise, pmf, own in [
        (laplace, lambda x: laplace_pmf(x, laplace.scale), 0.0),
        (
            gaussian,
            lambda x: rounded_gaussian_pmf(x, sigma),
            gdp_to_delta(math.sqrt(max_keys) / sigma, epsilon),
        ),
    ]:
        threshold = key_threshold(noise, max_keys=max_keys, delta=delta)
        for new in range(max_keys + 1):
            with case(noise=str(noise), new=new):
                without = [0] * new + [others] * (max_keys - new)
                tables = [
                    outcomes(ThresholdedNoise(noise, threshold, delta), pmf, counts)
                    for counts in (without, [count + 1 for count in without])
                ]
                for first, second in (tables, tables[::-1]):
                    assert true_delta(first, second, epsilon) <= (delta + own) * (1 + 1e-9)


def test_threshold_one_lower_breaks_the_promise():
    noise, delta = LaplaceNoise(2.0), 1e-3
    threshold = key_threshold(noise, max_keys=2, delta=delta)
    lower = ThresholdedNoise(noise, threshold - 1, delta)
    tables = [outcomes(lower, lambda x: laplace_pmf(x, 2.0), counts) for counts in ([0, 0], [1, 1])]
    assert true_delta(tables[1], tables[0], 1.0) > delta
    alone, nobody = KeyCounts.of({"a": 1, "b": 1}), KeyCounts.of({})
    assert lower.privacy_loss(alone, nobody) == lower.privacy_loss(nobody, alone) == math.inf
    assert ThresholdedNoise(noise, threshold, delta).privacy_loss(alone, nobody) == 0.0


def test_loss_is_that_of_shared_keys():
    noise = ThresholdedNoise(LaplaceNoise(4.0), 100, 1e-6)
    first, second = KeyCounts.of({"a": 7, "b": 5, "c": 1}), KeyCounts.of({"a": 6, "b": 5})
    assert noise.privacy_loss(first, second) == noise.privacy_loss(second, first) == 0.25
    normal = ThresholdedNoise(RoundedGaussianNoise(2.0), 100, 1e-6)
    assert normal.privacy_loss(first, second) == 0.25
    assert normal.privacy_measure == "mu^2"
    assert isinstance(noise, ApproximateNoise)
    assert not isinstance(LaplaceNoise(1.0), ApproximateNoise)


def test_released_keys_ascend_and_reach_the_threshold():
    exact = KeyCounts.of({f"key {i * 7919 % 1000}": i % 40 for i in range(1000)})
    noise = ThresholdedNoise(LaplaceNoise(3.0), 30, 1e-3)
    shown = noise.sample(exact, SeededSource(3))
    assert list(shown.keys) == sorted(shown.keys)
    assert 0 < len(shown.keys) < 1000
    assert shown.counts.min() >= 30
    noisy = exact.counts + (LaplaceNoise(3.0).sample(0 * exact.counts, SeededSource(3)))
    assert shown.counts.tolist() == noisy[noisy >= 30].tolist()


def test_refusals():
    with pytest.raises(ParameterError, match="ascend"):
        KeyCounts(("b", "a"), np.array([1, 2]))
    with pytest.raises(ParameterError, match="ascend"):
        KeyCounts(("a", "a"), np.array([1, 2]))
    with pytest.raises(ParameterError, match="threshold must be from 2"):
        ThresholdedNoise(LaplaceNoise(1.0), 1, 1e-6)
    with pytest.raises(ParameterError, match="delta"):
        key_threshold(LaplaceNoise(1.0), max_keys=1, delta=0.0)
    with pytest.raises(ParameterError, match="max_keys"):
        key_threshold(LaplaceNoise(1.0), max_keys=0, delta=0.1)
    with pytest.raises(ParameterError, match="one scale"):
        key_threshold(RoundedGaussianNoise(np.array([1.0, 2.0])), max_keys=1, delta=0.1)
