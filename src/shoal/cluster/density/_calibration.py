"""How prominent a peak must be: the whole way from counts to peaks, simulated without clusters.

Where records lie evenly, every peak of the estimate is chance: of the noise, of the draw of the
records, of the widths that were chosen. So patches of even density are simulated, drawn, made
noisy and smoothed like the counts themselves, for every density that the grid may hold: an even
table has one, a single cluster has all from that of its middle down to nothing. Each density can
fill as much of the grid as there are records for. All of it is public: the number of records is
declared or noisy, and no record is seen.
"""

import functools
import math

import numpy as np

from shoal._typing import Ints
from shoal.cluster.density._smoothing import smooth_counts
from shoal.density import GridCells, Maxima, find_merges, significance_threshold

__all__ = ["calibrate", "laplace_variance"]

PATCH_SIDES = {1: 1024, 2: 64, 3: 20, 4: 10}
RUNS = 24  # patches of each density
STEP = 4.0  # from one density to the next
SPARSE = 2  # steps below the density of an even table; and then no records at all
DIGITS = 2  # of the number of records: close ones share a simulation
SEED = 0


@functools.lru_cache(maxsize=64)
def _simulate(records: float, side: int, columns: int, scale: float) -> tuple[Maxima, ...]:
    """Return the largest prominences in patches of each density."""
    rng = np.random.default_rng(SEED)
    length = min(side, PATCH_SIDES[columns])
    cells = GridCells((length,) * columns)
    total = side**columns
    even = records / total
    most = math.log(max(total / cells.count, 1.0), STEP)
    steps = range(-SPARSE, max(math.ceil(most), 0) + 1)
    simulated = []
    for density in (0.0, *(even * STEP**step for step in steps)):
        filled = total if density <= even else records / density
        maxima = [_largest(rng, density, cells, scale) for _ in range(RUNS)]
        simulated.append(Maxima(tuple(maxima), max(filled / cells.count, 1.0)))
    return tuple(simulated)


def calibrate(records: float, side: int, columns: int, scale: float, *, alpha: float) -> float:
    """Return the prominence that chance reaches anywhere with probability alpha at most.

    ``scale``: of the discrete Laplace noise of the counts.
    """
    digits = DIGITS - 1 - math.floor(math.log10(max(records, 1.0)))
    simulated = _simulate(round(max(records, 1.0), digits), side, columns, scale)
    return significance_threshold(list(simulated), alpha)


def _largest(rng: np.random.Generator, density: float, cells: GridCells, scale: float) -> float:
    counts = rng.poisson(density, size=cells.shape) + _laplace(rng, scale, cells.shape)
    estimate = smooth_counts(counts, laplace_variance(scale))
    return float(find_merges(estimate, cells.edges).prominence.max(initial=0.0))


def _laplace(rng: np.random.Generator, scale: float, shape: tuple[int, ...]) -> Ints:
    """Draw discrete Laplace noise for a simulation: it hides nothing."""
    stop = -math.expm1(-1 / scale)
    noise: Ints = rng.geometric(stop, size=shape) - rng.geometric(stop, size=shape)
    return noise


def laplace_variance(scale: float) -> float:
    """Return the variance of the discrete Laplace distribution."""
    stay = math.exp(-1 / scale)
    return 2 * stay / (1 - stay) ** 2 if stay else 0.0
