"""Normalized intra-cluster variance, the cost that DP-KCCM and its peers report."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from shoal._records import validate_records
from shoal._typing import Floats
from shoal.exceptions import DataError
from shoal.metrics._centers import as_centers

CHUNK_VALUES = 1 << 20  # Numbers held at a time: 8 MB.


def nicv(X: Any, centers: Any) -> float:
    """Mean squared distance of the records to their nearest center.

    NICV = (1/n) sum_i min_j ||x_i - c_j||^2, with distances from differences, not from expanded
    squares, so that it is exact to rounding also far from the origin.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Records.
    centers : array-like of shape (k, d)
        Cluster centers, in the records' unit.

    Returns
    -------
    cost : float
        In the records' unit squared; smaller is better.

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
    """Compute NICV of checked tables, some rows at a time.

    Parameters
    ----------
    records, centers : ndarray of float64
        Tables with the same number of columns.
    kept : ndarray of bool, optional
        The records that count, at least one; all without it.

    Returns
    -------
    cost : float

    Raises
    ------
    DataError
        If a squared distance is too large for a float.
    """
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
