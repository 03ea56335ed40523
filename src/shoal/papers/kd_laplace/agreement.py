"""Clusters of reports the way the thesis finds and compares them."""

from typing import Any

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.preprocessing import StandardScaler

from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError
from shoal.papers.kd_laplace.optics import optics_labels

__all__ = ["agreement", "cluster", "on_device_labels"]


def cluster(points: Floats, clusterer: str, parameter: int, *, random_state: int) -> Ints:
    """Standardize the columns and label the points.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Plain records, or reports.
    clusterer : {"KMeans", "AgglomerativeClustering", "OPTICS"}
        Name in the published figures.
    parameter : int
        Number of clusters; for OPTICS that of neighbors.
    random_state : int
        Seed of k-means.

    Returns
    -------
    labels : ndarray of shape (n,)
        One cluster a point.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0]])
    >>> labels = cluster(points, "KMeans", 2, random_state=0)
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """
    scaled = StandardScaler().fit_transform(points)
    if clusterer == "OPTICS":
        return optics_labels(scaled, min_samples=parameter)
    labels: Ints = _model(clusterer, parameter, random_state).fit_predict(scaled)
    return labels.astype(np.int64)


def on_device_labels(
    records: Floats, reports: Floats, parameter: int, *, random_state: int
) -> Ints:
    """Label each true record by the nearest center of the clustered reports, as its holder can.

    Parameters
    ----------
    records : ndarray of shape (n, d)
        True records, each on its own device.
    reports : ndarray of shape (n, d)
        What was collected; centers come from these alone.
    parameter : int
        Number of clusters.
    random_state : int
        Seed of k-means.

    Returns
    -------
    labels : ndarray of shape (n,)
        One cluster a record.
    """
    scaler = StandardScaler().fit(reports)
    model = _model("KMeans", parameter, random_state).fit(scaler.transform(reports))
    labels: Ints = model.predict(scaler.transform(records))
    return labels.astype(np.int64)


def agreement(first: Ints, second: Ints) -> float:
    """Measure the adjusted mutual information of two labelings.

    Parameters
    ----------
    first, second : ndarray of shape (n,)
        Labels.

    Returns
    -------
    ami : float
        1 for the same clusters, about 0 for unrelated ones.
    """
    return float(adjusted_mutual_info_score(first, second))


def _model(clusterer: str, parameter: int, random_state: int) -> Any:
    models = {
        "KMeans": KMeans(parameter, init="random", n_init=10, random_state=random_state),
        "AgglomerativeClustering": AgglomerativeClustering(parameter),
    }
    if clusterer not in models:
        known = ", ".join([*models, "OPTICS"])
        raise ParameterError(f"clusterer must be one of {known}, got {clusterer!r}")
    return models[clusterer]
