"""The posterior on a regular grid, for up to three columns: convolutions by FFT."""

import math
from functools import cached_property

import numpy as np

from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError
from shoal.remap._channel import Channel
from shoal.remap.geometry import (
    Cloud,
    Convolution,
    RegularGrid,
    geometric_medians,
    squared_distances,
)
from shoal.remap.ibu import Update, update_prior

__all__ = ["DensePosterior"]


MAX_COLUMNS = 3
MIN_CELLS = {1: 32, 2: 16, 3: 8}
MAX_CELLS = {1: 1024, 2: 128, 3: 24}
CELLS_PER_SPREAD = 4.0  # noise blurs whatever is finer
MARGIN_SPREADS = 4.0  # around the box, but at most its longest side; beyond, reports are drawn in
MAX_VALUES = 1 << 24  # of the convolutions
TRUSTED = 1e-12  # posterior mass below which the transforms' rounding shows
CHUNK_VALUES = 1 << 21  # weights of candidates at a time
NEGLIGIBLE = 1e-6  # prior mass that medians may leave out


class DensePosterior:
    """Candidates are all cells of the box; a field over the outer grid says where reports go.

    Parameters
    ----------
    channel : Channel
        Distribution of the noise.
    cells : ndarray of int64, shape (d,), or None
        Numbers of cells; None takes a quarter of the noise's standard deviation, within limits.
    """

    def __init__(self, channel: Channel, cells: Ints | None) -> None:
        self.channel = channel
        box = channel.box
        columns = len(box.low)
        sides = box.high - box.low
        if cells is None:
            wanted = np.ceil(CELLS_PER_SPREAD * sides / channel.spread)
            cells = np.clip(wanted, MIN_CELLS[columns], MAX_CELLS[columns]).astype(np.int64)
        extent = min(MARGIN_SPREADS * channel.spread, float(sides.max()))
        margin = np.ceil(np.maximum(extent / (sides / cells), 1.0))
        if np.prod(2.0 * (cells + margin)) > MAX_VALUES:
            raise ParameterError(
                f"cells must leave at most 2^24 values with the noise around the box, got "
                f"{cells.tolist()}: ask for fewer cells",
                parameter="cells",
                code="size",
            )
        self.grid = RegularGrid(box, cells, margin.astype(np.int64))

    def learn_prior(self, reports: Floats, *, max_iter: int, tol: float) -> Update:
        """Run the iterative Bayesian update on counts of reports."""
        grid = self.grid
        kernel = self.channel.counted_kernel(self._log_kernel, grid.width)
        channel = Convolution(kernel, grid.cells, grid.outer)
        even = np.full(tuple(grid.cells), 1.0 / np.prod(grid.cells))
        return update_prior(channel, grid.count(reports), even, max_iter=max_iter, tol=tol)

    def prepare(self, prior: Floats, *, loss: str, radius: float | None) -> None:
        """Work out where reports at every center of the outer grid go."""
        field = self.means if loss == "squared" else self.medians
        self._field = field(prior, radius=radius)
        del self._log_kernel  # large, and not needed any more

    def move(self, reports: Floats) -> Floats:
        """Look reports up."""
        return self.grid.look_up(self._field, reports)

    def means(self, prior: Floats, *, radius: float | None) -> Floats:
        """Posterior mean of the record for a report at each center of the outer grid."""
        grid = self.grid
        channel = Convolution(self._kernel(radius), grid.cells, grid.outer)
        mass = channel.forward(prior)
        trusted = mass > TRUSTED * prior.max()
        field = np.empty((*grid.outer, len(grid.cells)))
        middle = self.channel.middle
        sides = zip(
            np.meshgrid(*grid.centers(), indexing="ij", sparse=True),
            np.meshgrid(*grid.outer_centers(), indexing="ij", sparse=True),
            strict=True,
        )
        for j, (inside, outside) in enumerate(sides):
            moment = channel.forward(prior * (inside - middle[j]))
            mean = np.divide(moment, mass, out=np.zeros_like(mass), where=trusted) + middle[j]
            # Where no candidate is near, the report itself is all there is.
            field[..., j] = np.where(trusted, mean, outside)
            np.clip(field[..., j], grid.box.low[j], grid.box.high[j], out=field[..., j])
        return field

    def medians(self, prior: Floats, *, radius: float | None) -> Floats:
        """Posterior geometric median of the record for a report at each outer center."""
        grid = self.grid
        field = self.means(prior, radius=radius).reshape(-1, len(grid.cells))
        order = np.argsort(prior, axis=None)
        kept = np.sort(order[np.cumsum(prior.ravel()[order]) > NEGLIGIBLE])
        candidates = _points(grid.centers())[kept]
        log_prior = np.log(prior.ravel()[kept])
        points = _points(grid.outer_centers())
        scale, middle = float(grid.width.min()), self.channel.middle
        rows = max(1, CHUNK_VALUES // len(candidates))
        for start in range(0, len(points), rows):
            part = slice(start, start + rows)
            logs = self.channel.log_densities(points[part], candidates)
            logs += log_prior
            if radius is not None:
                beyond = squared_distances(points[part] - middle, candidates - middle) > radius**2
                logs[beyond] = -np.inf
            best = logs.max(axis=1, keepdims=True)
            # As for the mean: a report that no candidate explains stays, in the box.
            explained_rows = best[:, 0] - self.channel.peak > math.log(TRUSTED * prior.max())
            weights = np.exp(logs[explained_rows] - best[explained_rows])
            begin = weights @ candidates / weights.sum(axis=1)[:, None]
            explained = np.arange(len(points))[part][explained_rows]
            cloud = Cloud(weights, candidates)
            field[explained] = geometric_medians([cloud], begin, scale=scale)
        return field.reshape(*grid.outer, -1)

    @cached_property
    def _log_kernel(self) -> Floats:
        return self.channel.log_kernel(self.grid.width, self.grid.cells + self.grid.margin - 1)

    def _kernel(self, radius: float | None) -> Floats:
        kernel = np.exp(self._log_kernel)
        if radius is not None:
            sides = zip(kernel.shape, self.grid.width, strict=True)
            offsets = [(np.arange(side) - side // 2) * width for side, width in sides]
            squares = sum(offset**2 for offset in np.meshgrid(*offsets, indexing="ij", sparse=True))
            kernel[squares > radius**2] = 0.0
        return kernel


def _points(sides: tuple[Floats, ...]) -> Floats:
    return np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, len(sides))
