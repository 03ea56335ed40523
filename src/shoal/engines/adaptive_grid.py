"""Counts of a grid whose cells are cut again, each as finely as it deserves."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._typing import Ints
from shoal.engines._checks import whole
from shoal.engines.array_engine import as_engine
from shoal.engines.engine import HALF, Engine, Part
from shoal.engines.grid import BLOCK_ROWS, MAX_CELLS, cell_counts, grid_cell
from shoal.exceptions import ParameterError

__all__ = ["AdaptiveKernel", "adaptive_counts"]


@dataclass(frozen=True, eq=False)
class AdaptiveKernel:
    """Counts of all parts of all cells, for one part of the records.

    Parameters
    ----------
    side : int
        Cells along each column of the coarse grid.
    sides : ndarray of int64, shape (side^d,)
        Parts along each column of every coarse cell.
    half : int
        Records lie in -half .. half.
    """

    side: int
    sides: Ints
    half: int

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
        places = np.empty(len(part.records), dtype=np.int64)
        start = 0
        for block in part.blocks(BLOCK_ROWS):
            stop = start + len(block.records)
            self._place(block.records, starts, places[start:stop])
            start = stop
        return (cell_counts(places, part.weights, int(sizes.sum())),)

    def _place(self, records: npt.NDArray[np.int32], starts: Ints, places: Ints) -> None:
        """Find the place of each record among all parts of all cells."""
        columns = records.T
        coarse = np.empty(columns.shape, dtype=np.int64)
        cell = np.zeros(len(records), dtype=np.int64)
        for place, column in zip(coarse, columns, strict=True):
            cell *= self.side
            cell += grid_cell(column, self.side, self.half, out=place)
        cut = self.sides[cell]
        places[:] = 0
        for place, column in zip(coarse, columns, strict=True):
            # Cells of the grid that cuts every coarse cell so finely, as exact integers: as in
            # grid_cell, the upper border belongs to the last cell.
            fine = column.astype(np.int64)
            fine += self.half
            fine *= self.side * cut
            fine //= 2 * self.half
            fine -= place * cut
            places *= cut
            places += np.clip(fine, 0, cut - 1, out=fine)
        places += starts[cell]


def adaptive_counts(
    engine: Engine | npt.NDArray[Any], side: int, sides: Ints, half: int = HALF
) -> Ints:
    """Count the records in every part of every coarse cell.

    Parameters
    ----------
    engine : Engine or ndarray of integers, shape (n, d)
        Lattice records.
    side : int
        Cells along each column of the coarse grid, 1 to 2 * half.
    sides : ndarray of int64, shape (side^d,)
        Parts along each column of every coarse cell, in the order of their codes; at most 2^24
        parts in all.
    half : int, default=2**19
        Records lie in -half .. half.

    Returns
    -------
    counts : ndarray of int64, shape (sum of sides^d,)
        Exact; one record is in one part.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.engines import adaptive_counts
    >>> records = np.array([[-4], [-3], [-1], [2], [4]])
    >>> adaptive_counts(records, 2, np.array([2, 1]), half=4).tolist()
    [2, 1, 2]
    """
    held = as_engine(engine)
    half = whole("half", half, HALF)
    side = whole("side", side, 2 * half)
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
