"""Choices from reports: the number of clusters, and the radius of DBSCAN."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state

from shoal import _numbers
from shoal._records import validate_records
from shoal._typing import Floats, RandomState
from shoal.exceptions import ParameterError

__all__ = [
    "ClusterCount",
    "DBSCANEps",
    "as_table",
    "knee",
    "select_dbscan_eps",
    "select_n_clusters",
]


def knee(heights: Floats, *, positions: Floats | None = None) -> int:
    """Return the index farthest below the line from the first point to the last (Satopaa 2011)."""
    steps = np.arange(len(heights), dtype=np.float64) if positions is None else positions
    extent, rise = steps[-1] - steps[0], heights[-1] - heights[0]
    if extent == 0:
        return 0
    line = heights[0] + rise * (steps - steps[0]) / extent
    return int(np.argmax(line - heights))


METHODS = ("elbow", "silhouette", "gap")
RESTARTS = 10
MAX_PAIRS = 5000  # reports whose pairwise distances the silhouette is averaged over
REFERENCES = 10  # uniform tables that the gap statistic compares with


@dataclass(frozen=True, eq=False)
class ClusterCount:
    """Chosen number of clusters, and the curve behind the choice.

    Parameters
    ----------
    n_clusters : int
        Chosen number of clusters.
    method : str
        Method of the choice.
    candidates : ndarray of int64, shape (m,)
        Numbers that were tried; for the elbow also the next one below and above.
    scores : ndarray of float64, shape (m,)
        Distortion (mean squared distance), silhouette or gap statistic of each candidate.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.reports import select_n_clusters
    >>> middles = 20 * np.eye(3)[:, :2].repeat(30, 0)
    >>> reports = middles + np.random.default_rng(0).normal(size=(90, 2))
    >>> select_n_clusters(reports, method="silhouette", random_state=0).n_clusters
    3
    """

    n_clusters: int
    method: str
    candidates: npt.NDArray[np.int64]
    scores: Floats


def select_n_clusters(
    reports: Any,
    *,
    method: str = "elbow",
    candidates: Iterable[int] = range(2, 10),
    standardize: bool = False,
    random_state: RandomState = None,
) -> ClusterCount:
    """Choose the number of clusters for k-means from reports, which costs no privacy.

    Parameters
    ----------
    reports : array-like of shape (n, d)
        Reports, remapped or not.
    method : {"elbow", "silhouette", "gap"}, default="elbow"
        ``"elbow"``: knee of the curve of distortions. ``"silhouette"``: largest silhouette.
        ``"gap"``: gap statistic (Tibshirani et al. 2001), the first number whose gap is within one
        standard error of that of the next number.
    candidates : iterable of int, default=range(2, 10)
        Numbers to choose from; only those below the number of distinct reports are used.
    standardize : bool, default=False
        Whether columns are scaled to variance 1 first.
    random_state : None, int or RandomState, default=None
        For k-means and the reference samples of the gap statistic.

    Returns
    -------
    choice : ClusterCount
        ``n_clusters`` is 1 if there are too few reports for any candidate.

    Examples
    --------
    >>> import numpy as np
    >>> blobs = np.random.default_rng(0).normal(size=(300, 2)) + 20 * np.eye(3, 2).repeat(100, 0)
    >>> select_n_clusters(blobs, method="silhouette", random_state=0).n_clusters
    3
    """
    _numbers.choice("method", method, METHODS)
    try:
        numbers = sorted({_numbers.count("candidates", number) for number in candidates})
    except TypeError:
        raise ParameterError(
            f"candidates must be whole numbers, got {candidates!r}",
            parameter="candidates",
            code="whole",
        ) from None
    if not numbers:
        raise ParameterError(
            "candidates must hold a number of clusters, got none",
            parameter="candidates",
            code="empty",
        )
    if method == "silhouette" and numbers[0] == 1:
        raise ParameterError(
            "candidates must be > 1 for the silhouette, got 1", parameter="candidates", code="range"
        )
    table = as_table(reports, standardize)
    rng = check_random_state(random_state)
    distinct = len(np.unique(table, axis=0))
    numbers = [number for number in numbers if number < distinct]
    if not numbers:
        return ClusterCount(1, method, np.empty(0, dtype=np.int64), np.empty(0))
    choose = {"elbow": _elbow, "silhouette": _silhouette, "gap": _gap}[method]
    return choose(table, numbers, distinct, rng)


def _fitted(table: Floats, k: int, rng: np.random.RandomState) -> KMeans:
    return KMeans(k, n_init=RESTARTS, random_state=rng).fit(table)


def _elbow(
    table: Floats, numbers: list[int], distinct: int, rng: np.random.RandomState
) -> ClusterCount:
    # One more on each side, so that the first and the last candidate can be the elbow too.
    wider = [*range(max(1, numbers[0] - 1), numbers[0]), *numbers]
    wider += [numbers[-1] + 1] * (numbers[-1] + 1 < distinct)
    curve = np.array([_fitted(table, k, rng).inertia_ / len(table) for k in wider])
    positions = np.array(wider)
    chosen = int(positions[knee(curve, positions=positions.astype(np.float64))])
    chosen = min(max(chosen, numbers[0]), numbers[-1])
    return ClusterCount(chosen, "elbow", positions, curve)


def _silhouette(
    table: Floats, numbers: list[int], distinct: int, rng: np.random.RandomState
) -> ClusterCount:
    size = min(len(table), MAX_PAIRS)
    rows = rng.permutation(len(table))[:size]
    scores = np.full(len(numbers), -1.0)
    for index, k in enumerate(numbers):
        labels = _fitted(table, k, rng).labels_[rows]
        if 1 < len(np.unique(labels)) < size:
            scores[index] = silhouette_score(table[rows], labels)
    return ClusterCount(numbers[int(scores.argmax())], "silhouette", np.array(numbers), scores)


def _gap(
    table: Floats, numbers: list[int], distinct: int, rng: np.random.RandomState
) -> ClusterCount:
    # The next number is needed to judge the last.
    wider = numbers + [numbers[-1] + 1] * (numbers[-1] + 1 < distinct)
    low, high = table.min(axis=0), table.max(axis=0)
    logs = np.log([_fitted(table, k, rng).inertia_ for k in wider])
    references = np.empty((REFERENCES, len(wider)))
    for row in references:
        uniform = rng.uniform(low, high, size=table.shape)
        row[:] = np.log(
            [KMeans(k, n_init=1, random_state=rng).fit(uniform).inertia_ for k in wider]
        )
    gaps = references.mean(axis=0) - logs
    errors = references.std(axis=0) * np.sqrt(1 + 1 / REFERENCES)
    within = np.flatnonzero(gaps[:-1] >= gaps[1:] - errors[1:])
    chosen = wider[int(within[0])] if len(within) else wider[int(gaps.argmax())]
    chosen = min(chosen, numbers[-1])
    return ClusterCount(chosen, "gap", np.array(wider), gaps)


@dataclass(frozen=True, eq=False)
class DBSCANEps:
    """Chosen radius of DBSCAN, and the curve behind the choice.

    Parameters
    ----------
    eps : float
        Chosen radius, in the unit of the (standardized) columns.
    neighbor : int
        Distances are those to this nearest neighbor: 1 is the nearest.
    distances : ndarray of float64, shape (n,)
        Distance of each report to its neighbor, sorted from small to large.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.reports import select_dbscan_eps
    >>> reports = np.random.default_rng(0).normal(size=(90, 2))
    >>> chosen = select_dbscan_eps(reports)
    >>> len(chosen.distances), chosen.eps > 0
    (90, True)
    """

    eps: float
    neighbor: int
    distances: Floats


def select_dbscan_eps(
    reports: Any, *, neighbor: int | None = None, standardize: bool = False
) -> DBSCANEps:
    """Choose the radius of DBSCAN from reports, which costs no privacy.

    Parameters
    ----------
    reports : array-like of shape (n, d)
        Reports, remapped or not.
    neighbor : int, default=None
        Which nearest neighbor to measure the distance to; None takes 2 d - 1 for d columns (Sander
        et al. 1998). At most n - 1 is used.
    standardize : bool, default=False
        Whether columns are scaled to variance 1 first.

    Returns
    -------
    choice : DBSCANEps
        ``eps`` is the distance at the knee of the curve: few reports are farther from their
        neighbors. It is above 0 if any two reports differ, and 1 if all are equal.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> blobs = rng.normal(size=(300, 2)) * 0.1 + 5 * rng.integers(0, 2, size=(300, 1))
    >>> bool(0.02 < select_dbscan_eps(blobs).eps < 0.5)
    True
    """
    table = as_table(reports, standardize)
    neighbor = 2 * table.shape[1] - 1 if neighbor is None else neighbor
    used = min(_numbers.count("neighbor", neighbor), len(table) - 1)
    if used == 0:
        return DBSCANEps(1.0, 0, np.zeros(1))
    distances, _ = NearestNeighbors(n_neighbors=used).fit(table).kneighbors()
    curve = np.sort(distances[:, -1])
    chosen = curve[knee(curve)]
    if chosen == 0:
        positive = curve[curve > 0]
        chosen = positive[0] if len(positive) else 1.0
    return DBSCANEps(float(chosen), used, curve)


def as_table(reports: Any, standardize: Any) -> Floats:
    """Check reports and divide each column by its standard deviation, if asked to."""
    if not isinstance(standardize, bool | np.bool_):
        raise ParameterError(
            f"standardize must be True or False, got {standardize!r}",
            parameter="standardize",
            code="type",
        )
    table = validate_records(reports)
    if not standardize:
        return table
    spread = table.std(axis=0)
    scaled: Floats = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled
