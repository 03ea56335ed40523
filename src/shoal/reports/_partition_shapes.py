"""The density of records behind partition responses, on a grid: for clusters of any shape."""

from dataclasses import replace

import numpy as np

from shoal._bounds import Box
from shoal._report_channel import PartitionChannel
from shoal._typing import Floats, Ints
from shoal.partitions import Partitions
from shoal.reports._partition_likelihood import ColorChannel, tally
from shoal.reports._record_channel import grid_atoms
from shoal.reports._shape_density import ShapeEstimator, choose_estimator

__all__ = ["PartitionCells", "open_partition_estimator", "pair_indices"]

CELLS = {1: 256, 2: 64, 3: 20}  # of the grid in each column, by the number of columns
UPDATES = (8, 24, 72)  # more than for noise: little of each report is true


class PartitionCells:
    """From densities on a grid to how often each partition and color is reported.

    Parameters
    ----------
    colors : ColorChannel
        Of the cells' middles, for all colors of the partitions that were used.
    shares : ndarray of float64
        Part of all reports that is of the partition of each pair of partition and color.
    cells : tuple of int
        Of the grid.
    """

    def __init__(self, colors: ColorChannel, shares: Floats, cells: tuple[int, ...]) -> None:
        self._colors, self._shares, self._cells = colors, shares, cells
        self._other = (1.0 - colors.keep) / colors.n_colors

    def seen(self, counts: Floats) -> tuple["PartitionCells", Floats]:
        """Return the channel to the pairs that were reported, and their counts."""
        rows = np.flatnonzero(counts)
        colors = replace(self._colors, members=self._colors.members[rows])
        return PartitionCells(colors, self._shares[rows], self._cells), counts[rows]

    def forward(self, prior: Floats) -> Floats:
        """Return the probability of each pair, from the density of the records."""
        weights = prior.ravel()
        chances = self._colors.keep * (self._colors.members @ weights)
        chances += self._other * weights.sum()
        chances *= self._shares
        return np.asarray(chances, dtype=np.float64)

    def backward(self, values: Floats) -> Floats:
        """Apply the adjoint."""
        weighted = values * self._shares
        sums = self._colors.keep * (self._colors.members.T @ weighted)
        sums += self._other * weighted.sum()
        return np.asarray(sums, dtype=np.float64).reshape(self._cells)


def open_partition_estimator(
    reports: Floats,
    mechanism: PartitionChannel,
    box: Box,
    rng: np.random.Generator,
    *,
    times: Ints | None = None,
) -> tuple[ShapeEstimator, Floats]:
    """Choose how smooth the density is, by cross-validation; return the counts of reports too."""
    columns = len(box.low)
    partitions = mechanism.make_partitions(columns)
    colors = partitions.n_colors
    counted = tally(reports, partitions, times)
    pairs = np.arange(partitions.n_partitions * colors)
    counts = np.zeros(len(pairs))
    counts[counted.pairs] = counted.counts
    sizes = counts.reshape(-1, colors).sum(axis=1)
    cells = (CELLS[columns],) * columns
    channel = PartitionCells(
        ColorChannel.of(
            partitions, float(mechanism.keep_probability), grid_atoms(box, cells).points, pairs
        ),
        np.repeat(sizes / sizes.sum(), colors),
        cells,
    )
    first = rng.binomial(counts.astype(np.int64), 0.5).astype(np.float64)
    estimator = choose_estimator(cells, channel, [first, counts - first], updates=UPDATES)
    return estimator, counts


def pair_indices(reports: Floats, partitions: Partitions) -> Ints:
    """Return which pair of partition and color each report is."""
    numbers = reports.astype(np.int64)
    indices: Ints = numbers[:, 0] * partitions.n_colors + numbers[:, 1]
    return indices
