"""Two controls that the thesis lacks: every table in the same unit, and a kd-tree's search counted.

A metric epsilon is one per unit of the table. The thesis gives all tables the same numbers, though
a typical distance between two records is 40 in heart, 4 in seeds and below 1 in the shapes. In the
first control the unit is the table's own spread, so that an epsilon hides the same share of it
everywhere.

The thesis says that a kd-tree searches in O(log n) for any number of columns. The second control
counts nodes, not seconds, so that the measurements are the same on every machine.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.neighbors import KDTree

from shoal._typing import Floats
from shoal.experiments import Trial
from shoal.papers.kd_laplace.settings import (
    CLUSTERERS,
    Table,
    load_table,
    parameters,
    perturb_both_ways,
)
from shoal.papers.kd_laplace.utility import cluster, plain_clusters

__all__ = [
    "POINTS",
    "SEARCH_WIDTHS",
    "UNIT_EPSILONS",
    "measure_in_own_unit",
    "measure_search",
    "spread",
]

UNIT_EPSILONS = (2.0, 5.0, 10.0, 20.0, 50.0)
MAX_TABLES = 64  # that a process keeps
POINTS = (500, 2000, 8000, 32000)
SEARCH_WIDTHS = (2, 3, 5, 7, 9)
QUERIES = 2000
LEAF = 1  # points in a leaf: the tree of the textbook


def measure_in_own_unit(trial: Trial) -> Iterator[dict[str, Any]]:
    """Perturb a table in units of its spread, and compare clusters as the thesis does.

    Epsilon is that of one spread. Yields one measurement for each version and clusterer, with its
    AMI and the table's spread.
    """
    dataset, columns = trial.dataset, trial.columns
    assert columns is not None
    table, size = _in_own_unit(dataset, columns)
    for version, reports in perturb_both_ways(trial, table).items():
        for clusterer in CLUSTERERS:
            number = getattr(parameters(dataset, columns), clusterer)
            labels = cluster(reports, clusterer, number, random_state=trial.repeat)
            plain = plain_clusters(dataset, columns, clusterer, trial.repeat).labels
            yield {
                "version": version,
                "clusterer": clusterer,
                "ami": float(adjusted_mutual_info_score(plain, labels)),
                "spread": size,
            }


def spread(records: Floats) -> float:
    """Return how far records lie from their mean, as the root of the mean square.

    The number is for experiments: it is not private.
    """
    return float(np.sqrt(records.var(axis=0).sum()))


def measure_search(trial: Trial) -> Iterator[dict[str, Any]]:
    """Search a kd-tree of uniform points for nearest neighbors.

    Yields ``points`` and ``nodes``, the mean number of nodes that a search looks at.
    """
    assert trial.columns is not None
    points = int(trial.mechanism.kwargs["points"])
    rng = np.random.default_rng(trial.seed)
    tree = KDTree(rng.random((points, trial.columns)), leaf_size=LEAF)
    tree.reset_n_calls()
    tree.query(rng.random((QUERIES, trial.columns)))
    yield {"points": points, "nodes": sum(tree.get_tree_stats()) / QUERIES}


@lru_cache(maxsize=MAX_TABLES)
def _in_own_unit(dataset: str, columns: int) -> tuple[Table, float]:
    table = load_table(dataset, columns)
    size = spread(table.X)
    low, high = table.bounds
    return Table(table.X / size, (low / size, high / size)), size
