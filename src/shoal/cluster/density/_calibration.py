"""How prominent a peak must be: the whole way from counts to peaks, simulated again.

Which peaks are chance depends on the shape of the density: along a thin ridge there is one way from
peak to peak, and each draw breaks it somewhere; across a broad plateau there are many. So the
estimated density is taken for the truth, and drawn, made noisy and smoothed again (a smoothed
bootstrap, after Silverman 1981), once its least prominent peaks, which may be chance themselves,
are cut. What a peak of such a copy has beyond its prominence in the truth is chance: of the noise,
of the draw of the records, of the widths that were chosen. All of it is post-processing: the
density comes from the noisy counts, and no record is seen.

Copies of one density are not all that has one peak: a Gaussian cluster with as many records, as
concentrated, is simulated too, and the higher threshold counts. In a single column, where there is
one way only from peak to peak, so is an even stretch of records.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
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

__all__ = ["Chance", "laplace_variance", "simulate_chance"]

MAX_COPIES = 24  # a Gumbel distribution takes some dozens of maxima, ...
MIN_COPIES = 3  # ... of which a large grid gives several in each copy
CELLS = 1 << 17  # simulated in all, but for the least copies
CUT = 2.5  # standard deviations: peaks that are less prominent may well be chance
MIN_SPREAD = 1e-9  # of the box: of a Gaussian where nothing was found
TINY = float(np.finfo(np.float64).tiny)
SEED = 0


@dataclass(frozen=True)
class Chance:
    """Prominences by chance in simulated densities, from which any alpha gets its threshold."""

    simulated: list[Maxima]

    def threshold(self, alpha: float) -> float:
        """Return the prominence that chance reaches anywhere with probability alpha at most."""
        # Where copies have no second peak, there was still one that could have been: a normal draw.
        least = -NormalDist().inv_cdf(max(alpha / 2, TINY))
        return max(significance_threshold(self.simulated, alpha), least)


def simulate_chance(
    estimate: DensityEstimate,
    merges: Merges,
    cells: CellGraph,
    again: Callable[[Ints], DensityEstimate],
    *,
    scale: float,
) -> Chance:
    """Simulate how prominent peaks are by chance: most of the time of a fit.

    ``again`` estimates the density of other counts; ``scale`` is that of their discrete Laplace
    noise.
    """
    shapes = [np.maximum(cut_peaks(estimate, merges, CUT), 0.0), _one_cluster(estimate, cells)]
    if cells.dimensions == 1:
        shapes.append(_even_stretch(estimate, cells))
    return Chance(
        [
            _simulate(DensityEstimate(density, estimate.deviation), cells, again, scale)
            for density in shapes
        ]
    )


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
    # A Gaussian fills (4 pi spread^2)^(d / 2) of the box.
    spread = max(
        _filled_part(estimate, cells) ** (1 / cells.dimensions) / math.sqrt(4 * math.pi), MIN_SPREAD
    )
    peak = int(np.argmax(estimate.density))
    middle = (low[peak] + high[peak]) / 2
    within = special.ndtr((high - middle) / spread) - special.ndtr((low - middle) / spread)
    return _shared_out(within.prod(axis=1), estimate, cells)


def _even_stretch(estimate: DensityEstimate, cells: CellGraph) -> Floats:
    """Return the density of records spread evenly along a part of one column."""
    low, high = (corner[:, 0] for corner in cells.corners)
    half = max(_filled_part(estimate, cells), MIN_SPREAD) / 2
    held = np.maximum(estimate.density, 0.0) * cells.volumes
    mean = float((held * (low + high) / 2).sum()) / max(float(held.sum()), TINY)
    middle = min(max(mean, half), 1 - half)
    within = np.minimum(high, middle + half) - np.maximum(low, middle - half)
    return _shared_out(np.maximum(within, 0.0), estimate, cells)


def _filled_part(estimate: DensityEstimate, cells: CellGraph) -> float:
    """Return the part of the box that an even table as concentrated would fill."""
    density = np.maximum(estimate.density, 0.0)
    held = density * cells.volumes
    squares = float((held * density).sum()) * float(cells.volumes.sum())
    return min(float(held.sum()) ** 2 / max(squares, TINY), 1.0)


def _shared_out(shares: Floats, estimate: DensityEstimate, cells: CellGraph) -> Floats:
    """Return the density where the records of the estimate are shared out among the cells."""
    records = float((np.maximum(estimate.density, 0.0) * cells.volumes).sum())
    density: Floats = records * shares / max(float(shares.sum()), TINY) / cells.volumes
    return density


def _laplace(rng: np.random.Generator, scale: float, count: int) -> Ints:
    """Draw discrete Laplace noise for a simulation: it hides nothing."""
    stop = -math.expm1(-1 / scale)
    noise: Ints = rng.geometric(stop, size=count) - rng.geometric(stop, size=count)
    return noise


def laplace_variance(scale: float) -> float:
    """Return the variance of the discrete Laplace distribution."""
    stay = math.exp(-1 / scale)
    return 2 * stay / (1 - stay) ** 2 if stay else 0.0
