"""Centroid index: how many clusters one solution has in the wrong place.

Franti, Rezaei and Zhao, "Centroid index: cluster level similarity measure" (2014).
"""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.metrics._centers import as_centers


def centroid_index(first: Any, second: Any) -> int:
    """Count the clusters of one solution that have no counterpart in the other.

    Each center of one set is mapped to the nearest of the other; centers of the other that nobody
    maps to are orphans. The index is the larger number of orphans of the two directions. 0 says
    that the solutions agree on where the clusters are, however exact the centers.

    Parameters
    ----------
    first, second : array-like of shape (k, d) and (k', d)
        Centers of two solutions, in one unit. Of equally near centers the one listed first counts
        as nearest, so two equal centers are one place and one orphan.

    Returns
    -------
    index : int
        At least the difference of k and k', at most the larger of them minus 1.

    Raises
    ------
    ParameterError
        If the centers are not two tables of finite numbers with as many columns, or a distance is
        too large for a float.

    Examples
    --------
    Two centers share one true cluster, and one center has to serve two.

    >>> centroid_index([[0.0], [0.2], [7.0]], [[0.1], [5.0], [9.0]])
    1
    """
    ours = as_centers(first, name="first")
    theirs = as_centers(second, name="second", n_features=ours.shape[1], like="first")
    return most_orphans(center_distances(ours, theirs, names=("first", "second")))


def most_orphans(distances: Floats) -> int:
    """Compute the centroid index from the distances of all pairs of centers.

    Parameters
    ----------
    distances : ndarray of float64, shape (k, k')
        Between the centers of the two solutions.

    Returns
    -------
    index : int
    """
    return max(_orphans(distances), _orphans(distances.T))


def center_distances(first: Floats, second: Floats, *, names: tuple[str, str]) -> Floats:
    """Compute the Euclidean distances of all pairs of centers.

    Parameters
    ----------
    first, second : ndarray of float64, shape (k, d) and (k', d)
        Checked centers.
    names : tuple of two str
        Names of the parameters, for messages.

    Returns
    -------
    distances : ndarray of float64, shape (k, k')

    Raises
    ------
    ParameterError
        If one of them is too large for a float.
    """
    distances: Floats = cdist(first, second)
    if not np.isfinite(distances).all():
        raise ParameterError(
            f"{names[0]} and {names[1]} must be small enough for squared distances to be finite: "
            "rescale both"
        )
    return distances


def _orphans(distances: Floats) -> int:
    """Columns that are the nearest one of no row."""
    chosen = len(np.unique(distances.argmin(axis=1)))
    return int(distances.shape[1]) - chosen
