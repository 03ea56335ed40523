"""The distribution of records on a grid over the box, deconvolved from reports."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter
from scipy.special import logsumexp

from shoal._bounds import Box
from shoal._typing import Floats
from shoal.remap import CellChannel, RegularGrid
from shoal.reports._record_distributions import Expected, RecordDistribution, RecordDistributions
from shoal.reports._report_grid import MAX_COLUMNS, make_grid, open_channel
from shoal.reports._report_noise import ReportNoise

__all__ = ["GridDensity", "deconvolve"]


CELLS_PER_CENTER = 4.0  # cells in each column per k^(1/d)
CHECKPOINTS = (12, 25, 50, 100, 200)  # updates after which the halves are compared
MAX_UPDATES = {1: 200, 2: 200, 3: 50}  # in three columns each of them is slow
SMALLEST = 1e-15  # of the largest density: below lies rounding of the transforms
NEGLIGIBLE = 1e-9  # of the largest weight
SMOOTHING = (0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)  # cells: widths that counts are smoothed with
MIN_SHARE = 1e-3  # of all reports, spread evenly, so that no density is zero


@dataclass(frozen=True, eq=False)
class GridDensity(RecordDistribution):
    """A distribution of records on the cells of a grid.

    Parameters
    ----------
    channel : CellChannel
        From distributions of records to distributions of counted reports.
    counts : ndarray of float64
        Reports in the cells of the outer grid that the distribution is an estimate from.
    kept : ndarray of bool
        Cells of the box that are points of the distribution.
    """

    channel: CellChannel
    counts: Floats
    kept: npt.NDArray[np.bool_]

    def expected(self, values: Floats) -> Expected:
        """Return posterior means of values at the points, one for each cell with reports."""
        seen = self.counts > 0
        table = np.zeros(self.kept.shape)
        table[self.kept] = self.weights
        densities = self.channel.forward(table)[seen]
        table[self.kept] *= values
        products = self.channel.forward(table)[seen]
        # Reports that no record explains say nothing: their mean is 0.
        least = max(SMALLEST * densities.max(initial=0.0), np.finfo(float).tiny)
        means = products / np.maximum(densities, least)
        # A mean lies among its values; where a density is rounding, its quotient may not.
        return Expected(np.clip(means, values.min(), values.max()), self.counts[seen])


def deconvolve(
    reports: Floats, distribution: ReportNoise, box: Box, k: int, *, first: npt.NDArray[np.bool_]
) -> RecordDistributions | None:
    """Estimate the distribution of records by iterative Bayesian updates and cross-validation.

    Updates without end fit the noise, so their number is what smooths the distribution: as many as
    explain the other half of the reports best, and twice as many for all reports together.
    """
    columns = reports.shape[1]
    if columns > MAX_COLUMNS:
        return None
    grid = make_grid(distribution, box, at_least=CELLS_PER_CENTER * k ** (1 / columns))
    if grid is None:
        return None
    cells = grid.cells
    if (grid.width > distribution.spread(box)).any() or (cells < k ** (1 / columns)).any():
        return None
    counts = [grid.count(reports[first]), grid.count(reports[~first])]
    channel = open_channel(distribution, grid)
    halves, updates, tried = _cross_validated(channel, counts, cells)
    whole = _updated(channel, counts[0] + counts[1], _uniform(cells), 2 * updates)
    near = [_count_near(grid, reports[part]) for part in (first, ~first)]
    misfit = _misfit(channel, halves, near)
    return RecordDistributions(
        "grid",
        _density(grid, channel, counts[0] + counts[1], whole),
        (
            _density(grid, channel, counts[0], halves[0]),
            _density(grid, channel, counts[1], halves[1]),
        ),
        misfit,
        _log_evidence(channel, tried, near),
    )


def _cross_validated(
    channel: CellChannel, counts: list[Floats], cells: npt.NDArray[np.int64]
) -> tuple[list[Floats], int, list[list[Floats]]]:
    """Return distributions of two halves of the reports where each explains the other best.

    And after how many updates, and all pairs of distributions that were tried.
    """
    priors = [_uniform(cells)] * 2
    best, best_priors, best_updates, done = -np.inf, priors, 1, 0
    tried = []
    for updates in (number for number in CHECKPOINTS if number <= MAX_UPDATES[len(cells)]):
        priors = [
            _updated(channel, half, prior, updates - done)
            for half, prior in zip(counts, priors, strict=True)
        ]
        done = updates
        tried.append(priors)
        explained = 0.0
        for other, prior in zip(counts[::-1], priors, strict=True):
            densities = channel.forward(prior)
            explained += float((other * np.log(np.maximum(densities, SMALLEST))).sum())
        if explained <= best:
            break
        best, best_priors, best_updates = explained, priors, updates
    return best_priors, best_updates, tried


def _updated(channel: CellChannel, counts: Floats, prior: Floats, updates: int) -> Floats:
    # Without the acceleration of shoal.remap: here the number of updates is what is chosen.
    seen = counts > 0
    weights = np.zeros(counts.shape)
    for _ in range(updates):
        densities = channel.forward(prior)
        weights[seen] = counts[seen] / np.maximum(densities[seen], SMALLEST * densities.max())
        explained = np.maximum(prior * channel.backward(weights), 0.0)
        if not explained.any():  # by no record: such reports say nothing, and the prior stays
            return prior
        prior = explained / explained.sum()
    return prior


def _uniform(cells: npt.NDArray[np.int64]) -> Floats:
    return np.full(cells, 1.0 / np.prod(cells))


def _density(grid: RegularGrid, channel: CellChannel, counts: Floats, prior: Floats) -> GridDensity:
    columns = len(grid.width)
    points = np.stack(np.meshgrid(*grid.centers(), indexing="ij"), axis=-1).reshape(-1, columns)
    kept = prior > NEGLIGIBLE * prior.max()
    weights = prior[kept] / prior[kept].sum()
    return GridDensity(points[kept.ravel()], weights, grid.width, channel, counts, kept)


def _count_near(grid: RegularGrid, reports: Floats) -> Floats:
    """Count the reports that lie on the outer grid: others are of no cell's distribution."""
    extent = grid.margin * grid.width
    low, high = grid.box.low - extent, grid.box.high + extent
    return grid.count(reports[((reports > low) & (reports < high)).all(axis=1)])


def _misfit(channel: CellChannel, priors: list[Floats], counts: list[Floats]) -> float:
    """Return how many standard errors better smoothed counts explain other reports.

    Both come from one half of the reports and are scored by log-density on the other, over reports
    that lie on the outer grid. Where the noise is what it is said to be, the distribution explains
    them as well; noise that is smaller than it is said to be leaves details that no distribution
    can explain.
    """
    best = -np.inf
    for width in SMOOTHING:
        gains, sizes = [], []
        for prior, own, other in zip(priors, counts, counts[::-1], strict=True):
            seen = other > 0
            smooth = gaussian_filter(own, width, mode="constant")
            smooth = (smooth / max(smooth.sum(), 1.0) + MIN_SHARE / smooth.size)[seen]
            distribution = channel.forward(prior)
            distribution = (
                np.maximum(distribution, 0.0) / distribution.sum() + MIN_SHARE / distribution.size
            )[seen]
            gains.append(np.log(smooth / distribution))
            sizes.append(other[seen])
        best = max(best, Expected(np.concatenate(gains), np.concatenate(sizes)).standard_errors)
    return best


def _log_evidence(channel: CellChannel, tried: list[list[Floats]], counts: list[Floats]) -> float:
    """Return the log of a mean of likelihood ratios over evenly spread records.

    Of all distributions that might have been tried: those that were not count as nothing.
    """
    even = _on_grid(channel, np.ones_like(tried[0][0]))
    gains = []
    for priors in tried:
        for prior, other in zip(priors, counts[::-1], strict=True):
            seen = other > 0
            ratios = _on_grid(channel, prior)[seen] / np.maximum(even[seen], SMALLEST * even.max())
            gains.append(other[seen] @ np.log((1 - MIN_SHARE) * ratios + MIN_SHARE))
    return float(logsumexp(gains)) - math.log(2 * len(CHECKPOINTS))


def _on_grid(channel: CellChannel, prior: Floats) -> Floats:
    """Return the distribution of reports that lie on the outer grid."""
    chances = np.maximum(channel.forward(prior), 0.0)
    on_grid: Floats = chances / chances.sum()
    return on_grid
