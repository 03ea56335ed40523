"""How many times the cost of reference centers some centers have."""

import math
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from shoal._records import validate_records
from shoal._typing import Floats
from shoal.metrics._centers import as_centers
from shoal.metrics.nicv import mean_squared_distance


def cost_ratio(
    X: Any,
    centers: Any,
    *,
    reference: Any = None,
    random_state: int | np.random.RandomState | None = None,
) -> float:
    """Divide the NICV of centers by that of reference centers: 1 is as good, 2 twice the cost.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Records.
    centers : array-like of shape (k, d)
        Centers to judge.
    reference : array-like of shape (k', d), optional
        Centers to compare with. Without them scikit-learn's KMeans with the same number of centers
        and 10 starts is fitted to the records; that has no guarantee.
    random_state : int, RandomState or None, default=None
        Seed of that KMeans; not used when `reference` is given.

    Returns
    -------
    ratio : float
        ``inf`` where only the reference has cost 0, 1 where both have.

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
