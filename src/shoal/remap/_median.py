"""Geometric medians of many weighted sets of points (Weiszfeld's iteration)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shoal._typing import Floats
from shoal.remap._distances import squared_distances

__all__ = ["Cloud", "geometric_medians"]


MAX_ITER = 100
PRECISION = 1e-3  # of `scale`: when every median moves less, all have arrived


class Cloud(NamedTuple):
    """Points that all rows share, up to a shift of each row's own.

    Parameters
    ----------
    weights : ndarray of float64, shape (n, m)
        A set of weights in each row.
    points : ndarray of float64, shape (m, d)
        The points.
    shifts : ndarray of float64, shape (n, d), or None
        Added to the points in each row.
    """

    weights: Floats
    points: Floats
    shifts: Floats | None = None


def geometric_medians(clouds: Sequence[Cloud], start: Floats, *, scale: float) -> Floats:
    """Minimize the weighted sum of Euclidean distances to all clouds' points, row by row.

    Parameters
    ----------
    clouds : sequence of Cloud
        Points and weights.
    start : ndarray of float64, shape (n, d)
        Where to begin, such as the weighted means.
    scale : float
        A length that matters, such as the width of a cell; distances are smoothed at a thousandth
        of it, so that a median may lie on a point.

    Returns
    -------
    medians : ndarray of float64, shape (n, d)
        One for each row.
    """
    smooth = (PRECISION * scale) ** 2
    medians = start.copy()
    moving = np.arange(len(medians))
    for _ in range(MAX_ITER):
        here = medians[moving]
        there, total = np.zeros_like(here), np.zeros(len(here))
        for cloud in clouds:
            shift = np.zeros_like(here) if cloud.shifts is None else cloud.shifts[moving]
            # Near zero: large common parts would cancel badly.
            origin = cloud.points.mean(axis=0)
            squares = squared_distances(here - shift - origin, cloud.points - origin)
            pulls = cloud.weights[moving] / np.sqrt(squares + smooth)
            pull = pulls.sum(axis=1)
            there += pulls @ cloud.points + pull[:, None] * shift
            total += pull
        there /= total[:, None]
        medians[moving] = there
        moving = moving[np.abs(there - here).max(axis=1) > PRECISION * scale]
        if len(moving) == 0:
            break
    return medians
