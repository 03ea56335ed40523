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
from shoal.engines._parallel import thread_scratch
from shoal.engines.array_engine import as_engine
from shoal.engines.engine import HALF, Engine, Part, check_integer
from shoal.exceptions import ParameterError

__all__ = [
    "BLOCK_ROWS",
    "MAX_CELLS",
    "AdaptiveKernel",
    "GridKernel",
    "adaptive_counts",
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
    """Counts in the cells of a grid, for one part of the records."""

    cells: tuple[int, ...]  # cells of each column
    half: int  # half the width of the grid, in lattice steps

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        # Each part adds a table of all cells, so it should be longer than that.
        return min(max(4 * math.prod(self.cells), 1 << 18), 1 << 23)

    def __call__(self, part: Part, /) -> tuple[Ints]:
        """Return the counts of one part, cell by cell in C order."""
        codes = np.empty(len(part.records), dtype=np.intp)
        start = 0
        for block in part.blocks(max(BLOCK_VALUES // len(self.cells), 1)):
            stop = start + len(block.records)
            self._encode(block.records, codes[start:stop])
            start = stop
        return (cell_counts(codes, part.weights, math.prod(self.cells)),)

    def _encode(self, records: npt.NDArray[np.int32], codes: npt.NDArray[np.intp]) -> None:
        # All columns in one call, as threads wait for each other between calls.
        rows, d = records.shape
        kind = cell_type(self.cells, self.half)
        doubles = -(-(d + 1) * rows * kind.itemsize // 8)
        memory: npt.NDArray[Any] = thread_scratch().take("cells", (doubles,)).view(kind)
        cell, code = memory[: d * rows].reshape(d, rows), memory[d * rows : (d + 1) * rows]
        cells = np.array(self.cells, dtype=kind)[:, np.newaxis]
        steps = [math.prod(self.cells[j + 1 :]) for j in range(d)]
        _cells_of(records.T, cells, self.half, cell)
        cell *= np.array(steps, dtype=kind)[:, np.newaxis]
        codes[:] = np.add.reduce(cell, axis=0, out=code)


def cell_counts(
    codes: npt.NDArray[np.intp], weights: npt.NDArray[np.int32] | None, cells: int
) -> Ints:
    """Add up the weights of each code."""
    if weights is None:
        return np.bincount(codes, minlength=cells).astype(np.int64, copy=False)
    # Weights of a part add up to at most 2^32: the doubles of bincount are exact.
    return np.bincount(codes, weights=weights, minlength=cells).astype(np.int64)


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
        Number of equal cells of the column, at most 2 * half.
    half : int, default=2**19
        The column is -half .. half.
    out : ndarray of int32 or int64, default=None
        Array for the result, of a type that holds 2 * half * cells; None makes one.

    Returns
    -------
    cell : ndarray of int32 or int64
        Index of the cell of each value, from 0 to cells - 1.

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
    """Return the edges of the equal cells of one column.

    Parameters
    ----------
    cells : int
        Number of cells.
    half : int, default=2**19
        The column is -half .. half.

    Returns
    -------
    edges : ndarray of float64, shape (cells + 1,)
        Edges in lattice steps; cell i lies between edges i and i + 1.

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
        Number of cells along each column, 1 to 2 * half; at most 2^24 in all.
    half : int, default=2**19
        The grid covers -half .. half in each column, at most 2^19.

    Returns
    -------
    counts : ndarray of int64, shape cells
        Exact sums of weights.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import grid_counts
    >>> grid_counts(np.array([[-4, 1], [3, 2], [4, 4]]), (2, 2), half=4).tolist()
    [[0, 1], [0, 2]]
    """
    held = as_engine(engine)
    half = check_integer("half", half, HALF)
    if len(cells) != held.columns:
        raise ParameterError(f"cells must have {held.columns} entries, got {len(cells)}")
    cells = tuple(check_integer(f"cells[{j}]", value, 2 * half) for j, value in enumerate(cells))
    if math.prod(cells) > MAX_CELLS:
        raise ParameterError(
            f"cells must be at most {MAX_CELLS} in all, got {math.prod(cells)}: take fewer"
        )
    (counts,) = held.add_up(GridKernel(cells, half))
    return counts.reshape(cells)


@dataclass(frozen=True, eq=False)
class AdaptiveKernel:
    """Counts of all parts of all cells, for one part of the records."""

    side: int  # cells along each column of the coarse grid
    sides: Ints  # shape (side^d,): parts along each column of every coarse cell
    half: int  # records lie in -half .. half

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        # Each part adds a table of all parts of cells, so it should be longer than that.
        return min(max(4 * self._parts, 1 << 16), 1 << 20)

    @property
    def _parts(self) -> int:
        columns = round(math.log(len(self.sides), self.side)) if self.side > 1 else 1
        return int((self.sides**columns).sum())

    def __call__(self, part: Part, /) -> tuple[Ints]:
        """Return the counts of one part of the records."""
        sizes = self.sides ** part.records.shape[1]
        starts = np.cumsum(sizes) - sizes
        codes = np.empty(len(part.records), dtype=np.int64)
        start = 0
        for block in part.blocks(BLOCK_ROWS):
            stop = start + len(block.records)
            self._encode(block.records, starts, codes[start:stop])
            start = stop
        return (cell_counts(codes, part.weights, int(sizes.sum())),)

    def _encode(self, records: npt.NDArray[np.int32], starts: Ints, codes: Ints) -> None:
        """Write the code of each record among all parts of all cells."""
        columns = records.T
        coarse = np.empty(columns.shape, dtype=np.int64)
        cell = np.zeros(len(records), dtype=np.int64)
        for index, column in zip(coarse, columns, strict=True):
            cell *= self.side
            cell += grid_cell(column, self.side, self.half, out=index)
        cut = self.sides[cell]
        codes[:] = 0
        for index, column in zip(coarse, columns, strict=True):
            # Cells of the grid that cuts every coarse cell so finely, as exact integers: as in
            # grid_cell, the upper border belongs to the last cell.
            fine = column.astype(np.int64)
            fine += self.half
            fine *= self.side * cut
            fine //= 2 * self.half
            fine -= index * cut
            codes *= cut
            codes += np.clip(fine, 0, cut - 1, out=fine)
        codes += starts[cell]


def adaptive_counts(
    engine: Engine | npt.NDArray[Any], side: int, sides: Ints, half: int = HALF
) -> Ints:
    """Count the records in an adaptive grid, whose coarse cells are divided into smaller parts.

    Parameters
    ----------
    engine : Engine or ndarray of integers, shape (n, d)
        Lattice records.
    side : int
        Number of cells along each column of the coarse grid, 1 to 2 * half.
    sides : ndarray of int64, shape (side^d,)
        Number of parts along each column of every coarse cell, with the cells in C order; at most
        2^24 parts in all.
    half : int, default=2**19
        Records lie in -half .. half.

    Returns
    -------
    counts : ndarray of int64, shape (sum of sides^d,)
        Exact sums of weights, cell by cell; one record is in one part.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import adaptive_counts
    >>> records = np.array([[-4], [-3], [-1], [2], [4]])
    >>> adaptive_counts(records, 2, np.array([2, 1]), half=4).tolist()
    [2, 1, 2]
    """
    held = as_engine(engine)
    half = check_integer("half", half, HALF)
    side = check_integer("side", side, 2 * half)
    sides = np.asarray(sides)
    if sides.shape != (side**held.columns,) or sides.dtype.kind not in "iu":
        raise ParameterError(
            f"sides must be {side}^{held.columns} whole numbers, one for each coarse cell, "
            f"got shape {sides.shape} of {sides.dtype}"
        )
    sides = sides.astype(np.int64)
    if not 1 <= int(sides.min()) <= int(sides.max()) <= 2 * half:
        raise ParameterError(
            f"sides must be from 1 to {2 * half}, got {sides.min()} to {sides.max()}"
        )
    # In doubles, which do not overflow.
    if (sides.astype(np.float64) ** held.columns).sum() > MAX_CELLS:
        raise ParameterError(f"sides must make at most {MAX_CELLS} parts in all: take fewer")
    (counts,) = held.add_up(AdaptiveKernel(side, sides, half))
    return counts
