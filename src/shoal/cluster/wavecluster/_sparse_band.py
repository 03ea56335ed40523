"""The average band of a grid most of whose cells are empty."""

import numpy as np
import numpy.typing as npt

from shoal._typing import Ints
from shoal.cluster.wavecluster._band import Band

__all__ = ["sparse_band"]


def sparse_band(codes: Ints, counts: Ints, cells: int, band: Band) -> tuple[Ints, Ints]:
    """Transform the counts of the cells that hold records.

    Parameters
    ----------
    codes : ndarray of int64, shape (m,)
        Cells that hold records, numbered row by row.
    counts : ndarray of int64, shape (m,)
        Their counts.
    cells : int
        Cells along each column.
    band : Band
        The transform.

    Returns
    -------
    codes : ndarray of int64, shape (v,)
        Band values that some record touches, sorted.
    values : ndarray of int64, shape (v,)
        Exact; they may be 0.
    """
    by_cell = band.matrix.T.tocsr()
    size = band.matrix.shape[0]
    place, value = codes, counts
    before = np.zeros(len(codes), dtype=np.int64)  # code of the columns already transformed
    for column in range(band.columns):
        step = cells ** (band.columns - 1 - column)
        cell, place = np.divmod(place, step)
        starts, stops = by_cell.indptr[cell], by_cell.indptr[cell + 1]
        width = stops - starts
        entry = np.repeat(starts, width) + _ramp(width)
        before = np.repeat(before, width) * size + by_cell.indices[entry]
        value = np.repeat(value, width) * by_cell.data[entry]
        place = np.repeat(place, width)
        # Cells that have met in all columns so far, and agree in the rest, are added up.
        before, place, value = _added_up(before, place, value)
    return before, value


def _ramp(width: npt.NDArray[np.integer]) -> Ints:
    """Count 0, 1, ... within each run of the given widths."""
    total = int(width.sum())
    starts = np.cumsum(width) - width
    ramp: Ints = np.arange(total, dtype=np.int64) - np.repeat(starts, width)
    return ramp


def _added_up(before: Ints, place: Ints, value: Ints) -> tuple[Ints, Ints, Ints]:
    order = np.lexsort((place, before))
    before, place, value = before[order], place[order], value[order]
    if not len(before):
        return before, place, value
    new = np.concatenate([[True], (before[1:] != before[:-1]) | (place[1:] != place[:-1])])
    starts = np.flatnonzero(new)
    return before[starts], place[starts], np.add.reduceat(value, starts)
