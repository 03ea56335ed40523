"""Clusters of reports by scikit-learn's algorithms, on columns of one scale."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import ClusterWarning
from sklearn.cluster import DBSCAN, OPTICS, AffinityPropagation, AgglomerativeClustering, KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from shoal import _numbers
from shoal._typing import Floats, RandomState
from shoal.exceptions import ParameterError
from shoal.reports.selection import as_table, select_dbscan_eps, select_n_clusters

__all__ = ["ReportClusters", "cluster_reports"]


METHODS = ("kmeans", "agglomerative", "optics", "dbscan", "affinity")
COUNTED = ("kmeans", "agglomerative")  # that need the number of clusters
DAMPING = 0.5
RESTARTS = 10
MAX_PAIRED = 20_000  # reports for methods whose memory grows with their square


@dataclass(frozen=True, eq=False)
class ReportClusters:
    """Clusters of reports, and how they were computed.

    Parameters
    ----------
    labels : ndarray of int64, shape (n,)
        Cluster of each report, -1 for noise.
    n_clusters : int
        Number of clusters, not counting noise.
    method : str
        Name of the clustering method.
    parameters : mapping
        Parameters of the method, including those that were chosen from the reports.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.reports import cluster_reports
    >>> reports = np.random.default_rng(0).normal(size=(60, 2)) + 9 * np.eye(2).repeat(30, 0)
    >>> clusters = cluster_reports(reports, "agglomerative", n_clusters=2)
    >>> clusters.method, np.bincount(clusters.labels).tolist()
    ('agglomerative', [30, 30])
    """

    labels: npt.NDArray[np.int64]
    n_clusters: int
    method: str
    parameters: Mapping[str, Any]


def cluster_reports(
    reports: Any,
    method: str = "kmeans",
    *,
    n_clusters: int | None = None,
    select: str = "elbow",
    min_samples: int | None = None,
    eps: float | None = None,
    preference: float | None = None,
    standardize: bool = True,
    random_state: RandomState = None,
) -> ReportClusters:
    """Cluster reports with one of scikit-learn's clusterers.

    Reports may be remapped first (:mod:`shoal.remap`). Everything chosen from reports, such as the
    number of clusters, costs no privacy.

    Parameters
    ----------
    reports : array-like of shape (n, d)
        Reports, remapped or not.
    method : {"kmeans", "agglomerative", "optics", "dbscan", "affinity"}, default="kmeans"
        Clustering method: agglomerative uses Ward linkage, affinity is affinity propagation.
    n_clusters : int, default=None
        Number of clusters, for kmeans and agglomerative. With None, :func:`select_n_clusters`
        chooses from 2 to 9.
    select : {"elbow", "silhouette", "gap"}, default="elbow"
        Method of :func:`select_n_clusters`.
    min_samples : int, default=None
        Number of neighbors of a core point, for optics and dbscan; None takes 2 d for d columns.
    eps : float, default=None
        Radius, for dbscan; with None, :func:`select_dbscan_eps` chooses it.
    preference : float, default=None
        Preference of points to be exemplars, for affinity; None takes the median similarity.
    standardize : bool, default=True
        Whether columns are scaled to variance 1 first.
    random_state : None, int or RandomState, default=None
        For kmeans, affinity and the choice of the number of clusters.

    Returns
    -------
    clusters : ReportClusters
        Labels, number of clusters, and the parameters used.

    Examples
    --------
    >>> import numpy as np
    >>> reports = np.random.default_rng(0).normal(size=(200, 2)) + 9 * np.eye(2).repeat(100, 0)
    >>> cluster_reports(reports, "agglomerative", n_clusters=2).n_clusters
    2
    """
    _numbers.choice("method", method, METHODS)
    for name, value in (("n_clusters", n_clusters), ("min_samples", min_samples)):
        if value is not None:
            _numbers.count(name, value)
    if eps is not None:
        _numbers.positive("eps", eps)
    table = as_table(reports, standardize)
    if method in ("agglomerative", "affinity") and len(table) > MAX_PAIRED:
        raise ParameterError(
            f"method must be kmeans, optics or dbscan for more than {MAX_PAIRED} reports, got "
            f"{method!r}: its memory grows with the square of their number",
            parameter="method",
            code="size",
        )
    rng = check_random_state(random_state)
    if method in COUNTED:
        if n_clusters is None:
            n_clusters = select_n_clusters(table, method=select, random_state=rng).n_clusters
        return _counted(table, method, min(n_clusters, len(table)), rng)
    if method == "affinity":
        return _affinity(table, preference, rng)
    needed = min(2 * table.shape[1] if min_samples is None else min_samples, len(table))
    if len(table) == 1:
        return _result(np.zeros(1) - (needed > 1), method, {"min_samples": needed})
    if method == "optics":
        with np.errstate(divide="ignore"):  # repeated reports have no distance between them
            labels = OPTICS(min_samples=max(2, needed)).fit_predict(table)
        return _result(labels, method, {"min_samples": max(2, needed)})
    radius = select_dbscan_eps(table).eps if eps is None else float(eps)
    labels = DBSCAN(eps=radius, min_samples=needed).fit_predict(table)
    return _result(labels, method, {"eps": radius, "min_samples": needed})


def _counted(table: Floats, method: str, k: int, rng: np.random.RandomState) -> ReportClusters:
    if len(table) == 1:
        labels = np.zeros(1)
    elif method == "kmeans":
        k = min(k, len(np.unique(table, axis=0)))
        labels = KMeans(k, n_init=RESTARTS, random_state=rng).fit_predict(table)
    else:
        with warnings.catch_warnings():
            # As few rows as columns may look like distances; they are reports.
            warnings.simplefilter("ignore", ClusterWarning)
            labels = AgglomerativeClustering(k, linkage="ward").fit_predict(table)
    return _result(labels, method, {"n_clusters": k})


def _affinity(table: Floats, preference: Any, rng: np.random.RandomState) -> ReportClusters:
    with warnings.catch_warnings():
        # Whether it settled is part of the answer.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="All samples have mutually equal similarities")
        model = AffinityPropagation(damping=DAMPING, preference=preference, random_state=rng)
        model.fit(table)
    used = {
        "preference": "median" if preference is None else float(preference),
        "damping": DAMPING,
        "converged": bool((model.labels_ >= 0).all()),
    }
    return _result(model.labels_, "affinity", used)


def _result(labels: Any, method: str, parameters: dict[str, Any]) -> ReportClusters:
    whole = np.asarray(labels, dtype=np.int64)
    n_clusters = len(np.unique(whole[whole >= 0]))
    return ReportClusters(whole, n_clusters, method, MappingProxyType(parameters))
