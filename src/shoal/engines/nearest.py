"""Nearest centres on the lattice: exact counts and sums, in any order of the records.

Records and centres are integers of at most 2^19 in absolute value and d <= 8192, so every product
and partial sum below is an integer under 2^53: float64 holds it exactly, whichever way a matrix
product is ordered, and chunks add up to the same bits (MATH section 5; tests/engines).
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

__all__ = ["NearestStatistics", "nearest_centres", "nearest_statistics"]

Integers = npt.NDArray[np.int64]

CHUNK_VALUES = 1 << 18  # doubles of one block of distances: stays in cache


@dataclass(frozen=True, eq=False)
class NearestStatistics:
    """What one pass over the records adds up for each centre.

    Parameters
    ----------
    counts : ndarray of int64, shape (k,)
        Records whose nearest centre it is.
    sums : ndarray of int64, shape (k, d)
        Their column sums.
    """

    counts: Integers
    sums: Integers


def nearest_statistics(records: Integers, centres: Integers) -> NearestStatistics:
    """Count and add up the records of each centre.

    Parameters
    ----------
    records : ndarray of int64, shape (n, d)
        Lattice records, at most 2^19 in absolute value.
    centres : ndarray of int64, shape (k, d)
        Lattice centres, likewise.

    Returns
    -------
    statistics : NearestStatistics
        Exact counts and sums; a record counts once, for its nearest centre of lowest index.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import nearest_statistics
    >>> nearest_statistics(np.array([[0], [1], [9]]), np.array([[0], [10]])).sums.ravel().tolist()
    [1, 9]
    """
    k, d = centres.shape
    counts = np.zeros(k, dtype=np.int64)
    sums = np.zeros((k, d), dtype=np.int64)
    for part, labels in _passes(records, centres):
        counts += np.bincount(labels, minlength=k)
        for column in range(d):
            # Sums of one chunk stay under 2^53, so the doubles of bincount are exact.
            sums[:, column] += np.bincount(labels, weights=part[:, column], minlength=k).astype(
                np.int64
            )
    return NearestStatistics(counts, sums)


def nearest_centres(records: Integers, centres: Integers) -> npt.NDArray[np.int32]:
    """Find the nearest centre of each record.

    Parameters
    ----------
    records : ndarray of int64, shape (n, d)
        Lattice records.
    centres : ndarray of int64, shape (k, d)
        Lattice centres.

    Returns
    -------
    labels : ndarray of int32, shape (n,)
        Index of the nearest centre; the lowest among equals.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import nearest_centres
    >>> nearest_centres(np.array([[4], [5], [6]]), np.array([[0], [10]])).tolist()
    [0, 0, 1]
    """
    parts = [labels.astype(np.int32) for _, labels in _passes(records, centres)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)


@functools.cache
def _blas() -> ThreadpoolController:
    # Finding the libraries takes milliseconds; numpy's has been loaded by now.
    return ThreadpoolController()


def _passes(
    records: Integers, centres: Integers
) -> Iterator[tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]]:
    places = centres.astype(np.float64)
    norms = np.einsum("ij,ij->i", places, places)
    rows = max(1, CHUNK_VALUES // (centres.shape[0] + centres.shape[1]))
    with _blas().limit(limits=1, user_api="blas"):
        for start in range(0, len(records), rows):
            part = records[start : start + rows].astype(np.float64)
            distances = part @ places.T
            distances *= -2.0
            distances += norms  # ||x||^2 is the same for all centres
            yield part, distances.argmin(axis=1)
