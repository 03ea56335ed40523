"""Exact statistics of raw records on the lattice; no noise and no promise lives here."""

from shoal.engines.adaptive_grid import adaptive_counts
from shoal.engines.array_engine import ArrayEngine
from shoal.engines.columns import column_counts, grouped_counts
from shoal.engines.engine import (
    HALF,
    MAX_COLUMNS,
    MAX_WEIGHT,
    Engine,
    Kernel,
    MergeKernel,
    Part,
)
from shoal.engines.grid import grid_cell, grid_counts, grid_edges
from shoal.engines.held_engine import held_engine
from shoal.engines.magnitudes import magnitude_counts, magnitude_edges
from shoal.engines.nearest import NearestStatistics, nearest_centers, nearest_statistics
from shoal.engines.parts import run_in_parts
from shoal.engines.sparse_grid import (
    SparseCounts,
    block_cells,
    block_counts,
    sparse_grid_counts,
)
from shoal.engines.stream_engine import Encoder, StreamEngine, StreamTable
from shoal.engines.total_weight import total_weight
from shoal.engines.tree import leaf_statistics, tree_counts

__all__ = [
    "HALF",
    "MAX_COLUMNS",
    "MAX_WEIGHT",
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
    "adaptive_counts",
    "block_cells",
    "block_counts",
    "column_counts",
    "grid_cell",
    "grid_counts",
    "grid_edges",
    "grouped_counts",
    "held_engine",
    "leaf_statistics",
    "magnitude_counts",
    "magnitude_edges",
    "nearest_centers",
    "nearest_statistics",
    "run_in_parts",
    "sparse_grid_counts",
    "total_weight",
    "tree_counts",
]
