"""Noisy counts of cells, and what a clusterer asks of them: a grid, or grids within grids.

A coarse grid is released first. Its noisy counts, and public numbers, decide which cells are
counted then: those of one grid, or finer ones where records crowd. One record more or less changes
one count of each release by one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from shoal._typing import Ints
from shoal.cluster._noise import PureNoise
from shoal.cluster.density._calibration import Chance, laplace_variance, simulate_chance
from shoal.cluster.density._crowded import published_crowded, release_crowded
from shoal.cluster.density._plan import (
    COARSE_SIDES,
    DensityBudgets,
    choose_side,
    is_crowded,
    measure,
)
from shoal.cluster.density._smoothing import smooth_counts
from shoal.density import CellGraph, DensityEstimate, GridCells, Merges
from shoal.engines import HALF, Engine, grid_cell, grid_counts
from shoal.noise import RandomSource

__all__ = ["NoisyCells", "NoisyGrid", "ReleasedCells", "published_cells", "release_cells"]

MAX_COUNT = 2**45  # of a cell: the sums of all cells are whole numbers of a machine


class NoisyCells(Protocol):
    """Noisy counts of cells that fill the box; all of it is post-processing."""

    @property
    def counts(self) -> Ints:
        """Noisy counts of the cells."""

    @property
    def scale(self) -> float:
        """Scale of their noise."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of an array over the cells."""

    @property
    def cells(self) -> CellGraph:
        """The cells."""

    def estimate(self) -> DensityEstimate:
        """Estimate the density of each cell."""

    def chance(self, estimate: DensityEstimate, merges: Merges, cells: CellGraph) -> Chance:
        """Simulate how prominent peaks are by chance."""

    def find(self, records: npt.NDArray[np.int32]) -> Ints:
        """Return the index of each lattice record's cell."""

    def values(self) -> dict[str, Any]:
        """Return what is published."""


@dataclass(frozen=True, eq=False)
class NoisyGrid:
    """Noisy counts of the cells of a grid."""

    counts: Ints
    scale: float  # of their noise

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of an array over the cells."""
        return self.counts.shape

    @property
    def cells(self) -> GridCells:
        """The cells."""
        return GridCells(self.shape)

    def estimate(self) -> DensityEstimate:
        """Estimate the density of each cell."""
        return smooth_counts(self.counts, laplace_variance(self.scale))

    def chance(self, estimate: DensityEstimate, merges: Merges, cells: CellGraph) -> Chance:
        """Simulate how prominent peaks are by chance."""

        def again(counts: Ints) -> DensityEstimate:
            return replace(self, counts=counts.reshape(self.shape)).estimate()

        return simulate_chance(estimate, merges, cells, again, scale=self.scale)

    def find(self, records: npt.NDArray[np.int32]) -> Ints:
        """Return the index of each lattice record's cell."""
        index = np.zeros(len(records), dtype=np.int64)
        for column, side in zip(records.T, self.shape, strict=True):
            index *= side
            index += grid_cell(column, side, HALF)
        return index

    def values(self) -> dict[str, Any]:
        """Return what is published."""
        return {
            "metric": "cells",
            "counts": self.counts,
            "shape": list(self.shape),
            "grid": self.shape[0],
        }


class ReleasedCells(NamedTuple):
    """Noisy counts of cells, and the noisy number of records."""

    records: float
    noisy: NoisyCells


def release_cells(
    engine: Engine, noise: PureNoise, budgets: DensityBudgets, *, source: RandomSource
) -> ReleasedCells:
    """Release a coarse grid, and then the cells that its noisy counts ask for."""

    def release_grid(side: int, budget: float) -> Ints:
        # Every cell gets noise, those without records too: which ones are empty is private.
        exact = grid_counts(engine, (side,) * engine.columns, HALF)
        return noise.counts(exact, budget, contribution=1, source=source)

    coarse = release_grid(COARSE_SIDES[engine.columns], budgets.coarse_grid)
    occupancy = measure(coarse, 1 / budgets.coarse_grid)
    if is_crowded(occupancy, engine.columns):
        crowded = release_crowded(engine, occupancy.records, noise, budgets.cells, source=source)
        return ReleasedCells(occupancy.records, crowded)
    side = choose_side(occupancy, engine.columns, 1 / budgets.cells)
    grid = NoisyGrid(release_grid(side, budgets.cells), 1 / budgets.cells)
    return ReleasedCells(occupancy.records, grid)


def published_cells(values: Mapping[str, Any], budgets: DensityBudgets) -> NoisyCells:
    """Return the noisy cells of a stratum of a release, as they were when it was made.

    ValueError, KeyError or TypeError if what it holds cannot have been published.
    """
    counts = np.asarray(values["counts"])
    if counts.dtype.kind != "i" or not (np.abs(counts) <= MAX_COUNT).all():
        raise ValueError("counts are whole numbers")
    if "cell_low" in values:
        return published_crowded(values, budgets.cells)
    if counts.shape != tuple(values["shape"]):
        raise ValueError("counts have the shape of the grid")
    return NoisyGrid(counts, 1 / budgets.cells)
