"""How prominent a peak must be: the whole way from counts to peaks, simulated again.

Which peaks are chance depends on the shape of the density: along a thin ridge there is one way from
peak to peak, and each draw breaks it somewhere; across a broad plateau there are many. So the
estimated density is taken for the truth, and drawn, made noisy and smoothed again (a smoothed
bootstrap, after Silverman 1981), once its least prominent peaks, which may be chance themselves,
are cut. What a peak of such a copy has beyond its prominence in the truth is chance: of the noise,
of the draw of the records, of the widths that were chosen. All of it is post-processing: the
density comes from the noisy counts, and no record is seen.

Copies of one density are not all that has one peak: a Gaussian cluster with as many records, as
concentrated, is simulated too, and the higher threshold counts.
"""

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from scipy import special

from shoal._typing import Floats, Ints
from shoal.density import (
    CellGraph,
    DensityEstimate,
    Maxima,
    Merges,
    chance_prominence,
    cut_peaks,
    find_merges,
    significance_threshold,
)

__all__ = ["calibrate", "laplace_variance"]

MAX_COPIES = 24  # a Gumbel distribution takes some dozens of maxima, ...
MIN_COPIES = 3  # ... of which a large grid gives several in each copy
CELLS = 1 << 17  # simulated in all, but for the least copies
CUT = 2.5  # standard deviations: peaks that are less prominent may well be chance
MIN_SPREAD = 1e-9  # of the box: of a Gaussian where nothing was found
SEED = 0


def calibrate(
    estimate: DensityEstimate,
    merges: Merges,
    cells: CellGraph,
    again: Callable[[Ints], DensityEstimate],
    *,
    scale: float,
    alpha: float,
) -> float:
    """Return the prominence that chance reaches anywhere with probability alpha at most.

    ``again`` estimates the density of other counts; ``scale`` is that of their discrete Laplace
    noise.
    """
    own = np.maximum(cut_peaks(estimate, merges, CUT), 0.0)
    simulated = [
        _simulate(DensityEstimate(density, estimate.deviation), cells, again, scale)
        for density in (own, _one_cluster(estimate, cells))
    ]
    # Where copies have no second peak, there was still one that could have been: a normal draw.
    least = -NormalDist().inv_cdf(max(alpha / 2, np.finfo(np.float64).tiny))
    return max(significance_threshold(simulated, alpha), least)


def _simulate(
    truth: DensityEstimate, cells: CellGraph, again: Callable[[Ints], DensityEstimate], scale: float
) -> Maxima:
    """Return the largest prominences by chance in copies of a density."""
    rng = np.random.default_rng(SEED)
    true_merges = find_merges(truth, cells.edges)
    records = truth.density * cells.volumes
    copies = min(max(CELLS // cells.count, MIN_COPIES), MAX_COPIES)
    groups = math.ceil(MAX_COPIES / copies)
    maxima = []
    for _ in range(copies):
        copy = again(rng.poisson(records) + _laplace(rng, scale, cells.count))
        found = find_merges(copy, cells.edges)
        chance = chance_prominence(copy, found, truth, true_merges)
        # Every so many-th merge, in falling density: groups that are alike.
        maxima += [float(chance[group::groups].max(initial=0.0)) for group in range(groups)]
    return Maxima(maxima, groups)


def _one_cluster(estimate: DensityEstimate, cells: CellGraph) -> Floats:
    """Return the density of a Gaussian at the highest peak, as concentrated as the estimate."""
    low, high = cells.corners
    density = np.maximum(estimate.density, 0.0)
    held = density * cells.volumes
    whole = cells.volumes.sum()
    squares = max(float((held * density).sum()), np.finfo(np.float64).tiny)
    part = held.sum() ** 2 / (squares * whole)  # of the box that an even table would fill
    # A Gaussian fills (4 pi spread^2)^(d / 2) in this sense.
    spread = max(part ** (1 / cells.dimensions) / math.sqrt(4 * math.pi), MIN_SPREAD)
    peak = int(np.argmax(density))
    middle = (low[peak] + high[peak]) / 2
    within = special.ndtr((high - middle) / spread) - special.ndtr((low - middle) / spread)
    shares = within.prod(axis=1)
    records = held.sum() * shares / max(float(shares.sum()), np.finfo(np.float64).tiny)
    return np.asarray(records / cells.volumes, dtype=np.float64)


def _laplace(rng: np.random.Generator, scale: float, count: int) -> Ints:
    """Draw discrete Laplace noise for a simulation: it hides nothing."""
    stop = -math.expm1(-1 / scale)
    noise: Ints = rng.geometric(stop, size=count) - rng.geometric(stop, size=count)
    return noise


def laplace_variance(scale: float) -> float:
    """Return the variance of the discrete Laplace distribution."""
    stay = math.exp(-1 / scale)
    return 2 * stay / (1 - stay) ** 2 if stay else 0.0
