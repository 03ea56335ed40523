"""Counts of magnitudes: how many records lie between which powers of two, in each column.

The only statistic of records that are not on a lattice yet: a lattice needs bounds, and these
counts are what bounds are learned from.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints, Records
from shoal.engines.stream_engine import StreamTable
from shoal.tables import ArrayTable, Block

__all__ = ["magnitude_counts", "magnitude_edges"]


SMALLEST, LARGEST = -40, 60  # exponents: below 2^-40 is 0, above 2^60 is clipped
SIDE = LARGEST - SMALLEST  # bins of one sign
BINS = 2 * SIDE + 1
CHUNK = 1 << 16  # rows at a time


def _bin_of_head() -> npt.NDArray[np.intp]:
    """Return the bin of each sign and exponent, in the order of a double's first 12 bits."""
    # A positive one with exponent e is at least 2^(e - 1023); those with e = 0 are below 2^-1022.
    steps = np.clip(np.arange(2**11) - 1022 - SMALLEST, 0, SIDE)
    return SIDE + np.concatenate([steps, -steps])


BIN_OF_HEAD = _bin_of_head()


def magnitude_edges() -> Floats:
    """Return the edges of the bins of :func:`magnitude_counts`, from lowest to highest.

    Returns
    -------
    edges : ndarray of float64, shape (bins + 1,)
        Negative powers of two, then positive ones; the bin in the middle holds zero.

    Examples
    --------
    >>> from shoal.engines import magnitude_edges
    >>> edges = magnitude_edges()
    >>> edges[[0, -1]].tolist() == [-(2.0**60), 2.0**60], len(edges)
    (True, 202)
    """
    powers = 2.0 ** np.arange(SMALLEST, LARGEST + 1)
    return np.concatenate([-powers[::-1], powers])


def magnitude_counts(
    X: Records | ArrayTable | StreamTable, weights: npt.NDArray[np.int32] | None = None
) -> Ints:
    """Count the values of each column between powers of two, by sign.

    Parameters
    ----------
    X : ndarray of float16, float32 or float64, shape (n, d), or table
        Records.
    weights : ndarray of int32, shape (n,), default=None
        Weight of each record; for records in memory only.

    Returns
    -------
    counts : ndarray of int64, shape (d, bins)
        Exact sums of weights; one record is in one bin of each column.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import magnitude_counts, magnitude_edges
    >>> filled = np.flatnonzero(magnitude_counts(np.array([[5.0], [6.0], [-1.0]]))[0])
    >>> magnitude_edges()[filled].tolist(), magnitude_edges()[filled + 1].tolist()
    ([-2.0, 4.0], [-1.0, 8.0])
    """
    if not isinstance(X, np.ndarray | ArrayTable):
        (counts,) = X.fold(MagnitudeJob(X.columns))
        return counts
    records = X if isinstance(X, np.ndarray) else X.X
    fold = MagnitudeJob(records.shape[1]).start()
    for start in range(0, len(records), CHUNK):
        mass = None if weights is None else weights[start : start + CHUNK]
        part = records[start : start + CHUNK].astype(np.float64, copy=False)
        fold.add(tuple(part.T), mass)
    (counts,) = fold.result()
    return counts


@dataclass(frozen=True)
class MagnitudeJob:
    """Counts of magnitudes, of records that are handed out in blocks."""

    columns: int  # number of columns of a record
    looks = False

    def start(self) -> "_MagnitudeFold":
        """Begin with no records."""
        return _MagnitudeFold(self.columns)

    def combine(self, results: Sequence[tuple[Ints, ...]]) -> tuple[Ints, ...]:
        """Add up the counts of several threads or machines."""
        return (np.sum([counts for (counts,) in results], axis=0),)


class _MagnitudeFold:
    def __init__(self, columns: int) -> None:
        self._counts = np.zeros((columns, BINS), dtype=np.int64)

    def add(self, block: Block, weights: npt.NDArray[np.int32] | None = None) -> None:
        """Take in some more records."""
        for counts, values in zip(self._counts, block, strict=True):
            # Sign and exponent are the first 12 bits of a double: counting these is exact.
            heads = (values.view(np.uint64) >> np.uint64(52)).view(np.int64)
            tally = np.bincount(heads, weights=weights, minlength=len(BIN_OF_HEAD))
            np.add.at(counts, BIN_OF_HEAD, tally.astype(np.int64))

    def result(self) -> tuple[Ints, ...]:
        """Return the counts of all records that were taken in."""
        return (self._counts,)
