"""How far centers lie from reference centers, relative to how far those lie apart."""

from typing import Any

import numpy as np

from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.metrics._centers import as_centers
from shoal.metrics._matching import smallest_total
from shoal.metrics.centroid_index import center_distances


def centroid_relative_error(centers: Any, reference: Any) -> float:
    """Match centers one to one with reference centers and divide their distance by the spread.

    The error is sum_i ||c_i - r_i|| / sum_i ||r_i - m||, where c_i is the center matched to the
    reference center r_i, m the mean of the reference centers, and the matching the one with the
    smallest sum (Hungarian method). Dividing by the norms ||r_i||, as some do, would make the error
    depend on where the origin of the data lies; distances from the mean do not, and a change of
    unit cancels as well. 0 is a perfect result; 1 is what the mean of the reference centers gets,
    given once or k times: no knowledge of where the clusters are.

    Parameters
    ----------
    centers : array-like of shape (k, d)
        Centers to judge, in any order.
    reference : array-like of shape (k', d)
        Centers to compare with; at least two different ones.

    Returns
    -------
    error : float
        0 or more. If k and k' differ, each center that stays without a partner, on either side,
        adds its distance to the nearest center of the other side to the sum above: a missing
        cluster costs the way to it and a center in the middle of nowhere the way from it, while a
        second center on the same place costs nothing.

    Raises
    ------
    ParameterError
        If the centers are not two tables of finite numbers with as many columns, a distance is too
        large for a float, or the reference centers are all the same (one, say) and have no spread.

    Examples
    --------
    >>> centroid_relative_error([[9.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [10.0, 0.0]])
    0.1
    >>> centroid_relative_error([[5.0, 0.0]], [[0.0, 0.0], [10.0, 0.0]])
    1.0
    """
    ours = as_centers(centers, name="centers")
    truth = as_centers(reference, name="reference", n_features=ours.shape[1], like="centers")
    distances = center_distances(ours, truth, names=("centers", "reference"))
    spread = spread_of(truth)
    if spread == 0.0:
        raise ParameterError(
            "reference must have two different centers or more, as the error is relative to their "
            f"spread, got {len(truth)} in one place: take the distances themselves"
        )
    return matched_distance(distances) / spread


def spread_of(centers: Floats) -> float:
    """Add up the distances of checked centers to their mean.

    Parameters
    ----------
    centers : ndarray of float64, shape (k, d)
        Centers.

    Returns
    -------
    spread : float
        Exactly 0 if all are the same.
    """
    # From the first center: rounding stays small against the spread, wherever the centers lie.
    moved = centers - centers[0]
    mean = moved.mean(axis=0, keepdims=True)
    return float(center_distances(moved, mean, names=("reference", "its mean")).sum())


def matched_distance(distances: Floats) -> float:
    """Add up the distances under the best matching, centers without a partner included.

    Parameters
    ----------
    distances : ndarray of float64, shape (k, k')
        Of all pairs of centers.

    Returns
    -------
    total : float
    """
    few, many = sorted(distances.shape)
    costs = distances if len(distances) == few else distances.T
    # Without a partner a center goes to the nearest one, as if that stood there once more.
    alone = np.broadcast_to(costs.min(axis=0), (many - few, many))
    return smallest_total(np.vstack([costs, alone]))
