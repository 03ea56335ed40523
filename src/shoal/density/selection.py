"""Flat clusters of a cluster tree, and which cells belong to none.

A node is chosen or its children are, by their excess of mass (HDBSCAN: Campello, Moulavi, Zimek &
Sander 2015). A cell belongs to the chosen node that holds its peak, or to none, if its density
cannot be told from that of the background, or if it is cut off from its cluster by such cells.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from shoal._typing import Bools, Floats, Ints, Labels
from shoal.density.cells import CellGraph
from shoal.density.cluster_tree import ClusterTree, DensityEstimate, Merges

__all__ = ["FlatClusters", "choose_nodes", "cut_nodes", "label_cells", "prominence_for"]

# A density that was smoothed has its passes filled up, so that children have lost more than their
# parent: a parent must have so many times their excess of mass. HDBSCAN, on records: 1.
PARENT_ODDS = 3.0
CLEAR = 2.0  # standard deviations above 0: a cell that holds records, ...
TYPICAL_PART = 0.2  # ... or this part of the density where its cluster's records are: few suffice
FAINT_PART = 0.05  # of that typical density: less is the rim that smoothing puts around a cluster
BACKGROUND_PART = 0.1  # of the volume, the emptiest: if it holds records, so do all cells
OWN = 2.0  # times the background: then most of a cell's records are of its cluster
PIECE = 0.2  # of the largest piece of a cluster: smaller pieces, cut off, are of no cluster


class FlatClusters(NamedTuple):
    """Clusters without overlap, the largest first.

    Parameters
    ----------
    labels : ndarray of int32, shape (m,)
        Cluster of each cell, -1 for none.
    nodes : ndarray of int64, shape (k,)
        Node of each cluster in the tree.
    sizes : ndarray of shape (k,)
        Estimated number of records of each cluster.
    background : float
        Estimated density of records outside of all clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.density import DensityEstimate, GridCells, build_tree, label_cells
    >>> estimate = DensityEstimate(np.array([9.0, 0.1, 0.0, 8.0]), np.full(4, 0.5))
    >>> cells = GridCells((4,))
    >>> tree = build_tree(estimate, cells, threshold=3.0)
    >>> clusters = label_cells(estimate, cells, tree, np.array([1, 2]))
    >>> clusters.labels.tolist(), clusters.nodes.tolist()
    ([0, -1, -1, 1], [2, 1])
    """

    labels: Labels
    nodes: Ints
    sizes: Floats
    background: float


def choose_nodes(tree: ClusterTree) -> Ints:
    """Choose the nodes with the largest total excess of mass such that none is inside another.

    The root is chosen only if it does not split: two significant peaks are two clusters.

    Parameters
    ----------
    tree : ClusterTree
        The tree.

    Returns
    -------
    nodes : ndarray of int64
        The chosen nodes; every cell belongs to one of them.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.density import DensityEstimate, GridCells, build_tree, choose_nodes
    >>> density = np.array([9.0, 1.0, 8.0, 6.5, 8.0])
    >>> estimate = DensityEstimate(density, np.full(5, 0.2))
    >>> tree = build_tree(estimate, GridCells((5,)), threshold=3.0)
    >>> len(tree.parent), choose_nodes(tree).tolist()
    (5, [1, 4])
    """
    best = tree.stability.copy()
    inner = ~tree.is_leaf
    chosen = np.ones(len(best), dtype=np.bool_)
    children = np.zeros(len(best))
    for node in range(len(best) - 1, -1, -1):
        if inner[node]:
            keeps = node > 0 and best[node] >= PARENT_ODDS * children[node]
            chosen[node] = keeps
            best[node] = best[node] if keeps else max(best[node], children[node])
        if node:
            children[tree.parent[node]] += best[node]
    inside = np.zeros(len(best), dtype=np.bool_)  # of a chosen node
    for node in range(1, len(best)):
        above = tree.parent[node]
        inside[node] = inside[above] or chosen[above]
    return np.flatnonzero(chosen & ~inside)


def cut_nodes(tree: ClusterTree, level: float) -> Ints:
    """Choose the nodes at one level of the density: the separate regions above it.

    Parameters
    ----------
    tree : ClusterTree
        The tree.
    level : float
        Density to cut at. Two regions that meet at this level or above it are a single node.

    Returns
    -------
    nodes : ndarray of int64
        The chosen nodes, none inside another; empty if the level is above all peaks.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.density import DensityEstimate, GridCells, build_tree, cut_nodes
    >>> estimate = DensityEstimate(np.array([6.0, 1.0, 5.0, 4.0, 5.0, 1.0]), np.full(6, 0.5))
    >>> tree = build_tree(estimate, GridCells((6,)), threshold=3.0)
    >>> [cut_nodes(tree, level).tolist() for level in (1.0, 2.0, 5.5, 7.0)]
    [[0], [1, 2], [2], []]
    """
    above = tree.base < level
    above[0] = True
    return np.flatnonzero(above & (level <= tree.top))


def prominence_for(merges: Merges, n_clusters: int) -> float:
    """Return the threshold of prominence that leaves a given number of peaks.

    Parameters
    ----------
    merges : Merges
        The merges of the density.
    n_clusters : int
        Number of peaks; if there are fewer, all are left.

    Returns
    -------
    threshold : float
        The threshold for :func:`build_tree`. Equally prominent peaks are kept or dropped together.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.density import DensityEstimate, GridCells, find_merges, prominence_for
    >>> density = np.array([9.0, 1.0, 8.0, 5.0, 7.0])
    >>> merges = find_merges(DensityEstimate(density, np.ones(5)), GridCells((5,)).edges)
    >>> round(prominence_for(merges, 2), 2), prominence_for(merges, 1)
    (4.95, inf)
    """
    if n_clusters == 1:
        return float("inf")
    ordered = np.sort(merges.prominence)[::-1]
    return float(ordered[min(n_clusters - 2, len(ordered) - 1)]) if len(ordered) else float("inf")


def label_cells(
    estimate: DensityEstimate,
    cells: CellGraph,
    tree: ClusterTree,
    nodes: Ints,
    *,
    level: float | None = None,
    min_size: float = 0.0,
) -> FlatClusters:
    """Assign each cell to one of the chosen clusters, or to none.

    Parameters
    ----------
    estimate : DensityEstimate
        The density that the tree was built from.
    cells : CellGraph
        The cells of the density.
    tree : ClusterTree
        The tree.
    nodes : ndarray of int64
        The chosen nodes: one cluster each.
    level : float, default=None
        Smallest density of a cell in a cluster. None requires as much as distinguishes it from the
        background.
    min_size : float, default=0
        Smallest estimated number of records of a cluster; cells of smaller ones are in none.

    Returns
    -------
    clusters : FlatClusters
        The clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.density import DensityEstimate, GridCells, build_tree, label_cells
    >>> estimate = DensityEstimate(np.array([9.0, 7.0, 0.1, 0.0, 0.1, 8.0]), np.full(6, 0.5))
    >>> cells = GridCells((6,))
    >>> tree = build_tree(estimate, cells, threshold=3.0)
    >>> label_cells(estimate, cells, tree, np.array([1, 2])).labels.tolist()
    [0, 0, -1, -1, -1, 1]
    """
    background = background_density(estimate, cells)
    cluster = tree.members(nodes)[tree.leaf]
    masses = np.maximum(estimate.density, 0.0) * cells.volumes
    least = _least(estimate, cluster, masses, background) if level is None else level
    held = (estimate.density > 0) & (estimate.density >= least)
    cluster = np.where(held, cluster, -1)
    cluster[_cut_off(cluster, cells, masses)] = -1
    inside = cluster >= 0
    sizes = np.zeros(len(nodes))
    np.add.at(sizes, cluster[inside], masses[inside])
    # A node none of whose cells is clear is no cluster. Nor is one of fewer records than asked for:
    # the tree joins small parts to those beside them, but counts cells that have just been left
    # out, and a root has nothing beside it.
    filled = np.flatnonzero((sizes > 0) & (sizes >= min_size))
    order = filled[np.lexsort((nodes[filled], -sizes[filled]))]
    number = np.full(len(nodes) + 1, -1, dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return FlatClusters(number[cluster], nodes[order], sizes[order], background)


def _least(estimate: DensityEstimate, cluster: Ints, masses: Floats, background: float) -> Floats:
    """Return the density that each cell needs to be told from the background."""
    total = np.bincount(cluster, weights=masses)
    squares = np.bincount(cluster, weights=masses * estimate.density)
    typical = squares / np.maximum(total, np.finfo(np.float64).tiny)  # where its records are
    clear = np.minimum(CLEAR * estimate.deviation, TYPICAL_PART * typical[cluster])
    least: Floats = np.maximum(clear, np.maximum(OWN * background, FAINT_PART * typical[cluster]))
    return least


def background_density(estimate: DensityEstimate, cells: CellGraph) -> float:
    """Estimate the density of records that lie everywhere, from the emptiest cells."""
    order = np.argsort(estimate.density, kind="stable")
    filled = np.cumsum(cells.volumes[order])
    index = int(np.searchsorted(filled, BACKGROUND_PART * filled[-1]))
    return max(float(estimate.density[order[min(index, len(order) - 1)]]), 0.0)


def _cut_off(cluster: Ints, cells: CellGraph, masses: Floats) -> Bools:
    """Return the cells of pieces that are much smaller than the largest piece of their cluster."""
    one, other = cells.edges
    same = (cluster[one] == cluster[other]) & (cluster[one] >= 0)
    graph = sparse.coo_array(
        (np.ones(int(same.sum()), dtype=np.int8), (one[same], other[same])),
        shape=(cells.count, cells.count),
    )
    count, piece = csgraph.connected_components(graph, directed=False)
    weights = np.bincount(piece, weights=masses, minlength=count)
    owner = np.full(count, -1, dtype=np.int64)
    owner[piece] = cluster
    largest = np.zeros(cluster.max(initial=-1) + 2)
    np.maximum.at(largest, owner, weights)
    small: Bools = (weights < PIECE * largest[owner])[piece]
    return small
