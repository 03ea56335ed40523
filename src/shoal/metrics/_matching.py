"""The best one-to-one matching of true and private clusters (Hungarian method)."""

from scipy.optimize import linear_sum_assignment

from shoal.metrics._contingency import Floats


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
