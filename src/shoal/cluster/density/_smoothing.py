"""The density behind noisy counts of a grid: fine where there is much signal, coarse elsewhere.

Each cell's noisy count is spread by a Gaussian kernel of its own width: the narrowest with which
the density there stands out clearly from its own error, of which noise and the chance of the draw
are both known (a sample-point estimator, after Breiman, Meisel & Purcell 1977). Crowds keep their
edges and the valleys between them stay empty, for what is spread widely holds next to nothing.
Sums of the noisy cells are free, so all widths come from one release: post-processing.
"""

import functools
import math

import numpy as np
from scipy import ndimage

from shoal._typing import Floats, Ints
from shoal.density import DensityEstimate

__all__ = ["NARROWEST", "kernel_cells", "smooth_counts"]

NARROWEST = 0.7  # cells: standard deviation of the narrowest kernel
GROWTH = math.sqrt(2.0)  # from one kernel to the next
WIDEST_PART = 1 / 8  # of the grid's side: standard deviation of the widest kernel
MAX_WIDTH = 24.0  # cells
CLEAR = 6.0  # standard deviations that a density must have to need no wider kernel
# Laplace noise has heavier tails than a normal draw: beyond CLEAR deviations, a mean must exceed
# what a single cell adds to it (Bernstein's bound has CLEAR^2 / 2 scales; half of it is enough).
OUTLIER = CLEAR**2 / 4
CUT = 3.0  # standard deviations at which a kernel ends


def smooth_counts(counts: Ints, noise_variance: float | Floats) -> DensityEstimate:
    """Estimate the records per cell, and the standard deviation of each estimate.

    ``noise_variance``: of every count, or of each.
    """
    values = counts.astype(np.float64)
    widths = _widths(min(counts.shape))
    # Narrowest kernel first: a cell keeps the first with which it is clear.
    chosen = np.full(counts.shape, len(widths) - 1)
    undecided = np.ones(counts.shape, dtype=np.bool_)
    variances = []
    outlier = OUTLIER * np.sqrt(np.asarray(noise_variance) / 2)
    for index, width in enumerate(widths):
        smooth = _spread(values, width)
        variance = np.maximum(smooth, 0.0) + noise_variance
        variances.append(variance)
        error = np.sqrt(variance * _inverse_cells(width, counts.shape))
        clear = undecided & (smooth >= CLEAR * error + outlier * _top_weight(width, counts.ndim))
        chosen[clear] = index
        undecided &= ~clear
    density = np.zeros(counts.shape)
    squares = np.zeros(counts.shape)
    for index, width in enumerate(widths):
        mine = chosen == index
        if mine.any():
            density += _spread(np.where(mine, values, 0.0), width)
            # The square of a Gaussian kernel is one that is narrower by sqrt(2).
            spread = _spread(np.where(mine, variances[index], 0.0), width / math.sqrt(2))
            squares += spread * _inverse_cells(width, counts.shape)
    floor = 1.0 / kernel_cells(widths[-1], counts.ndim)  # where all is empty and without noise
    return DensityEstimate(density.ravel(), np.sqrt(np.maximum(squares.ravel(), floor)))


@functools.lru_cache(maxsize=256)
def kernel_cells(width: float, dimensions: int) -> float:
    """Return how many cells the mean under a kernel is of: one over the sum of its squares."""
    size = 2 * math.ceil(CUT * width) + 3
    impulse = np.zeros(2 * size + 1)
    impulse[size] = 1.0
    kernel = ndimage.gaussian_filter1d(impulse, width, truncate=CUT)
    return float(1 / (kernel**2).sum()) ** dimensions


def _inverse_cells(width: float, shape: tuple[int, ...]) -> Floats:
    """Return one over the number of cells that each mean is of: they are fewer at a border."""
    inverse = np.ones(())
    for side in shape:
        inverse = inverse[..., None] * _inverse_along(width, side)
    return inverse


@functools.lru_cache(maxsize=256)
def _inverse_along(width: float, side: int) -> Floats:
    reach = math.ceil(CUT * width) + 1
    length = min(side, 4 * reach)
    weights = ndimage.gaussian_filter1d(np.eye(length), width, axis=0, truncate=CUT, mode="reflect")
    squares: Floats = (weights**2).sum(axis=1)
    middle = np.full(side - length, squares[length // 2])
    return np.concatenate([squares[: length // 2], middle, squares[length // 2 :]])


@functools.lru_cache(maxsize=256)
def _top_weight(width: float, dimensions: int) -> float:
    """Return the weight of a kernel's own cell."""
    size = math.ceil(CUT * width) + 1
    impulse = np.zeros(2 * size + 1)
    impulse[size] = 1.0
    return float(ndimage.gaussian_filter1d(impulse, width, truncate=CUT)[size]) ** dimensions


@functools.lru_cache(maxsize=256)
def _widths(side: int) -> tuple[float, ...]:
    widest = min(max(side * WIDEST_PART, NARROWEST), MAX_WIDTH)
    steps = math.floor(math.log(widest / NARROWEST) / math.log(GROWTH) + 1e-9)
    return tuple(NARROWEST * GROWTH**step for step in range(steps + 1))


def _spread(values: Floats, width: float) -> Floats:
    smooth: Floats = ndimage.gaussian_filter(values, width, truncate=CUT, mode="reflect")
    return smooth
