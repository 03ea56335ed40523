"""A private relative of DBSCAN on the same noisy band: dense neighborhoods that touch."""

import math

import numpy as np
from scipy import ndimage

from shoal.cluster.wavecluster._deconvolve import significant
from shoal.cluster.wavecluster._oneshot import dense_values
from shoal.cluster.wavecluster._problem import Cells, WaveProblem

__all__ = ["density"]

CERTAINTY = 2.0  # standard deviations of a neighborhood's noise that its sum must exceed


def density(problem: WaveProblem, min_samples: int) -> Cells:
    """Keep the cells whose neighborhood holds enough records, beyond what noise would.

    Parameters
    ----------
    problem : WaveProblem
        Records and budget.
    min_samples : int
        Records that a cell and its neighbors, corners included, hold together.

    Returns
    -------
    cells : Cells
        Post-processing of the noisy band.
    """
    values = dense_values(problem)
    sums = values
    for axis in range(problem.columns):
        sums = ndimage.convolve1d(sums, np.ones(3), axis=axis, mode="constant")
    deviation = problem.noise.count_deviation(problem.share, unit=1)
    threshold = min_samples + CERTAINTY * deviation * math.sqrt(3.0**problem.columns)
    # An empty cell beside a crowd is not part of it: more likely than not, a record is there.
    scale = 1.0 / problem.share
    held = significant(values, scale=scale, share=0.0, signed=problem.band.signed).mask
    return Cells.of(sums, (sums >= threshold) & held, threshold)
