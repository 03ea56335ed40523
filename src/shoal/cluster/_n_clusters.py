"""How many clusters a released synopsis shows.

Merging by least increase of the cost (Ward 1963) gives the cost of every number of clusters at
once; the number with the best Calinski & Harabasz (1974) ratio of between to within variance wins.
The synopsis is already paid for, so choosing costs nothing.
"""

import numpy as np
import numpy.typing as npt

from shoal.cluster._synopsis import compress_points, merge_costs
from shoal.noise import RandomSource

__all__ = ["count_clusters"]

Floats = npt.NDArray[np.float64]

TINY = 1e-12  # of all variance: less than this within clusters counts as this
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
        points, weights, spread = compress_points(points, weights, MOST_POINTS, source)
        blur += spread
    costs, _ = merge_costs(points, weights)
    if min(most, len(points)) < 2:
        return 1
    # Points without blur, each its own cluster, have no variance within: no ratio can judge that.
    last = len(points) if blur > 0 else max(len(points) - 1, 2)
    tried = np.arange(2, min(most, last) + 1)
    within = costs[tried - 1] + blur * total
    between = costs[0] - costs[tried - 1]
    # A handful of records, or none: the ratio still ranks, and nothing divides by zero.
    least = max(TINY * float(costs[0]), 1e-300)
    ratios = between / (tried - 1) * np.maximum(total - tried, 1.0) / np.maximum(within, least)
    return int(tried[ratios.argmax()])
