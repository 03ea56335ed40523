"""One cell of a control that the thesis lacks: every table in the same unit.

A metric epsilon is one per unit of the table. The thesis gives all tables the same numbers, though
a typical distance between two records is 40 in heart, 4 in seeds and below 1 in the shapes. Here
the unit is the table's own spread, so that an epsilon hides the same share of it everywhere.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from shoal.experiments.cell import Cell
from shoal.papers.kd_laplace.agreement import agreement, cluster
from shoal.papers.kd_laplace.methods import Table
from shoal.papers.kd_laplace.settings import CLUSTERERS, parameters
from shoal.papers.kd_laplace.utility_work import (
    both_reports,
    plain_clusters,
    table_of,
)

__all__ = ["UNIT_EPSILONS", "spread", "unit_work"]

UNIT_EPSILONS = (2.0, 5.0, 10.0, 20.0, 50.0)
KEPT = 64


def unit_work(cell: Cell) -> Iterator[dict[str, Any]]:
    """Perturb a table in units of its spread, and compare clusters as the thesis does.

    Parameters
    ----------
    cell : Cell
        With a table, a number of columns, a mechanism of the thesis, and epsilon for one spread.

    Yields
    ------
    record : dict
        One for each version and clusterer, with its AMI and the table's spread.
    """
    dataset, columns = cell.dataset, cell.columns
    assert columns is not None
    table, size = _in_its_unit(dataset, columns)
    for version, reports in both_reports(cell, table).items():
        for clusterer in CLUSTERERS:
            number = getattr(parameters(dataset, columns), clusterer)
            found = cluster(reports, clusterer, number, random_state=cell.repeat)
            plain = plain_clusters(dataset, columns, clusterer, cell.repeat).labels
            yield {
                "version": version,
                "clusterer": clusterer,
                "ami": agreement(plain, found),
                "spread": size,
            }


def spread(records: Any) -> float:
    """Measure how far records lie from their mean, as the root of the mean square.

    Parameters
    ----------
    records : ndarray of shape (n, d)
        A table. The number is for experiments: it is not private.

    Returns
    -------
    spread : float
        In the table's unit.

    Examples
    --------
    >>> spread(np.array([[0.0, 0.0], [6.0, 8.0]]))
    5.0
    """
    return float(np.sqrt(records.var(axis=0).sum()))


@lru_cache(maxsize=KEPT)
def _in_its_unit(dataset: str, columns: int) -> tuple[Table, float]:
    table = table_of(dataset, columns)
    size = spread(table.X)
    low, high = table.bounds
    return Table(table.X / size, (low / size, high / size)), size
