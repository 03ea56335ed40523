"""Cells that records and reports are counted in, and the channel between them."""

import itertools

import numpy as np

from shoal._bounds import Box
from shoal._typing import Floats
from shoal.remap import CellChannel, Convolution, RegularGrid
from shoal.reports._report_noise import ReportNoise

__all__ = ["MAX_COLUMNS", "Product", "make_grid", "open_channel"]

MAX_COLUMNS = 3
MIN_CELLS = {1: 128, 2: 48, 3: 16}  # in each column, by the number of columns
MAX_CELLS = {1: 1024, 2: 128, 3: 24}
CELLS_PER_SPREAD = {1: 6.0, 2: 6.0, 3: 4.0}  # in one standard deviation of the noise
MAX_MARGIN = {1: 4096, 2: 160, 3: 24}  # cells on each side: wider noise gets wider cells
MARGIN = 3.5  # standard deviations of noise around the box that reports are counted in
PARTS = 4  # points in each column of a cell of reports at which a distribution is averaged
CLOSER = 4  # points for each halving of the distance to the record, ...
DEEPEST = 40  # ... which is halved so often
LOST = 0.05  # of all reports: more that noise, narrower than a cell, has between these points


def make_grid(
    distribution: ReportNoise, box: Box, *, at_least: float = 1.0, fineness: float = 1.0
) -> RegularGrid | None:
    """Return a grid over the box, as fine as the noise allows; None where it is too wide."""
    columns = len(box.low)
    spread = distribution.spread(box)
    side = box.high - box.low
    wanted = np.maximum(fineness * CELLS_PER_SPREAD[columns] * side / spread, at_least)
    cells = np.clip(np.ceil(wanted), MIN_CELLS[columns], MAX_CELLS[columns]).astype(np.int64)
    widest = np.floor(MAX_MARGIN[columns] * side / (MARGIN * spread)).astype(np.int64)
    cells = np.minimum(cells, widest)
    if (cells < 1).any():
        return None
    margin = np.ceil(MARGIN * spread / (side / cells)).astype(np.int64)
    return RegularGrid(box, cells, margin)


def open_channel(distribution: ReportNoise, grid: RegularGrid) -> CellChannel:
    """Return the channel from distributions of records to those of counted reports."""
    if distribution.radial:
        return Convolution(_kernel(distribution, grid), grid.cells, grid.outer)
    return Product(distribution, grid)


def _kernel(distribution: ReportNoise, grid: RegularGrid) -> Floats:
    """Return the probability that a report falls so many cells from the cell of its record."""
    middle = grid.box.low / 2 + grid.box.high / 2
    steps = (np.arange(PARTS) + 0.5) / PARTS - 0.5
    extent = grid.cells + grid.margin
    kernel = np.zeros(2 * extent + 1)
    offsets = [np.arange(-r, r + 1) * w for r, w in zip(extent, grid.width, strict=True)]
    for within in itertools.product(steps, repeat=len(extent)):
        moved = [o + w * s for o, w, s in zip(offsets, grid.width, within, strict=True)]
        points = np.stack(np.meshgrid(*moved, indexing="ij"), axis=-1).reshape(-1, len(extent))
        kernel += np.exp(distribution.mechanism.log_density(points + middle, middle)).reshape(
            kernel.shape
        )
    kernel *= np.prod(grid.width) / PARTS ** len(extent)
    lost = 1.0 - float(kernel.sum())
    if abs(lost) > LOST:
        kernel[tuple(extent)] = max(kernel[tuple(extent)] + lost, 0.0)
    return kernel


class Product:
    """Columns that are perturbed independently: one matrix of probabilities each."""

    def __init__(self, distribution: ReportNoise, grid: RegularGrid) -> None:
        middle = grid.box.low / 2 + grid.box.high / 2
        steps = (np.arange(PARTS) + 0.5) / PARTS - 0.5
        near, shares = _near_points()
        self._matrices = []
        sides = zip(grid.outer_centers(), grid.centers(), grid.width, strict=True)
        for column, (outer, inner, width) in enumerate(sides):
            many = len(outer) * PARTS
            reports = np.tile(middle, (many + len(near), 1))
            reports[:many, column] = (outer[:, None] + steps * width).ravel()
            matrix = np.empty((len(outer), len(inner)))
            for index, value in enumerate(inner):
                record = middle.copy()
                record[column] = value
                reports[many:, column] = value + near * width
                masses = np.exp(distribution.mechanism.log_density(reports, record))
                cells = masses[:many].reshape(len(outer), PARTS).mean(axis=1)
                own, finer = index + grid.margin[column], shares @ masses[many:]
                lost = finer - cells[own]
                if abs(lost) > LOST * (cells.sum() + lost):
                    cells[own] = finer
                matrix[:, index] = cells
            self._matrices.append(matrix / matrix.sum(axis=0))

    def forward(self, prior: Floats) -> Floats:
        """Return the distribution of counted reports, from that of records."""
        return self._apply(prior, [matrix.T for matrix in self._matrices])

    def backward(self, weights: Floats) -> Floats:
        """Apply the adjoint."""
        return self._apply(weights, self._matrices)

    def _apply(self, table: Floats, matrices: list[Floats]) -> Floats:
        # Contracting the first axis puts the new one last: after d steps the order is the same.
        for matrix in matrices:
            table = np.tensordot(table, matrix, axes=(0, 0))
        return table


def _near_points() -> tuple[Floats, Floats]:
    """Return points of a record's own cell, ever closer to it, and the part that each stands for.

    Both in widths of the cell.
    """
    ends = np.append(0.5 * 2.0 ** (-np.arange(CLOSER * DEEPEST + 1) / CLOSER), 0.0)
    points, parts = (ends[:-1] + ends[1:]) / 2, ends[:-1] - ends[1:]
    return np.concatenate([-points, points]), np.concatenate([parts, parts])
