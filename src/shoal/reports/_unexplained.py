"""Reports in such numbers as no records explain: some of those who sent them lie.

Whatever the records are, a report falls into a small cell with at most a known probability: the
largest over all records. Of n honest devices, the number of reports in the cell exceeds a quantile
of the binomial law of this probability as rarely as was chosen (Hoeffding 1956: where records
differ, more rarely still). Cells are those of nested public grids; of colors, they are the
partitions and the colors of each. What is beyond is left out: honest reports are hardly ever
touched, and liars must spread over what honest devices may send.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betainc

from shoal._bounds import Box
from shoal._report_channel import ColumnChannel, PartitionChannel, ReportChannel
from shoal._typing import Bools, Floats, Ints
from shoal.reports._partition_likelihood import tally
from shoal.reports._report_noise import checked_copy

__all__ = ["explained_reports"]

ALARM = 1e-9  # probability that honest reports are left out of a fit
COLUMN_LEVELS = range(1, 13)  # halvings of the range of a column's reports
METRIC_LEVELS = range(-4, 11)  # halvings of the box: the first cells are wider than it


class _Cells(NamedTuple):
    """Cells that reports fall in.

    Parameters
    ----------
    cell_of : ndarray of int64, shape (n,)
        Cell of each report.
    chances : ndarray of float64, shape (m,)
        Largest probability of each cell, over all records.
    possible : float
        Number of cells that there could be reports in.
    """

    cell_of: Ints
    chances: Floats
    possible: float


def explained_reports(
    reports: Floats, mechanism: Any, box: Box, rng: np.random.RandomState
) -> Bools:
    """Return which reports to keep: all but those in numbers that no records explain.

    Of a cell with too many reports, as many are kept as the records that explain it best are
    expected to send, drawn at random. Nothing is known of reports of Duchi's mechanism, of sampled
    columns and of noise that others describe: all are kept.
    """
    if isinstance(mechanism, ReportChannel):
        mechanism = checked_copy(mechanism, len(box.low))
    kept = np.ones(len(reports), dtype=np.bool_)
    levels = list(_levels(reports, mechanism, box))
    for cells in levels:
        _leave_out(cells, kept, ALARM / (len(levels) * max(1.0, cells.possible)), rng)
    return kept


def _levels(reports: Floats, mechanism: Any, box: Box) -> Iterator[_Cells]:
    """Yield cells, the finest first: what is crowded there is left out before it is counted."""
    if isinstance(mechanism, PartitionChannel):
        yield from _partition_cells(reports, mechanism, len(box.low))
    elif isinstance(mechanism, ColumnChannel) and _reports_all(mechanism, reports):
        for level in reversed(COLUMN_LEVELS):
            yield _column_cells(reports, mechanism, 2**level)
    elif isinstance(mechanism, ReportChannel) and mechanism.noise_kind == "radial":
        for level in reversed(METRIC_LEVELS):
            yield _metric_cells(reports, mechanism, box, 2.0**level)


def _reports_all(mechanism: ColumnChannel, reports: Floats) -> bool:
    columns = reports.shape[1]
    return bool(mechanism.reported_columns(columns) == columns)


def _leave_out(cells: _Cells, kept: Bools, alarm: float, rng: np.random.RandomState) -> None:
    counts = np.bincount(cells.cell_of[kept], minlength=len(cells.chances))
    total = len(kept)
    # The probability of so many reports or more is a regularized incomplete beta function.
    tails = betainc(np.maximum(counts, 1), total - np.maximum(counts, 1) + 1, cells.chances)
    for cell in np.flatnonzero((counts > total * cells.chances) & (tails < alarm)):
        own = rng.permutation(np.flatnonzero(kept & (cells.cell_of == cell)))
        kept[own[math.floor(total * cells.chances[cell]) :]] = False


def _partition_cells(
    reports: Floats, mechanism: PartitionChannel, columns: int
) -> Iterator[_Cells]:
    """Yield pairs of partition and color, then partitions: those are drawn uniformly."""
    partitions = mechanism.make_partitions(columns)
    tally(reports, partitions)  # refuses what no device can have sent
    first = int(getattr(mechanism, "first_partition", 0))
    many, colors = partitions.n_partitions, partitions.n_colors
    drawn = np.arange(many) >= first
    if (reports[:, 0] < first).any():
        return  # of two rounds together: how many devices each had is not known here
    chances = drawn / drawn.sum()
    keep = float(mechanism.keep_probability)
    index = reports.astype(np.int64)
    pairs: Ints = index[:, 0] * colors + index[:, 1]
    yield _Cells(pairs, np.repeat(chances, colors) * (keep + (1 - keep) / colors), many * colors)
    yield _Cells(index[:, 0], chances, many)


def _column_cells(reports: Floats, mechanism: ColumnChannel, many: int) -> _Cells:
    """Return cells that are equally many intervals of each column.

    A column is locally private by itself, so the largest probability of an interval is at most
    e^epsilon times the smallest: for windows, that is the largest.
    """
    columns = reports.shape[1]
    ratio = math.exp(float(mechanism.guarantee_.epsilon) / columns)
    indices, chances = [], []
    for column, values in enumerate(reports.T):
        distribution = mechanism.column_distribution(column, columns)
        edges = np.linspace(distribution.low, distribution.high, many + 1)
        middle = distribution.low / 2 + distribution.high / 2
        some = np.array(
            [distribution.low, middle, distribution.high]
        )  # records: beyond the box they are clipped
        smallest = np.diff(distribution.cdf(edges, some), axis=0).min(axis=1)
        indices.append(np.clip(np.searchsorted(edges, values, side="right") - 1, 0, many - 1))
        chances.append(np.minimum(1.0, ratio * smallest))
    index, some_of = _joined(indices)
    joint = np.prod([own[column[some_of]] for own, column in zip(chances, indices, strict=True)], 0)
    return _Cells(index, joint, float(many) ** columns)


def _metric_cells(reports: Floats, mechanism: Any, box: Box, many: float) -> _Cells:
    """Return cells of a grid that goes on beyond the box, so many on each side of the box.

    The density of a cell is largest where it is nearest to the box.
    """
    side = (box.high - box.low) / many
    places = np.floor((reports - box.low) / side)
    index, some_of = _joined(list(places.T.astype(np.int64)))
    low = box.low + places[some_of] * side
    near = np.minimum(np.maximum(low, box.low), low + side)
    densities = np.exp(mechanism.log_density(near, np.clip(near, box.low, box.high)))
    return _Cells(index, np.minimum(1.0, densities * np.prod(side)), max(1.0, many) ** len(side))


def _joined(indices: list[Ints]) -> tuple[Ints, Ints]:
    """Count the combinations that occur; return the number of each row's, and a row of each."""
    joined = np.zeros(len(indices[0]), dtype=np.int64)
    some_of = joined[:1]
    for column in indices:
        _, own = np.unique(column, return_inverse=True)
        _, some_of, joined = np.unique(
            joined * (own.max() + 1) + own, return_index=True, return_inverse=True
        )
    return joined, some_of
