"""How many clusters a released synopsis shows.

Merging by least increase of the cost (Ward 1963) gives the cost of every number of clusters at
once. Where it is known how far records are from their points, the number with the best Calinski &
Harabasz (1974) ratio of between to within variance wins; where it is not, the number whose next
merge costs so much more than the last. The synopsis is already paid for: choosing costs nothing.
"""

import numpy as np

from shoal._typing import Floats
from shoal.cluster.kmeans._synopsis import compress_points, merge_costs
from shoal.noise import RandomSource

__all__ = ["count_clusters"]


MAX_POINTS = 512  # more are first drawn together: merging takes their square in memory
TINY = 1e-9  # of all variance: less than this counts as this


def count_clusters(
    points: Floats, weights: Floats, *, most: int, blur: float | None, source: RandomSource
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
    blur : float or None
        Variance that each record has around its point, in all columns together; None: not known.
    source : RandomSource
        Where random starts come from.

    Returns
    -------
    n_clusters : int
        2 to ``most``, or 1 where there is only one point.
    """
    total = float(weights.sum())
    spread = 0.0
    if len(points) > MAX_POINTS:
        points, weights, spread = compress_points(points, weights, MAX_POINTS, source)
    last = min(most, len(points))
    if last < 2:
        return 1
    costs, _ = merge_costs(points, weights)
    least = max(TINY * float(costs[0]), 1e-300)  # nothing is divided by zero
    if blur is None:
        # Without blur, each point its own cluster would always look best.
        tried = np.arange(2, max(min(last, len(points) - 1), 2) + 1)
        merging = np.maximum(np.append(costs[:-1] - costs[1:], 0.0), least)
        return int(tried[(merging[tried - 2] / merging[tried - 1]).argmax()])
    tried = np.arange(2, last + 1)
    within = np.maximum(costs[tried - 1] + (blur + spread) * total, least)
    between = costs[0] - costs[tried - 1]
    # A handful of records, or none: the ratio still ranks.
    ratios = between / (tried - 1) * np.maximum(total - tried, 1.0) / within
    return int(tried[ratios.argmax()])
