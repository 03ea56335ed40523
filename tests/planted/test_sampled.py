"""Bugs that sampling must find: those of a law that is not what it says, and some a replay sees.

Bounds are true with probability 0.999, and seeds are fixed. One center of one or two columns, one
round, claim 1 or less: with more of anything the noise of the rest hides what is wrong.
"""

from dataclasses import replace

import numpy as np
import pytest

from shoal.audit import Neighbors, audit_estimator, epsilon_lower_bound, replay_estimator
from shoal.cluster import DPKMeans, _noise
from shoal.cluster._budget import CountSum
from shoal.engines import NearestStatistics
from shoal.noise import SeededSource, distributions

RUNS = 1000
REACH = 2**19
SOURCE = SeededSource(1)


def model(epsilon=1.0, split="analytic"):
    return DPKMeans(
        1,
        epsilon=epsilon,
        bounds=(-1.0, 1.0),
        method="lloyd",
        split=split,
        n_public=1,
        max_iter=1,
    )


def pair(columns):
    return [Neighbors("corner", -np.ones((1, columns)), np.ones(columns))]


def sampled(columns, **words):
    return audit_estimator(model(**words), pair(columns), runs=RUNS, search=False, random_state=1)


LONG = pytest.mark.full


@pytest.mark.parametrize(
    ("columns", "split"),
    [(1, "joint"), pytest.param(2, "analytic", marks=LONG), pytest.param(2, "joint", marks=LONG)],
)
def test_nothing_is_found_without_a_bug(columns, split):
    assert not sampled(columns, split=split).exceeds()


def noisy_round(noise, columns):
    """What a round of Lloyd shows of one record: its count and its sum, before anything else."""

    def release(record, count):
        exact = NearestStatistics(np.ones(count, np.int64), np.tile(record, (count, 1)))
        shown = noise.pairs(
            exact, noise.total_budget, clip_radius=REACH, contribution=1, source=SOURCE
        )
        return np.column_stack([shown.counts, shown.sums])

    first, second = np.full(columns, -REACH), np.full(columns, REACH)
    return epsilon_lower_bound(release, first, second, samples=20_000)


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
@pytest.mark.parametrize("columns", [1, 2])
def test_swapped_scales(columns, epsilon, monkeypatch):
    """The noise meant for the counts on the sums, and the other way round.

    Seen in what a round shows; the centers that a whole fit publishes are denoised by what the
    noise is said to be, and the wrong noise on the counts drowns them.
    """
    noise = _noise.PureNoise(epsilon, "analytic")
    # Exchanging a record for another costs twice the epsilon of adding or removing one.
    assert not noisy_round(noise, columns).exceeds(2 * epsilon)
    right = _noise.PureNoise.scales
    monkeypatch.setattr(
        _noise.PureNoise, "scales", lambda *a, **k: CountSum(*reversed(right(*a, **k)))
    )
    assert noisy_round(noise, columns).exceeds(2 * epsilon)
    assert replay_estimator(model(epsilon), pair(columns)).broken


@pytest.mark.parametrize("columns", [1, pytest.param(2, marks=LONG)])
def test_clusters_without_records_left_out(columns, monkeypatch):
    """The other mistake of the peer: no noise where nobody is."""
    right = _noise.PureNoise.pairs

    def skipping(self, exact, share, **words):
        noisy = right(self, exact, share, **words)
        sums = np.where(exact.sums == 0, 0, noisy.sums)
        return replace(noisy, sums=sums)

    monkeypatch.setattr(_noise.PureNoise, "pairs", skipping)
    pairs = [Neighbors("in the middle", np.zeros((1, columns)), np.ones(columns))]
    estimator = model(split="joint")
    found = audit_estimator(estimator, pairs, runs=RUNS, search=False, random_state=1)
    assert found.exceeds()
    assert replay_estimator(estimator, pairs, repeats=20).broken


def test_a_sampler_that_draws_a_third_of_its_noise(monkeypatch):
    """What no replay can see: the law says one thing and the sampler does another."""
    right = distributions.box_norm
    monkeypatch.setattr(
        distributions,
        "box_norm",
        lambda n, *, scales, source: right(n, scales=[s / 3 for s in scales], source=source),
    )
    assert not replay_estimator(model(split="joint"), pair(1)).broken
    assert sampled(1, split="joint").exceeds()


def test_noise_that_repeats(monkeypatch):
    """The same draw for every fit: whoever has seen one release knows all of it."""
    right = distributions.box_norm
    first = {}

    def cached(count, *, scales, source):
        key = (count, tuple(scales))
        if key not in first:
            first[key] = right(count, scales=scales, source=source)
        return first[key]

    monkeypatch.setattr(distributions, "box_norm", cached)
    found = sampled(1, split="joint")
    assert found.exceeds()
    assert found.epsilon > 4
