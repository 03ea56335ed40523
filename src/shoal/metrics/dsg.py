"""DSG_C: how far the clusters of significant cells of a private WaveCluster are from the true ones.

Chen, Yu and Chirkova, "WaveCluster with Differential Privacy" (2015), section 6.1.
"""

import math
from typing import Any

import numpy as np

from shoal.metrics._contingency import NOISE, Contingency, as_label_pair
from shoal.metrics._matching import best_total


def dsg(true_cells: Any, private_cells: Any) -> float:
    """Cost of the best one-to-one matching of clusters, per true significant cell.

    A true cluster C matched with a private cluster D costs max(|C minus D|, |D minus C|);
    a cluster that is not matched costs its number of cells. DSG_C is the smallest sum over all
    matchings, divided by the number of true significant cells.

    The source writes this for as many true clusters as private ones or more, so that only true
    clusters stay without a match. Here private clusters without a match cost their cells in the
    same way. All clusters of the smaller side are matched, as in the source; to leave a pair
    unmatched would never be cheaper, because max(|C|, |D|) < |C| + |D| even where
    the two have no cell in common.

    Parameters
    ----------
    true_cells, private_cells : array-like of integers, of one shape
        Label of each cell of the grid, with any number of dimensions: -1 for a cell that is not
        significant, any other number for a cluster. The names of clusters do not matter.

    Returns
    -------
    dissimilarity : float
        0 for the same clusters, 1 if no private cell is significant; it passes 1 where private
        cells are many. Without true significant cells 0 if there are no private ones either, and
        ``inf`` if there are.

    Raises
    ------
    ParameterError
        If the two are not arrays of integers of one shape, or have more than 2^27 pairs of
        clusters.

    Examples
    --------
    Clusters {g1, g3, g5} and {g1, g5, g7, g9}, the source's example: one cell is missing and two
    are new, which costs 2 for 3 true cells.

    >>> dsg([0, -1, 0, -1, 0, -1, -1, -1, -1], [4, -1, -1, -1, 4, -1, 4, -1, 4])
    0.6666666666666666
    """
    true, private = as_label_pair("cells", true_cells, private_cells)
    # Most cells of a grid carry no cluster on either side.
    seen = (true != NOISE) | (private != NOISE)
    clusters = Contingency.of(true[seen], private[seen]).without_noise()
    true_total = int(clusters.true_sizes.sum())
    cost = true_total + int(clusters.private_sizes.sum()) - _saved(clusters)
    if true_total == 0:
        return 0.0 if cost == 0 else math.inf
    return cost / true_total


def _saved(clusters: Contingency) -> int:
    """Cells that the best matching saves over matching nothing.

    A pair saves |C| + |D| - (max(|C|, |D|) - |C and D|) = min(|C|, |D|) + |C and D| > 0.
    """
    gains = clusters.table()
    gains += np.minimum.outer(clusters.true_sizes, clusters.private_sizes)
    return best_total(gains)
