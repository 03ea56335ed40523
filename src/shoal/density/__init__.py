"""Clusters of a density on cells: the tree of its peaks, flat clusters, their outlines.

Cells are those of a grid, or boxes of different sizes: the leaves of a tree. This package knows
neither records nor noise nor promises: it is given cells and numbers.
"""

from shoal.density.cells import BoxCells, CellGraph, Edges, GridCells
from shoal.density.cluster_tree import ClusterTree, DensityEstimate, build_tree, find_merges

__all__ = [
    "BoxCells",
    "CellGraph",
    "ClusterTree",
    "DensityEstimate",
    "Edges",
    "GridCells",
    "build_tree",
    "find_merges",
]
