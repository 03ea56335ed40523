"""Counts of the records in the cells of a public box that is halved again and again.

The box is halved along its first column, its second, and so on, and again from the first. After l
halvings a cell goes by its code of l bits, one for each halving, the first one highest: 0 for the
lower half and 1 for the upper. So a node of the tree of all cells is a prefix of codes, its records
are those whose codes lie in one interval, and the counts of the finest cells hold those of every
node. Only cells with a record of positive weight take memory.

The halves are cells of ``grid_counts`` by the same integers, so they are nested exactly. One record
more or less changes one count by its weight, and so one count on each level; which codes there are
is as private as the counts.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats, Ints
from shoal.engines.array_engine import as_engine
from shoal.engines.engine import HALF, Engine, Part, check_integer
from shoal.engines.grid import BLOCK_ROWS, grid_cell
from shoal.engines.sparse_grid import SparseCounts, add_up
from shoal.exceptions import ParameterError

__all__ = ["DyadicKernel", "dyadic_boxes", "dyadic_counts", "max_halvings"]

MAX_HALVINGS = 62  # codes are int64, with room for sums of two


@dataclass(frozen=True)
class DyadicKernel:
    """Codes and counts of the cells that hold a record, for one part of the records."""

    halvings: int
    half: int  # half the width of the box, in lattice steps

    @property
    def rows(self) -> int:
        """Rows of a part above which it pays to split it."""
        # Sorting outgrows the cache soon after, and merging parts costs less than sorting them.
        return 1 << 18

    def __call__(self, part: Part, /) -> tuple[Ints, Ints]:
        """Return codes and counts of one part."""
        codes = np.zeros(len(part.records), dtype=np.int64)
        start = 0
        for block in part.blocks(BLOCK_ROWS):
            stop = start + len(block.records)
            self._encode(block.records, codes[start:stop])
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

    def _encode(self, records: npt.NDArray[np.int32], codes: Ints) -> None:
        columns = records.shape[1]
        for column, values in enumerate(records.T):
            times = _times(self.halvings, columns, column)
            cells = grid_cell(values.astype(np.int64), 1 << times, self.half)
            for time in range(times):
                bit = (cells >> (times - 1 - time)) & 1
                codes |= bit << (self.halvings - 1 - time * columns - column)


def dyadic_counts(
    engine: Engine | npt.NDArray[Any], halvings: int, half: int = HALF
) -> SparseCounts:
    """Count the records in the cells of a box that is halved repeatedly; empty cells are left out.

    The box is halved along its first column, then its second, and so on, and again from the first.
    The code of a cell has one bit for each halving, the first one highest: 0 for the lower half.

    Parameters
    ----------
    engine : Engine, or ndarray of integers, shape (n, d)
        Lattice records.
    halvings : int
        Number of halvings, 1 to :func:`max_halvings`.
    half : int, default=2**19
        The box is -half .. half in each column, at most 2^19.

    Returns
    -------
    counted : SparseCounts
        Codes of the cells whose sum of weights is not zero, and these exact sums.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import dyadic_counts
    >>> counted = dyadic_counts(np.array([[-4, 1], [3, 2], [4, 4]]), 3, half=4)
    >>> counted.codes.tolist(), counted.counts.tolist()  # 2 is 010: low, high, low
    ([2, 7], [1, 2])
    """
    held = as_engine(engine)
    half = check_integer("half", half, HALF)
    most = max_halvings(held.columns, half)
    if most == 0:
        raise ParameterError(f"X must have at most {MAX_HALVINGS} columns, got {held.columns}")
    kernel = DyadicKernel(check_integer("halvings", halvings, most), half)
    return SparseCounts(*held.add_up(kernel))


def dyadic_boxes(
    codes: Ints, depths: Ints, *, columns: int, halvings: int, half: int = HALF
) -> tuple[Floats, Floats]:
    """Return the corners of nodes of the tree of halved cells.

    Parameters
    ----------
    codes : ndarray of int64, shape (m,)
        Smallest code of the finest cells in each node.
    depths : ndarray of int64, shape (m,)
        Number of halvings that led to each node.
    columns : int
        Number of columns.
    halvings : int
        Number of halvings of the finest cells.
    half : int, default=2**19
        The box is -half .. half in each column.

    Returns
    -------
    low, high : ndarray of shape (m, columns)
        Low and high corners, in lattice steps.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import dyadic_boxes
    >>> low, high = dyadic_boxes(np.array([2]), np.array([2]), columns=2, halvings=3, half=4)
    >>> low.tolist(), high.tolist()
    ([[-4.0, 0.0]], [[0.0, 4.0]])
    """
    low, high = np.empty((len(codes), columns)), np.empty((len(codes), columns))
    for column in range(columns):
        cells = np.zeros(len(codes), dtype=np.int64)
        times = np.zeros(len(codes), dtype=np.int64)
        for time in range(_times(halvings, columns, column)):
            place = time * columns + column
            deep = depths > place
            cells = np.where(deep, 2 * cells + ((codes >> (halvings - 1 - place)) & 1), cells)
            times += deep
        width = np.ldexp(2.0 * half, -times)
        low[:, column] = cells * width - half
        high[:, column] = (cells + 1) * width - half
    return low, high


def max_halvings(columns: int, half: int = HALF) -> int:
    """Return how often the box of a lattice can be halved, the same number for all columns.

    Parameters
    ----------
    columns : int
        Number of columns.
    half : int, default=2**19
        The box is -half .. half in each column.

    Returns
    -------
    halvings : int
        A multiple of ``columns``, at most 62; 0 for more than 62 columns.

    Examples
    --------
    >>> from shoal.engines import max_halvings
    >>> max_halvings(2), max_halvings(8)
    (40, 56)
    """
    return columns * min(half.bit_length(), MAX_HALVINGS // columns)


def _times(halvings: int, columns: int, column: int) -> int:
    """Return how often one column is halved."""
    return (halvings - column + columns - 1) // columns
