"""Mechanisms that keep their promise: the bound comes close to epsilon and does not pass it.

At confidence c a bound is above the true epsilon in at most 1 - c of all runs. Tests with many
seeds count such false alarms at confidence 0.95 against the 99.9% quantile of Binomial(runs, 0.05),
so a correct audit fails one of them for fewer than 1 in 1000 sets of seeds (the seeds are fixed: it
always passes or always fails). Single runs use 0.999. Metric bounds are per unit of Euclidean
distance.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

from helpers.toy_samplers import (
    FINE,
    ball_noise,
    float_laplace,
    grid,
    grid_laplace,
    planar_laplace,
    randomized_response,
    resampled_laplace,
    thesis_spherical,
)
from shoal.audit import epsilon_lower_bound, metric_epsilon_lower_bound

RUNS = 200
LIMIT = int(binom.isf(0.001, RUNS, 0.05))


def alarms(make, first, second, epsilon, samples):
    """Count the runs, one a seed, whose bound passes the true epsilon."""
    found = [
        epsilon_lower_bound(
            make(np.random.default_rng(seed)), first, second, samples=samples, confidence=0.95
        ).epsilon
        for seed in range(RUNS)
    ]
    return sum(bound > epsilon for bound in found)


def test_randomized_response_is_bounded_closely():
    rng = np.random.default_rng(1)
    found = epsilon_lower_bound(randomized_response(1.5, rng), 0, 1)
    assert 0.95 * 1.5 < found.epsilon <= 1.5


def test_false_alarms_on_randomized_response():
    """Seen: 2 of 200 (1%), where 5% is allowed: the two limits rarely fail together."""
    make = lambda rng: randomized_response(1.0, rng)  # noqa: E731
    assert alarms(make, 0, 1, 1.0, samples=2000) <= LIMIT


def test_false_alarms_where_many_events_are_tried():
    """A continuous output has thousands of cuts to choose from. Seen: 0 of 200."""
    make = lambda rng: grid_laplace(1.0, rng, step=FINE)  # noqa: E731
    assert alarms(make, 0.0, 1.0, 1.0, samples=1000) <= LIMIT


def test_false_alarms_where_the_records_cannot_be_told_apart():
    """Seen: 0 of 200."""
    make = lambda rng: lambda record, n: rng.normal(size=n)  # noqa: E731
    assert alarms(make, 0.0, 1.0, 0.0, samples=1000) <= LIMIT


def test_false_alarms_would_show_if_the_search_saw_the_counted_half():
    """The same records with outputs that repeat after one half: the split must matter."""
    make = lambda rng: lambda record, n: np.tile(rng.normal(size=n // 2), 2)  # noqa: E731
    assert alarms(make, 0.0, 1.0, 0.0, samples=1000) > LIMIT


@pytest.mark.parametrize(
    ("seed", "step"), [(0, 1 / 8), (1, 1 / 8), (2, FINE), (3, FINE), (4, FINE)]
)
def test_laplace_on_a_grid(seed, step):
    found = epsilon_lower_bound(grid_laplace(1.0, np.random.default_rng(seed), step), 0.0, 1.0)
    assert 0.9 <= found.epsilon <= 1.0


def test_values_that_only_tell_together():
    """Duchi in two columns: each sign alone says little, the pair says epsilon."""
    rng = np.random.default_rng(2)

    def duchi(record, n):
        corner = np.where(rng.random((n, 2)) < (1 + np.asarray(record)) / 2, 1, -1)
        opposite = rng.random((n, 1)) < 1 / (3 * np.e + 1)
        others = np.array([[1, 1], [1, -1], [-1, 1]])[rng.integers(0, 3, size=n)]
        return corner * np.where(opposite, -1, others)

    found = epsilon_lower_bound(duchi, [1.0, 1.0], [-1.0, -1.0])
    assert 0.85 <= found.epsilon <= 1.0


def test_delta_is_taken_off():
    """Reveal the record with probability 0.05, else randomized response at 0.5: (0.5, 0.05)."""
    rng = np.random.default_rng(3)
    response = randomized_response(0.5, rng)
    leak = lambda bit, n: np.where(rng.random(n) < 0.05, 2 + bit, response(bit, n))  # noqa: E731
    assert epsilon_lower_bound(leak, 0, 1).exceeds(0.5)
    assert 0.4 < epsilon_lower_bound(leak, 0, 1, delta=0.05).epsilon <= 0.5


class SquareWave:
    """A window of width 1 around the record has density e times that of the rest of [-2, 3]."""

    def __init__(self, rng):
        self.rng = rng
        self.guarantee_ = SimpleNamespace(notion="local", epsilon=1.0, delta=0.0)

    def transform(self, X):
        inside = self.rng.random(X.shape) < np.e / (np.e + 4)
        window = X - 0.5 + self.rng.random(X.shape)
        rest = -2 + 4 * self.rng.random(X.shape)
        return grid(np.where(inside, window, rest + (rest > X - 0.5)), FINE)

    def log_density(self, z, x):
        return np.where(np.abs(z - x) <= 0.5, 1.0, 0.0)[:, 0] - np.log(np.e + 4)


def test_log_density_of_a_mechanism_is_used():
    found = epsilon_lower_bound(SquareWave(np.random.default_rng(4)), 0.0, 1.0)
    assert 0.9 <= found.epsilon <= 1.0
    assert found.event.startswith("log-density ratio")
    assert str(found).endswith("(claimed 1)")


def test_bins_find_a_window_without_a_density():
    wave = SquareWave(np.random.default_rng(5))
    callable_only = lambda record, n: wave.transform(np.full((n, 1), record))  # noqa: E731
    found = epsilon_lower_bound(callable_only, 0.0, 1.0)
    assert 0.9 <= found.epsilon <= 1.0


def test_a_score_of_the_caller_replaces_the_search():
    rng = np.random.default_rng(6)
    shapes = []

    def score(outputs, first, second):
        shapes.append((outputs.shape, first, second))
        return -np.abs(outputs - first)

    found = epsilon_lower_bound(grid_laplace(1.0, rng), 0.0, 1.0, score=score, samples=20_000)
    assert found.event.startswith("score ")
    assert 0.2 < found.epsilon <= 1.0
    assert shapes[0] == ((10_000,), 0.0, 1.0)
    useless = epsilon_lower_bound(
        float_laplace(1.0, rng), 0.0, 1.0, score=lambda outputs, *_: np.zeros(len(outputs))
    )
    assert useless.epsilon == 0.0


def test_records_may_be_anything_a_callable_takes():
    """Neighboring tables for a count: one has a record more."""
    rng = np.random.default_rng(7)
    table = np.ones((5, 3))
    count = lambda X, n: len(X) + np.round(rng.laplace(scale=0.5, size=n))  # noqa: E731
    found = epsilon_lower_bound(count, table, table[1:])
    assert 1.7 < found.epsilon <= 2.0
    assert found.claimed is None


def test_the_held_out_half_is_what_is_reported():
    """The search half is noiseless; the other half is not: only the latter may count."""

    def mechanism(bit, n):
        half = n // 2
        return np.concatenate([np.full(half, bit), np.arange(n - half) % 2])

    found = epsilon_lower_bound(mechanism, 0, 1, samples=10_000)
    assert found.epsilon == 0.0
    assert found.p_first.value == found.p_second.value == 0.5
    assert found.samples == 10_000


@pytest.mark.parametrize(("seed", "step"), [(0, FINE), (1, FINE), (2, 1 / 16)])
def test_planar_laplace_is_bounded_closely(seed, step):
    mechanism = planar_laplace(2.0, np.random.default_rng(seed), step)
    found = metric_epsilon_lower_bound(mechanism, [0.0, 0.0], [0.75, 0.75])
    assert 0.9 * 2.0 <= found.epsilon <= 2.0
    assert found.distance == pytest.approx(0.75 * np.sqrt(2))


def test_the_unit_is_one_over_distance():
    kilometers = planar_laplace(2.0, np.random.default_rng(3))
    meters = lambda record, n: 1000 * kilometers(np.asarray(record) / 1000, n)  # noqa: E731
    found = metric_epsilon_lower_bound(meters, [0.0, 0.0], [1000.0, 0.0])
    assert 0.9 * 0.002 <= found.epsilon <= 0.002


@pytest.mark.full
def test_four_dimensions():
    rng = np.random.default_rng(4)
    mechanism = lambda record, n: grid(record + ball_noise(2.0, 4, n, rng), FINE)  # noqa: E731
    found = metric_epsilon_lower_bound(mechanism, np.zeros(4), np.array([1.0, 0.0, 0.0, 0.0]))
    assert 0.8 * 2.0 <= found.epsilon <= 2.0


@pytest.mark.parametrize(
    "high", [[20.0], pytest.param([20.0, 0.2], marks=pytest.mark.full), [8.0, 8.0]]
)
def test_resampling_at_the_border_costs_more_than_epsilon(high):
    """Seen: 1.41, 1.32 and 1.18 epsilon.

    The loss is up to 2 epsilon for reports on the border itself, but an event needs mass: in one
    dimension the best event that 2 * 10^5 outputs can resolve gives about 1.4.
    """
    mechanism = resampled_laplace(1.0, high, np.random.default_rng(5))
    step = np.full(len(high), 0.5)
    step[1:] = np.minimum(0.5, np.asarray(high)[1:] - 0.2)
    found = metric_epsilon_lower_bound(mechanism, np.zeros(len(high)), step)
    assert 1.0 < found.epsilon <= 2.0


@pytest.mark.full
def test_uniform_polar_angle_is_caught_near_the_pole():
    mechanism = thesis_spherical(2.0, np.random.default_rng(6))
    found = metric_epsilon_lower_bound(mechanism, np.zeros(3), np.array([1.0, 0.0, 0.0]))
    assert found.exceeds(1.5 * 2.0)
    assert "direction cosine" in found.event


def test_a_direction_that_is_never_negative_is_caught():
    """The thesis' code for d >= 4: the first coordinate of the direction is always positive."""
    rng = np.random.default_rng(7)

    def mechanism(record, n):
        noise = ball_noise(2.0, 4, n, rng)
        noise[:, 0] = np.abs(noise[:, 0])
        return grid(record + noise, FINE)

    found = metric_epsilon_lower_bound(mechanism, np.zeros(4), np.array([0.5, 0.0, 0.0, 0.0]))
    assert found.exceeds(2 * 2.0)


def test_bound_is_that_of_the_pair_divided_by_the_distance():
    whole = epsilon_lower_bound(
        float_laplace(1.0, np.random.default_rng(8)), 0.0, 4.0, samples=10_000
    )
    found = metric_epsilon_lower_bound(
        float_laplace(1.0, np.random.default_rng(8)), 0.0, 4.0, samples=10_000
    )
    assert found.epsilon == whole.epsilon / 4.0
    assert "per unit of distance" in str(found)
