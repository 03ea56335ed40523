"""The merging of DP-KCCM, by the source's own formula.

In each column the merged center is ``min(p, q) + |p - q| * num(m) / (num(p) + num(q))``, where m is
the cluster with the larger value. That is the mean of p and q weighted by their sizes, written
another way.
"""

import numpy as np
from scipy.spatial.distance import cdist

from shoal._typing import Floats

__all__ = ["merged_center", "published_merge"]


def published_merge(centers: Floats, sizes: Floats, k: int) -> tuple[Floats, Floats]:
    """Merge the two nearest centers until k remain.

    Parameters
    ----------
    centers : ndarray of float64, shape (m, d)
        Noisy centers.
    sizes : ndarray of float64, shape (m,)
        Noisy sizes, above 0.
    k : int
        How many to keep.

    Returns
    -------
    centers, sizes : ndarray
        Of the k that remain; a merged cluster has the sum of both sizes.

    Examples
    --------
    >>> import numpy as np
    >>> centers, sizes = np.array([[0.0], [1.0], [9.0]]), np.array([3.0, 1.0, 2.0])
    >>> [found.tolist() for found in published_merge(centers, sizes, 2)]
    [[[0.25], [9.0]], [4.0, 2.0]]
    """
    centers, sizes = centers.copy(), sizes.copy()
    while len(centers) > k:
        gaps = cdist(centers, centers)
        np.fill_diagonal(gaps, np.inf)
        p, q = np.unravel_index(gaps.argmin(), gaps.shape)
        centers[p] = merged_center(centers[p], centers[q], float(sizes[p]), float(sizes[q]))
        sizes[p] += sizes[q]
        centers, sizes = np.delete(centers, q, axis=0), np.delete(sizes, q)
    return centers, sizes


def merged_center(p: Floats, q: Floats, size_p: float, size_q: float) -> Floats:
    """Merge two centers as the source writes it.

    Parameters
    ----------
    p, q : ndarray of float64, shape (d,)
        Noisy centers.
    size_p, size_q : float
        Noisy sizes, above 0.

    Returns
    -------
    center : ndarray of float64, shape (d,)
        The size of the cluster with the larger value draws each column toward it.

    Examples
    --------
    >>> import numpy as np
    >>> merged_center(np.array([0.0, 1.0]), np.array([1.0, 0.0]), 3.0, 1.0).tolist()
    [0.25, 0.75]
    """
    larger = np.where(p >= q, size_p, size_q)
    center: Floats = np.minimum(p, q) + np.abs(p - q) * larger / (size_p + size_q)
    return center
