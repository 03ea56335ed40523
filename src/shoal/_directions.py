"""Records whose direction alone counts, as embeddings are compared by the cosine of their angle.

The same record becomes the same vector of length 1 wherever it lies, alone or in a block, in memory
or on a worker of Spark: squares are added up one column after the other, and every operation is
elementwise and correctly rounded. (A matrix product or numpy's own sum along a row adds in an order
that depends on the layout and on the processor.)
"""

from collections.abc import Sequence

import numpy as np

from shoal._typing import Floats, Records

__all__ = ["unit_length"]

# Sums of squares within these limits have neither overflowed nor lost a digit that counts.
SMALLEST, LARGEST = 2.0**-900, 2.0**900


def unit_length(block: Sequence[Records] | Records) -> Floats:
    """Divide each record by its Euclidean length; a record of zeros stays as it is.

    Parameters
    ----------
    block : sequence of ndarray of shape (n,), or ndarray of shape (d, n)
        The columns of some records, in half, single or double precision.

    Returns
    -------
    columns : ndarray of float64, shape (d, n)
        Those of vectors of length 1, up to rounding. A record with an infinite value or NaN has
        NaN in it.

    Examples
    --------
    >>> import numpy as np
    >>> unit_length(np.array([[3.0, 0.0], [4.0, 0.0]])).T.tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    columns = np.array(block, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = _squares(columns)
        # Too long or too short for their squares: brought near 1 by powers of two, which is exact.
        far = np.flatnonzero(~((squares >= SMALLEST) & (squares <= LARGEST)))
        if far.size:
            exponents = np.frexp(np.abs(columns[:, far]).max(axis=0))[1]
            columns[:, far] = np.ldexp(columns[:, far], -exponents)
            squares[far] = _squares(columns[:, far])
            squares[squares == 0.0] = 1.0
        lengths = np.sqrt(squares, out=squares)
        for column in columns:
            np.divide(column, lengths, out=column)
    return columns


def _squares(columns: Floats) -> Floats:
    """Add up squares, one column after the other."""
    total, square = np.zeros(columns.shape[1]), np.empty(columns.shape[1])
    for column in columns:
        np.multiply(column, column, out=square)
        np.add(total, square, out=total)
    return total
