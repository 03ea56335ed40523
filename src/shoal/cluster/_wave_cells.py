"""From records to cells of the band, and from cells to clusters."""

import numpy as np
import numpy.typing as npt

from shoal.engines import grid_cell

__all__ = ["band_codes", "cell_labels"]

Integers = npt.NDArray[np.int64]

CHUNK = 1 << 18  # rows at a time


def band_codes(records: npt.NDArray[np.int32], cells: int, block: int, half: int) -> Integers:
    """Give the number, row by row, of the cell of the band that each record is in.

    Parameters
    ----------
    records : ndarray of int32, shape (n, d)
        Lattice records.
    cells : int
        Cells of the grid along each column.
    block : int
        Cells that a cell of the band stands for, along each column.
    half : int
        Records lie in -half .. half.

    Returns
    -------
    codes : ndarray of int64, shape (n,)
        Of the cells of the band.
    """
    codes = np.zeros(len(records), dtype=np.int64)
    for start in range(0, len(records), CHUNK):
        part = records[start : start + CHUNK]
        code = codes[start : start + CHUNK]
        for column in part.T:
            code *= cells // block
            code += grid_cell(column, cells, half) // block
    return codes


def cell_labels(
    codes: Integers, significant: Integers, clusters: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    """Look up the clusters of cells.

    Parameters
    ----------
    codes : ndarray of int64, shape (n,)
        Cells asked for.
    significant : ndarray of int64, shape (m,)
        Significant cells, sorted.
    clusters : ndarray of int32, shape (m,)
        Their clusters.

    Returns
    -------
    labels : ndarray of int32, shape (n,)
        -1 for cells that are not significant.
    """
    if not len(significant):
        return np.full(len(codes), -1, dtype=np.int32)
    place = np.minimum(np.searchsorted(significant, codes), len(significant) - 1)
    return np.where(significant[place] == codes, clusters[place], np.int32(-1))
