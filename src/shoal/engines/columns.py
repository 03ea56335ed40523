"""Counts of each column's bins, and of cells that are groups of bins: one pass over the records.

Bins are the equal cells that ``grid_cell`` cuts a column into. One record is in one bin of each
column, so one more or less changes one count of every column by its weight; it is in one cell, so
it changes one count of the cells.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Ints
from shoal.engines.array_engine import as_engine
from shoal.engines.engine import HALF, Engine, Part, check_integer
from shoal.engines.grid import MAX_CELLS, cell_counts, grid_cell
from shoal.exceptions import ParameterError

__all__ = ["ColumnKernel", "GroupedKernel", "column_counts", "grouped_counts"]


BLOCK_ROWS = 1 << 16  # bins of so many rows of one column stay in cache
PART_ROWS, PART_VALUES = 1 << 14, 1 << 20  # with fewer of both, calls take longer than counting


@dataclass(frozen=True)
class ColumnKernel:
    """Counts in the bins of every column, for one part of the records."""

    columns: int  # number of columns
    bins: int  # bins of each column
    half: int  # columns are -half .. half

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        # Each part adds a table of all bins, so it should be longer than that.
        return max(4 * self.bins, PART_ROWS, PART_VALUES // self.columns)

    def __call__(self, part: Part, /) -> tuple[Ints]:
        """Return the counts of one part, a row for each column."""
        counts = np.zeros((self.columns, self.bins), dtype=np.int64)
        # Each block adds a table as well.
        for block in part.blocks(max(self.bins, BLOCK_ROWS)):
            for j, column in enumerate(block.records.T):
                cell = grid_cell(column, self.bins, self.half)
                counts[j] += cell_counts(cell, block.weights, self.bins)
        return (counts,)


@dataclass(frozen=True, eq=False)
class GroupedKernel:
    """Counts of cells that are groups of bins, for one part of the records."""

    cut: tuple[int, ...]  # columns that say something about the cell
    # shape (len(cut): what each bin of these columns adds to the number of a record's cell
    steps: Ints
    cells: int  # number of cells
    half: int  # columns are -half .. half

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        # Each part adds a table of all cells, so it should be longer than that.
        return min(max(4 * self.cells, 1 << 16), 1 << 23)

    def __call__(self, part: Part, /) -> tuple[Ints]:
        """Return the counts of one part."""
        codes = np.zeros(len(part.records), dtype=np.intp)
        start = 0
        for block in part.blocks(BLOCK_ROWS):
            stop = start + len(block.records)
            for j, steps in zip(self.cut, self.steps, strict=True):
                bins = grid_cell(block.records[:, j], len(steps), self.half)
                codes[start:stop] += steps.take(bins)
            start = stop
        return (cell_counts(codes, part.weights, self.cells),)


def column_counts(engine: Engine | npt.NDArray[Any], bins: int, half: int = HALF) -> Ints:
    """Count the records in each bin of every column.

    Parameters
    ----------
    engine : Engine, or ndarray of integers, shape (n, d)
        Lattice records.
    bins : int
        Number of equal bins of each column, 1 to 2 * half; at most 2^24 in all columns together.
    half : int, default=2**19
        The bins cover -half .. half, at most 2^19; records beyond count in the outermost bins.

    Returns
    -------
    counts : ndarray of int64, shape (d, bins)
        Exact sums of weights.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import column_counts
    >>> column_counts(np.array([[-4, 1], [3, 2], [4, 4]]), 2, half=4).tolist()
    [[1, 2], [0, 3]]
    """
    held = as_engine(engine)
    half = check_integer("half", half, HALF)
    bins = check_integer("bins", bins, 2 * half)
    if held.columns * bins > MAX_CELLS:
        raise ParameterError(
            f"bins must be at most {MAX_CELLS // held.columns} for {held.columns} columns, "
            f"got {bins}: take fewer"
        )
    (counts,) = held.add_up(ColumnKernel(held.columns, bins, half))
    return counts


def grouped_counts(
    engine: Engine | npt.NDArray[Any],
    cell_of_bin: npt.NDArray[Any],
    sides: npt.NDArray[Any],
    half: int = HALF,
) -> Ints:
    """Count the records in each cell of a grid whose cells are groups of bins.

    Parameters
    ----------
    engine : Engine, or ndarray of integers, shape (n, d)
        Lattice records.
    cell_of_bin : ndarray of integers, shape (d, bins)
        Cell of each bin along its column, from 0 to the column's side - 1; 1 to 2 * half bins.
    sides : ndarray of integers, shape (d,)
        Number of cells along each column, 1 for a column that is not cut; at most 2^24 cells in
        all.
    half : int, default=2**19
        The bins cover -half .. half, at most 2^19; records beyond count in the outermost bins.

    Returns
    -------
    counts : ndarray of int64, shape (product of sides,)
        Exact sums of weights, with cells in C order: the last column changes fastest.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import grouped_counts
    >>> records = np.array([[-4, 1], [3, 2], [4, -4]])
    >>> cell_of_bin = np.array([[0, 1, 1, 1], [0, 0, 0, 1]])
    >>> grouped_counts(records, cell_of_bin, np.array([2, 2]), half=4).tolist()
    [1, 0, 1, 1]
    """
    held = as_engine(engine)
    half = check_integer("half", half, HALF)
    sides, cell_of_bin = _checked(sides, cell_of_bin, held.columns, half)
    cut = np.flatnonzero(sides > 1)
    # A cell's number is a sum over columns, so that what each bin adds to it is looked up.
    strides = np.cumprod(np.append(sides[cut][1:], 1)[::-1])[::-1]
    kernel = GroupedKernel(
        tuple(cut.tolist()),
        cell_of_bin[cut] * strides[: len(cut), np.newaxis],
        math.prod(sides.tolist()),
        half,
    )
    (counts,) = held.add_up(kernel)
    return counts


def _checked(
    sides: npt.NDArray[Any], cell_of_bin: npt.NDArray[Any], columns: int, half: int
) -> tuple[Ints, Ints]:
    if sides.shape != (columns,) or sides.dtype.kind not in "iu":
        raise ParameterError(
            f"sides must be {columns} whole numbers, one for each column, "
            f"got shape {sides.shape} of {sides.dtype}"
        )
    if cell_of_bin.ndim != 2 or len(cell_of_bin) != columns or cell_of_bin.dtype.kind not in "iu":
        raise ParameterError(
            f"cell_of_bin must be whole numbers of shape ({columns}, bins), "
            f"got shape {cell_of_bin.shape} of {cell_of_bin.dtype}"
        )
    check_integer("bins of cell_of_bin", cell_of_bin.shape[1], 2 * half)
    if sides.min() < 1 or math.prod(sides.tolist()) > MAX_CELLS:
        raise ParameterError(
            f"sides must be at least 1 and make at most {MAX_CELLS} cells in all: take fewer"
        )
    if cell_of_bin.min() < 0 or (cell_of_bin.max(axis=1) >= sides).any():
        raise ParameterError("cell_of_bin must lie between 0 and the column's entry in sides - 1")
    return sides.astype(np.int64), cell_of_bin.astype(np.int64)
