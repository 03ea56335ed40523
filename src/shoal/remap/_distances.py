"""Squared Euclidean distances between two tables of points, by one product of matrices."""

import numpy as np

from shoal._typing import Floats

__all__ = ["squared_distances"]


def squared_distances(first: Floats, second: Floats) -> Floats:
    """Return the squared distance of each row of one table to each row of the other.

    Parameters
    ----------
    first, second : ndarray of float64, shapes (n, d) and (m, d)
        Points; near zero is better, as large common parts cancel badly.

    Returns
    -------
    squares : ndarray of float64, shape (n, m)
        At least zero.
    """
    squares: Floats = first @ (-2.0 * second.T)
    squares += np.einsum("ij,ij->i", first, first)[:, None]
    squares += np.einsum("ij,ij->i", second, second)
    np.maximum(squares, 0.0, out=squares)
    return squares
