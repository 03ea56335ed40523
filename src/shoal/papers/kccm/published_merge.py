"""The merging of DP-KCCM, by the source's own formula.

In each column the merged centre is ``min(p, q) + |p - q| * num(m) / (num(p) + num(q))``, where m is
the cluster with the larger value. That is the mean of p and q weighted by their sizes, written
another way.
"""

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

__all__ = ["merged_centre", "published_merge"]

Floats = npt.NDArray[np.float64]


def published_merge(centres: Floats, sizes: Floats, k: int) -> tuple[Floats, Floats]:
    """Merge the two nearest centres until k remain.

    Parameters
    ----------
    centres : ndarray of float64, shape (m, d)
        Noisy centres.
    sizes : ndarray of float64, shape (m,)
        Noisy sizes, above 0.
    k : int
        How many to keep.

    Returns
    -------
    centres, sizes : ndarray
        Of the k that remain; a merged cluster has the sum of both sizes.

    Examples
    --------
    >>> import numpy as np
    >>> centres, sizes = np.array([[0.0], [1.0], [9.0]]), np.array([3.0, 1.0, 2.0])
    >>> [found.tolist() for found in published_merge(centres, sizes, 2)]
    [[[0.25], [9.0]], [4.0, 2.0]]
    """
    centres, sizes = centres.copy(), sizes.copy()
    while len(centres) > k:
        gaps = cdist(centres, centres)
        np.fill_diagonal(gaps, np.inf)
        p, q = np.unravel_index(gaps.argmin(), gaps.shape)
        centres[p] = merged_centre(centres[p], centres[q], float(sizes[p]), float(sizes[q]))
        sizes[p] += sizes[q]
        centres, sizes = np.delete(centres, q, axis=0), np.delete(sizes, q)
    return centres, sizes


def merged_centre(p: Floats, q: Floats, size_p: float, size_q: float) -> Floats:
    """Merge two centres as the source writes it.

    Parameters
    ----------
    p, q : ndarray of float64, shape (d,)
        Noisy centres.
    size_p, size_q : float
        Noisy sizes, above 0.

    Returns
    -------
    centre : ndarray of float64, shape (d,)
        The size of the cluster with the larger value draws each column towards it.

    Examples
    --------
    >>> import numpy as np
    >>> merged_centre(np.array([0.0, 1.0]), np.array([1.0, 0.0]), 3.0, 1.0).tolist()
    [0.25, 0.75]
    """
    larger = np.where(p >= q, size_p, size_q)
    centre: Floats = np.minimum(p, q) + np.abs(p - q) * larger / (size_p + size_q)
    return centre
