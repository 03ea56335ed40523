"""Where the mixture begins: centres of the deconvolved law, or of the reports themselves."""

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin
from threadpoolctl import threadpool_limits

from shoal._bounds import Box
from shoal.reports._grid_density import Deconvolved, GridDensity
from shoal.reports._mixture import Mixture
from shoal.reports._noise_law import NoiseLaw

__all__ = ["Start", "best_of_plain", "better_of_grid_and_plain"]

Floats = npt.NDArray[np.float64]

FEW = 5  # restarts where centres are only compared
LEAST_SPREAD = 0.1  # of the noise's variance, given to a cluster whose own cannot be seen


@dataclass(frozen=True, eq=False)
class Start:
    """A first mixture, and where it came from."""

    name: str
    mixture: Mixture


def better_of_grid_and_plain(
    reports: Floats,
    found: Deconvolved,
    law: NoiseLaw,
    box: Box,
    k: int,
    *,
    first: npt.NDArray[np.bool_],
    restarts: int,
    rng: np.random.RandomState,
) -> Start:
    """Let each half of the reports judge both ways of finding centres from the other half.

    Parameters
    ----------
    reports : ndarray of float64, shape (n, d)
        Reports.
    found : Deconvolved
        Laws of the records behind all reports and behind the halves.
    law : NoiseLaw
        The known noise.
    box : Box
        Public box.
    k : int
        Number of clusters.
    first : ndarray of bool, shape (n,)
        Which reports are the first half.
    restarts : int
        Restarts of k-means for the centres that are kept.
    rng : RandomState
        For the restarts.

    Returns
    -------
    start : Start
        From the grid unless plain centres cost less on the law behind other reports.
    """
    few = min(FEW, restarts)
    grid_cost = plain_cost = 0.0
    for mine, judge, part in zip(found.halves, found.halves[::-1], (first, ~first), strict=True):
        grid_cost += _cost(judge, _centres(mine.points, mine.weights, k, few, rng))
        clipped = np.clip(reports[part], box.low, box.high)
        plain_cost += _cost(judge, _centres(clipped, None, k, few, rng))
    if plain_cost < grid_cost:
        return best_of_plain(reports, law, box, k, restarts=restarts, rng=rng)
    centres = _centres(found.whole.points, found.whole.weights, k, restarts, rng)
    return Start("grid", found.whole.mixture(centres))


def best_of_plain(
    reports: Floats,
    law: NoiseLaw,
    box: Box,
    k: int,
    *,
    restarts: int,
    rng: np.random.RandomState,
) -> Start:
    """Begin at plain k-means on clipped reports, with the noise taken off the covariances.

    Parameters
    ----------
    reports : ndarray of float64, shape (n, d)
        Reports.
    law : NoiseLaw
        The known noise.
    box : Box
        Public box.
    k : int
        Number of clusters.
    restarts : int
        Restarts of k-means.
    rng : RandomState
        For the restarts.

    Returns
    -------
    start : Start
        Shares, means and covariances of the clusters of reports.
    """
    clipped = np.clip(reports, box.low, box.high)
    centres = _centres(clipped, None, k, restarts, rng)
    labels = pairwise_distances_argmin(clipped, centres)
    sizes = np.bincount(labels, minlength=k)
    noise = law.variances(centres).T @ law.weights  # (d, k)
    covariances = np.empty((k, box.low.size, box.low.size))
    for c in range(k):
        own = np.diag(noise[:, c])
        gaps = reports[labels == c] - centres[c]
        spread = gaps.T @ gaps / max(1, len(gaps)) - own
        values, axes = np.linalg.eigh(spread)
        least = LEAST_SPREAD * own.diagonal().min()
        covariances[c] = (axes * np.maximum(values, least)) @ axes.T
    weights = (sizes + 1.0) / (len(reports) + k)
    return Start("reports", Mixture(weights, centres, covariances, np.empty(0)))


def _cost(law: GridDensity, centres: Floats) -> float:
    """K-means cost of centres on a law of records."""
    gaps = law.points - centres[pairwise_distances_argmin(law.points, centres)]
    return float(law.weights @ np.einsum("ij,ij->i", gaps, gaps))


def _centres(
    points: Floats, weights: Floats | None, k: int, restarts: int, rng: np.random.RandomState
) -> Floats:
    distinct = np.unique(points, axis=0) if len(points) <= k + 1 else points
    if len(distinct) <= k:
        # As many centres as points, or more: each point is one, some of them twice.
        return distinct[np.arange(k) % len(distinct)]
    # One thread: as fast for so few columns, the same bits on every machine, and no waiting for a
    # core that is busy.
    with warnings.catch_warnings(), threadpool_limits(1, user_api="openmp"):
        # Fewer distinct reports than clusters: some centres are the same, and that is right.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(k, n_init=restarts, random_state=rng).fit(points, sample_weight=weights)
    centres: Floats = model.cluster_centers_
    return centres
