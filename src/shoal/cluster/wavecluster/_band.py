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
import numpy.typing as npt
import pywt
from scipy import sparse

from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError

__all__ = ["Band", "band_of", "sparse_band"]


MAX_BITS, MIN_BITS = 10, 2  # of a coefficient
MAX_SENSITIVE = 2**30  # that one record may change the band by


@dataclass(frozen=True, eq=False)
class Band:
    """How cells of a grid make band values, the same along each column."""

    matrix: Any  # shape (values, cells): along one column
    columns: int  # number of columns
    block: int  # cells that a band value stands for, along each column

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
        """Transform a table of counts."""
        values = counts
        for axis in range(self.columns):
            turned = np.moveaxis(values, axis, 0)
            product = self.matrix @ turned.reshape(len(turned), -1)
            values = np.moveaxis(product.reshape(-1, *turned.shape[1:]), 0, axis)
        return np.ascontiguousarray(values)


def band_of(wavelet: str, level: int, cells: int, columns: int) -> Band:
    """Build the band of a wavelet."""
    block = 2**level
    if not isinstance(wavelet, str) or wavelet not in pywt.wavelist(kind="discrete"):
        raise ParameterError(
            f"wavelet must be a discrete wavelet of PyWavelets, got {wavelet!r}: "
            'try "haar", "db2" or "bior2.2"',
            parameter="wavelet",
            code="choice",
        )
    if cells % block or cells < block:
        raise ParameterError(
            f"grid must be a multiple of 2^level = {block}, got {cells}: "
            f"try {max(1, round(cells / block)) * block}",
            parameter="grid",
            code="conflict",
        )
    for bits in range(MAX_BITS, MIN_BITS - 1, -1):
        band = Band(_matrix(wavelet, level, cells, bits), columns, block)
        if band.sensitivity <= MAX_SENSITIVE:
            return band
    raise ParameterError(
        f'wavelet must be "haar" for {columns} columns, got {wavelet!r}',
        parameter="wavelet",
        code="unsupported",
    )


def sparse_band(codes: Ints, counts: Ints, cells: int, band: Band) -> tuple[Ints, Ints]:
    """Transform the counts of the cells that hold records, of a grid most of whose cells are empty.

    Returns the codes of the band values that some record touches, sorted, and these values, exact;
    they may be 0.
    """
    by_cell = band.matrix.T.tocsr()
    size = band.matrix.shape[0]
    rest, value = codes, counts
    before = np.zeros(len(codes), dtype=np.int64)  # code of the columns already transformed
    for column in range(band.columns):
        step = cells ** (band.columns - 1 - column)
        cell, rest = np.divmod(rest, step)
        starts, stops = by_cell.indptr[cell], by_cell.indptr[cell + 1]
        width = stops - starts
        entry = np.repeat(starts, width) + _ramp(width)
        before = np.repeat(before, width) * size + by_cell.indices[entry]
        value = np.repeat(value, width) * by_cell.data[entry]
        rest = np.repeat(rest, width)
        # Cells that have met in all columns so far, and agree in the rest, are added up.
        before, rest, value = _add_up(before, rest, value)
    return before, value


@functools.lru_cache(maxsize=32)
def _matrix(wavelet: str, level: int, cells: int, bits: int) -> Any:
    values, block = cells // 2**level, 2**level
    taps = np.ones(block, dtype=np.int64)  # blocks of equal weights
    if wavelet not in ("haar", "db1"):
        taps = _centered(_first_filter(wavelet, level, cells), bits, block)
    filled = np.flatnonzero(taps)
    # The filter of the next value is the same, a block of cells further.
    columns = (filled + block * np.arange(values)[:, None]) % cells
    rows = np.repeat(np.arange(values), len(filled))
    data = np.tile(taps[filled], values)
    return sparse.csr_array((data, (rows, columns.ravel())), shape=(values, cells))


def _first_filter(wavelet: str, level: int, cells: int) -> Floats:
    """Return the weights of all cells, around the circle, in some value of the band."""
    weights = np.zeros(cells)
    weights[0] = 1.0
    for step in range(level):
        before, weights = weights, np.zeros(cells)
        # A convolution runs backwards, and from level to level its steps double.
        for index, tap in enumerate(pywt.Wavelet(wavelet).dec_lo):
            weights += tap * np.roll(before, -index * 2**step)
    return weights


def _centered(weights: Floats, bits: int, block: int) -> Ints:
    """Round to integers, and turn the circle so that the first block weighs as much as it can."""
    taps = np.rint(weights / np.abs(weights).max() * 2**bits).astype(np.int64)
    sums = np.cumsum(np.concatenate([[0], taps, taps[:block]]))
    own = sums[block : block + len(taps)] - sums[: len(taps)]
    return np.roll(taps, -int(own.argmax()))


def _ramp(width: npt.NDArray[np.integer]) -> Ints:
    """Count 0, 1, ... within each run of the given widths."""
    total = int(width.sum())
    starts = np.cumsum(width) - width
    ramp: Ints = np.arange(total, dtype=np.int64) - np.repeat(starts, width)
    return ramp


def _add_up(before: Ints, rest: Ints, value: Ints) -> tuple[Ints, Ints, Ints]:
    order = np.lexsort((rest, before))
    before, rest, value = before[order], rest[order], value[order]
    if not len(before):
        return before, rest, value
    new = np.concatenate([[True], (before[1:] != before[:-1]) | (rest[1:] != rest[:-1])])
    starts = np.flatnonzero(new)
    return before[starts], rest[starts], np.add.reduceat(value, starts)
