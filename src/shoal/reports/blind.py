"""What is known without any report: points spread over the box, and how to tell a result from it.

Where noise hides everything, an estimate still has centers. Whether they say anything about the
records is asked of reports that they were not found from: are these explained better by the
estimate than by records that are spread evenly over the box? The answer is a likelihood ratio, or a
mean of some. Where records are spread evenly its expectation is at most 1, so by Markov's
inequality it exceeds 20 with probability at most 5%, for any number of reports and any mechanism
(split likelihood ratio test: Wasserman, Ramdas & Balakrishnan 2020).
"""

import math
from typing import Any

import numpy as np
from scipy.stats import qmc

from shoal import _numbers
from shoal._bounds import Box, bounded_columns, public_box
from shoal._typing import Floats
from shoal.reports._record_distributions import RecordDistribution, squared_distances
from shoal.reports._starts import kmeans_centers

__all__ = [
    "FALSE_ALARM",
    "is_better_than_blind",
    "spread_centers",
    "spread_over_box",
    "spread_points",
]

FALSE_ALARM = 0.05  # probability of "better than blind" where records are spread evenly
MIN_POINTS_LOG2 = 12  # of the box that are clustered, ...
POINTS_PER_CENTER = 64  # ... and at least so many for each center
RESTARTS = 3


def spread_over_box(n_clusters: int, bounds: Any, *, columns: int | None = None) -> Floats:
    """Return centers that need no data: points spread evenly over the box.

    They are the k-means centers of evenly spread points, always the same ones. They are a baseline:
    centers that are no better than these have learned nothing from the reports.

    Parameters
    ----------
    n_clusters : int
        Number of centers.
    bounds : tuple (low, high) or Ball
        Public box: two numbers, or one value per column in each.
    columns : int, default=None
        Number of columns; None takes that of the bounds, one if they are two numbers.

    Returns
    -------
    centers : ndarray of shape (n_clusters, columns)
        Centers in the box, with the least k-means cost for evenly spread records.

    See Also
    --------
    NoiseAwareKMeans : Its ``better_than_blind_`` tells whether its centers are better than these.

    Examples
    --------
    >>> from shoal.reports import spread_over_box
    >>> sorted(spread_over_box(2, (0.0, 1.0)).ravel().round(2).tolist())
    [0.25, 0.75]
    """
    k = _numbers.count("n_clusters", n_clusters)
    if columns is not None:
        columns = _numbers.count("columns", columns)
    return spread_centers(k, public_box(bounds, columns or bounded_columns(bounds, default=1)))


def spread_centers(k: int, box: Box) -> Floats:
    """Return centers spread over a checked box."""
    size = max(MIN_POINTS_LOG2, math.ceil(math.log2(POINTS_PER_CENTER * k)))
    return kmeans_centers(spread_points(2**size, box), None, k, RESTARTS, np.random.RandomState(0))


def spread_points(many: int, box: Box) -> Floats:
    """Return evenly spread points of a box, always the same ones."""
    size = math.ceil(math.log2(many))
    shares = qmc.Sobol(len(box.low), scramble=False).random_base2(size)[:many] + 0.5 / 2**size
    points: Floats = box.low + shares * (box.high - box.low)
    return points


def is_better_than_blind(
    log_evidence: float,
    halves: tuple[RecordDistribution, RecordDistribution],
    centers: tuple[Floats, Floats],
    box: Box,
) -> bool:
    """Return whether held-out reports tell a result from points spread over the box.

    Parameters
    ----------
    log_evidence : float
        Logarithm of a mean of likelihood ratios of held-out reports.
    halves : tuple of two RecordDistribution
        Estimated from one half of the reports each.
    centers : tuple of two ndarray
        Found from the first and from the second half: each is judged by the other.
    box : Box
        Of the records.

    Returns
    -------
    better : bool
        Wrong with probability at most :data:`FALSE_ALARM` where records are spread evenly.
    """
    if log_evidence < math.log(1.0 / FALSE_ALARM):
        return False
    blind = spread_centers(len(centers[0]), box)
    gains = [
        judge.weights
        @ (squared_distances(judge.points, blind) - squared_distances(judge.points, found))
        for judge, found in zip(halves[::-1], centers, strict=True)
    ]
    return bool(sum(gains) > 0.0)
