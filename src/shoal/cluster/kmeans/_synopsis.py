"""k-means on a released synopsis: weighted points that anybody may look at as often as they like.

Restarts are free here, and bad starts are what most private k-means lose by. The best start found
is DP-KCCM's own idea, moved to where it costs nothing: find twice as many clusters, then merge, by
the least increase of the cost (Ward 1963), and let k-means settle.
"""

import functools

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import ThreadpoolController

from shoal._typing import Floats
from shoal.cluster._centers import uniforms
from shoal.noise import RandomSource

__all__ = ["cluster_points", "compress_points", "merge_costs"]


STARTS = 3
OVER = 2
DIRECT = 32  # so few points are merged one by one, which leaves nothing to chance
SETTLE = 100  # rounds of k-means
ROUGH = 30  # and of one that is only a start


@functools.cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()


def cluster_points(points: Floats, weights: Floats, k: int, source: RandomSource) -> Floats:
    """Find the k centers of weighted points.

    Parameters
    ----------
    points : ndarray of float64, shape (m, d)
        Released points, no two at one place.
    weights : ndarray of float64, shape (m,)
        Their weights, above 0.
    k : int
        How many centers.
    source : RandomSource
        Where random starts come from.

    Returns
    -------
    centers : ndarray of float64, shape (k, d)
        The cheapest of several starts; with fewer points than centers, the points and places
        beside the heaviest.
    """
    m, d = points.shape
    if k == 1:
        return np.average(points, axis=0, weights=weights)[None]
    if m <= k:
        heaviest = points[weights.argmax()]
        span = (points.max(axis=0) - points.min(axis=0)).max() or np.abs(points).max() or 1.0
        beside = heaviest + 0.1 * span * uniforms((k - m, d), source)
        return np.concatenate([points, beside])
    starts = 1 if m <= _direct(k) else STARTS
    # Doubles added in another order by another number of threads would be other centers.
    with _pools().limit(limits=1):
        fits = [_from_merged(points, weights, k, source) for _ in range(starts)]
    best: Floats = min(fits, key=lambda fit: float(fit.inertia_)).cluster_centers_
    return best


def compress_points(
    points: Floats, weights: Floats, m: int, source: RandomSource
) -> tuple[Floats, Floats, float]:
    """Draw many points together into m at most.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
        Released points, more than m.
    weights : ndarray of float64, shape (n,)
        Their weights, above 0.
    m : int
        How many to keep.
    source : RandomSource
        Where the random start comes from.

    Returns
    -------
    places : ndarray of float64
        Means of neighboring points.
    masses : ndarray of float64
        Their weights, above 0; they add up to the same.
    blur : float
        Mean squared distance between a point and its place.
    """
    with _pools().limit(limits=1):
        fit = _kmeans(points, weights, m, source)
        blur = float(fit.inertia_) / float(weights.sum())
    masses = np.bincount(fit.labels_, weights=weights, minlength=m).astype(np.float64)
    return fit.cluster_centers_[masses > 0], masses[masses > 0], blur


def merge_costs(points: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Merge weighted points by least increase of the cost, down to one.

    Parameters
    ----------
    points : ndarray of float64, shape (m, d)
        Points.
    weights : ndarray of float64, shape (m,)
        Weights, above 0.

    Returns
    -------
    costs : ndarray of float64, shape (m,)
        ``costs[j]`` is what merging down to j + 1 clusters has added to the cost.
    merges : ndarray of float64, shape (m - 1, 2)
        The pair of points merged at each step, named by their first members.
    """
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


def _from_merged(points: Floats, weights: Floats, k: int, source: RandomSource) -> KMeans:
    many, masses = points, weights
    if len(points) > _direct(k):
        fine = _kmeans(points, weights, OVER * k, source)
        labels = fine.labels_
        masses = np.bincount(labels, weights=weights, minlength=OVER * k).astype(np.float64)
        many, masses = fine.cluster_centers_[masses > 0], masses[masses > 0]
    return KMeans(k, init=_merged(many, masses, k), n_init=1, max_iter=SETTLE).fit(
        points, sample_weight=weights
    )


def _kmeans(points: Floats, weights: Floats, k: int, source: RandomSource) -> KMeans:
    seed = int(source.words(1)[0] >> np.uint64(33))
    fine = KMeans(k, n_init=1, max_iter=ROUGH, random_state=seed)
    return fine.fit(points, sample_weight=weights)


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
