"""Where a copy's cells are cut: from released numbers alone.

Columns that vary more are cut into more cells. Within a column, cells are narrow where the noisy
histogram is high: their density goes with the cube root of the records', which loses least in
squared distance (Panter & Dite 1951).
"""

import math
from typing import NamedTuple

import numpy as np

from shoal._typing import Floats, Ints

__all__ = ["Plan", "bins_of_columns", "plan_cells"]


MIN_BINS, MAX_BINS = 4, 128  # of a column's histogram
RECORDS_PER_BIN = 8.0  # in scales of a bin's noise
FINENESS = 10.0  # records times epsilon for one cell in two columns (Su et al. 2016)
MIN_CELLS, MAX_CELLS = 16, 2**16


class Plan(NamedTuple):
    """Cells of each column, and the cell of each bin of its histogram."""

    sides: Ints
    cell_of_bin: Ints

    @property
    def cut(self) -> Ints:
        """Columns that have more than one cell."""
        return np.flatnonzero(self.sides > 1)

    @property
    def cells(self) -> int:
        """Number of cells in all."""
        return math.prod(self.sides.tolist())


def bins_of_columns(n: float, columns: int, share: float) -> int:
    """Choose the bins of each column's histogram.

    Parameters
    ----------
    n : float
        Number of records, public or noisy.
    columns : int
        Number of columns.
    share : float
        What all histograms together cost.

    Returns
    -------
    bins : int
        So many that a bin of an even column is well above its noise.
    """
    wanted = max(n, 1.0) * share / (columns * RECORDS_PER_BIN)
    return int(min(max(wanted, MIN_BINS), MAX_BINS))


def plan_cells(shares: Floats, n: float, share: float) -> Plan:
    """Choose the cells.

    Parameters
    ----------
    shares : ndarray of float64, shape (d, bins)
        Estimated shares of the records in each column's bins, each row of sum 1.
    n : float
        Number of records, public or noisy.
    share : float
        What the counts of all cells cost.

    Returns
    -------
    plan : Plan
        Post-processing of noisy counts.
    """
    columns, bins = shares.shape
    middles = (np.arange(bins) + 0.5) / bins
    # Within a bin records are spread evenly, so that no column varies by nothing.
    variances = shares @ middles**2 - (shares @ middles) ** 2 + 1 / (12 * bins**2)
    signal = min(max(n, 1.0) * share / FINENESS, float(MAX_CELLS))
    wanted = min(max(signal ** (2 * columns / (2 + columns)), MIN_CELLS), MAX_CELLS)
    sides = _sides(variances, wanted, bins)
    rows = [_cells_of_bins(row, int(side)) for row, side in zip(shares, sides, strict=True)]
    cell_of_bin = np.array(rows, dtype=np.int64)
    return Plan(cell_of_bin.max(axis=1) + 1, cell_of_bin)


def _sides(variances: Floats, wanted: float, most: int) -> Ints:
    """Cut, again and again, the column that varies most inside its cells."""
    sides = np.ones(len(variances), dtype=np.int64)
    cells = 1.0
    while True:
        fits = (sides < most) & (cells / sides * (sides + 1) <= wanted)
        if not fits.any():
            return sides
        column = int(np.where(fits, variances / sides**2, -1.0).argmax())
        cells *= (sides[column] + 1) / sides[column]
        sides[column] += 1


def _cells_of_bins(shares: Floats, side: int) -> Ints:
    density = np.cbrt(shares)
    middles = np.cumsum(density) - density / 2
    cells = np.minimum(middles / density.sum() * side, side - 1).astype(np.int64)
    # A bin wider than a cell leaves cells out: those that remain are numbered again.
    numbers: Ints = np.unique(cells, return_inverse=True)[1].astype(np.int64)
    return numbers
