"""One cell of the search: how many nodes of a kd-tree are looked at to find a nearest neighbor.

The thesis says O(log n) for any number of columns. Nodes are counted, not seconds, so that the
records are the same on every machine.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.neighbors import KDTree

from shoal.experiments.cell import Cell

__all__ = ["POINTS", "SEARCH_WIDTHS", "search_work"]

POINTS = (500, 2000, 8000, 32000)
SEARCH_WIDTHS = (2, 3, 5, 7, 9)
QUERIES = 2000
LEAF = 1  # points in a leaf: the tree of the textbook


def search_work(cell: Cell) -> Iterator[dict[str, Any]]:
    """Search a tree of uniform points.

    Parameters
    ----------
    cell : Cell
        With a number of columns, and a mechanism with ``points``.

    Yields
    ------
    record : dict
        With ``points`` and ``nodes``, the mean number of nodes that a search looks at.
    """
    assert cell.columns is not None
    points = int(cell.mechanism.words["points"])
    rng = np.random.default_rng(cell.seed)
    tree = KDTree(rng.random((points, cell.columns)), leaf_size=LEAF)
    tree.reset_n_calls()
    tree.query(rng.random((QUERIES, cell.columns)))
    yield {"points": points, "nodes": sum(tree.get_tree_stats()) / QUERIES}
