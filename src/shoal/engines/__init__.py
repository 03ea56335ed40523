"""Exact counts and sums of raw records on the lattice, without any noise or guarantee.

Estimators use this package internally; you need it only to build your own. An engine
(:class:`ArrayEngine` in memory, :class:`StreamEngine` for files) holds *lattice records*, which are
records rounded to integers by :class:`shoal.noise.Lattice`, and statistics are functions of an
engine. One record adds its weight: an integer, by default 1. Results are raw data: pass them
through :func:`shoal.noise.privatize` before they are released.
"""

from shoal.engines._parallel import run_in_parts
from shoal.engines.array_engine import ArrayEngine, total_weight
from shoal.engines.ball import SECOND_UNIT, radius_counts, second_moments
from shoal.engines.columns import column_counts, grouped_counts
from shoal.engines.dyadic import dyadic_boxes, dyadic_counts, max_halvings
from shoal.engines.engine import (
    HALF,
    MAX_COLUMNS,
    MAX_WEIGHT,
    Engine,
    Kernel,
    MergeKernel,
    Part,
)
from shoal.engines.grid import adaptive_counts, grid_cell, grid_counts, grid_edges
from shoal.engines.magnitudes import magnitude_counts, magnitude_edges
from shoal.engines.nearest import NearestStatistics, nearest_centers, nearest_statistics
from shoal.engines.projection import DIRECTION_UNIT, project
from shoal.engines.sparse_grid import SparseCounts, sparse_grid_counts
from shoal.engines.stream_engine import Encoder, StreamEngine, StreamTable, load_array_engine
from shoal.engines.windows import MOMENT_UNIT, WindowStatistics, window_statistics

__all__ = [
    "DIRECTION_UNIT",
    "HALF",
    "MAX_COLUMNS",
    "MAX_WEIGHT",
    "MOMENT_UNIT",
    "SECOND_UNIT",
    "ArrayEngine",
    "Encoder",
    "Engine",
    "Kernel",
    "MergeKernel",
    "NearestStatistics",
    "Part",
    "SparseCounts",
    "StreamEngine",
    "StreamTable",
    "WindowStatistics",
    "adaptive_counts",
    "column_counts",
    "dyadic_boxes",
    "dyadic_counts",
    "grid_cell",
    "grid_counts",
    "grid_edges",
    "grouped_counts",
    "load_array_engine",
    "magnitude_counts",
    "magnitude_edges",
    "max_halvings",
    "nearest_centers",
    "nearest_statistics",
    "project",
    "radius_counts",
    "run_in_parts",
    "second_moments",
    "sparse_grid_counts",
    "total_weight",
    "window_statistics",
]
