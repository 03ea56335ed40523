"""How many clusters a released synopsis shows.

Merging by least increase of the cost (Ward 1963) gives the cost of every number of clusters at
once; the number with the best Calinski & Harabasz (1974) ratio of between to within variance wins.
The synopsis is already paid for, so choosing costs nothing.
"""

import numpy as np
import numpy.typing as npt
from sklearn.metrics import pairwise_distances_argmin_min

from shoal.cluster._synopsis import cluster_points, merge_costs
from shoal.noise import RandomSource

__all__ = ["count_clusters"]

Floats = npt.NDArray[np.float64]

MOST_POINTS = 512  # more are first drawn together: merging takes their square in memory


def count_clusters(
    points: Floats, weights: Floats, *, most: int, blur: float, source: RandomSource
) -> int:
    """Choose the number of clusters of weighted points.

    Parameters
    ----------
    points : ndarray of float64, shape (m, d)
        Released points.
    weights : ndarray of float64, shape (m,)
        Their weights, above 0.
    most : int
        Largest number to choose.
    blur : float
        Variance that each record has around its point, in all columns together.
    source : RandomSource
        Where random starts come from.

    Returns
    -------
    n_clusters : int
        2 to ``most``, or 1 where there is only one point.
    """
    total = weights.sum()
    if len(points) > MOST_POINTS:
        centres = cluster_points(points, weights, MOST_POINTS, source)
        labels, gaps = pairwise_distances_argmin_min(points, centres, metric="sqeuclidean")
        blur += float(weights @ gaps) / total
        weights = np.bincount(labels, weights=weights, minlength=MOST_POINTS).astype(np.float64)
        points, weights = centres[weights > 0], weights[weights > 0]
    costs, _ = merge_costs(points, weights)
    tried = np.arange(2, min(most, len(points)) + 1)
    if tried.size == 0:
        return 1
    within = costs[tried - 1] + blur * total
    between = costs[0] - costs[tried - 1]
    # A handful of records, or none: the ratio still ranks, and nothing divides by zero.
    ratios = between / (tried - 1) * np.maximum(total - tried, 1.0) / np.maximum(within, 1e-300)
    return int(tried[ratios.argmax()])
