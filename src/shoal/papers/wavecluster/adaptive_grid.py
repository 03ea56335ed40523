"""The synthetic records of the source's Baseline: Qardaji, Yang & Li's adaptive grid (2013).

Counts of a coarse grid get half of epsilon, counts of finer parts the other half; the two are made
consistent; negative counts become 0, the rest is rounded and drawn evenly from each part.
"""

import math

import numpy as np

from shoal._typing import Floats, Ints
from shoal.exceptions import ParameterError

__all__ = ["adaptive_grid_records", "consistent_counts"]


COARSE_PART = 0.5  # of epsilon: alpha of Qardaji et al.
COARSE, FINE = 10.0, 5.0  # their c and c2: records times epsilon for a cell of each grid
MIN_SIDE = 10  # coarse cells a column
MAX_PARTS, MAX_RECORDS = 2**24, 2**26


def adaptive_grid_records(
    positions: Floats, epsilon: float, generator: np.random.Generator, *, side: int | None = None
) -> Floats:
    """Draw the synthetic records of the published Baseline, without any guarantee.

    Parameters
    ----------
    positions : ndarray of float64, shape (n, 2)
        Raw records, scaled to [0, 1].
    epsilon : float
        The epsilon that the source claims for it.
    generator : numpy.random.Generator
        Generator of the noise and of the records.
    side : int, default=None
        Number of coarse cells along each column. None takes max(10, sqrt(n epsilon / 10) / 4),
        which reads the number of records n without noise.

    Returns
    -------
    synthetic : ndarray of float64, shape (m, 2)
        Synthetic records in [0, 1].

    Raises
    ------
    ParameterError
        If epsilon is so large that there are too many parts, or so small that the noise yields too
        many records.

    Examples
    --------
    >>> import numpy as np
    >>> positions = np.full((1000, 2), 0.25)
    >>> drawn = adaptive_grid_records(positions, 10.0, np.random.default_rng(0))
    >>> abs(len(drawn) - 1000) < 50, bool(abs(np.median(drawn) - 0.25) < 0.1)
    (True, True)
    """
    coarse_epsilon, fine_epsilon = COARSE_PART * epsilon, (1 - COARSE_PART) * epsilon
    if side is None:
        side = max(MIN_SIDE, math.ceil(math.sqrt(len(positions) * epsilon / COARSE) / 4))
    cell = _cells(positions, side)
    owner = cell[:, 0] * side + cell[:, 1]
    coarse = np.bincount(owner, minlength=side**2) + generator.laplace(
        0.0, 1 / coarse_epsilon, side**2
    )
    sides = np.ceil(np.sqrt(np.maximum(coarse * fine_epsilon / FINE, 1.0))).astype(np.int64)
    _check("smaller", float((sides**2).sum()), MAX_PARTS, "parts", epsilon)
    first = np.concatenate([[0], np.cumsum(sides**2)])
    cut = sides[owner]
    inner = np.minimum(
        ((positions * side - cell) * cut[:, None]).astype(np.int64), cut[:, None] - 1
    )
    part = first[owner] + inner[:, 0] * cut + inner[:, 1]
    fine = np.bincount(part, minlength=first[-1]) + generator.laplace(
        0.0, 1 / fine_epsilon, first[-1]
    )
    estimate = consistent_counts(coarse, fine, sides**2)
    drawn = np.maximum(np.rint(estimate), 0.0)
    _check("larger", float(drawn.sum()), MAX_RECORDS, "synthetic records", epsilon)
    return _draw(drawn.astype(np.int64), side, sides, first, generator)


def consistent_counts(coarse: Floats, fine: Floats, parts: Ints) -> Floats:
    """Weigh each coarse count against the sum of its parts, and spread the difference evenly."""
    owner = np.repeat(np.arange(len(coarse)), parts)
    sums = np.bincount(owner, weights=fine, minlength=len(coarse))
    alpha, rest = COARSE_PART**2 * parts, (1 - COARSE_PART) ** 2
    best = (alpha * coarse + rest * sums) / (alpha + rest)
    estimate: Floats = fine + ((best - sums) / parts)[owner]
    return estimate


def _cells(positions: Floats, side: int) -> Ints:
    cells: Ints = np.minimum((positions * side).astype(np.int64), side - 1)
    return cells


def _draw(
    drawn: Ints, side: int, sides: Ints, first: Ints, generator: np.random.Generator
) -> Floats:
    """Place records evenly in their parts."""
    part = np.repeat(np.arange(len(drawn)), drawn)
    owner = np.searchsorted(first, part, side="right") - 1
    within, cut = part - first[owner], sides[owner]
    even = generator.random((len(part), 2))
    rows = (owner // side + (within // cut + even[:, 0]) / cut) / side
    columns = (owner % side + (within % cut + even[:, 1]) / cut) / side
    return np.column_stack([rows, columns])


def _check(way_out: str, wanted: float, most: int, what: str, epsilon: float) -> None:
    if wanted > most:
        raise ParameterError(
            f"epsilon must be {way_out} for the baseline on this table, got {epsilon!r}: "
            f"it asks for more than {most} {what}"
        )
