"""Measures of cluster centers: their cost, and how they compare with reference centers.

NICV, the normalized intra-cluster variance, is the cost that DP-KCCM and its peers report. The
centroid index is from Franti, Rezaei and Zhao, "Centroid index: cluster level similarity measure"
(2014).
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from shoal._records import validate_records
from shoal._typing import Floats, Ints
from shoal.exceptions import DataError, ParameterError
from shoal.metrics.labels import smallest_total


def as_centers(
    centers: Any, *, name: str, n_features: int | None = None, like: str = "X"
) -> Floats:
    """Turn cluster centers into float64, or refuse them.

    >>> as_centers([[0, 1]], name="centers", n_features=2).tolist()
    [[0.0, 1.0]]
    """
    try:
        table = validate_records(centers)
    except DataError:
        shape = "one center a row" if n_features is None else f"{n_features} columns, as {like} has"
        raise ParameterError(f"{name} must be a table of finite numbers, {shape}") from None
    if n_features is not None and table.shape[1] != n_features:
        raise ParameterError(
            f"{name} must have {n_features} columns, as {like} has, got {table.shape[1]}"
        )
    return table


CHUNK_VALUES = 1 << 20  # Numbers held at a time: 8 MB.


def nicv(X: Any, centers: Any) -> float:
    """Return the mean squared distance of the records to their nearest center.

    NICV = (1/n) sum_i min_j ||x_i - c_j||^2. Distances are computed from differences, not from
    expanded squares, so that the result is accurate also far from the origin.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Records.
    centers : array-like of shape (k, d)
        Cluster centers, in the unit of the records.

    Returns
    -------
    cost : float
        NICV, in the squared unit of the records; smaller is better.

    Raises
    ------
    DataError
        If `X` is not a table of finite numbers, or too large to be squared.
    ParameterError
        If `centers` is not a table of finite numbers with as many columns as `X`.

    Examples
    --------
    >>> nicv([[0.0, 0.0], [0.0, 2.0], [9.0, 1.0]], [[0.0, 1.0], [9.0, 1.0]])
    0.6666666666666666
    """
    records = validate_records(X)
    return mean_squared_distance(
        records, as_centers(centers, name="centers", n_features=records.shape[1])
    )


def mean_squared_distance(
    records: Floats, centers: Floats, *, kept: npt.NDArray[np.bool_] | None = None
) -> float:
    """Compute NICV of checked tables, some rows at a time."""
    rows = max(1, CHUNK_VALUES // max(centers.shape))
    sums = []
    for start in range(0, len(records), rows):
        part = records[start : start + rows]
        if kept is not None:
            part = part[kept[start : start + rows]]
        sums.append(float(cdist(part, centers, metric="sqeuclidean").min(axis=1).sum()))
    n = len(records) if kept is None else int(np.count_nonzero(kept))
    cost = math.fsum(sums) / n if all(map(math.isfinite, sums)) else math.inf
    if not math.isfinite(cost):
        raise DataError("X must be small enough for its squared distances to be finite: rescale it")
    return cost


def cost_ratio(
    X: Any,
    centers: Any,
    *,
    reference: Any = None,
    random_state: int | np.random.RandomState | None = None,
) -> float:
    """Return the NICV of centers divided by that of reference centers: 2 is twice the cost.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Records.
    centers : array-like of shape (k, d)
        Centers to judge.
    reference : array-like of shape (k', d), optional
        Centers to compare with. By default those of scikit-learn's KMeans, fitted to the records
        without privacy, with the same number of centers and 10 starts.
    random_state : int, RandomState or None, default=None
        Seed of that KMeans; ignored if `reference` is given.

    Returns
    -------
    ratio : float
        Ratio of the costs; ``inf`` if only the reference has cost 0, and 1 if both have.

    Raises
    ------
    DataError
        If `X` is not a table of finite numbers.
    ParameterError
        If `centers` or `reference` is not a table of finite numbers with as many columns as `X`.

    Examples
    --------
    >>> X = [[0.0], [2.0], [10.0], [12.0]]
    >>> cost_ratio(X, [[1.0], [12.0]], reference=[[1.0], [11.0]])
    1.5
    >>> cost_ratio(X, [[1.0], [12.0]], random_state=0)
    1.5
    """
    records = validate_records(X)
    columns = records.shape[1]
    judged = as_centers(centers, name="centers", n_features=columns)
    if reference is None:
        best = _reference_cost(records, len(judged), random_state)
    else:
        compared = as_centers(reference, name="reference", n_features=columns)
        best = mean_squared_distance(records, compared)
    cost = mean_squared_distance(records, judged)
    if best == 0.0:
        return 1.0 if cost == 0.0 else math.inf
    return cost / best


def _reference_cost(
    records: Floats, n_clusters: int, random_state: int | np.random.RandomState | None
) -> float:
    # With a center for every distinct record the best cost is 0, and KMeans would warn or refuse.
    if len(np.unique(records, axis=0)) <= n_clusters:
        return 0.0
    model = KMeans(n_clusters=n_clusters, n_init=10, random_state=random_state).fit(records)
    return mean_squared_distance(records, model.cluster_centers_)


def centroid_index(first: Any, second: Any) -> int:
    """Count the clusters of one solution that have no counterpart in the other.

    Each center of one set is mapped to the nearest center of the other; centers of the other to
    which none is mapped are orphans. The index is the number of orphans in the direction that has
    more of them. 0 means that the solutions agree on the location of the clusters, though not on
    the exact centers.

    Parameters
    ----------
    first, second : array-like of shape (k, d) and (k', d)
        Centers of two solutions, in the same unit. Of equally near centers the one listed first
        counts as nearest, so of two equal centers one is an orphan.

    Returns
    -------
    index : int
        At least the difference of k and k', at most the larger of them minus 1.

    Raises
    ------
    ParameterError
        If the centers are not two tables of finite numbers with the same number of columns, or a
        distance is too large for a float.

    Examples
    --------
    Two centers share one true cluster, and one center has to serve two.

    >>> centroid_index([[0.0], [0.2], [7.0]], [[0.1], [5.0], [9.0]])
    1
    """
    ours = as_centers(first, name="first")
    theirs = as_centers(second, name="second", n_features=ours.shape[1], like="first")
    return most_orphans(center_distances(ours, theirs, names=("first", "second")))


class MatchedCenters(NamedTuple):
    """Centers of two solutions, paired one to one.

    Parameters
    ----------
    first, second : ndarray of int, shape (m,)
        Indices of the paired centers in the first and in the second solution; m is the smaller
        number of centers.
    distances : ndarray of float64, shape (m,)
        Distance between the centers of each pair.

    See Also
    --------
    match_centers : Compute the pairs.

    Examples
    --------
    >>> from shoal.metrics import match_centers
    >>> matched = match_centers([[0.0], [9.0]], [[10.0], [0.5]])
    >>> matched.distances.tolist()
    [0.5, 1.0]
    """

    first: Ints
    second: Ints
    distances: Floats


def match_centers(first: Any, second: Any) -> MatchedCenters:
    """Pair the centers of two solutions so that the sum of their distances is smallest.

    Parameters
    ----------
    first, second : array-like of shape (k, d) and (k', d)
        Centers of two solutions, in the same unit.

    Returns
    -------
    matched : MatchedCenters
        Pairs in the order of the first solution. If the numbers of centers differ, some centers of
        the larger solution have no partner.

    Raises
    ------
    ParameterError
        If the centers are not two tables of finite numbers with the same number of columns, or a
        distance is too large for a float.

    Examples
    --------
    >>> matched = match_centers([[0.0], [5.0]], [[5.5], [9.0], [0.25]])
    >>> matched.second.tolist(), matched.distances.tolist()
    ([2, 0], [0.25, 0.5])
    """
    ours = as_centers(first, name="first")
    theirs = as_centers(second, name="second", n_features=ours.shape[1], like="first")
    distances = center_distances(ours, theirs, names=("first", "second"))
    rows, columns = linear_sum_assignment(distances)
    return MatchedCenters(rows, columns, distances[rows, columns])


def most_orphans(distances: Floats) -> int:
    """Compute the centroid index from the distances of all pairs of centers."""
    return max(_orphans(distances), _orphans(distances.T))


def center_distances(first: Floats, second: Floats, *, names: tuple[str, str]) -> Floats:
    """Compute the Euclidean distances of all pairs of centers."""
    distances: Floats = cdist(first, second)
    if not np.isfinite(distances).all():
        raise ParameterError(
            f"{names[0]} and {names[1]} must be small enough for squared distances to be finite: "
            "rescale both"
        )
    return distances


def _orphans(distances: Floats) -> int:
    """Count the columns that are the nearest one of no row."""
    chosen = len(np.unique(distances.argmin(axis=1)))
    return int(distances.shape[1]) - chosen


def centroid_relative_error(centers: Any, reference: Any) -> float:
    """Return the distance of centers to matched reference centers, relative to their spread.

    The error is sum_i ||c_i - r_i|| / sum_i ||r_i - m||, where c_i is the center matched to the
    reference center r_i, m is the mean of the reference centers, and the matching is the one with
    the smallest sum (Hungarian method). Dividing by the norms ||r_i||, as some do, would make the
    error depend on the origin of the data; this error depends neither on the origin nor on the
    unit. 0 is a perfect result; 1 is the error of the mean of the reference centers, given once or
    k times, which knows nothing about the location of the clusters.

    Parameters
    ----------
    centers : array-like of shape (k, d)
        Centers to judge, in any order.
    reference : array-like of shape (k', d)
        Centers to compare with; at least two different ones.

    Returns
    -------
    error : float
        0 or more. If k and k' differ, each center without a partner, on either side, adds its
        distance to the nearest center of the other side to the upper sum: a missing cluster and a
        center far from any cluster cost their distance, while a second center at the same point
        costs nothing.

    Raises
    ------
    ParameterError
        If the centers are not two tables of finite numbers with the same number of columns, a
        distance is too large for a float, or the reference centers are all equal, so that they have
        no spread.

    Examples
    --------
    >>> centroid_relative_error([[9.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [10.0, 0.0]])
    0.1
    >>> centroid_relative_error([[5.0, 0.0]], [[0.0, 0.0], [10.0, 0.0]])
    1.0
    """
    ours = as_centers(centers, name="centers")
    truth = as_centers(reference, name="reference", n_features=ours.shape[1], like="centers")
    distances = center_distances(ours, truth, names=("centers", "reference"))
    spread = spread_of(truth)
    if spread == 0.0:
        raise ParameterError(
            "reference must have two different centers or more, as the error is relative to their "
            f"spread, got {len(truth)} in one place: take the distances themselves"
        )
    return matched_distance(distances) / spread


def spread_of(centers: Floats) -> float:
    """Add up the distances of checked centers to their mean."""
    # From the first center: rounding stays small against the spread, wherever the centers lie.
    moved = centers - centers[0]
    mean = moved.mean(axis=0, keepdims=True)
    return float(center_distances(moved, mean, names=("reference", "its mean")).sum())


def matched_distance(distances: Floats) -> float:
    """Add up the distances under the best matching, centers without a partner included."""
    few, many = sorted(distances.shape)
    costs = distances if len(distances) == few else distances.T
    # Without a partner a center goes to the nearest one, as if that stood there once more.
    alone = np.broadcast_to(costs.min(axis=0), (many - few, many))
    return smallest_total(np.vstack([costs, alone]))
