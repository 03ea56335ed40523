"""Counts of the records in the cells of a public grid.

A column of -half .. half is cut into m equal cells by integers alone:

    cell of x = floor((x + half) * m / (2 * half)),   and m - 1 for x = half.

Cell i is the half-open interval from ``-half + 2 * half * i / m`` to the next such edge; the last
one is closed. Records beyond -half .. half count in the outermost cells. One record more or less
changes one count, by its weight.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.engines._checks import whole
from shoal.engines._scratch import thread_scratch
from shoal.engines.array_engine import as_engine
from shoal.engines.engine import HALF, Engine, Part
from shoal.exceptions import ParameterError

__all__ = [
    "BLOCK_ROWS",
    "MAX_CELLS",
    "GridKernel",
    "cell_counts",
    "cell_type",
    "grid_cell",
    "grid_counts",
    "grid_edges",
]


MAX_CELLS = 2**24
# Integers of one block: they stay in the last cache, and calls are long enough for threads that
# wait for the interpreter in between not to hinder each other. Measured.
BLOCK_VALUES = 1 << 19
BLOCK_ROWS = 1 << 16  # of a block where columns are taken one by one


@dataclass(frozen=True)
class GridKernel:
    """Counts in the cells of a grid, for one part of the records.

    Parameters
    ----------
    cells : tuple of int
        Cells of each column.
    half : int
        Half the width of the grid, in lattice steps.
    """

    cells: tuple[int, ...]
    half: int

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        # Each part adds a table of all cells, so it should be longer than that.
        return min(max(4 * math.prod(self.cells), 1 << 18), 1 << 23)

    def __call__(self, part: Part, /) -> tuple[Ints]:
        """Return the counts of one part, cell by cell in C order."""
        places = np.empty(len(part.records), dtype=np.intp)
        start = 0
        for block in part.blocks(max(BLOCK_VALUES // len(self.cells), 1)):
            stop = start + len(block.records)
            self._place(block.records, places[start:stop])
            start = stop
        return (cell_counts(places, part.weights, math.prod(self.cells)),)

    def _place(self, records: npt.NDArray[np.int32], places: npt.NDArray[np.intp]) -> None:
        # All columns in one call, as threads wait for each other between calls.
        rows, d = records.shape
        kind = cell_type(self.cells, self.half)
        doubles = -(-(d + 1) * rows * kind.itemsize // 8)
        room: npt.NDArray[Any] = thread_scratch().take("cells", (doubles,)).view(kind)
        cell, place = room[: d * rows].reshape(d, rows), room[d * rows : (d + 1) * rows]
        cells = np.array(self.cells, dtype=kind)[:, np.newaxis]
        steps = [math.prod(self.cells[j + 1 :]) for j in range(d)]
        _cells_of(records.T, cells, self.half, cell)
        cell *= np.array(steps, dtype=kind)[:, np.newaxis]
        places[:] = np.add.reduce(cell, axis=0, out=place)


def cell_counts(
    places: npt.NDArray[np.intp], weights: npt.NDArray[np.int32] | None, cells: int
) -> Ints:
    """Add up the weights at each place."""
    if weights is None:
        return np.bincount(places, minlength=cells).astype(np.int64, copy=False)
    # Weights of a part add up to at most 2^32: the doubles of bincount are exact.
    return np.bincount(places, weights=weights, minlength=cells).astype(np.int64)


def cell_type(cells: tuple[int, ...], half: int) -> np.dtype[Any]:
    """Return the integers that are wide enough for ``grid_cell`` with each of these cells."""
    return np.dtype(np.int32 if 2 * half * max(cells) <= 2**31 else np.int64)


def grid_cell(
    values: npt.NDArray[Any],
    cells: int,
    half: int = HALF,
    *,
    out: npt.NDArray[Any] | None = None,
) -> npt.NDArray[Any]:
    """Find the cell of each value of one column.

    Parameters
    ----------
    values : ndarray of int32 or int64
        Lattice values.
    cells : int
        Number of cells, at most 2 * half.
    half : int, default=2**19
        The column is -half .. half.
    out : ndarray of int32 or int64, default=None
        Where the cells go, in a type that holds 2 * half * cells; None makes an array.

    Returns
    -------
    cell : ndarray of int32 or int64
        From 0 to cells - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import grid_cell
    >>> grid_cell(np.array([-4, -1, 0, 3, 4, 9]), 4, half=4).tolist()
    [0, 1, 2, 3, 3, 3]
    """
    if out is None:
        kind = np.result_type(values.dtype, cell_type((cells,), half))
        out = np.empty(values.shape, dtype=kind)
    _cells_of(values, cells, half, out)
    return out


def _cells_of(
    values: npt.NDArray[Any], cells: int | npt.NDArray[Any], half: int, out: npt.NDArray[Any]
) -> None:
    # As cells <= 2 * half, the last value but one falls in the last cell, and stands in for it.
    values.clip(-half, half - 1, out=out)
    out += half
    out *= cells
    if half & (half - 1):
        out //= 2 * half
    else:
        out >>= half.bit_length()


def grid_edges(cells: int, half: int = HALF) -> Floats:
    """Return the edges of the cells of one column.

    Parameters
    ----------
    cells : int
        Number of cells.
    half : int, default=2**19
        The column is -half .. half.

    Returns
    -------
    edges : ndarray of float64, shape (cells + 1,)
        In lattice steps; the midpoint of cell i is the mean of edges i and i + 1.

    Examples
    --------
    >>> from shoal.engines import grid_edges
    >>> grid_edges(4, half=10).tolist()
    [-10.0, -5.0, 0.0, 5.0, 10.0]
    """
    edges: Floats = np.arange(cells + 1) * (2 * half) / cells - half
    return edges


def grid_counts(
    engine: Engine | npt.NDArray[Any], cells: tuple[int, ...], half: int = HALF
) -> Ints:
    """Count the records in each cell of a grid.

    Parameters
    ----------
    engine : Engine, or ndarray of integers, shape (n, d)
        Lattice records.
    cells : tuple of int
        Cells of each column, 1 to 2 * half; at most 2^24 in all.
    half : int, default=2**19
        The grid covers -half .. half in each column, at most 2^19.

    Returns
    -------
    counts : ndarray of int64, shape cells
        Exact counts, with weights.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import grid_counts
    >>> grid_counts(np.array([[-4, 1], [3, 2], [4, 4]]), (2, 2), half=4).tolist()
    [[0, 1], [0, 2]]
    """
    held = as_engine(engine)
    half = whole("half", half, HALF)
    if len(cells) != held.columns:
        raise ParameterError(f"cells must have {held.columns} entries, got {len(cells)}")
    cells = tuple(whole(f"cells[{j}]", value, 2 * half) for j, value in enumerate(cells))
    if math.prod(cells) > MAX_CELLS:
        raise ParameterError(
            f"cells must be at most {MAX_CELLS} in all, got {math.prod(cells)}: take fewer"
        )
    (counts,) = held.add_up(GridKernel(cells, half))
    return counts.reshape(cells)
