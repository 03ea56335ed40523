"""Clusters of a density on cells: which cells touch, which cell holds a point, outlines.

Cells are those of a grid, or boxes of different sizes: the leaves of a tree. This package knows
neither records nor noise nor promises: it is given cells and numbers.
"""

from shoal.density._touching import find_boxes, touching_boxes
from shoal.density.outlines import outline_boxes, outline_grid, outline_intervals, to_geojson

__all__ = [
    "find_boxes",
    "outline_boxes",
    "outline_grid",
    "outline_intervals",
    "to_geojson",
    "touching_boxes",
]
