"""Balls that hold a normal vector with a given probability."""

import numpy as np
from scipy.stats import chi2

from shoal._typing import Floats

__all__ = ["ball_radii"]


def ball_radii(covariances: Floats, confidence: float) -> Floats:
    """Return the radius around the mean that each normal vector stays within.

    The squared length is a weighted sum of squares, taken as a multiple of a chi-squared variable
    with the same mean and variance (Satterthwaite 1946): exact for round covariances.

    Parameters
    ----------
    covariances : ndarray of float64, shape (k, d, d)
        Covariances.
    confidence : float
        Probability of lying inside.

    Returns
    -------
    radii : ndarray of float64, shape (k,)
        Infinite where there is no finite positive covariance.
    """
    traces = np.einsum("kaa->k", covariances)
    squares = np.einsum("kab,kab->k", covariances, covariances)
    known = np.isfinite(traces) & (traces > 0)
    radii = np.full(len(covariances), np.inf)
    degrees = traces[known] ** 2 / squares[known]
    radii[known] = np.sqrt(traces[known] / degrees * chi2.ppf(confidence, degrees))
    return radii
