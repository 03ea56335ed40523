"""Where the values of a column end, from two noisy histograms.

The first counts values between powers of two, by sign, as ``DPKMeans(bounds="private")`` does: it
finds their magnitude without knowing anything. The second has 32 equal bins between those, and
bins at either end that hold hardly more than noise are left out. A private quantile would need
bounds to begin with, and powers of two alone are wide: years from 1950 to 2020 lie between 1024 and
2048. Adjacency: add or remove one person, who adds at most ``contribution`` values, each to one bin
of either histogram (proofs/partitions.md).
"""

import numpy as np

from shoal._typing import Floats, Ints
from shoal.cluster._noise import BudgetedNoise
from shoal.cluster.kmeans._private_bounds import FALSE_BINS, filled_bins
from shoal.engines import magnitude_counts, magnitude_edges
from shoal.noise import RandomSource

__all__ = ["release_ends", "up_to_zero"]

BINS = 32  # between the powers of two
SURE = 2.0  # deviations: to leave an empty bin in costs little, to clip filled ones more
MAX_CLIPPED = 0.02  # of all values at each end, about: where noise is larger than that, bins stay
SMALLEST = 2.0**-40  # magnitudes below are 0
NEAR_ZERO = 1 / 8  # of the other end: an end so close to 0 is 0


def release_ends(
    values: Floats,
    noise: BudgetedNoise,
    budget: float,
    *,
    contribution: int,
    source: RandomSource,
) -> tuple[float, float] | None:
    """Return the ends of the values at the cost of ``budget``; None where too few are there."""
    half = budget / 2
    exact = magnitude_counts(values[:, None])[0]
    noisy = noise.counts(exact, half, contribution=contribution, source=source)
    filled = filled_bins(
        noisy,
        noise.count_tail(half, FALSE_BINS / len(noisy), contribution=contribution),
        noise.count_tail(half, FALSE_BINS / 2, contribution=contribution),
    )
    # Without a bin that is surely filled the second release is made all the same, of [0, 1].
    edges = magnitude_edges()
    ends = (0.0, 1.0) if filled is None else up_to_zero(edges[filled[0]], edges[filled[1] + 1])
    exact = _histogram(values, *ends)
    noisy = noise.counts(exact, half, contribution=contribution, source=source)
    if filled is None:
        return None
    return _trimmed(noisy, *ends, noise.count_deviation(half, contribution=contribution))


def up_to_zero(low: float, high: float) -> tuple[float, float]:
    """Set an end to 0 that is close to 0 beside the other, or an end of the bin of 0."""
    if -SMALLEST <= low <= NEAR_ZERO * high:
        low = 0.0
    if NEAR_ZERO * low <= high <= SMALLEST:
        high = 0.0
    return (float(low), float(high)) if low < high else (0.0, 1.0)


def _histogram(values: Floats, low: float, high: float) -> Ints:
    """Count the values in equal bins; those beyond an end are in the bin beside it."""
    positions = np.clip((values - low) / (high - low) * BINS, 0, BINS - 1).astype(np.int64)
    return np.bincount(positions, minlength=BINS)


def _trimmed(noisy: Ints, low: float, high: float, deviation: float) -> tuple[float, float]:
    """Move both ends inwards past bins that together hold hardly more than noise."""
    tails = SURE * deviation * np.sqrt(np.arange(1, BINS + 1))
    tails = np.minimum(tails, MAX_CLIPPED * max(int(noisy.sum()), 0))
    first, last = (
        int(above.argmax()) if above.any() else 0
        for above in (np.cumsum(noisy) > tails, np.cumsum(noisy[::-1]) > tails)
    )
    if first + last >= BINS:
        return low, high
    edges = np.linspace(low, high, BINS + 1)
    return float(edges[first]), float(edges[BINS - last])
