"""A private copy's cells or leaves, and the records drawn from them: from released numbers alone.

Columns that vary more are cut into more cells. Within a column, cells are narrow where the noisy
histogram is high: their density goes with the cube root of the records', which loses least in
squared distance (Panter & Dite 1951). Leaves of a tree are small where records crowd, and records
are spread evenly in each. Drawing is post-processing, as often as anyone likes.
"""

import math
from typing import NamedTuple

import numpy as np

from shoal._bounds import Box
from shoal._typing import Floats, Ints
from shoal.cluster._leaves import NoisyLeaves

__all__ = [
    "CellDistribution",
    "CellPlan",
    "LeafDistribution",
    "bins_of_columns",
    "draw_from_leaves",
    "draw_records",
    "plan_cells",
    "plan_leaves",
    "rake_cells",
]

MIN_BINS, MAX_BINS = 4, 128  # of a column's histogram
RECORDS_PER_BIN = 8.0  # in scales of a bin's noise
FINENESS = 10.0  # records times epsilon for one cell in two columns (Su et al. 2016)
MIN_CELLS, MAX_CELLS = 16, 2**16
RAKING_ROUNDS = 5  # of iterative proportional fitting; the next one changes next to nothing
NOTHING = 1e-12


class CellPlan(NamedTuple):
    """Cells of each column, and the cell of each bin of its histogram."""

    sides: Ints
    cell_of_bin: Ints

    @property
    def cut(self) -> Ints:
        """Columns that have more than one cell."""
        return np.flatnonzero(self.sides > 1)

    @property
    def cells(self) -> int:
        """Number of cells in all."""
        return math.prod(self.sides.tolist())


class CellDistribution(NamedTuple):
    """Probabilities of all cells, and of the bins of each column."""

    plan: CellPlan
    cells: Floats
    columns: Floats


class LeafDistribution(NamedTuple):
    """Probabilities of the leaves of a tree, and where they lie: the box is 0 to 1."""

    low: Floats  # shape (m, d)
    widths: Floats
    leaves: Floats


def bins_of_columns(n: float, columns: int, budget: float) -> int:
    """Choose so many bins that one of an even column is well above its noise."""
    wanted = max(n, 1.0) * budget / (columns * RECORDS_PER_BIN)
    return int(min(max(wanted, MIN_BINS), MAX_BINS))


def plan_cells(likely: Floats, n: float, budget: float) -> CellPlan:
    """Choose the cells from the estimated probabilities of each column's bins."""
    columns, bins = likely.shape
    middles = (np.arange(bins) + 0.5) / bins
    # Within a bin records are spread evenly, so that no column varies by nothing.
    variances = likely @ middles**2 - (likely @ middles) ** 2 + 1 / (12 * bins**2)
    signal = min(max(n, 1.0) * budget / FINENESS, float(MAX_CELLS))
    wanted = min(max(signal ** (2 * columns / (2 + columns)), MIN_CELLS), MAX_CELLS)
    sides = _sides(variances, wanted, bins)
    rows = [_cells_of_bins(row, int(side)) for row, side in zip(likely, sides, strict=True)]
    cell_of_bin = np.array(rows, dtype=np.int64)
    return CellPlan(cell_of_bin.max(axis=1) + 1, cell_of_bin)


def rake_cells(estimate: Floats, likely: Floats, plan: CellPlan) -> CellDistribution:
    """Bring the cells in line with the columns, whose histograms are known better."""
    cut = plan.cut
    table = (estimate + NOTHING).reshape([plan.sides[j] for j in cut])
    for _ in range(RAKING_ROUNDS):
        for axis, j in enumerate(cut):
            others = tuple(other for other in range(len(cut)) if other != axis)
            wanted = np.bincount(plan.cell_of_bin[j], weights=likely[j])
            factor = wanted / np.maximum(table.sum(axis=others), NOTHING)
            table = table * factor.reshape([-1 if a == axis else 1 for a in range(len(cut))])
    cells: Floats = table.ravel() / table.sum()
    return CellDistribution(plan, cells, likely)


def plan_leaves(leaves: NoisyLeaves, half: int) -> LeafDistribution:
    """Turn estimated counts of leaves into probabilities; without any, all of the box is alike."""
    low = (leaves.low + half) / (2 * half)
    widths = (leaves.high - leaves.low) / (2 * half)
    likely = leaves.counts + NOTHING * widths.prod(axis=1)
    return LeafDistribution(low, widths, likely / likely.sum())


def draw_from_leaves(
    distribution: LeafDistribution, n: int, box: Box, rng: np.random.Generator
) -> Floats:
    """Draw a leaf for each record, and any place in it."""
    low, widths, leaves = distribution
    drawn = rng.choice(len(leaves), size=n, p=leaves)
    even = low[drawn] + rng.random((n, low.shape[1])) * widths[drawn]
    return _in_box(even, box)


def draw_records(
    distribution: CellDistribution, n: int, box: Box, rng: np.random.Generator
) -> Floats:
    """Draw a cell for each record, and a place in it by the histograms of its columns."""
    plan = distribution.plan
    codes = rng.choice(len(distribution.cells), size=n, p=distribution.cells)
    cells = np.zeros((n, len(plan.sides)), dtype=np.int64)
    for j in plan.cut[::-1]:
        codes, cells[:, j] = np.divmod(codes, plan.sides[j])
    even = np.empty((n, len(plan.sides)))
    for j, likely in enumerate(distribution.columns):
        even[:, j] = _within(likely, plan.cell_of_bin[j], cells[:, j], rng.random(n))
    return _in_box(even, box)


def _in_box(even: Floats, box: Box) -> Floats:
    """Turn positions in [0, 1] into records."""
    low, high = box.low / 2, box.high / 2  # the width of a box may be beyond the doubles
    records: Floats = np.clip(2 * (low + even * (high - low)), box.low, box.high)
    return records


def _sides(variances: Floats, wanted: float, most: int) -> Ints:
    """Cut, again and again, the column that varies most inside its cells."""
    sides = np.ones(len(variances), dtype=np.int64)
    cells = 1.0
    while True:
        fits = (sides < most) & (cells / sides * (sides + 1) <= wanted)
        if not fits.any():
            return sides
        column = int(np.where(fits, variances / sides**2, -1.0).argmax())
        cells *= (sides[column] + 1) / sides[column]
        sides[column] += 1


def _cells_of_bins(likely: Floats, side: int) -> Ints:
    density = np.cbrt(likely)
    middles = np.cumsum(density) - density / 2
    cells = np.minimum(middles / density.sum() * side, side - 1).astype(np.int64)
    # A bin wider than a cell leaves cells out: those that remain are numbered again.
    numbers: Ints = np.unique(cells, return_inverse=True)[1].astype(np.int64)
    return numbers


def _within(likely: Floats, cell_of_bin: Ints, cells: Ints, even: Floats) -> Floats:
    """Turn even numbers into positions in [0, 1] by a column's histogram inside the given cells."""
    before = np.concatenate([[0.0], np.cumsum(likely)])
    each = np.arange(cell_of_bin[-1] + 1)
    first = np.searchsorted(cell_of_bin, each, side="left")[cells]
    last = np.searchsorted(cell_of_bin, each, side="right")[cells]
    below = before[first] + even * (before[last] - before[first])
    bins = np.clip(np.searchsorted(before, below, side="right") - 1, first, last - 1)
    rest = (below - before[bins]) / likely[bins]
    positions: Floats = (bins + np.clip(rest, 0.0, 1.0)) / len(likely)
    return positions
