"""The average band of the Haar wavelet at level 1, as the source scales it."""

from shoal._typing import Floats

__all__ = ["haar_band"]


def haar_band(counts: Floats) -> Floats:
    """Return the average band of the Haar wavelet: sums of blocks of 2^d cells over 2^(d/2).

    Parameters
    ----------
    counts : ndarray of float64, shape (grid, ..., grid)
        An even number of cells along each column.

    Returns
    -------
    band : ndarray of float64, shape (grid / 2, ..., grid / 2)

    Examples
    --------
    >>> import numpy as np
    >>> haar_band(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[5.0]]
    """
    columns = counts.ndim
    blocks = counts.reshape([size for side in counts.shape for size in (side // 2, 2)])
    band: Floats = blocks.sum(axis=tuple(range(1, 2 * columns, 2))) / 2 ** (columns / 2)
    return band
