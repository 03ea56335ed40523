"""Bounds learned from the records under a budget of their own.

Each column is counted in bins between powers of two, by sign; the bins of the noisy counts that
noise alone would hardly reach, and fuller ones beside them, say between which powers of two the
column lies. One record is in one bin of each column, so each column costs the budget over the
number of columns.
"""

import numpy as np
import numpy.typing as npt

from shoal._bounds import Box
from shoal._typing import Floats, Ints
from shoal.cluster._noise import BudgetedNoise
from shoal.engines import StreamTable, magnitude_counts, magnitude_edges
from shoal.noise import RandomSource
from shoal.tables import ArrayTable

__all__ = ["FALSE_BINS", "filled_bins", "private_box"]


FALSE_BINS = 0.01  # probability that noise alone puts any bin above the threshold


def private_box(
    X: Floats | ArrayTable | StreamTable,
    weights: npt.NDArray[np.int32] | None,
    noise: BudgetedNoise,
    budget: float,
    *,
    contribution: int,
    source: RandomSource,
) -> Box:
    """Find a box that holds nearly all records."""
    exact = magnitude_counts(X, weights)
    columns = len(exact)
    per_column = budget / columns
    # A record is in one bin of each column, so each column is a release of its own.
    noisy = np.stack(
        [noise.counts(row, per_column, contribution=contribution, source=source) for row in exact]
    )
    threshold = noise.count_tail(per_column, FALSE_BINS / noisy.size, contribution=contribution)
    beside = noise.count_tail(per_column, FALSE_BINS / (2 * columns), contribution=contribution)
    edges = magnitude_edges()
    low, high = np.empty(columns), np.empty(columns)
    for column, counts in enumerate(noisy):
        filled = filled_bins(counts, threshold, beside)
        if filled is not None:
            low[column], high[column] = edges[filled[0]], edges[filled[1] + 1]
        else:
            # Too few records to be sure of any bin: both signs, up to the likeliest magnitude.
            middle = len(counts) // 2
            magnitude = counts[middle:] + counts[middle::-1]
            magnitude[0] = counts[middle]  # zero has no sign: its bin would count twice
            high[column] = edges[middle + magnitude.argmax() + 1]
            low[column] = -high[column]
    return Box(low, high)


def filled_bins(counts: Ints, threshold: float, beside: float) -> tuple[int, int] | None:
    """Return the first and the last bin above the threshold, and fuller ones beside; or None."""
    filled = np.flatnonzero(counts > threshold)
    if not filled.size:
        return None
    # Tails are beside what is full: with few bins to be wrong about, fewer records will do.
    first, last = int(filled[0]), int(filled[-1])
    while first > 0 and counts[first - 1] > beside:
        first -= 1
    while last + 1 < len(counts) and counts[last + 1] > beside:
        last += 1
    return first, last
