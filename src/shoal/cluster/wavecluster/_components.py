"""Connected components of the kept cells of a grid; cells that meet at a corner are connected.

Two cells touch where they differ by at most 1 in every column. A cell of d columns has 3^d - 1
cells around it, too many to look up one by one beyond a few columns, and a full block of cells has
as many pairs that touch. Blocks of two cells a side need neither. Cut a column into pairs of
neighbors, either 0 1 | 2 3 | ... or 0 | 1 2 | 3 4 | ...: two values that differ by 1 share a pair
in one of the two cuts, equal values in both, others in none. So two cells touch where they share a
block for one of the 2^d choices of a cut for each column, and all cells of a block touch each
other: joining the cells of each block, choice by choice, gives the components.

Choices are made column by column. Cells that share a block so far stay together; a group that has
shrunk to one cell, or whose cells are connected already, has nothing left to join and is dropped,
which in practice happens long before the last column. Time is at most that of 2^(d + 1) sorts,
memory that of the cells times d.
"""

import numpy as np
from scipy import ndimage, sparse
from scipy.sparse import csgraph

from shoal._typing import Bools, Ints, Labels

__all__ = ["connected_components", "label_grid"]


def connected_components(codes: Ints, shape: tuple[int, ...]) -> Labels:
    """Label cells given by their codes."""
    if codes.size == 0:
        return np.empty(0, dtype=np.int32)
    forest = _Forest(codes, shape)
    forest.extend(np.arange(codes.size, dtype=np.int32), np.zeros(codes.size, dtype=np.int32), 0)
    return _in_order(forest.labels)


def label_grid(mask: Bools) -> tuple[Labels, int]:
    """Label the connected components of the marked cells of a grid.

    Cells that meet at a side or a corner are connected.

    Parameters
    ----------
    mask : ndarray of bool
        True for the cells to label.

    Returns
    -------
    labels : ndarray of int32, shape of the mask
        Component of each marked cell, -1 elsewhere. Components are numbered from 0, by their first
        cell in C order.
    count : int
        Number of components.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.cluster.wavecluster import label_grid
    >>> labels, count = label_grid(np.array([[1, 0, 0, 1], [0, 1, 1, 0]], dtype=bool))
    >>> labels.tolist(), count
    ([[0, -1, -1, 0], [-1, 0, 0, -1]], 1)
    """
    numbered, count = ndimage.label(mask, structure=np.ones((3,) * mask.ndim))
    labels = np.full(mask.shape, -1, dtype=np.int32)
    labels[mask] = _in_order(numbered[mask])
    return labels, int(count)


class _Forest:
    """Cells, and the components that are known so far."""

    def __init__(self, codes: Ints, shape: tuple[int, ...]) -> None:
        self.labels: Labels = np.arange(codes.size, dtype=np.int32)
        self._count = codes.size
        self._shape = shape
        self._columns: list[Labels] = []
        for cells in reversed(shape):
            above = codes // cells
            self._columns.insert(0, (codes - above * cells).astype(np.int32))
            codes = above

    def extend(self, cells: Labels, groups: Labels, column: int) -> None:
        """Cut groups by one column, both ways, and go on to the next with what is left.

        Groups are numbered from 0 in the order of ``cells``.
        """
        if column == len(self._shape):
            self._join(cells, groups)
            return
        size = self._shape[column]
        # Up to two cells fall in one pair of the first cut, so that the second adds nothing.
        for shift in (0, 1) if size > 2 else (0,):
            pairs = (self._columns[column][cells] + shift) >> 1
            finer = groups * np.int64(size // 2 + 1) + pairs
            # Within a group cells come in few runs, which this sort makes use of.
            order = np.argsort(finer, kind="stable")
            left = self._open_groups(cells[order], finer[order])
            if left is not None:
                self.extend(*left, column + 1)

    def _open_groups(self, cells: Labels, groups: Ints) -> tuple[Labels, Labels] | None:
        """Keep the groups whose cells are not all connected yet, and number them anew."""
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        labels = self.labels[cells]
        kept = np.minimum.reduceat(labels, starts) != np.maximum.reduceat(labels, starts)
        if not kept.any():
            return None
        sizes = np.diff(starts, append=cells.size)
        numbers = np.arange(np.count_nonzero(kept), dtype=np.int32)
        return cells[np.repeat(kept, sizes)], np.repeat(numbers, sizes[kept])

    def _join(self, cells: Labels, groups: Labels) -> None:
        """Connect the cells of each group, one after the other."""
        together = groups[1:] == groups[:-1]
        one = self.labels[cells[:-1][together]]
        other = self.labels[cells[1:][together]]
        edges = (np.ones(one.size, dtype=np.bool_), (one, other))
        graph = sparse.coo_array(edges, shape=(self._count, self._count))
        self._count, joined = csgraph.connected_components(graph, directed=False)
        self.labels = joined[self.labels]


def _in_order(labels: Labels) -> Labels:
    """Renumber the labels in the order in which they first come up."""
    _, first, indices = np.unique(labels, return_index=True, return_inverse=True)
    ranks = np.empty(first.size, dtype=np.int32)
    ranks[np.argsort(first)] = np.arange(first.size, dtype=np.int32)
    return ranks[indices]
