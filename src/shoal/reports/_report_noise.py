"""The noise of reports as a Gaussian scale mixture: what the estimators need to know of it.

The d-dimensional Laplace distribution is one: with s ~ Gamma((d+1)/2, scale 2/epsilon^2) and z | s
~ N(x, s I), z has density proportional to e^(-epsilon ||z - x||). A few quadrature nodes for s
stand for the distribution. Piecewise is taken by its variance at the record, as one Gaussian. The
reports of the others are biased (SquareWave), lie on a few points (Duchi, Hybrid) or leave columns
out: their distributions are those of _report_distributions.py.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import roots_genlaguerre
from scipy.stats import chi2

from shoal._bounds import Box
from shoal._report_channel import refuse_unknown_noise
from shoal._typing import Floats
from shoal.reports.gaussian_channel import GaussianChannel

__all__ = ["ReportNoise", "ball_radii", "checked_copy", "report_noise", "scale_nodes"]

NODES = 6  # of the quadrature: the next digit of the density would need many more


@dataclass(frozen=True, eq=False)
class ReportNoise:
    """Noise with mean zero whose size is the product of a random factor and a known variance.

    Parameters
    ----------
    mechanism : Mechanism or GaussianChannel
        Whose noise it is; a copy of the caller's, which draws and spends nothing.
    factors : ndarray of float64, shape (j,)
        Values of the random factor, with mean 1.
    weights : ndarray of float64, shape (j,)
        Their probabilities.
    radial : bool
        Whether the noise is the same at every record, in all directions.
    """

    mechanism: Any
    factors: Floats
    weights: Floats
    radial: bool

    def variances(self, means: Floats) -> Floats:
        """Noise variances at some records, for each factor: shape (j, k, d)."""
        each = np.asarray(self.mechanism.variance(means), dtype=np.float64)
        variances: Floats = self.factors[:, None, None] * each
        return variances

    def spread(self, box: Box) -> Floats:
        """Return the largest standard deviation of a report, a column each."""
        middle = box.low / 2 + box.high / 2
        points = np.stack([box.low, middle, box.high])
        spread: Floats = np.sqrt(np.asarray(self.mechanism.variance(points)).max(axis=0))
        return spread


def report_noise(mechanism: Any, columns: int, *, biased: bool = False) -> ReportNoise:
    """Describe the noise of a mechanism; biased reports are of use to those who ask for them."""
    one = np.ones(1)
    if isinstance(mechanism, GaussianChannel):
        return ReportNoise(mechanism, one, one, radial=False)
    refuse_unknown_noise(mechanism, biased=biased)
    copy = checked_copy(mechanism, columns)
    if mechanism.noise_kind != "radial":
        return ReportNoise(copy, one, one, radial=False)
    return ReportNoise(copy, *scale_nodes(columns, NODES), radial=True)


def checked_copy(mechanism: Any, columns: int) -> Any:
    """Return a copy of a mechanism for encoded records, which draws and spends nothing."""
    copy = mechanism.of_encoded().set_params(ledger=None)
    # The parameters are checked here, on a record that nobody has.
    return copy.fit(np.zeros((1, columns)))


def scale_nodes(columns: int, nodes: int) -> tuple[Floats, Floats]:
    """Return values of the random factor of radial noise, and their probabilities."""
    power = (columns - 1) / 2
    values, weights = roots_genlaguerre(nodes, power)
    return values / (power + 1), weights / math.gamma(power + 1)


def ball_radii(covariances: Floats, confidence: float) -> Floats:
    """Return the radius around the mean that each normal vector stays within.

    The squared length is a weighted sum of squares, taken as a multiple of a chi-squared variable
    with the same mean and variance (Satterthwaite 1946): exact for round covariances.
    """
    traces = np.einsum("kaa->k", covariances)
    known = np.isfinite(traces) & (traces > 0)
    radii = np.full(len(covariances), np.inf)
    shares = covariances[known] / traces[known][:, None, None]  # their squares stay finite
    degrees = 1.0 / np.einsum("kab,kab->k", shares, shares)
    radii[known] = np.sqrt(traces[known] / degrees * chi2.ppf(confidence, degrees))
    return radii
