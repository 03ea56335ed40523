"""How far centres lie from reference centres, relative to how far those lie apart."""

from typing import Any

import numpy as np

from shoal.exceptions import ParameterError
from shoal.metrics._centers import FloatArray, as_centers
from shoal.metrics._matching import smallest_total
from shoal.metrics.centroid_index import center_distances


def centroid_relative_error(centers: Any, reference: Any) -> float:
    """Match centres one to one with reference centres and divide their distance by the spread.

    The error is sum_i ||c_i - r_i|| / sum_i ||r_i - m||, where c_i is the centre matched to the
    reference centre r_i, m the mean of the reference centres, and the matching the one with the
    smallest sum (Hungarian method). Dividing by the norms ||r_i||, as some do, would make the error
    depend on where the origin of the data lies; distances from the mean do not, and a change of
    unit cancels as well. 0 is a perfect result; 1 is what the mean of the reference centres gets,
    given once or k times: no knowledge of where the clusters are.

    Parameters
    ----------
    centers : array-like of shape (k, d)
        Centres to judge, in any order.
    reference : array-like of shape (k', d)
        Centres to compare with; at least two different ones.

    Returns
    -------
    error : float
        0 or more. If k and k' differ, each centre that stays without a partner, on either side,
        adds its distance to the nearest centre of the other side to the sum above: a missing
        cluster costs the way to it and a centre in the middle of nowhere the way from it, while a
        second centre on the same place costs nothing.

    Raises
    ------
    ParameterError
        If the centres are not two tables of finite numbers with as many columns, a distance is too
        large for a float, or the reference centres are all the same (one, say) and have no spread.

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
            "reference must have two different centres or more, as the error is relative to their "
            f"spread, got {len(truth)} in one place: take the distances themselves"
        )
    return matched_distance(distances) / spread


def spread_of(centers: FloatArray) -> float:
    """Add up the distances of checked centres to their mean.

    Parameters
    ----------
    centers : ndarray of float64, shape (k, d)
        Centres.

    Returns
    -------
    spread : float
        Exactly 0 if all are the same.
    """
    # From the first centre: rounding stays small against the spread, wherever the centres lie.
    moved = centers - centers[0]
    mean = moved.mean(axis=0, keepdims=True)
    return float(center_distances(moved, mean, names=("reference", "its mean")).sum())


def matched_distance(distances: FloatArray) -> float:
    """Add up the distances under the best matching, centres without a partner included.

    Parameters
    ----------
    distances : ndarray of float64, shape (k, k')
        Of all pairs of centres.

    Returns
    -------
    total : float
    """
    few, many = sorted(distances.shape)
    costs = distances if len(distances) == few else distances.T
    # Without a partner a centre goes to the nearest one, as if that stood there once more.
    alone = np.broadcast_to(costs.min(axis=0), (many - few, many))
    return smallest_total(np.vstack([costs, alone]))
