"""Counts of magnitudes: how many records lie between which powers of two, in each column.

The only statistic of records that are not on a lattice yet: a lattice needs bounds, and these
counts are what bounds are learned from.
"""

import numpy as np
import numpy.typing as npt

__all__ = ["magnitude_counts", "magnitude_edges"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

SMALLEST, LARGEST = -40, 60  # exponents: below 2^-40 is 0, above 2^60 is clipped
SIDE = LARGEST - SMALLEST  # bins of one sign
CHUNK = 1 << 16  # rows at a time


def magnitude_edges() -> Floats:
    """Give the edges of the bins, from lowest to highest.

    Returns
    -------
    edges : ndarray of float64, shape (bins + 1,)
        Minus powers of two, plus powers of two; the middle bin holds zero.

    Examples
    --------
    >>> from shoal.engines import magnitude_edges
    >>> edges = magnitude_edges()
    >>> edges[[0, -1]].tolist() == [-(2.0**60), 2.0**60], len(edges)
    (True, 202)
    """
    powers = 2.0 ** np.arange(SMALLEST, LARGEST + 1)
    return np.concatenate([-powers[::-1], powers])


def magnitude_counts(X: Floats, weights: npt.NDArray[np.int32] | None = None) -> Integers:
    """Count the values of each column by sign and power of two.

    Parameters
    ----------
    X : ndarray of float64, shape (n, d)
        Records.
    weights : ndarray of int32, shape (n,), default=None
        How often each record counts.

    Returns
    -------
    counts : ndarray of int64, shape (d, bins)
        One record counts once in each column.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import magnitude_counts, magnitude_edges
    >>> filled = np.flatnonzero(magnitude_counts(np.array([[5.0], [6.0], [-1.0]]))[0])
    >>> magnitude_edges()[filled].tolist(), magnitude_edges()[filled + 1].tolist()
    ([-2.0, 4.0], [-1.0, 8.0])
    """
    bins = 2 * SIDE + 1
    counts = np.zeros((X.shape[1], bins), dtype=np.int64)
    for start in range(0, len(X), CHUNK):
        part = X[start : start + CHUNK]
        mass = None if weights is None else weights[start : start + CHUNK]
        # |x| = m 2^e with 1/2 <= m < 1, so 2^(e-1) <= |x| < 2^e: exact for every double.
        _, exponents = np.frexp(part)
        steps = np.clip(exponents - SMALLEST, 0, SIDE)
        steps[part == 0.0] = 0
        places = SIDE + np.where(part < 0.0, -steps, steps)
        for column in range(X.shape[1]):
            found = np.bincount(places[:, column], weights=mass, minlength=bins)
            counts[column] += found.astype(np.int64)
    return counts
