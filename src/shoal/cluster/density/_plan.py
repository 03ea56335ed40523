"""What a fit may spend, and the grid it chooses, from public and noisy numbers alone."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal._typing import Ints
from shoal.cluster._budget import BudgetSplit, check_epsilon
from shoal.cluster.density._calibration import laplace_variance
from shoal.cluster.density._smoothing import kernel_cells
from shoal.exceptions import DataError, ParameterError
from shoal.noise import MAX_SCALE

__all__ = [
    "COARSE_SIDES",
    "MAX_SIDES",
    "DensityBudgets",
    "Occupancy",
    "choose_side",
    "is_crowded",
    "measure",
    "plan_budgets",
    "wanted_count",
]

COARSE_PART = 0.04  # of epsilon, for a coarse grid: how many records, and in how much of the box
COARSE_SIDES = {1: 64, 2: 16, 3: 8, 4: 5}  # cells along each column, by the number of columns
MIN_SIDE = 8
MAX_SIDES = {1: 4096, 2: 512, 3: 64, 4: 16}
# A cell of the fine grid should be clear, with the cells around it, where the records are, ...
CLEAR = 7.0  # standard deviations of the mean under a kernel of one cell
# ... or its noise should be small beside the chance of the draw itself.
NEGLIGIBLE = 0.3  # of the variance of the draw
MIN_HELD = 1.0  # records of a cell where records are: finer cells show nothing more
SURE = 2.0  # standard deviations: records lie closer together only if it is sure
# Part of the box that records fill where one grid is too coarse for them, by the number of columns:
# a quarter of each; a grid of a single column still has 128 cells in its part.
CROWDED = {1: 1 / 32, 2: 1 / 16, 3: 1 / 64, 4: 1 / 256}


@dataclass(frozen=True)
class DensityBudgets(BudgetSplit):
    """What each release of a fit may spend."""

    coarse_grid: float
    cells: float


class Occupancy(NamedTuple):
    """How many records there are, and in which part of the box they lie."""

    records: float
    part: float  # that an even table of the same concentration would fill


def plan_budgets(epsilon: object, columns: int) -> DensityBudgets:
    """Divide epsilon between the coarse grid and the cells."""
    total = check_epsilon(epsilon)
    if columns not in COARSE_SIDES:
        raise DataError(
            f"X must have at most {max(COARSE_SIDES)} columns, got {columns}: in more, cells of a "
            "grid hold too few records to show shapes; choose columns, or use DPKMeans",
            code="columns",
        )
    coarse = COARSE_PART * total
    # The noise of a tree's shape, where records crowd, is wider by a third than that of this grid.
    if coarse * MAX_SCALE < 2:
        raise ParameterError(
            f"epsilon must be larger, got {epsilon!r}: its noise would be wider than the integers "
            "it is added to",
            parameter="epsilon",
            code="resolution",
        )
    return DensityBudgets(coarse, total - coarse)


def measure(coarse: Ints, scale: float) -> Occupancy:
    """Estimate the number of records and the part of the box they fill, from noisy counts."""
    variance = laplace_variance(scale)
    records = max(float(coarse.sum()), 1.0)
    squares = float((coarse.astype(np.float64) ** 2).sum()) - coarse.size * variance
    # Of a Laplace draw x, the variance of x^2 is five times that of x, squared.
    error = math.sqrt(5 * coarse.size * variance**2 + 4 * variance * max(squares, 0.0))
    sure = max(squares - SURE * error, records**2 / coarse.size)
    return Occupancy(records, min(records**2 / (coarse.size * sure), 1.0))


def is_crowded(occupancy: Occupancy, columns: int) -> bool:
    """Return whether records fill so little of the box that one grid is too coarse for them."""
    return occupancy.part < CROWDED[columns]


def choose_side(occupancy: Occupancy, columns: int, scale: float) -> int:
    """Choose how many cells each column has: as many as the counts can show."""
    held = wanted_count(columns, scale)
    side = (occupancy.records / (occupancy.part * held)) ** (1 / columns)
    return int(min(max(round(side), MIN_SIDE), MAX_SIDES[columns]))


def wanted_count(columns: int, scale: float) -> float:
    """Return how many records a cell should hold where records are: as few as its noise allows."""
    variance = laplace_variance(scale)
    window = kernel_cells(1.0, columns)
    # The count c of a cell is clear where window * c = CLEAR * sqrt(window * (c + variance)).
    half = CLEAR**2 / (2 * window)
    clear = half + math.sqrt(half**2 + CLEAR**2 * variance / window)
    return max(min(clear, variance / NEGLIGIBLE), MIN_HELD)
