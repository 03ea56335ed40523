"""Counts of the records in the cells of a public grid, for cells that hold any.

The cells are those of ``grid_counts``, by the same integers. Only cells with a record of positive
weight take memory, so the grid may have far more cells than memory: 64 in each of ten columns. A
cell goes by its code, its place in C order, the last column fastest: with cells (m1, m2, m3), cell
(a, b, c) has the code (a m2 + b) m3 + c. One record more or less changes one count by its weight;
where that takes a count to or from zero, the code itself comes or goes, so which codes there are is
as private as the counts.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Ints
from shoal.engines.array_engine import as_engine
from shoal.engines.engine import HALF, Engine, Part, check_integer
from shoal.engines.grid import BLOCK_ROWS, cell_type, grid_cell
from shoal.exceptions import ParameterError

__all__ = [
    "SparseCounts",
    "SparseGridKernel",
    "add_up",
    "sparse_grid_counts",
]


BEYOND = 2**62  # codes stay below it: int64, with room for sums of two


@dataclass(frozen=True, eq=False)
class SparseCounts:
    """Counts of the occupied cells of a grid; which cells these are is private too.

    Parameters
    ----------
    codes : ndarray of int64, shape (filled,)
        Codes of the occupied cells, ascending, each once. In a grid, the code of a cell is its
        index in C order.
    counts : ndarray of int64, shape (filled,)
        Sum of the weights of their records, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import sparse_grid_counts
    >>> counted = sparse_grid_counts(np.array([[-4, 1], [-3, 1], [4, 4]]), (2, 2), half=4)
    >>> counted.codes.tolist(), counted.counts.tolist()
    ([1, 3], [2, 1])
    """

    codes: Ints
    counts: Ints


@dataclass(frozen=True)
class SparseGridKernel:
    """Codes and counts of the cells that hold a record, for one part of the records."""

    cells: tuple[int, ...]  # cells of each column
    half: int  # half the width of the grid, in lattice steps

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        # Sorting outgrows the cache soon after, and merging parts costs less than sorting them.
        return 1 << 18

    def __call__(self, part: Part, /) -> tuple[Ints, Ints]:
        """Return codes and counts of one part."""
        codes = np.empty(len(part.records), dtype=np.int64)
        codes[:] = 0
        scratch = np.empty(min(len(codes), BLOCK_ROWS), dtype=cell_type(self.cells, self.half))
        start = 0
        for block in part.blocks(BLOCK_ROWS):
            stop = start + len(block.records)
            code, cell = codes[start:stop], scratch[: stop - start]
            for cells, column in zip(self.cells, block.records.T, strict=True):
                code *= cells
                code += grid_cell(column, cells, self.half, out=cell)
            start = stop
        if part.weights is None:
            filled, counts = np.unique(codes, return_counts=True)
            return filled, counts.astype(np.int64, copy=False)
        heavy = part.weights > 0
        return add_up(codes[heavy], part.weights[heavy].astype(np.int64))

    def merge(self, *results: tuple[Ints, ...]) -> tuple[Ints, Ints]:
        """Return codes and counts of several parts from those of each."""
        codes, counts = zip(*results, strict=True)
        return add_up(np.concatenate(codes), np.concatenate(counts))


def sparse_grid_counts(
    engine: Engine | npt.NDArray[Any], cells: tuple[int, ...], half: int = HALF
) -> SparseCounts:
    """Count the records in the occupied cells of a grid, which may have very many cells.

    Parameters
    ----------
    engine : Engine, or ndarray of integers, shape (n, d)
        Lattice records.
    cells : tuple of int
        Number of cells along each column, 1 to 2 * half; fewer than 2^62 in all.
    half : int, default=2**19
        The grid covers -half .. half in each column, at most 2^19.

    Returns
    -------
    counted : SparseCounts
        Cells whose sum of weights is not zero, and these exact sums.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import sparse_grid_counts
    >>> counted = sparse_grid_counts(np.array([[-4, 1], [3, 2], [4, 4]]), (2, 2), half=4)
    >>> counted.codes.tolist(), counted.counts.tolist()
    ([1, 3], [1, 2])
    """
    held = as_engine(engine)
    half = check_integer("half", half, HALF)
    if len(cells) != held.columns:
        raise ParameterError(f"cells must have {held.columns} entries, got {len(cells)}")
    kernel = SparseGridKernel(_check_cells(cells, 2 * half), half)
    return SparseCounts(*held.add_up(kernel))


def add_up(codes: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Sort the codes and add up the counts of equal ones."""
    # This sort looks for runs: it merges sorted parts in linear time.
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    first = np.flatnonzero(np.diff(codes, prepend=-1))
    return codes[first], np.add.reduceat(counts[order], first)


def _check_cells(cells: tuple[int, ...], most: int) -> tuple[int, ...]:
    cells = tuple(check_integer(f"cells[{j}]", value, most) for j, value in enumerate(cells))
    if math.prod(cells) >= BEYOND:
        raise ParameterError(
            f"cells must be fewer than {BEYOND} in all, got {math.prod(cells)}: take fewer"
        )
    return cells
