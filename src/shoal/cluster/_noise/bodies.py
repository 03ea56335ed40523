"""The body that a record lies in, and what is released of records in it.

A column is an interval, or one of the levels of a simplex: of these exactly one is at its upper end
and the others are at the lower one, as of a category. So one record moves a row of a release (a
count, sums of intervals, counts of levels) by a point of a small body: the sums by a box, and in
each simplex a single level by 1, however many levels there are. Noise in the shape of that body is
far smaller than noise of the box around it (proofs/kmeans.md, "Mixed tables").
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from shoal._typing import Floats, Ints
from shoal.engines import NearestStatistics
from shoal.noise import MAX_COLUMNS

__all__ = [
    "Body",
    "NoisyParts",
    "PartDeviations",
    "PartTable",
    "least_squares",
    "spread_columns",
]

TINY = 1e-9  # deviation of a count, at the largest epsilons: nothing is divided by 0


@dataclass(frozen=True, eq=False)
class Body:
    """Where a record can lie on the lattice: all of it public."""

    reaches: Ints  # shape (d,): a record lies in -reach .. reach
    simplices: tuple[slice, ...] = ()  # columns of which one is at its reach, the others at -reach

    @classmethod
    def box(cls, columns: int, half: int) -> Self:
        """Return the body of records whose columns have nothing to do with each other."""
        return cls(np.full(columns, half, dtype=np.int64))

    @classmethod
    def scaled(cls, widths: Floats, half: int, simplices: tuple[slice, ...] = ()) -> Self:
        """Return the body of columns of these widths: a lattice step is as long in each."""
        reaches = np.maximum(np.rint(half * (widths / widths.max())), 1.0).astype(np.int64)
        return cls(reaches, simplices)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.reaches)

    @functools.cached_property
    def intervals(self) -> Ints:
        """Return the columns that belong to no simplex."""
        alone = np.ones(self.columns, dtype=bool)
        for simplex in self.simplices:
            alone[simplex] = False
        return np.flatnonzero(alone)

    @functools.cached_property
    def groups(self) -> list[Ints]:
        """Return the columns of all intervals, if there are any, and of each simplex."""
        together = [self.intervals] if len(self.intervals) else []
        return [*together, *(np.arange(s.start, s.stop) for s in self.simplices)]

    @property
    def is_cube(self) -> bool:
        """Return whether all columns are intervals of the same width."""
        return not self.simplices and bool((self.reaches == self.reaches[0]).all())

    @property
    def radius(self) -> float:
        """Return how far a record may be from the middle, where the middle of a level is 0."""
        ends = [2.0 * self.reaches[simplex.start] for simplex in self.simplices]
        return math.hypot(*self.reaches[self.intervals].tolist(), *ends)

    @functools.cached_property
    def boxes(self) -> list[Ints]:
        """Return the count and the intervals, numbered from 0, in as many boxes as noise needs."""
        columns = np.arange(len(self.intervals) + 1)
        return np.array_split(columns, math.ceil(len(columns) / MAX_COLUMNS))

    def split(self, *, root: int) -> Floats:
        """Divide a budget of 1: its part for each box, then for each simplex.

        Noise of variance A / part^2 (pure) or A / part (Gaussian, where every number of a box is a
        part of its own) is least in sum where parts are as the cube or the square roots of A. A
        count is worth as much as the widest column.
        """
        ends = 2.0 * self.reaches / self.reaches.max()  # from end to end
        worth = np.concatenate([[1.0], ends[self.intervals] / 2])
        levels = [(s.stop - s.start) * float(ends[s.start]) ** 2 for s in self.simplices]
        if root == 2:
            sizes = [*worth**2, *levels]
        else:
            sides = [(len(box) + 1) * (len(box) + 2) / 3 for box in self.boxes]
            sums = [float((worth[box] ** 2).sum()) for box in self.boxes]
            sizes = [side * size for side, size in zip(sides, sums, strict=True)]
            sizes += [2 * level for level in levels]
        roots = np.array(sizes) ** (1 / root)
        parts: Floats = roots / roots.sum()
        return parts

    def table(self, exact: NearestStatistics) -> "PartTable":
        """Return what is released of counts and sums around centers."""
        rows = np.column_stack([exact.counts, exact.sums[:, self.intervals]])
        levels = [self._levels(exact, simplex) for simplex in self.simplices]
        return PartTable(rows, levels)

    def _levels(self, exact: NearestStatistics, simplex: slice) -> Ints:
        """Count the records of each level: a sum is (2 levels - count) reach."""
        reach = int(self.reaches[simplex.start])
        ends = exact.sums[:, simplex] + reach * exact.counts[:, np.newaxis]
        levels: Ints = ends // (2 * reach)
        return levels


class PartTable(NamedTuple):
    """A row for each center: its count and sums of intervals, and its counts of levels."""

    rows: Ints  # shape (k, 1 + intervals)
    levels: list[Ints]  # of each simplex, shape (k, levels)


class PartDeviations(NamedTuple):
    """Standard deviations of the noise of a release of parts."""

    counts: float
    columns: Floats  # shape (d,): of sums in lattice steps; a record adds 2 reach to its level


@dataclass(frozen=True, eq=False)
class NoisyParts:
    """Noisy counts and sums, and how noisy they are."""

    counts: Floats  # shape (k,): noisy counts, from all that says how many there are
    sums: Floats  # shape (k, d): noisy sums; of levels, 2 reach for each record
    deviations: PartDeviations
    # shape (k,): bound of the probability that an exact count of 0 shows as at least each
    # noisy count
    tails: Floats


def least_squares(
    body: Body, table: PartTable, deviations: PartDeviations, tails: Floats
) -> NoisyParts:
    """Put a noisy table together; a count is also the sum of the levels of each simplex."""
    sums = np.empty((len(table.rows), body.columns))
    sums[:, body.intervals] = table.rows[:, 1:]
    counts, precision = _weighted(table.rows[:, 0], deviations.counts)
    for simplex, levels in zip(body.simplices, table.levels, strict=True):
        ends = 2.0 * body.reaches[simplex.start]
        sums[:, simplex] = ends * levels
        deviation = float(deviations.columns[simplex.start]) / ends * math.sqrt(levels.shape[1])
        more, weight = _weighted(levels.sum(axis=1), deviation)
        counts, precision = counts + more, precision + weight
    known = PartDeviations(precision**-0.5, deviations.columns)
    return NoisyParts(counts / precision, sums, known, tails)


def _weighted(counts: Ints, deviation: float) -> tuple[Floats, float]:
    weight = max(deviation, TINY) ** -2.0
    return weight * counts, weight


def spread_columns(body: Body, intervals: Sequence[float] | Floats, levels: list[float]) -> Floats:
    """Return a number for each column, from those of the intervals and of each simplex."""
    columns = np.empty(body.columns)
    columns[body.intervals] = intervals
    for simplex, value in zip(body.simplices, levels, strict=True):
        columns[simplex] = value
    return columns
