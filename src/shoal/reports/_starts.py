"""Centers from reports, plain or through a distribution of records, and the choice between them."""

import functools
import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from shoal._bounds import Box
from shoal._typing import Floats
from shoal.reports._mixture import Mixture
from shoal.reports._record_distributions import (
    Expected,
    RecordDistribution,
    RecordDistributions,
    nearest,
    squared_distances,
)
from shoal.reports._report_noise import ReportNoise

__all__ = [
    "Start",
    "best_of_distribution",
    "best_of_plain",
    "distribution_is_better",
    "kmeans_centers",
    "thread_pools",
]


FEW = 5  # restarts where centers are only compared
MIN_SPREAD = 0.1  # of the noise's variance, given to a cluster whose own cannot be seen
BETTER = 1.0  # standard errors by which a distribution must beat plain k-means on other reports
MATERIAL = 2e-3  # of the cost of plain centers: no smaller gain is worth leaving them for
MAX_STEPS = 1000  # of Lloyd: to the end
MISFIT = 4.0  # standard errors by which a distribution may explain other reports worse than they do


@dataclass(frozen=True, eq=False)
class Start:
    """Centers, where they came from, and the mixture that begins at their clusters."""

    name: str
    centers: Floats
    mixture: Mixture


def distribution_is_better(
    reports: Floats,
    distributions: RecordDistributions,
    box: Box,
    k: int,
    *,
    first: npt.NDArray[np.bool_],
    restarts: int,
    rng: np.random.RandomState,
) -> bool:
    """Let each half of the reports judge both ways of finding centers from the other half."""
    if distributions.misfit > MISFIT:
        return False
    few = min(FEW, restarts)
    gains: list[Expected] = []
    cost = 0.0
    for mine, judge, part in zip(
        distributions.halves, distributions.halves[::-1], (first, ~first), strict=True
    ):
        plain = _plain_centers(reports[part], box, k, few, rng)
        costs = [
            squared_distances(judge.points, centers)
            for centers in (plain, _distribution_centers(mine, plain, few, rng))
        ]
        gains.append(judge.expected(costs[0] - costs[1]))
        cost += float(judge.weights @ costs[0]) / len(distributions.halves)
    gain = Expected(
        np.concatenate([half.means for half in gains]),
        np.concatenate([half.counts for half in gains]),
    )
    return gain.mean > MATERIAL * cost and gain.standard_errors > BETTER


def best_of_distribution(
    reports: Floats,
    distributions: RecordDistributions,
    box: Box,
    k: int,
    *,
    restarts: int,
    rng: np.random.RandomState,
) -> Start:
    """Find the centers with the least cost on the distribution behind all reports."""
    plain = _plain_centers(reports, box, k, min(FEW, restarts), rng)
    centers = _distribution_centers(distributions.whole, plain, restarts, rng)
    return Start(distributions.name, centers, distributions.whole.mixture(centers))


def best_of_plain(
    reports: Floats,
    distribution: ReportNoise,
    box: Box,
    k: int,
    *,
    restarts: int,
    rng: np.random.RandomState,
) -> Start:
    """Take plain k-means on clipped reports, with the noise taken off the covariances."""
    clipped = np.clip(reports, box.low, box.high)
    centers = _plain_centers(reports, box, k, restarts, rng)
    labels = nearest(clipped, centers)
    sizes = np.bincount(labels, minlength=k)
    noise = distribution.variances(centers).T @ distribution.weights  # (d, k)
    covariances = np.empty((k, box.low.size, box.low.size))
    for c in range(k):
        own = np.diag(noise[:, c])
        gaps = reports[labels == c] - centers[c]
        spread = gaps.T @ gaps / max(1, len(gaps)) - own
        values, axes = np.linalg.eigh(spread)
        least = MIN_SPREAD * own.diagonal().min()
        covariances[c] = (axes * np.maximum(values, least)) @ axes.T
    weights = (sizes + 1.0) / (len(reports) + k)
    return Start("reports", centers, Mixture(weights, centers, covariances, np.empty(0)))


def _distribution_centers(
    distribution: RecordDistribution, plain: Floats, restarts: int, rng: np.random.RandomState
) -> Floats:
    """Centers of a distribution: the best of restarts, and of what plain centers lead to."""
    k = len(plain)
    candidates = [
        kmeans_centers(distribution.points, distribution.weights, k, restarts, rng),
        kmeans_centers(distribution.points, distribution.weights, k, plain, rng),
    ]
    costs = [
        distribution.weights @ squared_distances(distribution.points, centers)
        for centers in candidates
    ]
    return candidates[int(np.argmin(costs))]


def _plain_centers(
    reports: Floats, box: Box, k: int, restarts: int, rng: np.random.RandomState
) -> Floats:
    return kmeans_centers(np.clip(reports, box.low, box.high), None, k, restarts, rng)


def kmeans_centers(
    points: Floats,
    weights: Floats | None,
    k: int,
    start: int | Floats,
    rng: np.random.RandomState,
) -> Floats:
    """K-means from a number of random starts, or from given centers."""
    distinct = np.unique(points, axis=0) if len(points) <= k + 1 else points
    if len(distinct) <= k:
        # As many centers as points, or more: each point is one, some of them twice.
        return distinct[np.arange(k) % len(distinct)]
    if isinstance(start, int | np.integer):
        model = KMeans(k, n_init=start, max_iter=MAX_STEPS, random_state=rng)
    else:
        model = KMeans(k, init=start, n_init=1, max_iter=MAX_STEPS, random_state=rng)
    # One thread: as fast for so few columns, the same bits on every machine, and no waiting for a
    # core that is busy.
    with warnings.catch_warnings(), thread_pools().limit(limits=1, user_api="openmp"):
        # Fewer distinct reports than clusters: some centers are the same, and that is right.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(points, sample_weight=weights)
    centers: Floats = model.cluster_centers_
    return centers


@functools.cache
def thread_pools() -> ThreadpoolController:
    """Return the thread pools of this process; to look for them takes as long as a small fit."""
    return ThreadpoolController()
