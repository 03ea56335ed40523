"""What each column of a report can say, and how probable that is: exact, and the same for all.

Reports of a column are counted in intervals; those with a probability of their own are intervals of
their own. Columns that are left out say nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shoal._bounds import Box
from shoal._report_channel import ColumnChannel, ReportedColumn
from shoal._typing import Floats, Ints

__all__ = ["ColumnTable", "column_tables", "symbols_of"]

PARTS = 4  # places of the record within a cell that probabilities are averaged over
CELLS_PER_SPREAD = 5.0  # in the middle half of the reports of one record
INTERVALS_PER_CELL = 1.0
MAX_INTERVALS = 512


class ColumnTable(NamedTuple):
    """One column.

    Parameters
    ----------
    edges : ndarray of float64, shape (s + 1,)
        Ends of the intervals.
    probabilities : ndarray of float64, shape (s, c)
        Of each interval, given the cell of the record, where the column is reported.
    left_out : float or None
        What stands for a column that is not reported, where some are not.
    step : float
        Distance between neighboring reports.
    """

    edges: Floats
    probabilities: Floats
    left_out: float | None
    step: float

    @property
    def matrix(self) -> Floats:
        """Probabilities with a row of ones for a column that is not reported."""
        if self.left_out is None:
            return self.probabilities
        return np.concatenate([self.probabilities, np.ones((1, self.probabilities.shape[1]))])

    def symbols(self, values: Floats) -> Ints:
        """Return the interval of each value, or the number of intervals: not reported."""
        many = len(self.probabilities)
        found = np.clip(np.searchsorted(self.edges, values, side="right") - 1, 0, many - 1)
        if self.left_out is not None:
            found[np.abs(values - self.left_out) < self.step / 2] = many
        return found.astype(np.int64)


def column_tables(
    channel: ColumnChannel, box: Box, *, least: float, limits: tuple[int, int]
) -> list[ColumnTable]:
    """Return the tables of all columns, with as many cells as their noise asks for, in limits."""
    columns = len(box.low)
    some_left_out = channel.reported_columns(columns) < columns
    tables = []
    for column in range(columns):
        distribution = channel.column_distribution(column, columns)
        low, high = float(box.low[column]), float(box.high[column])
        wanted = max(CELLS_PER_SPREAD * (high - low) / _middle_half(distribution, low, high), least)
        cells = int(np.clip(np.ceil(wanted), *limits))
        edges = _edges(distribution, INTERVALS_PER_CELL * cells / (high - low))
        places = low + (np.arange(PARTS * cells) + 0.5) / (PARTS * cells) * (high - low)
        masses = np.diff(distribution.cdf(edges, places), axis=0)
        masses = np.maximum(masses.reshape(len(masses), cells, PARTS).mean(axis=2), 0.0)
        left_out = distribution.unreported if some_left_out else None
        tables.append(ColumnTable(edges, masses / masses.sum(axis=0), left_out, distribution.step))
    return tables


def symbols_of(tables: Sequence[ColumnTable], reports: Floats) -> Ints:
    """Return what each column of each report says, shape (n, d)."""
    columns = [table.symbols(values) for table, values in zip(tables, reports.T, strict=True)]
    return np.stack(columns, axis=1)


def _middle_half(distribution: ReportedColumn, low: float, high: float) -> float:
    """Return how far apart the quartiles of the reports of a record in the middle are."""
    places = np.linspace(distribution.low, distribution.high, 4097)
    chances = distribution.cdf(places, np.array([low / 2 + high / 2]))[:, 0]
    first, last = np.interp([0.25, 0.75], chances, places)
    return float(max(last - first, places[1] - places[0]))


def _edges(distribution: ReportedColumn, per_unit: float) -> Floats:
    """Cut the reports in intervals; points are between cuts half a step away on both sides."""
    many = int(
        np.clip(np.ceil(per_unit * (distribution.high - distribution.low)), 8, MAX_INTERVALS)
    )
    cuts = [np.linspace(distribution.low, distribution.high, many + 1)]
    cuts += [
        distribution.points - distribution.step / 2,
        distribution.points + distribution.step / 2,
    ]
    return np.unique(np.concatenate(cuts))
