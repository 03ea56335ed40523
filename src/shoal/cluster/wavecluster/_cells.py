"""From records to cells of the band, and from cells to clusters."""

from typing import Any

import numpy as np

from shoal._typing import Ints, Labels
from shoal.engines import HALF, Engine, Part, grid_cell

__all__ = ["record_labels"]


ROWS = 1 << 17  # at a time


def record_labels(
    engine: Engine,
    cells: int,
    block: int,
    *,
    table: Labels | None = None,
    significant: tuple[Ints, Labels] | None = None,
) -> Any:
    """Find the cluster of each record's cell.

    Parameters
    ----------
    engine : Engine
        Lattice records.
    cells : int
        Cells of the grid along each column.
    block : int
        Cells that a cell of the band stands for, along each column.
    table : ndarray of int32, default=None
        Cluster of every cell of the band, row by row.
    significant : tuple of ndarray, default=None
        Without a table: the significant cells, sorted, and their clusters.

    Returns
    -------
    labels : ndarray of int32, shape (n,), or what the engine has in its place
        -1 for cells that are not significant; raw-data output, for the curator only.
    """

    def labels(part: Part) -> Labels:
        codes = _codes(part.records, cells, block)
        if table is not None:
            return table[codes]
        assert significant is not None
        return _search(codes, *significant)

    return engine.collect(labels, rows=ROWS)


def _codes(records: Labels, cells: int, block: int) -> Ints:
    codes = np.zeros(len(records), dtype=np.int64)
    for column in records.T:
        codes *= cells // block
        codes += grid_cell(column, cells, HALF) // block
    return codes


def _search(codes: Ints, significant: Ints, clusters: Labels) -> Labels:
    if not len(significant):
        return np.full(len(codes), -1, dtype=np.int32)
    place = np.minimum(np.searchsorted(significant, codes), len(significant) - 1)
    return np.where(significant[place] == codes, clusters[place], np.int32(-1))
