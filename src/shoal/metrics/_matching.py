"""The best one-to-one matching of two sets of clusters (Hungarian method)."""

from scipy.optimize import linear_sum_assignment

from shoal._typing import Floats


def best_total(gains: Floats) -> int:
    """Add up the gains of the one-to-one matching with the largest sum.

    Parameters
    ----------
    gains : ndarray of float64, shape (true clusters, private clusters)
        Gain of each pair: whole numbers, so that the sums are exact below 2^53. Every cluster of
        the smaller side is matched.

    Returns
    -------
    total : int
        0 where one side has no cluster.

    Examples
    --------
    >>> import numpy as np
    >>> best_total(np.array([[5.0, 4.0, 0.0], [4.0, 1.0, 0.0]]))
    8
    """
    return int(gains[linear_sum_assignment(gains, maximize=True)].sum())


def smallest_total(costs: Floats) -> float:
    """Add up the costs of the one-to-one matching with the smallest sum.

    Parameters
    ----------
    costs : ndarray of float64, shape (k, k')
        Cost of each pair. Every cluster of the smaller side is matched.

    Returns
    -------
    total : float
        0 where one side has no cluster.

    Examples
    --------
    >>> import numpy as np
    >>> smallest_total(np.array([[0.0, 1.0], [0.5, 9.0]]))
    1.5
    """
    return float(costs[linear_sum_assignment(costs)].sum())
