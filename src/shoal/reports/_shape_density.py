"""The density of records behind reports, on a grid: smooth enough to be told from chance.

The density is a mixture of Gaussian kernels on the cells of the box, of one width (a sieve, after
Snyder & Miller 1985), and the iterative Bayesian update finds their weights through the channel.
Width and number of updates are those with which each half of the reports explains the other half
best.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from scipy import ndimage

from shoal._bounds import Box
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.remap import CellChannel, iterative_bayesian_update
from shoal.reports._report_grid import make_grid, open_channel
from shoal.reports._report_noise import ReportNoise

__all__ = ["ShapeEstimator", "choose_estimator", "open_estimator"]

WIDTHS = (1.0, 1.5, 2.2, 3.3, 5.0, 7.5)  # cells: standard deviations of the kernels
UPDATES = (8, 24)
FINENESS = 2 / 3  # of the grid that centers are found on: many densities are estimated
EVIDENCE = 3.0  # nats over all reports that a less smooth density must explain them better by
CUT = 4.0  # standard deviations at which a kernel ends
SMALLEST = 1e-15  # of all reports: below lies rounding of the transforms


@runtime_checkable
class SparseChannel(CellChannel, Protocol):
    """A channel to more kinds of reports than there are reports."""

    def seen(self, counts: Floats) -> tuple[CellChannel, Floats]:
        """Return the channel to the kinds that were reported, and their counts."""


class ShapeEstimator(NamedTuple):
    """From counts of reports to the density of records.

    Parameters
    ----------
    cells : tuple of int
        Of the grid over the box.
    channel : CellChannel
        From records in cells to reports in cells.
    width : float
        Of the kernels, in cells.
    updates : int
        Of their weights.
    """

    cells: tuple[int, ...]
    channel: CellChannel
    width: float
    updates: int

    def density(self, counts: Floats) -> Floats:
        """Estimate the records of each cell of the box; their sum is that of the counts."""
        channel, seen = self.channel, counts
        if isinstance(channel, SparseChannel):
            channel, seen = channel.seen(counts)
        smooth = _Smooth(channel, self.width)
        found = iterative_bayesian_update(seen, smooth, self.cells, max_iter=self.updates, tol=0.0)
        density: Floats = counts.sum() * smooth.spread(found.prior)
        return density

    def draw(self, density: Floats, reports: int, rng: np.random.Generator) -> Floats:
        """Draw counts of reports of records with this density, through the channel."""
        chances = np.maximum(self.channel.forward(density / density.sum()), 0.0)
        drawn = rng.multinomial(reports, chances.ravel() / chances.sum())
        return drawn.reshape(chances.shape).astype(np.float64)


def open_estimator(
    reports: Floats, distribution: ReportNoise, box: Box, rng: np.random.Generator
) -> tuple[ShapeEstimator, Floats]:
    """Choose how smooth the density is, by cross-validation; return the counts of reports too."""
    grid = make_grid(distribution, box, fineness=FINENESS)
    if grid is None:
        raise ParameterError(
            "mechanism must have an epsilon that leaves some trace of the record, got noise of "
            f"{float(distribution.spread(box).max()):.3g} on a box that is hardly wider: raise it",
            parameter="mechanism",
            code="guarantee",
        )
    channel = open_channel(distribution, grid)
    first = rng.permutation(len(reports)) % 2 == 0
    # Far reports, drawn in to the last cells, would be taken for records at the edges of the box.
    extent = grid.margin * grid.width
    near = ((reports > box.low - extent) & (reports < box.high + extent)).all(axis=1)
    near |= not near.any()  # they are all there is
    halves = [grid.count(reports[part & near]) for part in (first, ~first)]
    cells = tuple(grid.cells.tolist())
    return choose_estimator(cells, channel, halves, updates=UPDATES), halves[0] + halves[1]


def choose_estimator(
    cells: tuple[int, ...], channel: CellChannel, halves: list[Floats], *, updates: Sequence[int]
) -> ShapeEstimator:
    """Choose width and number of updates with which each half of the reports explains the other."""
    best, chosen = -np.inf, (WIDTHS[-1], updates[0])
    if min(half.sum() for half in halves) < 1:
        return ShapeEstimator(cells, channel, *chosen)
    for width in reversed(WIDTHS):
        gains = []
        for number in updates:
            estimator = ShapeEstimator(cells, channel, width, number)
            gains.append(_explained(estimator, halves))
            if gains[-1] > best + EVIDENCE:
                best, chosen = gains[-1], (width, number)
        if max(gains) < best:  # narrower kernels fit chance
            break
    return ShapeEstimator(cells, channel, *chosen)


def _explained(estimator: ShapeEstimator, halves: list[Floats]) -> float:
    """Return the log-likelihood of each half of the reports under the density of the other."""
    total = 0.0
    for own, other in zip(halves, halves[::-1], strict=True):
        chances = estimator.channel.forward(estimator.density(own) / own.sum())
        seen = other > 0
        total += float(other[seen] @ np.log(np.maximum(chances[seen], SMALLEST)))
    return total


class _Smooth:
    """A channel from weights of kernels: the box reflects them, so that none leaves it."""

    def __init__(self, channel: CellChannel, width: float) -> None:
        self._channel = channel
        self._width = width

    def spread(self, weights: Floats) -> Floats:
        """Return the density of kernels with these weights; it is its own adjoint."""
        density: Floats = ndimage.gaussian_filter(
            weights, self._width, mode="reflect", truncate=CUT
        )
        return density

    def forward(self, prior: Floats) -> Floats:
        """Return the distribution of counted reports, from weights of kernels."""
        return self._channel.forward(self.spread(prior))

    def backward(self, weights: Floats) -> Floats:
        """Apply the adjoint."""
        return self.spread(self._channel.backward(weights))
