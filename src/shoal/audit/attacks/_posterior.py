"""The posterior over candidates for a record, or for one column of it, under the known channel.

Nobody who sees only a report can guess better than from this posterior: its mean has the least
squared error, its geometric median the least distance, its mode is right most often.

One column is guessed with the others known. From a report: the channel, with the known columns as
they are. From released centers: a mixture of round Gaussians around them, where the known columns
decide which of them the record belongs to. From a public table: the records of it that are nearest
by the known columns.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp
from scipy.stats import qmc
from sklearn.neighbors import NearestNeighbors

from shoal._bounds import Box, given_bounds, public_box
from shoal._build import detached
from shoal._records import validate_records
from shoal._typing import Bools, Floats
from shoal.density import place_cells
from shoal.exceptions import DataError, ParameterError
from shoal.remap import Cloud, geometric_medians, squared_distances

__all__ = [
    "ColumnErrors",
    "ColumnGuesses",
    "ColumnTask",
    "Guesses",
    "Prior",
    "best_guesses",
    "channel_of",
    "even_candidates",
    "guess_column",
    "log_densities",
    "log_densities_of_column",
    "log_weights_from_centers",
    "log_weights_from_table",
    "nearness",
    "normalized",
    "public_table",
    "released_points",
    "row_blocks",
]

BLOCK_VALUES = 1 << 22  # weights of candidates at a time
TIE = 1e-6
MIN_CELLS = 4  # to a column, for a grid; coarser ones leave gaps, and a sequence spreads better


class Prior(NamedTuple):
    """What the attacker takes for possible before any report, and the logarithms of its weights."""

    points: Floats
    log_weights: Floats

    @classmethod
    def of_table(cls, table: Floats) -> "Prior":
        """Take the rows of a table; repeated rows weigh more."""
        points, counts = np.unique(table, axis=0, return_counts=True)
        return cls(points, np.log(counts / len(table)))


class Guesses(NamedTuple):
    """Best guesses for several reports, and how far off the posterior itself expects them to be."""

    means: Floats
    medians: Floats
    nearby: Floats  # the candidate with the most weight within the radius
    likeliest: Floats
    expected_squares: Floats
    expected_distances: Floats


def channel_of(mechanism: Any, columns: int, *, random_state: int | None) -> tuple[Any, Box]:
    """Copy a mechanism without its ledger, and read its public box."""
    if not (hasattr(mechanism, "log_density") and hasattr(mechanism, "transform")):
        raise ParameterError(
            "mechanism must have transform and log_density, as those of shoal.mechanisms, got "
            f"{type(mechanism).__name__}"
        )
    copy = detached(mechanism, seed=random_state)
    return copy, public_box(given_bounds(mechanism), columns)


def public_table(prior: Any, columns: int) -> Floats:
    """Check the public records that an attacker has."""
    try:
        table = validate_records(prior)
    except DataError as error:
        raise ParameterError(f"prior must be a table as X is: {error}") from None
    if table.shape[1] != columns:
        raise ParameterError(f"prior must have the {columns} columns of X, got {table.shape[1]}")
    return table


def even_candidates(box: Box, count: int) -> Prior:
    """Spread candidates evenly over the public box."""
    columns = len(box.low)
    cells = math.floor(count ** (1 / columns) + 1e-9)
    if cells >= MIN_CELLS or columns == 1:
        side = (np.arange(cells) + 0.5) / cells
        grid = np.meshgrid(*[side] * columns, indexing="ij")
        units = np.stack([axis.ravel() for axis in grid], axis=1)
    else:
        units = qmc.Halton(columns, scramble=False).random(count + 1)[1:]  # the first is a corner
    points = box.low + units * (box.high - box.low)
    return Prior(points, np.full(len(points), -math.log(len(points))))


def row_blocks(rows: int, candidates: int) -> Iterator[slice]:
    """Cut reports into blocks whose weights of all candidates fit memory."""
    step = max(1, BLOCK_VALUES // candidates)
    for start in range(0, rows, step):
        yield slice(start, min(rows, start + step))


def log_densities(mechanism: Any, reports: Floats, points: Floats, box: Box) -> Floats:
    """Return the log-density of each report given each candidate, shape (n, m)."""
    # The mechanism clips records before anything else.
    inside = np.clip(points, box.low, box.high)
    # One call for each candidate: some distributions cost more to set up than to evaluate.
    return np.stack([mechanism.log_density(reports, place) for place in inside], axis=1)


def normalized(logs: Floats, log_prior: Floats) -> Floats:
    """Return posterior weights, rows of sum 1; the prior where no candidate explains the report."""
    logs = logs + log_prior
    best = logs.max(axis=1, keepdims=True)
    unexplained = np.isneginf(best[:, 0])
    logs[unexplained] = log_prior if log_prior.ndim == 1 else log_prior[unexplained]
    best[unexplained] = logs[unexplained].max(axis=1, keepdims=True)
    weights: Floats = np.exp(logs - best)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def nearness(distances: Floats, radius: float) -> Floats:
    """Return about 1 within the radius, most for the nearest so that no guesses tie, else 0."""
    near: Floats = np.where(distances <= radius, 1.0 - TIE * distances / radius, 0.0)
    return near


def best_guesses(weights: Floats, points: Floats, *, radius: float, scale: float) -> Guesses:
    """Make the best guess of every kind from posterior weights."""
    middle = points.mean(axis=0)
    around = points - middle  # near zero: large common parts would cancel badly
    means = weights @ around
    medians = geometric_medians([Cloud(weights, around)], means, scale=scale)
    near = nearness(np.sqrt(squared_distances(around, around)), radius)
    squares = squared_distances(means, around)
    distances = np.sqrt(squared_distances(medians, around))
    return Guesses(
        means + middle,
        medians + middle,
        points[(weights @ near).argmax(axis=1)],
        points[weights.argmax(axis=1)],
        np.einsum("ij,ij->i", weights, squares),
        np.einsum("ij,ij->i", weights, distances),
    )


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
        """Return the mean absolute error."""
        return float(self.error.mean())

    def share_near(self) -> float:
        """Return the share of records guessed near."""
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
    """Guess one column of each record."""
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
    """Return the log-density of each report for every value of one column, shape (n, v)."""
    inside = np.clip(records, box.low, box.high)
    logs = np.empty((len(records), len(values)))
    for index, value in enumerate(values):
        inside[:, column] = value
        logs[:, index] = mechanism.log_density(reports, inside)
    # A report that no value explains says nothing.
    logs[np.isneginf(logs).all(axis=1)] = 0.0
    return logs


def released_points(values: Mapping[str, Any], columns: int) -> tuple[Floats, Floats]:
    """Read points and sizes from a release: centers, or midpoints of significant cells."""
    if "centers" in values:
        centers = np.reshape(np.asarray(values["centers"], dtype=np.float64), (-1, columns))
        sizes = np.asarray(values.get("sizes", np.ones(len(centers))), dtype=np.float64)
        return centers, sizes
    low, high = (np.asarray(values[name], dtype=np.float64) for name in ("low", "high"))
    starts, ends = place_cells(values)
    midpoints: Floats = low + (starts + ends) / 2 * (high - low)
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
    """Weigh the values of one column by a mixture around released points, shape (n, v)."""
    if len(points) == 0:
        return np.zeros((len(records), len(values)))
    unit = box.high - box.low
    known = np.arange(records.shape[1]) != column
    middle = (box.low + box.high) / 2
    points, people = (points - middle) / unit, (records - middle) / unit
    squares = squared_distances(people[:, known], points[:, known])
    log_sizes = np.log(np.maximum(sizes, FAINT))
    width = _width(squares, log_sizes, int(known.sum()))
    belongs = log_sizes - squares / (2 * width**2)
    offsets = (values - middle[column]) / unit[column] - points[:, column, None]
    logs = -(offsets**2) / (2 * width**2)
    peak = belongs.max(axis=1, keepdims=True)
    # Far from every center all terms underflow alike; tiny keeps the logarithm finite.
    mixed = np.exp(belongs - peak) @ np.exp(logs)
    log_weights: Floats = np.log(mixed + np.finfo(np.float64).tiny)
    return log_weights


def log_weights_from_table(table: Floats, records: Floats, column: int, values: Floats) -> Floats:
    """Weigh the values of one column by the rows of a public table like each record, (n, v)."""
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
    """Return the width of the clusters that makes the known columns of all records most likely."""
    if known == 0:
        return float(0.5 / len(log_sizes))
    likelihoods = [
        logsumexp(log_sizes - squares / (2 * width**2), axis=1).sum()
        - len(squares) * known * math.log(width)
        for width in WIDTHS
    ]
    return float(WIDTHS[int(np.argmax(likelihoods))])
