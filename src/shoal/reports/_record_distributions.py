"""Distributions of records as weighted points, and what reports say under them.

The k-means cost of centers is linear in the distribution of the records, so the centers of the best
estimate of that distribution are the best estimate of the centers.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from shoal._bounds import Box
from shoal._typing import Floats, Ints
from shoal.reports._mixture import Mixture, draw_records
from shoal.reports._report_noise import ReportNoise

__all__ = [
    "Expected",
    "PosteriorDraws",
    "RecordDistribution",
    "RecordDistributions",
    "nearest",
    "posterior_draws",
    "squared_distances",
]


@dataclass(frozen=True, eq=False)
class Expected:
    """Posterior means of a function of the record, for groups of equal reports.

    Parameters
    ----------
    means : ndarray of float64, shape (m,)
        One for each group.
    counts : ndarray of float64, shape (m,)
        Numbers of reports in the groups.
    """

    means: Floats
    counts: Floats

    @property
    def mean(self) -> float:
        """Return the mean over reports; of none, which say nothing, it is 0."""
        total = float(self.counts.sum())
        return float(self.counts @ self.means) / total if total else 0.0

    @property
    def standard_errors(self) -> float:
        """Return the mean over reports, in units of its standard error; of none, it is 0."""
        total, mean = float(self.counts.sum()), self.mean
        if mean == 0:
            return 0.0
        variance = float(self.counts @ (self.means - mean) ** 2) / max(1.0, total - 1.0)
        error = math.sqrt(variance / total)
        return mean / error if error else math.copysign(math.inf, mean)


@dataclass(frozen=True, eq=False)
class RecordDistribution(ABC):
    """Weighted points that stand for a distribution of records.

    Parameters
    ----------
    points : ndarray of float64, shape (m, d)
        Places of records.
    weights : ndarray of float64, shape (m,)
        Their probabilities, sum 1.
    width : ndarray of float64, shape (d,)
        Sides of the box around a point that its records are spread over.
    """

    points: Floats
    weights: Floats
    width: Floats

    @abstractmethod
    def expected(self, values: Floats) -> Expected:
        """Return posterior means of values at the points, given the reports."""

    def mixture(self, centers: Floats) -> Mixture:
        """Return shares, means and covariances of the points nearest to each center."""
        labels = nearest(self.points, centers)
        k = len(centers)
        shares = np.bincount(labels, self.weights, k)
        safe = np.maximum(shares, np.finfo(float).tiny)
        sums = [np.bincount(labels, self.weights * column, k) for column in self.points.T]
        means = np.where(shares[:, None] > 0, np.stack(sums, axis=1) / safe[:, None], centers)
        residuals = self.points - means[labels]
        weighted = self.weights[:, None] * residuals
        products = [weighted[labels == c].T @ residuals[labels == c] for c in range(k)]
        covariances = np.stack(products) / safe[:, None, None]
        covariances += np.diag(self.width**2 / 12)  # records spread within their cell
        shares = np.maximum(shares, 1e-12)
        return Mixture(shares / shares.sum(), means, covariances, np.empty(0))


@dataclass(frozen=True, eq=False)
class RecordDistributions:
    """Distributions of records behind all reports, and behind each half of them.

    The halves are independent, so that centers found from one can be judged by the other.

    Parameters
    ----------
    name : {"grid", "mixture"}
        How they were found.
    whole : RecordDistribution
        From all reports.
    halves : tuple of two RecordDistributions
        From the first and from the second half.
    misfit : float
        By how many standard errors reports of one half are explained worse by the distribution from
        the other half, seen through the noise, than by that half's reports themselves.
    log_evidence : float
        Logarithm of a mean of likelihood ratios: of reports of one half, under distributions from
        the other half over records that are spread evenly over the box.
    """

    name: str
    whole: RecordDistribution
    halves: tuple[RecordDistribution, RecordDistribution]
    misfit: float
    log_evidence: float


def nearest(points: Floats, centers: Floats) -> Ints:
    """Return the index of the nearest center of each point.

    Distances are found from products, which lose the digits of a box far from the origin: the
    origin is moved to the centers.
    """
    middle = centers.mean(axis=0)
    labels: Ints = pairwise_distances_argmin(points - middle, centers - middle)
    return labels


def squared_distances(points: Floats, centers: Floats) -> Floats:
    """Return squared distances from points to their nearest center."""
    gaps = points - centers[nearest(points, centers)]
    squares: Floats = np.einsum("ij,ij->i", gaps, gaps)
    return squares


MAX_DRAWS = 8  # for each report
MAX_POINTS = 40_000  # more reports than this get one draw each
FINEST = 1000.0  # parts of the box that a draw stands for: clusters of one draw have a size


@dataclass(frozen=True, eq=False)
class PosteriorDraws(RecordDistribution):
    """Equally many draws for each report, those of a report one after the other.

    Parameters
    ----------
    draws : int
        Draws for each report.
    """

    draws: int

    def expected(self, values: Floats) -> Expected:
        """Return means of values over the draws of each report."""
        means = values.reshape(-1, self.draws).mean(axis=1)
        return Expected(means, np.ones(len(means)))


def posterior_draws(
    reports: Floats,
    mixture: Mixture,
    distribution: ReportNoise,
    box: Box,
    rng: np.random.RandomState,
) -> PosteriorDraws:
    """Draw records behind reports, within the box."""
    draws = int(np.clip(MAX_POINTS // len(reports), 1, MAX_DRAWS))
    points = draw_records(reports, mixture, distribution, draws, rng)
    points = np.clip(points, box.low, box.high).reshape(-1, reports.shape[1])
    weights = np.full(len(points), 1.0 / len(points))
    return PosteriorDraws(points, weights, (box.high - box.low) / FINEST, draws)
