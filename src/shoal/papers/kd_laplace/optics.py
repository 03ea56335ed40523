"""OPTICS as scikit-learn computes it, label for label, with the distances taken at once.

scikit-learn checks its input again at each of the n steps, which is most of its time on the tables
of the thesis; a thousand fits of them took hours. The clusters are still cut by scikit-learn.
"""

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import cluster_optics_xi

from shoal._typing import Floats, Ints

__all__ = ["optics_labels"]


STEEPNESS = 0.05  # scikit-learn's xi
DIGITS = np.finfo(np.float64).precision  # scikit-learn rounds distances to so many


def optics_labels(points: Floats, *, min_samples: int) -> Ints:
    """Label points by OPTICS with clusters cut at steep places; needs n^2 numbers of memory.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        What to cluster; n is at least ``min_samples``.
    min_samples : int
        Number of neighbors of a core point, itself included.

    Returns
    -------
    labels : ndarray of shape (n,)
        One cluster a point; -1 is noise.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> points = np.concatenate([rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 20])
    >>> labels = optics_labels(points, min_samples=20)
    >>> bool(labels[0] != labels[99])
    True
    """
    n = len(points)
    distances = cdist(points, points)
    core = np.partition(distances, min_samples - 1, axis=1)[:, min_samples - 1].round(DIGITS)
    reach = np.full(n, np.inf)
    before = np.full(n, -1)
    order = np.empty(n, dtype=np.int64)
    ahead = np.full(n, np.inf)  # reach of the points that are still to come
    waiting = np.ones(n, dtype=bool)
    point = 0
    for place in range(n):
        order[place] = point
        waiting[point] = False
        ahead[point] = np.inf
        found = np.maximum(distances[point], core[point]).round(DIGITS)
        nearer = np.flatnonzero(waiting & (found < ahead))
        reach[nearer] = ahead[nearer] = found[nearer]
        before[nearer] = point
        point = int(ahead.argmin())
    with np.errstate(divide="ignore"):  # equal points have reach 0
        labels, _ = cluster_optics_xi(
            reachability=reach,
            predecessor=before,
            ordering=order,
            min_samples=min_samples,
            xi=STEEPNESS,
        )
    found_labels: Ints = labels.astype(np.int64)
    return found_labels
