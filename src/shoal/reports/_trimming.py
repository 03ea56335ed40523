"""A distribution of records without the cluster that a share of liars can have made up.

A liar who is asked for a color sends the one of the place that they want, every time: in the
estimate they weigh as several honest devices (``lies``). No analysis of the reports can tell such a
place from one where records are. What can be done is to do without it: of one cluster more than
wanted, the one is left out whose absence matters most to the others, of those that are small enough
to be made up; and only if k centers serve the rest far better than all.
"""

from dataclasses import replace
from typing import TypeVar

import numpy as np
from sklearn.metrics import pairwise_distances

from shoal._typing import Floats
from shoal.reports._record_distributions import RecordDistribution, squared_distances
from shoal.reports._starts import kmeans_centers

__all__ = ["trimmed"]

OF_A_CLUSTER = 0.75  # of an even share: what is larger is a cluster that was asked for
TOLERANCE = 1.25  # of the share that liars weigh, for errors of the estimate
MATTERS = 0.8  # of the cost: what is left out must lower it as far
RESTARTS = 10
NEGLIGIBLE = 1e-6  # of the largest weight

Distribution = TypeVar("Distribution", bound=RecordDistribution)


def trimmed(
    density: Distribution, k: int, share: float | None, rng: np.random.RandomState
) -> Distribution:
    """Return the distribution without a cluster of at most a share, if that matters to k others."""
    if not share:
        return density
    kept = np.flatnonzero(density.weights > NEGLIGIBLE * density.weights.max())
    points, weights = density.points[kept], density.weights[kept] / density.weights[kept].sum()
    if len(points) <= k + 1:
        return density
    rest = _without_one(points, weights, k, min(TOLERANCE * share, OF_A_CLUSTER / k), rng)
    if _cost(points, rest, k, rng) > MATTERS * _cost(points, weights, k, rng):
        return density
    changed = np.zeros(len(density.weights))
    changed[kept] = rest / rest.sum()
    return replace(density, weights=changed)


def _without_one(
    points: Floats, weights: Floats, k: int, most: float, rng: np.random.RandomState
) -> Floats:
    """Take away the cluster of k + 1 that would cost most without its own center.

    Of those with a small enough share; there may be none.
    """
    centers = kmeans_centers(points, weights, k + 1, RESTARTS, rng)
    squares = pairwise_distances(points, centers, metric="sqeuclidean")
    labels = squares.argmin(axis=1)
    rows = np.arange(len(points))
    own = squares[rows, labels]
    squares[rows, labels] = np.inf
    matters = np.bincount(labels, weights * (squares.min(axis=1) - own), k + 1)
    matters[np.bincount(labels, weights, k + 1) > most] = 0.0
    cluster = int(matters.argmax())
    return np.where((labels == cluster) & (matters[cluster] > 0), 0.0, weights)


def _cost(points: Floats, weights: Floats, k: int, rng: np.random.RandomState) -> float:
    centers = kmeans_centers(points, weights, k, RESTARTS, rng)
    return float(weights @ squared_distances(points, centers))
