"""The nearest of some centers, each row by itself."""

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats

__all__ = ["nearest_centers"]


BLOCK_VALUES = 1 << 18  # distances held at a time


def nearest_centers(rows: Floats, centers: Floats) -> npt.NDArray[np.int32]:
    """Find the center of least Euclidean distance, the lowest index among equals.

    A label depends on its own row alone, to the last bit: squares are added column by column, in
    no order that a matrix product of another number of rows would change. On lattice indices all
    of them are exact integers (squares below 2^40, at most 8,192 columns).

    Parameters
    ----------
    rows : ndarray of float64, shape (n, d)
        Records, reports, or their lattice indices.
    centers : ndarray of float64, shape (k, d)
        In the same unit.

    Returns
    -------
    labels : ndarray of int32, shape (n,)
        Index of the nearest center.
    """
    labels = np.empty(len(rows), dtype=np.int32)
    step = max(1, BLOCK_VALUES // len(centers))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        squares = np.zeros((len(block), len(centers)))
        with np.errstate(over="ignore"):  # too far for a double: infinitely far
            for column, places in zip(block.T, centers.T, strict=True):
                gaps = column[:, None] - places
                gaps *= gaps
                squares += gaps
        labels[start : start + step] = squares.argmin(axis=1)
    return labels
