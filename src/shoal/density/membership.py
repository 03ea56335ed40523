"""Soft clusters: to what degree a cell belongs to each.

A cell's degree is the part of the records in it and around it that each cluster holds, less the
part that the background has of its own records: near 1 inside a cluster, divided where two clusters
meet, and small where records are hardly more than the background.
"""

import numpy as np
from scipy import sparse

from shoal._typing import Floats
from shoal.density.cells import CellGraph
from shoal.density.cluster_tree import DensityEstimate
from shoal.density.selection import FlatClusters

__all__ = ["cell_memberships"]

ROUNDS = 2  # how far around: cells that touch, and those that touch these


def cell_memberships(
    estimate: DensityEstimate, cells: CellGraph, clusters: FlatClusters
) -> sparse.csr_array:
    """Return the degree to which each cell belongs to each cluster.

    Parameters
    ----------
    estimate : DensityEstimate
        The density.
    cells : CellGraph
        The cells of the density.
    clusters : FlatClusters
        The clusters found in the density.

    Returns
    -------
    degrees : sparse array of shape (m, k)
        Degrees between 0 and 1. What a row lacks to 1 is the degree of belonging to no cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.density import DensityEstimate, FlatClusters, GridCells, cell_memberships
    >>> estimate = DensityEstimate(np.array([9.0, 9.0, 9.0, 6.0, 6.0, 6.0]), np.ones(6))
    >>> labels = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    >>> clusters = FlatClusters(labels, np.array([1, 2]), np.array([27.0, 18.0]), 0.0)
    >>> degrees = cell_memberships(estimate, GridCells((6,)), clusters)
    >>> degrees.toarray().round(2).tolist()[1:4]
    [[0.95, 0.05], [0.77, 0.23], [0.41, 0.59]]
    """
    inside = np.flatnonzero(clusters.labels >= 0)
    density = np.maximum(estimate.density, 0.0)
    held = sparse.csr_array(
        ((density * cells.volumes)[inside], (inside, clusters.labels[inside])),
        shape=(cells.count, len(clusters.nodes)),
    )
    around = _around(cells)
    for _ in range(ROUNDS):
        held = around @ held
    total = np.asarray(held.sum(axis=1)).ravel()
    own = np.clip(1 - clusters.background / np.maximum(density, np.finfo(float).tiny), 0.0, 1.0)
    own[clusters.labels < 0] = 0.0
    scale: Floats = np.divide(own, total, out=np.zeros(cells.count), where=total > 0)
    return sparse.csr_array(sparse.diags_array(scale) @ held)


def _around(cells: CellGraph) -> sparse.csr_array:
    """Return the matrix that adds up each cell and half of the cells that touch it."""
    one, other = cells.edges
    halves = np.full(2 * len(one), 0.5)
    touching = sparse.coo_array(
        (halves, (np.concatenate([one, other]), np.concatenate([other, one]))),
        shape=(cells.count, cells.count),
    )
    return sparse.csr_array(touching + sparse.eye_array(cells.count))
