"""Public partitions of the box of records into colored cells, which ``PartitionResponse`` uses.

A device reports the color of its record's cell in one partition; a server knows the color of every
point in every partition. Both compute the partitions from the same few public numbers. Nothing here
adds noise or reads records.
"""

from shoal.partitions.axes import Axis, axis_bounds, box_axes, places, space_axes
from shoal.partitions.defaults import default_colors, default_partitions
from shoal.partitions.grids import AxisGrids
from shoal.partitions.many_axes import (
    column_partitions,
    one_grid_divides,
    seed_partitions,
    spread_over_axes,
)
from shoal.partitions.partitions import Block, Partitions
from shoal.partitions.seeds import NearestSeeds

__all__ = [
    "Axis",
    "AxisGrids",
    "Block",
    "NearestSeeds",
    "Partitions",
    "axis_bounds",
    "box_axes",
    "column_partitions",
    "default_colors",
    "default_partitions",
    "one_grid_divides",
    "places",
    "seed_partitions",
    "space_axes",
    "spread_over_axes",
]
