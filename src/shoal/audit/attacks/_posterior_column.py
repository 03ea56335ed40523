"""What is known about one column of a record: weights of its possible values.

From a report: the channel, with the known columns as they are. From released centers: a mixture of
round Gaussians around them, with the known columns saying which of them the record belongs to. From
a public table: the records of it that are nearest by the known columns.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp
from sklearn.neighbors import NearestNeighbors

from shoal._bounds import Box
from shoal._typing import Bools, Floats
from shoal.audit.attacks._posterior import nearness
from shoal.remap import squared_distances

__all__ = [
    "ColumnErrors",
    "ColumnGuesses",
    "ColumnTask",
    "guess_column",
    "log_densities_of_column",
    "log_weights_from_centers",
    "log_weights_from_table",
    "released_points",
]


CELLS = 200  # values of the unknown column that are tried
# Widths that a cluster may have, in widths of the box; which one, the known columns say.
WIDTHS = np.geomspace(0.005, 0.5, 16)
FAINT = 1e-6  # of a record: a cluster of size 0 still says where it is


class ColumnGuesses(NamedTuple):
    """The best guess for absolute error, and the one that is most likely near."""

    medians: Floats
    nearby: Floats


class ColumnErrors(NamedTuple):
    """How far off guesses are, and whether they are near."""

    error: Floats
    near: Bools

    @classmethod
    def together(cls, rounds: Sequence["ColumnErrors"]) -> "ColumnErrors":
        """Put those of several rounds together."""
        errors, near = zip(*rounds, strict=True)
        return cls(np.concatenate(errors), np.concatenate(near))

    def of(self, rows: Bools) -> "ColumnErrors":
        """Take those of some records."""
        return ColumnErrors(self.error[rows], self.near[rows])

    def mean_error(self) -> float:
        """Mean absolute error."""
        return float(self.error.mean())

    def share_near(self) -> float:
        """Share of records guessed near."""
        return float(self.near.mean())


class ColumnTask(NamedTuple):
    """Which column of whom is to be guessed, among which values."""

    records: Floats
    column: int
    box: Box
    values: Floats
    tolerance: float

    @classmethod
    def within(cls, records: Floats, column: int, box: Box, share: float) -> "ColumnTask":
        """Try values all over the public range; a share of it is the tolerance."""
        low, width = box.low[column], box.high[column] - box.low[column]
        values = low + (np.arange(CELLS) + 0.5) / CELLS * width
        return cls(records, column, box, values, float(share * width))

    def errors(self, log_weights: Floats) -> ColumnErrors:
        """Guess every record from weights of the values, and compare."""
        guesses = guess_column(log_weights, self.values, self.tolerance)
        truth = self.records[:, self.column]
        near = np.abs(guesses.nearby - truth) <= self.tolerance
        return ColumnErrors(np.abs(guesses.medians - truth), near)


def guess_column(log_weights: Floats, values: Floats, tolerance: float) -> ColumnGuesses:
    """Guess one column of each record.

    Parameters
    ----------
    log_weights : ndarray of float64, shape (n, v)
        Of the values, for each record.
    values : ndarray of float64, shape (v,)
        Possible values, ascending.
    tolerance : float
        A guess no farther off is near.

    Returns
    -------
    guesses : ColumnGuesses
        One for each record.
    """
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    below = np.cumsum(weights, axis=1)
    middle = (below < below[:, -1:] / 2).sum(axis=1)
    near = nearness(np.abs(values[:, None] - values), tolerance)
    return ColumnGuesses(values[middle], values[(weights @ near).argmax(axis=1)])


def log_densities_of_column(
    mechanism: Any,
    reports: Floats,
    records: Floats,
    *,
    column: int,
    values: Floats,
    box: Box,
) -> Floats:
    """Log-density of each report for every value of one column, shape (n, v)."""
    inside = np.clip(records, box.low, box.high)
    logs = np.empty((len(records), len(values)))
    for index, value in enumerate(values):
        inside[:, column] = value
        logs[:, index] = mechanism.log_density(reports, inside)
    # A report that no value explains says nothing.
    logs[np.isneginf(logs).all(axis=1)] = 0.0
    return logs


def released_points(values: Mapping[str, Any], columns: int) -> tuple[Floats, Floats]:
    """Read places and sizes from a release: centers, or midpoints of significant cells."""
    if "centers" in values:
        centers = np.reshape(np.asarray(values["centers"], dtype=np.float64), (-1, columns))
        sizes = np.asarray(values.get("sizes", np.ones(len(centers))), dtype=np.float64)
        return centers, sizes
    shape = tuple(int(side) for side in values["shape"])
    low, high = (np.asarray(values[name], dtype=np.float64) for name in ("low", "high"))
    steps = np.stack(np.unravel_index(np.asarray(values["cells"], dtype=np.int64), shape), axis=1)
    midpoints: Floats = low + (steps + 0.5) / shape * (high - low)
    return midpoints, np.asarray(values["values"], dtype=np.float64)


def log_weights_from_centers(
    points: Floats,
    sizes: Floats,
    records: Floats,
    *,
    column: int,
    values: Floats,
    box: Box,
) -> Floats:
    """Weigh the values of one column by a mixture around released points, shape (n, v).

    Parameters
    ----------
    points : ndarray of float64, shape (k, d)
        Released places.
    sizes : ndarray of float64, shape (k,)
        Released sizes.
    records : ndarray of float64, shape (n, d)
        Of whom all columns but one are known.
    column : int
        The one that is not.
    values : ndarray of float64, shape (v,)
        Its possible values.
    box : Box
        Public box, the unit of distance.

    Returns
    -------
    log_weights : ndarray of float64, shape (n, v)
        All 0 where nothing was released.
    """
    if len(points) == 0:
        return np.zeros((len(records), len(values)))
    unit = box.high - box.low
    known = np.arange(records.shape[1]) != column
    middle = (box.low + box.high) / 2
    places, people = (points - middle) / unit, (records - middle) / unit
    squares = squared_distances(people[:, known], places[:, known])
    log_sizes = np.log(np.maximum(sizes, FAINT))
    width = _width(squares, log_sizes, int(known.sum()))
    belongs = log_sizes - squares / (2 * width**2)
    offsets = (values - middle[column]) / unit[column] - places[:, column, None]
    logs = -(offsets**2) / (2 * width**2)
    peak = belongs.max(axis=1, keepdims=True)
    # Far from every center all terms underflow alike; tiny keeps the logarithm finite.
    mixed = np.exp(belongs - peak) @ np.exp(logs)
    log_weights: Floats = np.log(mixed + np.finfo(np.float64).tiny)
    return log_weights


def log_weights_from_table(table: Floats, records: Floats, column: int, values: Floats) -> Floats:
    """Weigh the values of one column by the rows of a public table like the record, shape (n, v).

    Parameters
    ----------
    table : ndarray of float64, shape (m, d)
        Public records of other people.
    records : ndarray of float64, shape (n, d)
        Of whom all columns but one are known.
    column : int
        The one that is not.
    values : ndarray of float64, shape (v,)
        Its possible values, ascending; a row counts for the nearest.

    Returns
    -------
    log_weights : ndarray of float64, shape (n, v)
        Of the square root of m nearest rows, and, with the weight of one row, of all.
    """
    edges = (values[1:] + values[:-1]) / 2
    cells = np.searchsorted(edges, table[:, column])
    marginal = np.bincount(cells, minlength=len(values)) / len(table)
    known = np.arange(records.shape[1]) != column
    # An even share of the weight of one row for values that the table does not have.
    weights = np.tile((marginal + 1.0 / len(values)) / 2, (len(records), 1))
    if known.any():
        spread = table[:, known].std(axis=0)
        spread[spread == 0] = 1.0
        count = math.ceil(math.sqrt(len(table)))
        nearest = NearestNeighbors(n_neighbors=count).fit(table[:, known] / spread)
        rows = nearest.kneighbors(records[:, known] / spread, return_distance=False)
        np.add.at(weights, (np.arange(len(records))[:, None], cells[rows]), 1.0)
    log_weights: Floats = np.log(weights)
    return log_weights


def _width(squares: Floats, log_sizes: Floats, known: int) -> float:
    """Width of the clusters that makes the known columns of all records most likely."""
    if known == 0:
        return float(0.5 / len(log_sizes))
    likelihoods = [
        logsumexp(log_sizes - squares / (2 * width**2), axis=1).sum()
        - len(squares) * known * math.log(width)
        for width in WIDTHS
    ]
    return float(WIDTHS[int(np.argmax(likelihoods))])
