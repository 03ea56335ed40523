"""k-means on a released synopsis: weighted points that anybody may look at as often as they like.

Restarts are free here, and bad starts are what most private k-means lose by. The best start found
is DP-KCCM's own idea, moved to where it costs nothing: find twice as many clusters, then merge, by
the least increase of the cost (Ward 1963), and let k-means settle.

Merging also gives the cost of every number of clusters at once. How far records are from their
points is public or was released with them, so the number with the best Calinski & Harabasz (1974)
ratio of between to within variance wins.
"""

import functools
import warnings
from contextlib import AbstractContextManager
from typing import ClassVar

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from shoal._typing import Floats
from shoal.cluster._centers import uniforms
from shoal.cluster._noise import Body, BudgetedNoise, noise_for
from shoal.cluster.kmeans._problem import KMeansMethod
from shoal.noise import RandomSource

__all__ = [
    "SMALLEST_PART",
    "SynopsisMethod",
    "cluster_points",
    "compress_points",
    "count_clusters",
    "merge_costs",
    "one_thread",
]

SMALLEST_PART = 0.1  # of a synopsis' budget, for its smallest release
STARTS = 3
OVER = 2
DIRECT = 32  # so few points are merged one by one, which leaves nothing to chance
SETTLE = 100  # rounds of k-means
ROUGH = 30  # and of one that is only a start
MAX_POINTS = 512  # more are first drawn together: merging takes their square in memory
TINY = 1e-9  # of all variance: less than this counts as this


class SynopsisMethod(KMeansMethod):
    """A method that clusters a released synopsis, from which the number of clusters follows too."""

    releases_synopsis: ClassVar[bool] = True

    def make_noise(self, body: Body) -> BudgetedNoise:
        """Return the noise that the estimator's epsilon and delta buy for records of this body."""
        return noise_for(float(self.model.epsilon), float(self.model.delta))

    @property
    def needs_n(self) -> bool:
        """Return whether the method must know the number of records, public or noisy."""
        return True

    def smallest_budget(self, budget: float) -> float:
        """Return the least that a single release gets of the method's budget."""
        return SMALLEST_PART * budget


def cluster_points(
    points: Floats, weights: Floats, k: int, source: RandomSource, *, restarts: int = 0
) -> Floats:
    """Find the k centers of weighted points; ``restarts`` also look from random points."""
    m, d = points.shape
    if k == 1:
        return np.average(points, axis=0, weights=weights)[None]
    if m <= k:
        heaviest = points[weights.argmax()]
        span = (points.max(axis=0) - points.min(axis=0)).max() or np.abs(points).max() or 1.0
        beside = heaviest + 0.1 * span * uniforms((k - m, d), source)
        return np.concatenate([points, beside])
    starts = 1 if m <= _direct(k) else STARTS
    with one_thread():
        fits = [_from_merged(points, weights, k, source) for _ in range(starts)]
        fits += [_kmeans(points, weights, k, source) for _ in range(restarts)]
    best: Floats = min(fits, key=lambda fit: float(fit.inertia_)).cluster_centers_
    return best


def compress_points(
    points: Floats, weights: Floats, m: int, source: RandomSource
) -> tuple[Floats, Floats, float]:
    """Draw many points together into m at most."""
    with one_thread():
        fit = _kmeans(points, weights, m, source)
        blur = float(fit.inertia_) / float(weights.sum())
    masses = np.bincount(fit.labels_, weights=weights, minlength=m).astype(np.float64)
    return fit.cluster_centers_[masses > 0], masses[masses > 0], blur


def merge_costs(points: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Merge weighted points by least increase of the cost, down to one."""
    places, masses = points.copy(), weights.copy()
    m = len(places)
    # Row by row: all differences at once would take as many times the memory as there are columns.
    gaps = np.array([((places - place) ** 2).sum(axis=1) for place in places]).reshape(m, m)
    gaps *= masses[:, None] * masses / (masses[:, None] + masses)
    np.fill_diagonal(gaps, np.inf)
    # The least gap of each row is kept up to date: a search of all gaps would cost m times as much.
    nearest = gaps.argmin(axis=1) if m else np.zeros(0, dtype=np.intp)
    least = gaps[np.arange(m), nearest]
    alive = np.ones(m, dtype=bool)
    costs, merges = np.zeros(m), np.zeros((max(m - 1, 0), 2))
    for step in range(m - 1):
        p = int(least.argmin())
        q = int(nearest[p])
        costs[m - step - 2] = costs[m - step - 1] + gaps[p, q]
        merges[step] = p, q
        total = masses[p] + masses[q]
        places[p] = (masses[p] * places[p] + masses[q] * places[q]) / total
        masses[p] = total
        alive[q] = False
        gaps[q] = gaps[:, q] = np.inf
        row = ((places - places[p]) ** 2).sum(axis=1) * (masses * total / (masses + total))
        row[~alive] = row[p] = np.inf
        gaps[p] = gaps[:, p] = row
        stale = alive & ((nearest == p) | (nearest == q) | (row <= least))
        stale[p] = True
        nearest[stale] = gaps[stale].argmin(axis=1)
        least[stale] = gaps[stale, nearest[stale]]
        least[q] = np.inf
    return costs, merges


def count_clusters(
    points: Floats, weights: Floats, *, max_clusters: int, blur: float, source: RandomSource
) -> int:
    """Choose the number of clusters of weighted points."""
    total = float(weights.sum())
    spread = 0.0
    if len(points) > MAX_POINTS:
        points, weights, spread = compress_points(points, weights, MAX_POINTS, source)
    last = min(max_clusters, len(points))
    if last < 2:
        return 1
    costs, _ = merge_costs(points, weights)
    least = max(TINY * float(costs[0]), 1e-300)  # nothing is divided by zero
    tried = np.arange(2, last + 1)
    within = np.maximum(costs[tried - 1] + (blur + spread) * total, least)
    between = costs[0] - costs[tried - 1]
    # A handful of records, or none: the ratio still ranks.
    ratios = between / (tried - 1) * np.maximum(total - tried, 1.0) / within
    return int(tried[ratios.argmax()])


def one_thread() -> AbstractContextManager[object]:
    """Keep libraries to one thread: doubles added in another order would be other centers."""
    limited: AbstractContextManager[object] = _pools().limit(limits=1)
    return limited


@functools.cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()


def _from_merged(points: Floats, weights: Floats, k: int, source: RandomSource) -> KMeans:
    many, masses = points, weights
    if len(points) > _direct(k):
        fine = _kmeans(points, weights, OVER * k, source)
        labels = fine.labels_
        masses = np.bincount(labels, weights=weights, minlength=OVER * k).astype(np.float64)
        many, masses = fine.cluster_centers_[masses > 0], masses[masses > 0]
    settled = KMeans(k, init=_merged(many, masses, k), n_init=1, max_iter=SETTLE)
    return _fitted(settled, points, weights)


def _kmeans(points: Floats, weights: Floats, k: int, source: RandomSource) -> KMeans:
    seed = int(source.words(1)[0] >> np.uint64(33))
    fine = KMeans(k, n_init=1, max_iter=ROUGH, random_state=seed)
    return _fitted(fine, points, weights)


def _fitted(model: KMeans, points: Floats, weights: Floats) -> KMeans:
    with warnings.catch_warnings():
        # Of a few categories, many noisy points may be one and the same.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(points, sample_weight=weights)


def _direct(k: int) -> int:
    return max(OVER * k, DIRECT)


def _merged(points: Floats, weights: Floats, k: int) -> Floats:
    _, merges = merge_costs(points, weights)
    group = np.arange(len(points))
    for p, q in merges[: len(points) - k]:
        group[group == q] = p
    kept = np.unique(group)
    return np.array(
        [np.average(points[group == g], axis=0, weights=weights[group == g]) for g in kept]
    )
