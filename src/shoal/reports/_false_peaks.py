"""How prominent a peak must be: densities with fewer peaks, drawn and estimated again.

Take all peaks of the estimate but the most prominent ones for chance, and cut them down to the
level at which they meet a higher one. Draw reports of that density through the channel, estimate
the density again, some dozen times: what is more prominent there than the peaks that were left is
chance, and so is what is no more prominent in the estimate itself. First all peaks but one are cut:
only where more than one peak of the estimate is above chance is there more than one cluster. Then
those that were not above chance are cut, which is how chance looks beside real peaks.
"""

from typing import NamedTuple

import numpy as np
from scipy import ndimage

from shoal._typing import Floats
from shoal.density import (
    DensityEstimate,
    GridCells,
    Maxima,
    Merges,
    find_merges,
    significance_threshold,
)
from shoal.reports._shape_density import ShapeEstimator

__all__ = ["Simulations", "cut_peaks", "simulate"]

RUNS = 24  # densities that are drawn and estimated again
MIN_PROMINENCE = 2.0  # standard deviations, where simulations show no chance peak at all
FLOOR = 0.1  # of the root mean square deviation: where hardly any record is, none is certain


class Simulations(NamedTuple):
    """A density without the peaks that are chance, drawn and estimated again."""

    estimate: DensityEstimate  # with the deviations that it has by chance
    merges: Merges
    maxima: Maxima  # largest prominences of peaks that are chance

    def threshold(self, alpha: float) -> float:
        """Return the prominence that a chance peak reaches with probability alpha at most."""
        return max(significance_threshold([self.maxima], alpha), MIN_PROMINENCE)

    def peaks(self, alpha: float) -> int:
        """Return how many peaks are above chance; the highest one always is."""
        return 1 + int((self.merges.prominence >= self.threshold(alpha)).sum())


def simulate(
    estimator: ShapeEstimator, density: Floats, reports: int, *, peaks: int, seed: int
) -> Simulations:
    """Take the most prominent peaks of a density for real, and simulate what chance adds."""
    rng = np.random.default_rng([seed, peaks])
    cells = GridCells(density.shape)
    # Which peaks are the most prominent, by the errors of a draw: about the square root.
    rough = np.sqrt(np.maximum(density, density.mean() * FLOOR)).ravel()
    merges = find_merges(DensityEstimate(density.ravel(), rough), cells.edges)
    null = cut_peaks(density.ravel(), merges, peaks).reshape(density.shape)
    drawn = [estimator.density(estimator.draw(null, reports, rng)) for _ in range(RUNS)]
    variance = ndimage.gaussian_filter(
        np.var(drawn, axis=0, ddof=1), estimator.width, mode="reflect"
    )
    floor = FLOOR * np.sqrt(variance.mean())
    deviation = np.maximum(np.sqrt(variance), floor).ravel()
    estimate = DensityEstimate(density.ravel(), deviation)
    false = [_false(DensityEstimate(one.ravel(), deviation), cells, peaks) for one in drawn]
    found = find_merges(estimate, cells.edges)
    return Simulations(estimate, found, Maxima(false, 1.0))


def cut_peaks(density: Floats, merges: Merges, peaks: int) -> Floats:
    """Cut all peaks but the most prominent ones down to the pass to a higher one."""
    kept = np.zeros(len(merges.lower), dtype=np.bool_)
    kept[np.argsort(-merges.prominence, kind="stable")[: peaks - 1]] = True
    level = np.full(len(merges.peaks), np.inf)
    held = [[basin] for basin in range(len(merges.peaks))]
    real = np.zeros(len(merges.peaks), dtype=np.bool_)  # holds two peaks that are kept
    for index, (low, high) in enumerate(zip(merges.lower, merges.higher, strict=True)):
        if not (kept[index] or real[low]):
            level[held[low]] = np.minimum(level[held[low]], merges.passes[index])
        else:
            real[high] = True
        held[high] += held[low]
    cut: Floats = np.minimum(density, level[merges.basin])
    return cut


def _false(estimate: DensityEstimate, cells: GridCells, peaks: int) -> float:
    """Return the largest prominence beside those of the real peaks."""
    prominence = np.sort(find_merges(estimate, cells.edges).prominence)[::-1]
    return float(prominence[peaks - 1]) if len(prominence) >= peaks else 0.0
