"""Round Gaussian clusters in a box, kept apart from each other."""

from typing import Any

import numpy as np

from shoal import _numbers
from shoal._bounds import public_box
from shoal._typing import Floats
from shoal.datasets._parameters import generator
from shoal.datasets.dataset import Dataset, generated
from shoal.exceptions import ParameterError

TRIES = 10_000  # Draws of a center before the box counts as full.


def make_gaussians(
    n_samples: int = 1000,
    *,
    n_clusters: int = 5,
    n_features: int = 2,
    bounds: Any = (-1.0, 1.0),
    spread: float = 0.05,
    separation: float = 4.0,
    random_state: Any = None,
) -> Dataset:
    """Draw clusters of equal size from normal laws cut off at the box.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of records.
    n_clusters : int, default=5
        Number of clusters.
    n_features : int, default=2
        Number of columns.
    bounds : pair of floats or arrays, default=(-1.0, 1.0)
        Public box; all records are drawn inside it.
    spread : float, default=0.05
        Standard deviation of a cluster as a share of the side of the box, in every column.
    separation : float, default=4.0
        Smallest distance between two centers, in standard deviations; 0 lets them fall anywhere.
    random_state : None, int or numpy.random.Generator
        Seed; None draws fresh records each time.

    Returns
    -------
    dataset : Dataset
        Records in random order, with the number of their cluster as label.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule, or the centers do not fit into the box that far apart.

    Examples
    --------
    >>> blobs = make_gaussians(500, n_clusters=3, bounds=(0.0, 10.0), random_state=0)
    >>> blobs.X.shape, bool((blobs.X >= 0).all() and (blobs.X <= 10).all())
    ((500, 2), True)
    """
    n_samples = _numbers.count("n_samples", n_samples)
    n_clusters = _numbers.count("n_clusters", n_clusters)
    n_features = _numbers.count("n_features", n_features)
    low, high = public_box(bounds, n_features)
    spread = _numbers.positive("spread", spread)
    separation = _numbers.non_negative("separation", separation)
    rng = generator(random_state)

    centers = _centers(n_clusters, n_features, spread, separation, rng)
    labels = rng.permutation(np.arange(n_samples) % n_clusters)
    share = _cut_normal(centers[labels], spread, rng)
    return generated(
        "gaussians",
        low + share * (high - low),
        labels.astype(np.int64),
        (low, high),
        source="shoal.datasets.make_gaussians",
    )


def _centers(
    n_clusters: int, n_features: int, spread: float, separation: float, rng: np.random.Generator
) -> Floats:
    """Draw centers in the unit cube, each at least `separation` deviations from the others."""
    margin = min(2.0 * spread, 0.4)  # Two deviations keep most of a cluster away from the walls.
    centers = np.empty((0, n_features))
    for _ in range(TRIES):
        if len(centers) == n_clusters:
            return centers
        candidate = rng.uniform(margin, 1.0 - margin, size=(1, n_features))
        distances = np.linalg.norm(centers - candidate, axis=1)
        if (distances >= separation * spread).all():
            centers = np.concatenate([centers, candidate])
    if len(centers) == n_clusters:
        return centers
    raise ParameterError(
        f"separation must leave room for n_clusters={n_clusters} centers in the box, "
        f"got {separation!r} with spread={spread!r}: lower one of the three"
    )


def _cut_normal(centers: Floats, spread: float, rng: np.random.Generator) -> Floats:
    """Draw from normal laws around `centers`, conditioned on the unit cube, by the inverse CDF."""
    # Loaded here, so that names of data sets can be had without it.
    from scipy.special import ndtr, ndtri  # noqa: PLC0415

    below, above = ndtr((0.0 - centers) / spread), ndtr((1.0 - centers) / spread)
    share: Floats = ndtri(below + (above - below) * rng.random(centers.shape))
    return np.clip(centers + spread * share, 0.0, 1.0)
