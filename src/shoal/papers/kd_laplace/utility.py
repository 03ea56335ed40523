"""Utility: clusters of reports against clusters of plain records, as the thesis compares them.

As the source does it: the first d columns, in their own units; perturb; standardize each column
after that; cluster; compare with the labels of the same clusterer on the standardized plain
columns. One thing differs: the source perturbs ONCE for a figure and repeats only k-means ten
times, so its figures carry the noise of a single draw; here every repeat perturbs afresh.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import AgglomerativeClustering, KMeans, cluster_optics_xi
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    calinski_harabasz_score,
    silhouette_score,
)
from sklearn.preprocessing import StandardScaler

from shoal._typing import Floats, Ints
from shoal.experiments import Trial
from shoal.metrics import privacy_distance
from shoal.papers.kd_laplace.settings import CLUSTERERS, load_table, parameters, perturb_both_ways

__all__ = [
    "PlainClusters",
    "QualityMeasures",
    "cluster",
    "measure_utility",
    "optics_labels",
    "plain_clusters",
]

MAX_CLUSTERINGS = 64  # of plain records that a process keeps
STEEPNESS = 0.05  # scikit-learn's xi
DIGITS = np.finfo(np.float64).precision  # scikit-learn rounds distances to so many


def measure_utility(trial: Trial) -> Iterator[dict[str, Any]]:
    """Perturb a table both ways, cluster the reports and compare.

    Yields one measurement for each version and clusterer: AMI, ARI, silhouette, Calinski-Harabasz,
    number of clusters, share of points in none, mean distance between record and report, share of
    reports outside the public box.
    """
    dataset, columns = trial.dataset, trial.columns
    assert columns is not None
    table = load_table(dataset, columns)
    low, high = table.bounds
    for version, reports in perturb_both_ways(trial, table).items():
        outside = ((reports < low) | (reports > high)).any(axis=1).mean()
        distance = privacy_distance(table.X, reports)
        quality = QualityMeasures(reports)
        for clusterer in CLUSTERERS:
            plain = plain_clusters(dataset, columns, clusterer, trial.repeat)
            number = getattr(parameters(dataset, columns), clusterer)
            labels = cluster(reports, clusterer, number, random_state=trial.repeat)
            yield {
                "version": version,
                "clusterer": clusterer,
                "ami": float(adjusted_mutual_info_score(plain.labels, labels)),
                "ari": float(adjusted_rand_score(plain.labels, labels)),
                **quality(labels),
                "plain_sc": plain.measures["sc"],
                "plain_clusters": plain.measures["clusters"],
                "plain_in_none": plain.measures["in_none"],
                "distance": distance,
                "outside": float(outside),
            }


def cluster(points: Floats, clusterer: str, parameter: int, *, random_state: int) -> Ints:
    """Standardize the columns and label the points; ``random_state`` seeds k-means.

    The parameter is the number of clusters; for OPTICS that of neighbors.
    """
    scaled = StandardScaler().fit_transform(points)
    if clusterer == "OPTICS":
        return optics_labels(scaled, min_samples=parameter)
    models: dict[str, Any] = {
        "KMeans": KMeans(parameter, init="random", n_init=10, random_state=random_state),
        "AgglomerativeClustering": AgglomerativeClustering(parameter),
    }
    labels: Ints = models[clusterer].fit_predict(scaled)
    return labels.astype(np.int64)


def optics_labels(points: Floats, *, min_samples: int) -> Ints:
    """Label points by OPTICS as scikit-learn does, one by one; needs n^2 numbers of memory.

    scikit-learn checks its input again at each of the n steps, which is most of its time on the
    tables of the thesis; a thousand fits of them took hours. The clusters are still cut by
    scikit-learn. Label -1 is noise.
    """
    n = len(points)
    distances = cdist(points, points)
    core = np.partition(distances, min_samples - 1, axis=1)[:, min_samples - 1].round(DIGITS)
    reachability = np.full(n, np.inf)
    before = np.full(n, -1)
    order = np.empty(n, dtype=np.int64)
    ahead = np.full(n, np.inf)  # reachability of the points that are still to come
    waiting = np.ones(n, dtype=bool)
    point = 0
    for step in range(n):
        order[step] = point
        waiting[point] = False
        ahead[point] = np.inf
        near = np.maximum(distances[point], core[point]).round(DIGITS)
        nearer = np.flatnonzero(waiting & (near < ahead))
        reachability[nearer] = ahead[nearer] = near[nearer]
        before[nearer] = point
        point = int(ahead.argmin())
    with np.errstate(divide="ignore"):  # equal points have reachability 0
        labels, _ = cluster_optics_xi(
            reachability=reachability,
            predecessor=before,
            ordering=order,
            min_samples=min_samples,
            xi=STEEPNESS,
        )
    result: Ints = labels.astype(np.int64)
    return result


class QualityMeasures:
    """Measure clusters by their own points, standardized as a clusterer sees them."""

    def __init__(self, points: Floats) -> None:
        self._scaled = StandardScaler().fit_transform(points)
        self._distances = cdist(self._scaled, self._scaled)

    def __call__(self, labels: Ints) -> dict[str, float | None]:
        """Return ``sc`` and ``ch`` (None for one cluster), ``clusters`` and ``in_none``.

        As in the source, points in no cluster (-1) count as one more cluster for ``sc`` and ``ch``.
        """
        named = np.unique(labels)
        measures: dict[str, float | None] = {
            "sc": None,
            "ch": None,
            "clusters": float((named >= 0).sum()),
            "in_none": float((labels < 0).mean()),
        }
        if 1 < len(named) < len(labels):
            score = silhouette_score(self._distances, labels, metric="precomputed")
            measures["sc"] = float(score)
            measures["ch"] = float(calinski_harabasz_score(self._scaled, labels))
        return measures


class PlainClusters(NamedTuple):
    """Clusters of the plain records."""

    labels: Ints
    measures: dict[str, float | None]


def plain_clusters(dataset: str, columns: int, clusterer: str, repeat: int) -> PlainClusters:
    """Cluster the plain records; k-means has starts of its own in each repeat."""
    return _plain_clusters(dataset, columns, clusterer, repeat if clusterer == "KMeans" else 0)


@lru_cache(maxsize=MAX_CLUSTERINGS)
def _plain_clusters(dataset: str, columns: int, clusterer: str, seed: int) -> PlainClusters:
    records = load_table(dataset, columns).X
    number = getattr(parameters(dataset, columns), clusterer)
    labels = cluster(records, clusterer, number, random_state=seed)
    return PlainClusters(labels, QualityMeasures(records)(labels))
