"""What a report says about its record: the posterior over candidates under the known channel.

Nobody who sees only a report can guess better than from this posterior: its mean has the least
squared error, its geometric median the least distance, its mode is right most often.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import qmc

from shoal._bounds import Box, public_box
from shoal._records import validate_records
from shoal._typing import Floats
from shoal.audit._detached import detached
from shoal.exceptions import DataError, ParameterError
from shoal.remap import Cloud, geometric_medians, squared_distances

__all__ = [
    "Guesses",
    "Prior",
    "best_guesses",
    "channel_of",
    "even_candidates",
    "log_densities",
    "nearness",
    "normalized",
    "public_table",
    "row_blocks",
]


BLOCK_VALUES = 1 << 22  # weights of candidates at a time
TIE = 1e-6
MIN_CELLS = 4  # to a column, for a grid; coarser ones leave gaps, and a sequence spreads better


class Prior(NamedTuple):
    """What the attacker takes for possible before any report, and the logarithms of its weights."""

    places: Floats
    log_weights: Floats

    @classmethod
    def of_table(cls, table: Floats) -> "Prior":
        """Take the rows of a table; repeated rows weigh more."""
        places, counts = np.unique(table, axis=0, return_counts=True)
        return cls(places, np.log(counts / len(table)))


class Guesses(NamedTuple):
    """Best guesses for several reports, and how far off the posterior itself expects them to be."""

    means: Floats
    medians: Floats
    nearby: Floats  # the candidate with the most weight within the radius
    likeliest: Floats
    expected_squares: Floats
    expected_distances: Floats


def channel_of(mechanism: Any, columns: int, *, random_state: int | None) -> tuple[Any, Box]:
    """Copy a mechanism without its ledger, and read its public box.

    Parameters
    ----------
    mechanism : Mechanism
        Anything with ``transform``, ``log_density`` and ``bounds``.
    columns : int
        Number of columns of the records.
    random_state : int or None
        Seed of the copy.

    Returns
    -------
    channel : tuple of mechanism and Box
        The copy draws and spends on nobody's account.
    """
    if not (hasattr(mechanism, "log_density") and hasattr(mechanism, "transform")):
        raise ParameterError(
            "mechanism must have transform and log_density, as those of shoal.mechanisms, got "
            f"{type(mechanism).__name__}"
        )
    copy = detached(mechanism, seed=random_state)
    return copy, public_box(getattr(mechanism, "bounds", None), columns)


def public_table(prior: Any, columns: int) -> Floats:
    """Check the public records that an attacker has.

    Parameters
    ----------
    prior : array-like of shape (m, d)
        Records.
    columns : int
        Number of columns that they must have.

    Returns
    -------
    table : ndarray of float64, shape (m, d)
        Finite numbers.
    """
    try:
        table = validate_records(prior)
    except DataError as error:
        raise ParameterError(f"prior must be a table as X is: {error}") from None
    if table.shape[1] != columns:
        raise ParameterError(f"prior must have the {columns} columns of X, got {table.shape[1]}")
    return table


def even_candidates(box: Box, count: int) -> Prior:
    """Spread candidates evenly over the public box.

    Parameters
    ----------
    box : Box
        Where.
    count : int
        About how many: midpoints of equal cells, or, where these would be fewer than four to a
        column, points of Halton's sequence.

    Returns
    -------
    prior : Prior
        Of equal weights.
    """
    columns = len(box.low)
    cells = math.floor(count ** (1 / columns) + 1e-9)
    if cells >= MIN_CELLS or columns == 1:
        side = (np.arange(cells) + 0.5) / cells
        grid = np.meshgrid(*[side] * columns, indexing="ij")
        units = np.stack([axis.ravel() for axis in grid], axis=1)
    else:
        units = qmc.Halton(columns, scramble=False).random(count + 1)[1:]  # the first is a corner
    places = box.low + units * (box.high - box.low)
    return Prior(places, np.full(len(places), -math.log(len(places))))


def row_blocks(rows: int, candidates: int) -> Iterator[slice]:
    """Cut reports into blocks whose weights of all candidates fit memory."""
    step = max(1, BLOCK_VALUES // candidates)
    for start in range(0, rows, step):
        yield slice(start, min(rows, start + step))


def log_densities(mechanism: Any, reports: Floats, places: Floats, box: Box) -> Floats:
    """Log-density of each report given each candidate, shape (n, m)."""
    # The mechanism clips records before anything else.
    inside = np.clip(places, box.low, box.high)
    # One call for each candidate: some laws cost more to set up than to evaluate.
    return np.stack([mechanism.log_density(reports, place) for place in inside], axis=1)


def normalized(logs: Floats, log_prior: Floats) -> Floats:
    """Posterior weights, each row of sum 1; the prior where no candidate explains the report."""
    logs = logs + log_prior
    best = logs.max(axis=1, keepdims=True)
    unexplained = np.isneginf(best[:, 0])
    logs[unexplained] = log_prior if log_prior.ndim == 1 else log_prior[unexplained]
    best[unexplained] = logs[unexplained].max(axis=1, keepdims=True)
    weights: Floats = np.exp(logs - best)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def nearness(distances: Floats, radius: float) -> Floats:
    """1 within the radius, 0 beyond; a trace more for the nearest, or sure guesses would tie."""
    near: Floats = np.where(distances <= radius, 1.0 - TIE * distances / radius, 0.0)
    return near


def best_guesses(weights: Floats, places: Floats, *, radius: float, scale: float) -> Guesses:
    """Make the best guess of every kind from posterior weights.

    Parameters
    ----------
    weights : ndarray of float64, shape (n, m)
        Each row of sum 1.
    places : ndarray of float64, shape (m, d)
        Candidates.
    radius : float
        A guess this near counts as near.
    scale : float
        A length that matters; medians are exact to a thousandth of it.

    Returns
    -------
    guesses : Guesses
        One row for each row of weights.
    """
    middle = places.mean(axis=0)
    around = places - middle  # near zero: large common parts would cancel badly
    means = weights @ around
    medians = geometric_medians([Cloud(weights, around)], means, scale=scale)
    near = nearness(np.sqrt(squared_distances(around, around)), radius)
    squares = squared_distances(means, around)
    distances = np.sqrt(squared_distances(medians, around))
    return Guesses(
        means + middle,
        medians + middle,
        places[(weights @ near).argmax(axis=1)],
        places[weights.argmax(axis=1)],
        np.einsum("ij,ij->i", weights, squares),
        np.einsum("ij,ij->i", weights, distances),
    )
