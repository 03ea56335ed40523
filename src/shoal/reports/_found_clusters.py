"""What every way of finding clusters behind reports is asked, and what it answers."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from shoal._bounds import Box
from shoal._typing import Floats, Ints, Labels

__all__ = ["FindClusters", "FoundClusters", "Settings"]


class Settings(NamedTuple):
    """Checked parameters of the estimator, and how often each report came.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    n_init : int
        Restarts of k-means.
    max_iter : int or None
        Updates of the mixture; None leaves it to the method.
    confidence : float
        Level of the radii.
    counts : ndarray of int64, default=None
        How often each report came, where some came several times; None for once each.
    trim : float or None
        Share of the records, as estimated, that centers leave out where devices may lie; None
        where all are trusted.
    """

    n_clusters: int
    n_init: int
    max_iter: int | None
    confidence: float
    counts: Ints | None = None
    trim: float | None = None


@dataclass(frozen=True, eq=False)
class FoundClusters:
    """Clusters of records, found from their reports.

    Parameters
    ----------
    start : str
        Where the centers came from.
    centers : ndarray of float64, shape (k, d)
        Within the box of the records.
    weights : ndarray of float64, shape (k,)
        Shares of the records.
    covariances : ndarray of float64, shape (k, d, d)
        Of the records, without the noise.
    radii : ndarray of float64, shape (k,)
        Around the centers.
    labels : ndarray of int32, shape (n,)
        Cluster of each report.
    log_likelihood : ndarray of float64
        Before each update of the mixture, where one is fitted.
    better_than_blind : bool
        Whether held-out reports tell the result from points spread over the box.
    """

    start: str
    centers: Floats
    weights: Floats
    covariances: Floats
    radii: Floats
    labels: Labels
    log_likelihood: Floats
    better_than_blind: bool


class FindClusters(Protocol):
    """Find the clusters of records in a box behind reports of a mechanism."""

    def __call__(
        self,
        reports: Floats,
        mechanism: Any,
        box: Box,
        settings: Settings,
        rng: np.random.RandomState,
    ) -> FoundClusters:
        """Return them; the mechanism was checked, and draws and spends nothing."""
