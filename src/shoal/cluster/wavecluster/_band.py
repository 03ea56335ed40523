"""The average band of a wavelet transform, in integers.

The transform is separable: along each column it is one matrix from cells to band values. Its
coefficients are rounded to integers, publicly, so that the band of integer counts is exact and one
record's effect on it is known: ``sensitivity`` in the sum of absolute values, ``touched`` in the
number of values. For Haar both are 1 (a record is in one block).
"""

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pywt
from scipy import sparse

from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError

__all__ = ["Band", "band_of"]


MAX_BITS, MIN_BITS = 10, 2  # of a coefficient
MAX_SENSITIVE = 2**30  # that one record may change the band by


@dataclass(frozen=True, eq=False)
class Band:
    """How cells of a grid make band values, the same along each column.

    Parameters
    ----------
    matrix : sparse array of int64, shape (values, cells)
        Along one column.
    columns : int
        Number of columns.
    block : int
        Cells that a band value stands for, along each column.
    """

    matrix: Any
    columns: int
    block: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of band values along each column."""
        return (int(self.matrix.shape[0]),) * self.columns

    @functools.cached_property
    def sensitivity(self) -> int:
        """Most that one record changes, all band values together."""
        return math.prod([int(abs(self.matrix).sum(axis=0).max())] * self.columns)

    @functools.cached_property
    def touched(self) -> int:
        """Most band values that one record changes."""
        return math.prod([int((self.matrix != 0).sum(axis=0).max())] * self.columns)

    @functools.cached_property
    def signed(self) -> bool:
        """Return whether a record can lower a value."""
        return bool((self.matrix.data < 0).any())

    def dense(self, counts: Ints) -> Ints:
        """Transform a table of counts.

        Parameters
        ----------
        counts : ndarray of int64, shape (cells, ..., cells)
            Counts of all cells.

        Returns
        -------
        values : ndarray of int64, shape ``self.shape``
            Exact.
        """
        values = counts
        for axis in range(self.columns):
            turned = np.moveaxis(values, axis, 0)
            product = self.matrix @ turned.reshape(len(turned), -1)
            values = np.moveaxis(product.reshape(-1, *turned.shape[1:]), 0, axis)
        return np.ascontiguousarray(values)


def band_of(wavelet: str, level: int, cells: int, columns: int) -> Band:
    """Build the band of a wavelet.

    Parameters
    ----------
    wavelet : str
        A discrete wavelet of PyWavelets.
    level : int
        How often it is applied.
    cells : int
        Cells along each column, a multiple of 2^level.
    columns : int
        Number of columns.

    Returns
    -------
    band : Band
        With the filter centerd on the cells that a value stands for; borders wrap around.

    Raises
    ------
    ParameterError
        If there is no such wavelet, the cells do not divide, or the columns are too many for it.
    """
    block = 2**level
    if not isinstance(wavelet, str) or wavelet not in pywt.wavelist(kind="discrete"):
        raise ParameterError(
            f"wavelet must be a discrete wavelet of PyWavelets, got {wavelet!r}: "
            'try "haar", "db2" or "bior2.2"'
        )
    if cells % block or cells < block:
        raise ParameterError(
            f"grid must be a multiple of 2^level = {block}, got {cells}: "
            f"try {max(1, round(cells / block)) * block}"
        )
    for bits in range(MAX_BITS, MIN_BITS - 1, -1):
        band = Band(_matrix(wavelet, level, cells, bits), columns, block)
        if band.sensitivity <= MAX_SENSITIVE:
            return band
    raise ParameterError(f'wavelet must be "haar" for {columns} columns, got {wavelet!r}')


@functools.lru_cache(maxsize=32)
def _matrix(wavelet: str, level: int, cells: int, bits: int) -> Any:
    values, block = cells // 2**level, 2**level
    taps = np.ones(block, dtype=np.int64)  # blocks of equal weights
    if wavelet not in ("haar", "db1"):
        taps = _centerd(_first_filter(wavelet, level, cells), bits, block)
    places = np.flatnonzero(taps)
    # The filter of the next value is the same, a block of cells further.
    columns = (places + block * np.arange(values)[:, None]) % cells
    rows = np.repeat(np.arange(values), len(places))
    data = np.tile(taps[places], values)
    return sparse.csr_array((data, (rows, columns.ravel())), shape=(values, cells))


def _first_filter(wavelet: str, level: int, cells: int) -> Floats:
    """Return the weights of all cells, around the circle, in some value of the band."""
    weights = np.zeros(cells)
    weights[0] = 1.0
    for step in range(level):
        before, weights = weights, np.zeros(cells)
        # A convolution runs backwards, and from level to level its steps double.
        for place, tap in enumerate(pywt.Wavelet(wavelet).dec_lo):
            weights += tap * np.roll(before, -place * 2**step)
    return weights


def _centerd(weights: Floats, bits: int, block: int) -> Ints:
    """Round to integers, and turn the circle so that the first block weighs as much as it can."""
    taps = np.rint(weights / np.abs(weights).max() * 2**bits).astype(np.int64)
    sums = np.cumsum(np.concatenate([[0], taps, taps[:block]]))
    own = sums[block : block + len(taps)] - sums[: len(taps)]
    return np.roll(taps, -int(own.argmax()))
