"""The radius of DBSCAN from reports: the knee of their distances to the k-th neighbor."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from shoal import _numbers
from shoal._typing import Floats
from shoal.reports._knee import knee
from shoal.reports._standardize import as_table

__all__ = ["DBSCANEps", "select_dbscan_eps"]


@dataclass(frozen=True, eq=False)
class DBSCANEps:
    """A radius and the curve that it was read from.

    Parameters
    ----------
    eps : float
        The radius, in the unit of the (standardized) columns.
    neighbor : int
        Which neighbor the distances are to.
    distances : ndarray of float64, shape (n,)
        The curve, sorted from small to large.
    """

    eps: float
    neighbor: int
    distances: Floats


def select_dbscan_eps(
    reports: Any, *, neighbor: int | None = None, standardize: bool = False
) -> DBSCANEps:
    """Choose the radius of DBSCAN; of reports, this is free.

    Parameters
    ----------
    reports : array-like of shape (n, d)
        Reports, remapped or not.
    neighbor : int, default=None
        Which neighbor to measure to; None takes 2 d - 1 (Sander et al. 1998). At most n - 1 is
        used.
    standardize : bool, default=False
        Whether columns are brought to variance 1 first.

    Returns
    -------
    choice : DBSCANEps
        ``eps`` is the distance at the knee: few reports are farther from their neighbors. It is
        above 0 wherever two reports differ, and 1 where none do.

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
