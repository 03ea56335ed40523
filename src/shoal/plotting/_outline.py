"""Lines along the borders of cells."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._typing import Floats

__all__ = ["Outline", "outline"]


class Outline(NamedTuple):
    """Strokes, with NaN between them."""

    x: Floats
    y: Floats


def outline(
    inside: npt.NDArray[np.bool_], *, x: tuple[float, float], y: tuple[float, float]
) -> Outline:
    """Return the borders between cells that are inside and cells that are not.

    Parameters
    ----------
    inside : ndarray of bool of shape (rows, columns)
        The first row lies where y is low.
    x, y : tuple of float
        Ends of the table.

    Returns
    -------
    outline : Outline
        One stroke for each side of a cell that is a border.

    Examples
    --------
    >>> len(outline(np.eye(2, dtype=bool)[:1], x=(0, 2), y=(0, 1)).x) // 3
    4
    """
    rows, columns = inside.shape
    across, up = np.linspace(*x, columns + 1), np.linspace(*y, rows + 1)
    padded = np.pad(inside, 1)
    level_row, level_column = np.nonzero(padded[1:, 1:-1] != padded[:-1, 1:-1])
    steep_row, steep_column = np.nonzero(padded[1:-1, 1:] != padded[1:-1, :-1])
    starts = np.concatenate([across[level_column], across[steep_column]])
    ends = np.concatenate([across[level_column + 1], across[steep_column]])
    bottoms = np.concatenate([up[level_row], up[steep_row]])
    tops = np.concatenate([up[level_row], up[steep_row + 1]])
    gap = np.full(len(starts), np.nan)
    return Outline(
        np.column_stack([starts, ends, gap]).ravel(), np.column_stack([bottoms, tops, gap]).ravel()
    )
