"""One cell of the utility experiment: clusters of reports against clusters of plain records."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import (
    adjusted_rand_score,
    calinski_harabasz_score,
    silhouette_score,
)
from sklearn.preprocessing import StandardScaler

from shoal._typing import Ints
from shoal.experiments.cell import Cell
from shoal.metrics import privacy_distance
from shoal.papers.kd_laplace.agreement import agreement, cluster
from shoal.papers.kd_laplace.methods import (
    Table,
    corrected_reports,
    load_table,
    published_method,
)
from shoal.papers.kd_laplace.settings import CLUSTERERS, parameters

__all__ = ["Plain", "Seen", "both_reports", "plain_clusters", "table_of", "utility_work"]

KEPT = 64  # tables and labels of plain records that a process keeps


def utility_work(cell: Cell) -> Iterator[dict[str, Any]]:
    """Perturb a table both ways, cluster the reports and compare.

    Parameters
    ----------
    cell : Cell
        With a table, a number of columns, a mechanism of the thesis and an epsilon.

    Yields
    ------
    record : dict
        One for each version and clusterer: AMI, ARI, silhouette, Calinski-Harabasz, number of
        clusters, share of points in none, mean distance between record and report, share of
        reports outside the public box.
    """
    dataset, columns = cell.dataset, cell.columns
    assert columns is not None
    table = table_of(dataset, columns)
    low, high = table.bounds
    for version, reports in both_reports(cell, table).items():
        outside = ((reports < low) | (reports > high)).any(axis=1).mean()
        distance = privacy_distance(table.X, reports)
        seen = Seen(reports)
        for clusterer in CLUSTERERS:
            plain = plain_clusters(dataset, columns, clusterer, cell.repeat)
            number = getattr(parameters(dataset, columns), clusterer)
            found = cluster(reports, clusterer, number, random_state=cell.repeat)
            yield {
                "version": version,
                "clusterer": clusterer,
                "ami": agreement(plain.labels, found),
                "ari": float(adjusted_rand_score(plain.labels, found)),
                **seen.quality(found),
                "plain_sc": plain.measures["sc"],
                "plain_clusters": plain.measures["clusters"],
                "plain_in_none": plain.measures["in_none"],
                "distance": distance,
                "outside": float(outside),
            }


def both_reports(cell: Cell, table: Table) -> dict[str, Any]:
    """Perturb a table as published and corrected, with the cell's own noise.

    Parameters
    ----------
    cell : Cell
        Names the mechanism and its epsilon.
    table : Table
        Records and public bounds.

    Returns
    -------
    reports : dict of str to ndarray
        By version.
    """
    name, epsilon = cell.mechanism.name, cell.epsilon
    return {
        "as published": published_method(name, epsilon, cell.seed).fit_transform(table.X),
        "corrected": corrected_reports(name, epsilon, table, cell.seed),
    }


@lru_cache(maxsize=KEPT)
def table_of(dataset: str, columns: int) -> Table:
    """Load the first columns of a table, once a process.

    Parameters
    ----------
    dataset : str
        Name in the figures.
    columns : int
        How many columns.

    Returns
    -------
    table : Table
        Records and public bounds.
    """
    return load_table(dataset, columns)


class Seen:
    """Points as a clusterer sees them, standardized, with their distances.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Records or reports.
    """

    def __init__(self, points: Any) -> None:
        self.scaled = StandardScaler().fit_transform(points)
        self.distances = cdist(self.scaled, self.scaled)

    def quality(self, labels: Ints) -> dict[str, float | None]:
        """Measure clusters by their own points.

        Parameters
        ----------
        labels : ndarray of shape (n,)
            Clusters; as the source does, points in none (-1) count as one more.

        Returns
        -------
        measures : dict
            ``sc`` and ``ch`` (None where there is one cluster, or one for each point),
            ``clusters`` and ``in_none``.
        """
        named = np.unique(labels)
        measures: dict[str, float | None] = {
            "sc": None,
            "ch": None,
            "clusters": float((named >= 0).sum()),
            "in_none": float((labels < 0).mean()),
        }
        if 1 < len(named) < len(labels):
            score = silhouette_score(self.distances, labels, metric="precomputed")
            measures["sc"] = float(score)
            measures["ch"] = float(calinski_harabasz_score(self.scaled, labels))
        return measures


class Plain(NamedTuple):
    """Clusters of the plain records."""

    labels: Ints
    measures: dict[str, float | None]


def plain_clusters(dataset: str, columns: int, clusterer: str, run: int) -> Plain:
    """Cluster the plain records.

    Parameters
    ----------
    dataset, clusterer : str
        Names in the figures.
    columns : int
        How many of the first columns.
    run : int
        Number of the run: k-means has starts of its own, another one in each.

    Returns
    -------
    plain : Plain
        Labels and their quality.
    """
    return _clustered(dataset, columns, clusterer, run if clusterer == "KMeans" else 0)


@lru_cache(maxsize=KEPT)
def _clustered(dataset: str, columns: int, clusterer: str, seed: int) -> Plain:
    records = table_of(dataset, columns).X
    number = getattr(parameters(dataset, columns), clusterer)
    labels = cluster(records, clusterer, number, random_state=seed)
    return Plain(labels, Seen(records).quality(labels))
