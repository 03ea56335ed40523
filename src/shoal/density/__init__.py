"""Density-based clusters on cells: the tree of a density's peaks, flat clusters, their outlines.

Cells are those of a grid, or boxes of different sizes, such as the leaves of a tree. The functions
work on densities of cells alone and have nothing to do with privacy; :class:`shoal.DPDensity` and
:class:`shoal.NoiseAwareDensity` apply them to noisy densities.
"""

from shoal._boxes import find_boxes, touching_boxes
from shoal.density.cells import BoxCells, CellGraph, Edges, GridCells, place_cells
from shoal.density.cluster_tree import (
    ClusterTree,
    DensityEstimate,
    Merges,
    build_tree,
    find_merges,
)
from shoal.density.membership import cell_memberships
from shoal.density.outlines import outline_boxes, outline_grid, outline_intervals, to_geojson
from shoal.density.selection import (
    FlatClusters,
    choose_nodes,
    cut_nodes,
    label_cells,
    prominence_for,
)
from shoal.density.significance import (
    Maxima,
    chance_prominence,
    cut_peaks,
    significance_threshold,
)

__all__ = [
    "BoxCells",
    "CellGraph",
    "ClusterTree",
    "DensityEstimate",
    "Edges",
    "FlatClusters",
    "GridCells",
    "Maxima",
    "Merges",
    "build_tree",
    "cell_memberships",
    "chance_prominence",
    "choose_nodes",
    "cut_nodes",
    "cut_peaks",
    "find_boxes",
    "find_merges",
    "label_cells",
    "outline_boxes",
    "outline_grid",
    "outline_intervals",
    "place_cells",
    "prominence_for",
    "significance_threshold",
    "to_geojson",
    "touching_boxes",
]
